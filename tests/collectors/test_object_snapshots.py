"""Exports of objects as snapshots of the live state."""

from datetime import UTC, datetime
from pathlib import Path

import orjson

from auditor.collectors import object_snapshots
from auditor.model.facts import ObjectSnapshot
from tests.collectors.configured import collected, facts, last_marks, reasons

EXPORT = """\
apiVersion: v1
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    creationTimestamp: "2026-11-30T06:00:00Z"
    managedFields:
    - manager: kubectl-edit
      operation: Update
      time: "2026-11-30T07:00:00Z"
    name: web
    namespace: shop
    resourceVersion: "7"
    uid: u
  spec: {replicas: 3}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: settings, namespace: shop, creationTimestamp: "2026-11-30T05:00:00Z"}
- apiVersion: v1
  kind: Pod
  metadata: {name: going, namespace: shop, deletionTimestamp: "2099-01-01T00:00:00Z"}
kind: List
"""


def put(folder: Path, content: str) -> None:
    (folder / "live").mkdir(exist_ok=True)
    (folder / "live" / "shop.yaml").write_text(content)


def test_an_object_keeps_its_managers_and_its_place(tmp_path: Path) -> None:
    put(tmp_path, EXPORT)
    web, settings, going = facts(collected(object_snapshots.collect, tmp_path), ObjectSnapshot)
    assert (web.cluster, web.group, web.version, web.kind) == ("prod", "apps", "v1", "Deployment")
    assert (web.resource_version, web.uid) == ("7", "u")
    assert orjson.loads(web.body)["metadata"]["managedFields"][0]["manager"] == "kubectl-edit"
    assert (settings.group, settings.version) == ("", "v1")
    assert {web.at, settings.at, going.at} == {datetime(2026, 11, 30, 7, tzinfo=UTC)}


def test_an_unchanged_export_gives_nothing(tmp_path: Path) -> None:
    put(tmp_path, EXPORT)
    marks = last_marks(collected(object_snapshots.collect, tmp_path))
    assert collected(object_snapshots.collect, tmp_path, marks=marks) == []


def test_what_is_no_state_is_foreign(tmp_path: Path) -> None:
    put(tmp_path, "apiVersion: v1\nkind: Status\nmetadata: {}\n---\napiVersion: v1\nkind: Event\nmetadata: {name: e}\n")
    batches = collected(object_snapshots.collect, tmp_path)
    assert reasons(batches) == ["Status: no state of a cluster", "Event: no state of a cluster"]


def test_values_of_secrets_are_never_read_out(tmp_path: Path) -> None:
    put(tmp_path, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: aHVudGVyMi1odW50ZXIy}\n")
    (secret,) = facts(collected(object_snapshots.collect, tmp_path), ObjectSnapshot)
    assert b"aHVudGVyMi1odW50ZXIy" not in secret.body
