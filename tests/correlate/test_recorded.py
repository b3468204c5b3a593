"""The recorded incident and the recorded matrix of edits, whole and with bodies taken out, against what was done."""

import json
import random
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from auditor.correlate.cluster.sight import argocd_sees
from auditor.correlate.cluster.verdict import judge_cluster
from auditor.correlate.identity.actors import identify
from auditor.correlate.identity.channels import channel
from auditor.correlate.writes.changes import is_change
from auditor.correlate.writes.histories import ObjectHistory, histories, objects_in
from auditor.model.change import AppKey, Change, FieldChange, Write
from auditor.model.facts import AuditEvent
from auditor.model.resource import UNKNOWN
from auditor.objects import paths
from tests.collectors.kube_audit.reading import Shelf, batches
from tests.factories import replace

ROOT = Path(__file__).parents[2]
INCIDENT = ROOT / "data" / "incident"
MATRIX = ROOT.parent / "shared" / "corpus" / "matrix"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SKEW = timedelta(milliseconds=700)

Truth = dict[str, Any]


@cache
def recorded(folder: Path) -> tuple[AuditEvent, ...]:
    if not (folder / "truth.json").exists():
        pytest.skip(f"{folder.name} is not beside the project")
    shelf = Shelf()
    for batch in batches(folder / "audit", shelf):
        shelf.write(batch)
    return tuple(shelf.events.values())


def stripped(events: Iterable[AuditEvent], *bodies: str) -> list[AuditEvent]:
    level = "Metadata" if "request" in bodies else "Request"
    return [replace(event, level=level, **dict.fromkeys(bodies)) for event in events] if bodies else list(events)


def told(events: Iterable[AuditEvent]) -> list[ObjectHistory]:
    return list(histories(objects_in(events, identify, channel), (), identify, channel))


@cache
def stories(folder: Path, *without: str) -> list[ObjectHistory]:
    return told(stripped(recorded(folder), *without))


def changed(found: Iterable[ObjectHistory]) -> list[Write]:
    """What is neither a controller's nor the GitOps tool's."""
    writes = (write for history in found for write in history.writes)
    return [write for write in writes if is_change(write) and write.cause == "out-of-band"]


def acts(folder: Path) -> list[Truth]:
    """What people did to objects; what Argo CD's own API did and the overrides are judged with its records."""
    truth: list[Truth] = json.loads((folder / "truth.json").read_text())
    return [act for act in truth if act.get("out_of_band") and act["actor"] != "carol"]


def found(act: Truth, writes: Sequence[Write]) -> Write:
    begin, end = (datetime.fromisoformat(act[key]) for key in ("begin", "end"))
    group_kind, namespace, name = act["object"]
    matching = [
        write
        for write in writes
        if (write.object.group_kind, write.object.namespace, write.object.name) == (group_kind, namespace, name)
        and begin - timedelta(seconds=1) <= write.at <= end + timedelta(seconds=1)
    ]
    assert len(matching) == 1, act["id"]
    return matching[0]


def shown(field: FieldChange) -> tuple[str, Any, Any]:
    return paths.text(field.path), field.before.value, field.after.value


def wanted(act: Truth, write: Write) -> list[tuple[str, Any, Any]]:
    """The truth's fields; `*` is whatever the record has."""
    fields = {paths.text(field.path): field for field in write.fields}
    return sorted(
        (each["path"], each["before"], fields[each["path"]].after.value if each["after"] == "*" else each["after"])
        for each in act.get("fields", [])
    )


@pytest.mark.parametrize("folder", [INCIDENT, MATRIX], ids=["incident", "matrix"])
@pytest.mark.parametrize("bodies", [(), ("response",)], ids=["whole", "no-responses"])
def test_every_act_is_found_with_its_fields_and_what_became_of_it(folder: Path, bodies: tuple[str, ...]) -> None:
    end = max(event.at for event in recorded(folder))
    by_object = {history.object: history for history in stories(folder, *bodies)}
    writes = changed(by_object.values())
    for act in acts(folder):
        write = found(act, writes)
        assert (write.actor.name, write.actor.acting_as) == (act["actor"], act.get("acting_as")), act["id"]
        assert write.channel == act.get("channel", write.channel), act["id"]
        assert sorted(map(shown, write.fields)) == wanted(act, write), act["id"]
        history = by_object[write.object]
        placed = Change(write, write.id, None, (), "")
        whole, fields = judge_cluster(placed, history.writes, lambda path: UNKNOWN, end, history.live)
        words = {paths.text(field.path): verdict.verdict for field, verdict in zip(write.fields, fields, strict=True)}
        assert words == {each["path"]: each["cluster"] for each in act.get("fields", [])}, act["id"]
        if "whole" in act:
            assert whole.verdict == act["cluster"], act["id"]


