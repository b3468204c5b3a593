"""What an event becomes: fields, what is kept of it, what a delivery cut, and entries of Google's."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from auditor.model.facts import AuditEvent
from tests.benchmarks.generate import log_entry
from tests.collectors.kube_audit.deliveries import audit_event, event_lines
from tests.collectors.kube_audit.reading import Shelf, collected

MACHINE = {"username": "system:serviceaccount:kube-system:deployment-controller"}
NODE = {"username": "system:node:worker-1"}
BODIES: Mapping[str, Any] = {"requestObject": {"spec": {"a": 1}}, "responseObject": {"spec": {"a": 1}}}


def shelf_of(folder: Path, *records: Any) -> Shelf:
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    (folder / "audit.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return collected(folder)


def event_of(folder: Path, record: Any) -> AuditEvent:
    (event,) = shelf_of(folder, record).events.values()
    return event


def test_every_field_of_a_record_is_in_its_fact(tmp_path: Path) -> None:
    record = audit_event(
        3,
        requestURI="/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubectl-client-side-apply&force=true",
        user={"username": "arn", "uid": "7", "groups": ["g"], "extra": {"arn": ["arn:aws:iam::1:user/dave"]}},
        impersonatedUser={"username": "alice", "groups": ["sre"]},
        objectRef={
            "resource": "deployments",
            "namespace": "shop",
            "name": "web",
            "uid": "u-1",
            "apiGroup": "apps",
            "apiVersion": "v1",
            "resourceVersion": "41",
        },
        requestObject={"spec": {"replicas": 3}},
    )
    event = event_of(tmp_path, record)
    assert (event.user, event.groups, event.extra) == ("arn", ("g",), {"arn": ("arn:aws:iam::1:user/dave",)})
    assert (event.impersonated_user, event.impersonated_groups) == ("alice", ("sre",))
    assert (event.uid, event.object_version, event.field_manager) == ("u-1", "41", "kubectl-client-side-apply")
    assert (event.force, event.dry_run, event.code, event.dialect) == (True, False, 200, "audit")
    assert event.request == b'{"spec": {"replicas": 3}}'
    assert event.at == datetime(2026, 11, 30, 5, 31, 1, 110009, tzinfo=UTC)
    assert event.annotations["authorization.k8s.io/decision"] == "allow"


@pytest.mark.parametrize(
    ("record", "kept"),
    [
        (audit_event(1, "get"), None),
        (audit_event(1, "get", resource="pods", subresource="exec"), (False, False)),
        (audit_event(1, "get", resource="pods", subresource="exec", stage="ResponseStarted"), (False, False)),
        (audit_event(1, "get", resource="pods", subresource="exec", stage="RequestReceived"), None),
        (audit_event(1, "get", resource="pods", subresource="log"), None),
        (audit_event(1, "get", resource="services", subresource="proxy"), (False, False)),
        (audit_event(1, "get", resource="nodes", subresource="proxy", user=MACHINE), None),
        (audit_event(1, "list", impersonatedUser={"username": "eve"}), (False, False)),
        (audit_event(1, **BODIES), (True, True)),
        (audit_event(1, stage="RequestReceived", **BODIES), None),
        (audit_event(1, stage="Panic", **BODIES), (True, True)),
        (audit_event(1, user=MACHINE, **BODIES), (True, True)),
        (audit_event(1, subresource="status", **BODIES), (True, True)),
        (audit_event(1, subresource="status", user=MACHINE, **BODIES), (False, True)),
        (audit_event(1, resource="pods", subresource="status", user=NODE, **BODIES), None),
        (audit_event(1, resource="leases", user=NODE, **BODIES), None),
        (audit_event(1, resource="leases", **BODIES), (True, True)),
        (audit_event(1, "create", resource="events", user=MACHINE, **BODIES), None),
        (audit_event(1, "create", resource="selfsubjectaccessreviews", **BODIES), None),
        (audit_event(1, "create", resource="serviceaccounts", subresource="token", **BODIES), (False, False)),
        (audit_event(1, "create", resource="serviceaccounts", subresource="token", user=NODE, **BODIES), None),
        (audit_event(1, "create", resource="pods", subresource="binding", user=MACHINE, **BODIES), None),
        (audit_event(1, "create", resource="pods", subresource="eviction", user=MACHINE, **BODIES), (True, True)),
        (audit_event(1, resource="pods", subresource="ephemeralcontainers", **BODIES), (True, True)),
        (audit_event(1, requestURI="/x?dryRun=All", **BODIES), (True, True)),
        (audit_event(1, requestURI="/x?dryRun=All", user=MACHINE, **BODIES), None),
        (
            audit_event(
                1,
                user=MACHINE,
                objectRef={"resource": "applications", "subresource": "status", "apiGroup": "argoproj.io"},
                **BODIES,
            ),
            (True, True),
        ),
    ],
)
def test_what_is_kept_of_an_event(record: dict[str, Any], kept: tuple[bool, bool] | None, tmp_path: Path) -> None:
    shelf = shelf_of(tmp_path, record)
    assert shelf.mark().events == 1
    found = [(event.request is not None, event.response is not None) for event in shelf.events.values()]
    assert found == ([] if kept is None else [kept])


def test_a_dry_run_is_seen_in_the_uri_and_in_the_body_of_a_delete(tmp_path: Path) -> None:
    records = [
        audit_event(1, requestURI="/x?dryRun=All"),
        audit_event(2, "delete", requestObject={"kind": "DeleteOptions", "dryRun": ["All"]}),
        audit_event(3, "delete", requestObject={"kind": "DeleteOptions", "dryRun": []}),
        audit_event(4, requestObject={"dryRun": ["All"]}),
    ]
    shelf = shelf_of(tmp_path, *records)
    assert sorted(event.audit_id[-1] for event in shelf.events.values() if event.dry_run) == ["1", "2"]
    assert (shelf.mark().dry_runs, shelf.mark().successful_writes) == (2, 2)


def test_a_create_is_named_by_the_answer(tmp_path: Path) -> None:
    record = audit_event(
        1,
        "create",
        objectRef={"resource": "pods", "namespace": "shop", "apiVersion": "v1"},
        responseObject={"metadata": {"name": "web-x7k", "uid": "u-9"}},
    )
    event = event_of(tmp_path, record)
    assert (event.name, event.uid) == ("web-x7k", "u-9")


def test_secrets_never_become_facts(tmp_path: Path) -> None:
    hidden = "aHVudGVyMg=="
    patch = '[{"op":"replace","path":"/data/password","value":"' + hidden + '"}]'
    record = audit_event(
        1,
        resource="secrets",
        requestObject={"data": {"password": hidden}},
        responseObject={"kind": "Secret", "data": {"password": hidden}},
        annotations={"patch.webhook.admission.k8s.io/round_0_index_0": json.dumps({"patch": json.loads(patch)})},
    )
    exec_uri = "/api/v1/namespaces/shop/pods/web/exec?command=mysql&command=-phunter2&stdin=true"
    shell = audit_event(2, "create", resource="pods", subresource="exec", requestURI=exec_uri)
    shelf = shelf_of(tmp_path, record, shell)
    assert "hunter2" not in repr(shelf.events)
    assert hidden not in repr(shelf.events)


def test_what_the_api_server_truncated_is_marked(tmp_path: Path) -> None:
    record = audit_event(1, annotations={"audit.k8s.io/truncated": "true"})
    assert event_of(tmp_path, record).truncated


@pytest.mark.parametrize("key", ["message", "log", "log_s"])
def test_an_event_that_a_delivery_cut_keeps_what_is_left_and_is_marked(key: str, tmp_path: Path) -> None:
    line = event_lines([audit_event(1, requestObject={"data": "x" * 20_000})])[0].decode()
    for cut in (line[:16_000], line[:16_000] + "[Truncated...]"):
        wrapper = {key: cut, "timestamp": 1796016671047, "logStreamName": "kube-apiserver-audit-1"}
        event = event_of(tmp_path, wrapper)
        assert (event.verb, event.name, event.code, event.truncated) == ("patch", "web", 200, True)
        assert (event.request, event.response) == (None, None)
        assert event.at == datetime(2026, 11, 30, 5, 31, 11, 47000, tzinfo=UTC)


def test_a_body_that_azure_left_out_is_not_a_body(tmp_path: Path) -> None:
    event = event_of(tmp_path, audit_event(1, requestObject="skipped-too-big-size-object"))
    assert (event.request, event.truncated) == (None, True)


def test_old_and_sanitised_records_are_events(tmp_path: Path) -> None:
    old = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1beta1",
        "metadata": {"creationTimestamp": "2017-09-11T19:55:05Z"},
        "auditID": "1",
        "verb": "delete",
        "user": {"username": "admin"},
        "objectRef": {"resource": "pods"},
    }
    blank = {"kind": "Event", "verb": "update", "objectRef": {"name": "x"}, "p_event_time": "2022-11-29 00:09:04.38"}
    shelf = shelf_of(tmp_path, old, blank)
    (event,) = shelf.events.values()
    assert event.at == datetime(2017, 9, 11, 19, 55, 5, tzinfo=UTC)
    assert shelf.mark().events == 2
    assert [place.reason for place in shelf.skipped] == ["an event without any time"]


@pytest.mark.parametrize("code", [10**30, -(2**63), 2**31, 1e308])
def test_a_status_code_beyond_all_measure_is_none(code: float, tmp_path: Path) -> None:
    event = event_of(tmp_path, audit_event(1) | {"responseStatus": {"code": code, "reason": "Odd"}})
    assert (event.code, event.reason, event.name) == (None, "Odd", "web")


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59Z"]
)
def test_a_time_that_no_clock_showed_is_none(text: str, tmp_path: Path) -> None:
    record = audit_event(1)
    event = event_of(tmp_path, record | {"requestReceivedTimestamp": text})
    assert event.at == datetime.fromisoformat(record["stageTimestamp"])
    untimed = shelf_of(tmp_path, record | {"requestReceivedTimestamp": text, "stageTimestamp": text})
    assert untimed.events == {}
    assert [place.reason for place in untimed.skipped] == ["an event without any time"]


def test_a_field_of_another_type_costs_only_itself(tmp_path: Path) -> None:
    record = audit_event(1, sourceIPs=None, user="dave", annotations={"authorization.k8s.io/decision": 7}, stage=None)
    event = event_of(tmp_path, record | {"responseStatus": {"code": "200", "reason": None}})
    assert (event.user, event.code, event.source_ips, event.annotations) == ("dave", 200, (), {})


def test_an_audit_id_that_a_client_chose_hides_no_other_event(tmp_path: Path) -> None:
    shelf = shelf_of(tmp_path, audit_event(1), audit_event(2, auditID=audit_event(1)["auditID"], name="other"))
    assert {event.name for event in shelf.events.values()} == {"web", "other"}


def test_a_cloud_logging_entry_is_mapped_field_by_field(tmp_path: Path) -> None:
    entry = log_entry(audit_event(1, requestObject={"spec": {"replicas": 2}}, responseObject={"kind": "Deployment"}))
    entry["protoPayload"]["methodName"] = "io.k8s.apps.v1.deployments.scale.patch"
    entry["protoPayload"]["resourceName"] = "apps/v1/namespaces/shop/deployments/web/scale"
    event = event_of(tmp_path, entry)
    assert (event.api_group, event.api_version, event.resource, event.subresource) == (
        "apps",
        "v1",
        "deployments",
        "scale",
    )
    assert (event.namespace, event.name, event.verb, event.dialect) == ("shop", "web", "patch", "gke")
    assert (event.user, event.level, event.stage, event.code) == ("dave@acme.example", "", "", 0)
    assert event.request is not None
    assert json.loads(event.request) == {"spec": {"replicas": 2}}
    assert not event.truncated


@pytest.mark.parametrize(
    ("method", "place", "expected"),
    [
        ("io.k8s.core.v1.namespaces.delete", "core/v1/namespaces/shop", ("", "namespaces", "", "", "shop")),
        ("io.k8s.core.v1.pods.exec.create", "core/v1/namespaces/s/pods/x/exec", ("", "pods", "exec", "s", "x")),
        ("io.argoproj.v1alpha1.applications.patch", "argoproj.io/v1alpha1/namespaces/argocd/applications/web",
         ("argoproj.io", "applications", "", "argocd", "web")),
        ("io.k8s.authorization.rbac.v1.clusterroles.update", "rbac.authorization.k8s.io/v1/clusterroles/admin",
         ("rbac.authorization.k8s.io", "clusterroles", "", "", "admin")),
    ],
)  # fmt: skip
def test_a_cloud_logging_method_and_resource_name_an_object(
    method: str, place: str, expected: tuple[str, ...], tmp_path: Path
) -> None:
    entry = log_entry(audit_event(1))
    entry["protoPayload"] |= {"methodName": method, "resourceName": place}
    event = event_of(tmp_path, entry)
    assert (event.api_group, event.resource, event.subresource, event.namespace, event.name) == expected


def test_a_cloud_logging_refusal_is_an_http_error_and_no_write(tmp_path: Path) -> None:
    entry = log_entry(audit_event(1))
    entry["protoPayload"]["status"] = {"code": 7, "message": "forbidden"}
    shelf = shelf_of(tmp_path, entry)
    (event,) = shelf.events.values()
    assert (event.code, event.reason) == (403, "forbidden")
    assert (shelf.mark().failed_writes, shelf.mark().successful_writes) == (1, 0)


def test_a_cloud_logging_entry_without_its_body_is_truncated_and_of_another_service_is_foreign(tmp_path: Path) -> None:
    entry = log_entry(audit_event(1))
    entry["protoPayload"]["request"] = {"@type": "k8s.io/Patch"}
    other = log_entry(audit_event(2))
    other["protoPayload"]["serviceName"] = "compute.googleapis.com"
    shelf = shelf_of(tmp_path, entry, other)
    (event,) = shelf.events.values()
    assert (event.truncated, shelf.mark().foreign) == (True, 1)


def test_streams_have_spans_and_a_silence_is_a_gap(tmp_path: Path) -> None:
    def at(minute: str, host: str) -> str:
        time = f"2026-11-30T{minute}:00.000000Z"
        line = event_lines([audit_event(1, "get", requestReceivedTimestamp=time, stageTimestamp=time)])[0].decode()
        return f"{host} {line}"

    shelf = shelf_of(tmp_path, at("05:00", "a"), at("05:04", "a"), at("05:30", "a"), at("05:01", "b"), at("05:29", "b"))
    assert shelf.mark().streams == {
        "a": (("2026-11-30T05:00", "2026-11-30T05:04"), ("2026-11-30T05:30", "2026-11-30T05:30")),
        "b": (("2026-11-30T05:01", "2026-11-30T05:01"), ("2026-11-30T05:29", "2026-11-30T05:29")),
    }
