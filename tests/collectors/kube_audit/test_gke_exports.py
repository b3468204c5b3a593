import base64
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from auditor.model.facts import AuditEvent
from tests.collectors.kube_audit.reading import collected

LABELS = {"authorization.k8s.io/decision": "allow"}


def entry(**changes: Any) -> dict[str, Any]:
    """A LogEntry of Cloud Logging; `changes` go into its payload."""
    payload = {
        "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
        "authenticationInfo": {"principalEmail": "proxy@acme.example", "authoritySelector": "bob@acme.example"},
        "methodName": "io.k8s.apps.v1.deployments.patch",
        "request": {"@type": "k8s.io/Patch", "spec": {"replicas": 3, "paused": None}},
        "requestMetadata": {"callerIp": "203.0.113.7", "callerSuppliedUserAgent": "kubectl/v1.32.4"},
        "resourceName": "apps/v1/namespaces/shop/deployments/web",
        "response": {"@type": "apps.k8s.io/v1.Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3}},
        "serviceName": "k8s.io",
        "status": {"code": 7, "message": "no"},
    }
    return {
        "insertId": "id-1",
        "labels": LABELS,
        "protoPayload": payload | changes,
        "receiveTimestamp": "2026-11-30T05:31:12.500000Z",
        "resource": {"labels": {"cluster_name": "prod"}, "type": "k8s_cluster"},
        "timestamp": "2026-11-30T05:31:11.047167Z",
    }


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def _log_analytics(told: dict[str, Any]) -> bytes:
    """A row of the `_AllLogs` view, and what client libraries give."""
    payload = {}
    for key, value in told["protoPayload"].items():
        message = key in ("authenticationInfo", "requestMetadata")
        payload[_snake(key)] = {_snake(name): item for name, item in value.items()} if message else value
    row = {_snake(key): value for key, value in told.items()}
    return json.dumps(row | {"proto_payload": {"audit_log": payload}}).encode()


def _bigquery(told: dict[str, Any]) -> bytes:
    """A row as `bq query` prints it: nulls for what is not there, times with a word for the zone."""
    payload = dict(told["protoPayload"], policyViolationInfo=None, numResponseItems=None)
    payload["requestJson"], payload["responseJson"] = (
        json.dumps(payload.pop("request")),
        json.dumps(payload.pop("response")),
    )
    payload["status"] = {"code": "7", "message": None}
    times = {key: told[key].replace("T", " ").replace("Z", " UTC") for key in ("timestamp", "receiveTimestamp")}
    row = {key: value for key, value in told.items() if key != "protoPayload"}
    return json.dumps(
        [row | times | {"protopayload_auditlog": payload, "operation": None, "textPayload": None}]
    ).encode()


def _elastic(told: dict[str, Any]) -> bytes:
    payload = {key: value for key, value in told["protoPayload"].items() if key != "status"}
    moved = {"auditID": told["insertId"], "responseStatus": told["protoPayload"]["status"]}
    times = {"stageTimestamp": told["timestamp"], "requestReceivedTimestamp": told["receiveTimestamp"]}
    labels = {key.replace(".", "_"): value for key, value in told["labels"].items()}
    audit = {"protoPayload": payload, "annotations": labels, "resource": told["resource"], **moved, **times}
    return json.dumps({"kubernetes": {"audit": audit}, "user": {"name": "root"}}).encode()


def _pull(told: dict[str, Any]) -> bytes:
    data = base64.b64encode(json.dumps(told).encode()).decode()
    return json.dumps([{"ackId": "x", "message": {"data": data, "messageId": "1"}}]).encode()


WRITTEN: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "gcloud --format json": lambda told: json.dumps([told], indent=2).encode(),
    "gcloud as it is": lambda told: b"---\n" + yaml.safe_dump(told).encode(),
    "entries.list": lambda told: json.dumps({"entries": [told], "nextPageToken": "x"}).encode(),
    "Pub/Sub pull": _pull,
    "BigQuery": _bigquery,
    "Log Analytics": _log_analytics,
    "Elastic": _elastic,
}


def one(folder: Path, data: bytes) -> AuditEvent:
    (folder / "export").write_bytes(data)
    shelf = collected(folder)
    assert (shelf.mark().foreign, shelf.mark().undecodable) == (0, 0)
    (event,) = shelf.events.values()
    return event