@pytest.mark.parametrize("folder", [INCIDENT, MATRIX], ids=["incident", "matrix"])
def test_without_any_body_every_act_is_found_with_its_actor(folder: Path) -> None:
    writes = changed(stories(folder, "request", "response"))
    for act in acts(folder):
        write = found(act, writes)
        assert (write.actor.name, write.actor.acting_as, write.fields) == (act["actor"], act.get("acting_as"), ())


@pytest.mark.parametrize("folder", [INCIDENT, MATRIX], ids=["incident", "matrix"])
def test_taking_out_responses_adds_and_loses_no_change_and_alters_no_value(folder: Path) -> None:
    whole = {write.id: write for write in changed(stories(folder))}
    rest = {write.id: write for write in changed(stories(folder, "response"))}
    assert rest.keys() == whole.keys()
    for ident, write in rest.items():
        if write.object.kind != "Application":
            assert [field.path for field in write.fields] == [field.path for field in whole[ident].fields]
        values = {field.path: field for field in whole[ident].fields}
        for field in write.fields:
            assert not field.before.known or field.before.value == values[field.path].before.value


def test_any_order_and_doubled_records_tell_the_same_story() -> None:
    events = list(recorded(INCIDENT))
    expected = stories(INCIDENT)
    for seed in range(2):
        mixed = events + random.Random(seed).sample(events, len(events) // 2)
        random.Random(seed).shuffle(mixed)
        assert told(mixed) == expected


def test_a_second_server_with_a_late_clock_tells_the_same_fields() -> None:
    events = list(recorded(INCIDENT))
    late = [replace(event, at=event.at + SKEW) if index % 2 else event for index, event in enumerate(events)]
    expected = {write.id: [shown(field) for field in write.fields] for write in changed(stories(INCIDENT))}
    assert {write.id: [shown(field) for field in write.fields] for write in changed(told(late))} == expected


def test_one_audit_id_for_all_requests_hides_none() -> None:
    events = list(recorded(INCIDENT))
    forged = [replace(event, audit_id="one-and-the-same") for event in events]
    assert [write.id for write in changed(told(forged))] == [write.id for write in changed(stories(INCIDENT))]


def test_the_webhook_loop_is_made_of_no_ops_that_ask_for_their_value() -> None:
    loop = [
        write
        for history in stories(INCIDENT)
        for write in history.writes
        if write.object.name == "edge" and write.object.kind == "Deployment" and write.verb == "patch"
    ]
    assert len(loop) > 10
    assert {write.outcome for write in loop} == {"no-op"}
    asked = {(paths.text(field.path), field.after.value) for write in loop for field in write.asked}
    assert asked == {("spec.template.spec.containers[name=edge].imagePullPolicy", "IfNotPresent")}
    assert {name for write in loop for name in write.admitted_by} == {"admission webhook pull-policy.acme.example"}


def test_the_autoscaler_loop_is_three_against_one() -> None:
    path = "spec.replicas"
    moves = [
        (write.actor.kind, *shown(field)[1:])
        for history in stories(INCIDENT)
        for write in history.writes
        for field in write.fields
        if write.object.name == "search" and write.object.kind == "Deployment" and paths.text(field.path) == path
    ]
    assert set(moves) == {("autoscaler", 1, 3), ("gitops", 3, 1)}


@pytest.mark.parametrize("bodies", [(), ("response",)], ids=["whole", "no-responses"])
def test_what_argo_cd_noticed_is_what_it_is_said_to_see(bodies: tuple[str, ...]) -> None:
    manifests = _applied(stories(MATRIX))
    writes = changed(stories(MATRIX, *bodies))
    for act in acts(MATRIX):
        write = found(act, writes)
        application = AppKey("argocd", "argocd", act["app"]) if act["app"] else None
        placed = Change(write, write.id, application, (), "")
        assert argocd_sees(placed, manifests.get(write.object)) is (act["argocd"] == "OutOfSync"), act["id"]


def _applied(found: Iterable[ObjectHistory]) -> dict[Any, Any]:
    """What Argo CD applied, as it left it in last-applied: here that is what git declares."""
    applied = {}
    for history in found:
        for write in history.writes:
            if write.operation == "create" and write.last_applied and write.cause == "gitops":
                applied[history.object] = json.loads(write.last_applied)
    return applied