@pytest.mark.parametrize("name", WRITTEN)
def test_an_entry_says_the_same_however_it_is_written(name: str, tmp_path: Path) -> None:
    found = one(tmp_path, WRITTEN[name](entry()))
    assert (found.user, found.impersonated_user) == ("proxy@acme.example", "bob@acme.example")
    assert (found.verb, found.namespace, found.name, found.code) == ("patch", "shop", "web", 403)
    assert (found.source_ips, found.user_agent) == (("203.0.113.7",), "kubectl/v1.32.4")
    assert (found.audit_id, found.at.isoformat()) == ("id-1", "2026-11-30T05:31:11.047167+00:00")
    assert json.loads(found.request or b"") == {"spec": {"replicas": 3, "paused": None}}
    assert json.loads(found.response or b"")["spec"] == {"replicas": 3}


def test_whom_a_request_acted_as_is_never_who_asked(tmp_path: Path) -> None:
    found = one(tmp_path, json.dumps(entry(authenticationInfo={"authoritySelector": "bob@acme.example"})).encode())
    assert (found.user, found.impersonated_user) == ("", "bob@acme.example")


def test_who_took_the_identity_of_a_service_account_is_kept_in_order(tmp_path: Path) -> None:
    history = [
        {"firstPartyPrincipal": {"principalEmail": "alice@acme.example"}, "principalSubject": "user:alice"},
        {"first_party_principal": {"principal_email": "mid@acme.iam.gserviceaccount.com"}},
        {"principalSubject": "principal://iam.googleapis.com/pool/subject/x"},
        {"thirdPartyPrincipal": {"thirdPartyClaims": {}}},
    ]
    who = {"principalEmail": "deploy@acme.iam.gserviceaccount.com", "serviceAccountDelegationInfo": history}
    mid, outside = "mid@acme.iam.gserviceaccount.com", "principal://iam.googleapis.com/pool/subject/x"
    told = entry(authenticationInfo=who)
    for name, written in {"json": json.dumps(told).encode(), "row": _log_analytics(told)}.items():
        (tmp_path / name).mkdir()
        found = one(tmp_path / name, written)
        assert found.user == who["principalEmail"]
        assert found.extra == {"serviceAccountDelegationInfo": ("alice@acme.example", mid, outside, "")}


@pytest.mark.parametrize("history", [None, {}, "x", [], [None], [{"firstPartyPrincipal": 1, "principalSubject": 3}]])
def test_a_delegation_history_without_a_name_is_none(history: Any, tmp_path: Path) -> None:
    who = {"principalEmail": "deploy@acme.iam.gserviceaccount.com", "serviceAccountDelegationInfo": history}
    assert one(tmp_path, json.dumps(entry(authenticationInfo=who)).encode()).extra == {}


def test_a_table_of_the_logs_explorer_leaves_bodies_unknown(tmp_path: Path) -> None:
    told = entry(status={})
    payload = {f"protoPayload.{key}": value for key, value in told["protoPayload"].items()}
    for key in ("authenticationInfo", "requestMetadata"):
        payload |= {f"protoPayload.{key}.{name}": value for name, value in payload.pop(f"protoPayload.{key}").items()}
    for key in ("request", "response"):
        del payload[f"protoPayload.{key}"]
    row = {"insertId": "id-1", "timestamp": told["timestamp"], "resource.labels.cluster_name": "prod", **payload}
    row |= {"protoPayload.request.spec.replicas": "3", "labels.authorization.k8s.io/decision": "allow"}
    out = io.StringIO()
    cells = [json.dumps(value) if isinstance(value, dict) else value for value in row.values()]
    csv.writer(out).writerows([list(row), cells])
    found = one(tmp_path, out.getvalue().encode())
    assert (found.user, found.verb, found.name, found.code) == ("proxy@acme.example", "patch", "web", 0)
    assert (found.request, found.truncated) == (None, True)
    assert found.annotations["authorization.k8s.io/decision"] == "allow"


def test_an_entry_with_other_types_is_no_event_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "export").write_bytes(json.dumps(entry(authenticationInfo=["x"])).encode())
    shelf = collected(tmp_path)
    assert (shelf.events, shelf.mark().foreign) == ({}, 1)
