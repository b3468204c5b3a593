"""The same audit events in every delivery that is read, as the platforms write them.

`event_lines` are the events as an API server writes them. A wrapping takes such lines and gives the bytes of a file.
"""

import base64
import csv
import gzip
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import zstandard

Lines = Sequence[bytes]


def audit_event(number: int, verb: str = "patch", **changes: Any) -> dict[str, Any]:
    """One event in the order of fields that kube-apiserver 1.34 has. `changes` replaces or (None) removes fields."""
    name = changes.pop("name", "web")
    resource = changes.pop("resource", "deployments")
    subresource = changes.pop("subresource", "")
    uri = f"/apis/apps/v1/namespaces/shop/{resource}/{name}" + (f"/{subresource}" if subresource else "")
    reference = {"resource": resource, "namespace": "shop", "name": name, "apiGroup": "apps", "apiVersion": "v1"}
    second, micro = divmod(number * 370_003, 1_000_000)
    event: dict[str, Any] = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse" if verb not in ("get", "list", "watch") else "Metadata",
        "auditID": f"7b4ddbb1-cf65-544c-b88f-{number:012x}",
        "stage": "ResponseComplete",
        "requestURI": uri + "?fieldManager=kubectl-edit&fieldValidation=Strict",
        "verb": verb,
        "user": {"username": "dave@acme.example", "uid": "101", "groups": ["acme:sre", "system:authenticated"]},
        "sourceIPs": ["203.0.113.7", "10.0.0.4"],
        "userAgent": "kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07",
        "objectRef": reference | ({"subresource": subresource} if subresource else {}),
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": f"2026-11-30T05:{31 + second // 60:02}:{second % 60:02}.{micro:06}Z",
        "stageTimestamp": f"2026-11-30T05:{31 + second // 60:02}:{second % 60:02}.{micro:06}Z",
        "annotations": {
            "authorization.k8s.io/decision": "allow",
            "authorization.k8s.io/reason": 'RBAC: allowed by ClusterRoleBinding "sre" of ClusterRole "admin"',
        },
    }
    event |= changes
    return {key: event[key] for key in sorted(event, key=_ORDER.index) if event[key] is not None}


_ORDER = (
    *("kind", "apiVersion", "metadata", "level", "auditID", "stage", "requestURI", "verb", "user", "impersonatedUser"),
    *("sourceIPs", "userAgent", "objectRef", "responseStatus", "requestObject", "responseObject"),
    *("requestReceivedTimestamp", "stageTimestamp", "annotations"),
)


def story() -> list[dict[str, Any]]:
    """Events of every kind that matters: reads, writes, an access, refusals, dry runs, impersonation, long bodies."""
    long_text = 'line with "quotes", a \\ and ünïcode 🙂 ' * 600
    events: list[dict[str, Any]] = []
    for number in range(60):
        match number % 10:
            case 0 | 1 | 2:
                event = audit_event(number, ("get", "list", "watch")[number % 3])
            case 3:
                patch = {"spec": {"replicas": number}}
                stored = patch | {"kind": "Deployment", "metadata": {"name": "web"}}
                event = audit_event(number, requestObject=patch, responseObject=stored)
            case 4:
                refused = {"metadata": {}, "status": "Failure", "reason": "Forbidden", "message": "no", "code": 403}
                event = audit_event(number, "delete", responseStatus=refused)
            case 5:
                uri = "/apis/apps/v1/namespaces/shop/deployments/web?dryRun=All&fieldManager=kubectl"
                event = audit_event(number, requestURI=uri, requestObject={"spec": {"paused": True}})
            case 6:
                event = audit_event(number, impersonatedUser={"username": "bob@acme.example", "groups": ["dev"]})
            case 7:
                event = audit_event(number, "get", resource="pods", subresource="exec", name=f"pod-{number}")
            case 8:
                body = {"metadata": {"name": "web"}, "data": {"text": long_text[: number * 400]}}
                event = audit_event(number, "update", requestObject=body)
            case _:
                event = audit_event(number, "create", stage="RequestReceived", responseStatus=None)
        events.append(event)
    return events


def event_lines(events: Sequence[dict[str, Any]]) -> list[bytes]:
    """One line an event, escaped as Go's encoder does."""
    texts = (json.dumps(event, separators=(",", ":"), ensure_ascii=False) for event in events)
    return [text.replace("&", "\\u0026").replace("<", "\\u003c").encode() for text in texts]


def _loads(lines: Lines) -> list[Any]:
    return [json.loads(line) for line in lines]


def _text(line: bytes) -> str:
    return line.decode()


def _dump(value: Any) -> bytes:
    return json.dumps(value).encode()


def _each(wrap: Callable[[int, str], Any]) -> Callable[[Lines], bytes]:
    """One JSON object a line."""
    return lambda lines: b"".join(_dump(wrap(number, _text(line))) + b"\n" for number, line in enumerate(lines))


def _batches(wrap: Callable[[list[Any]], Any], joint: bytes = b"\n") -> Callable[[Lines], bytes]:
    """Seven events an object."""

    def wrapped(lines: Lines) -> bytes:
        parts = (list(lines[at : at + 7]) for at in range(0, len(lines), 7))
        return b"".join(_dump(wrap(part)) + joint for part in parts)

    return wrapped


def _bare(line: bytes) -> dict[str, Any]:
    return {key: value for key, value in json.loads(line).items() if key not in ("kind", "apiVersion")}


def _cri(lines: Lines) -> bytes:
    out = []
    for line in lines:
        parts = [line[at : at + 16384] for at in range(0, len(line), 16384)]
        for number, part in enumerate(parts):
            tag = b"F" if number == len(parts) - 1 else b"P"
            out.append(b"2026-11-30T05:31:11.047167001Z stdout " + tag + b" " + part + b"\n")
    return b"".join(out)


def _docker(lines: Lines) -> bytes:
    out = []
    for line in lines:
        text = _text(line) + "\n"
        out += [
            _dump({"log": text[at : at + 16384], "stream": "stdout", "time": "2026-11-30T05:31:11.047Z"})
            for at in range(0, len(text), 16384)
        ]
    return b"".join(part + b"\n" for part in out)


def _csv(columns: Sequence[str], row: Callable[[str], Sequence[str]]) -> Callable[[Lines], bytes]:
    def wrapped(lines: Lines) -> bytes:
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(columns)
        writer.writerows(row(_text(line)) for line in lines)
        return out.getvalue().encode()

    return wrapped


def _log_event(line: Any) -> dict[str, Any]:
    return {"id": "3", "timestamp": 1796016671047, "message": _text(line)}


def _subscription(part: list[Any]) -> dict[str, Any]:
    return {
        "messageType": "DATA_MESSAGE",
        "owner": "123456789012",
        "logGroup": "/aws/eks/prod/cluster",
        "logStream": "kube-apiserver-audit-9ac6",
        "subscriptionFilters": ["f"],
        "logEvents": [_log_event(line) for line in part],
    }


def _aks_row(line: bytes) -> dict[str, Any]:
    event = json.loads(line)
    names = {
        "auditID": "AuditId",
        "level": "Level",
        "stage": "Stage",
        "requestURI": "RequestUri",
        "verb": "Verb",
        "user": "User",
        "impersonatedUser": "ImpersonatedUser",
        "sourceIPs": "SourceIps",
        "userAgent": "UserAgent",
        "objectRef": "ObjectRef",
        "responseStatus": "ResponseStatus",
        "requestObject": "RequestObject",
        "responseObject": "ResponseObject",
        "requestReceivedTimestamp": "RequestReceivedTime",
        "stageTimestamp": "StageReceivedTime",
        "annotations": "Annotations",
    }
    row = {names[key]: value for key, value in event.items() if key in names}
    return {key: json.dumps(value) if isinstance(value, dict | list) else value for key, value in row.items()} | {
        "TenantId": "t",
        "TimeGenerated": "2026-11-30T05:32:00Z",
        "TableName": "PrimaryResult",
    }


def _log_analytics_api(lines: Lines) -> bytes:
    rows = [["2026-11-30T05:32:00Z", "kube-audit", _text(line)] for line in lines]
    columns = [{"name": name, "type": "string"} for name in ("TimeGenerated", "Category", "log_s")]
    return _dump({"tables": [{"name": "PrimaryResult", "columns": columns, "rows": rows}]})


def _pubsub(line: str) -> dict[str, Any]:
    data = base64.b64encode(line.encode()).decode()
    return {"message": {"data": data, "messageId": "1", "publishTime": "2026-11-30T05:31:12Z"}, "subscription": "s"}


def _lambda(part: list[Any]) -> dict[str, Any]:
    data = gzip.compress(_dump(_subscription(part)), mtime=0)
    return {"awslogs": {"data": base64.b64encode(data).decode()}}


def _shuffled(lines: Lines) -> bytes:
    """Keys in another order, blanks, and escapes that no Go program writes."""
    out = []
    for line in lines:
        event = dict(sorted(json.loads(line).items(), reverse=True))
        text = json.dumps(event, indent=None, separators=(" , ", " : "), ensure_ascii=True)
        out.append(text.replace('"verb"', '"\\u0076er\\u0062"').encode() + b"\n")
    return b"".join(out)


def _loki_api(lines: Lines) -> bytes:
    values = [[str(1796016671047000000 + number), _text(line)] for number, line in enumerate(lines)]
    result = [{"stream": {"job": "audit"}, "values": values}]
    return _dump({"status": "success", "data": {"resultType": "streams", "result": result, "stats": {}}})


WRAPPINGS: dict[str, Callable[[Lines], bytes]] = {
    "json lines": lambda lines: b"".join(line + b"\n" for line in lines),
    "json lines without a last newline": b"\n".join,
    "CRLF and a byte order mark": lambda lines: b"\xef\xbb\xbf" + b"".join(line + b"\r\n" for line in lines),
    "UTF-16": lambda lines: b"".join(line + b"\n" for line in lines).decode().encode("utf-16"),
    "UTF-16 big-endian without a mark": lambda lines: (
        b"".join(line + b"\n" for line in lines).decode().encode("utf-16-be")
    ),
    "other order, blanks and escapes": _shuffled,
    "event lists": _batches(
        lambda part: {
            "kind": "EventList",
            "apiVersion": "audit.k8s.io/v1",
            "metadata": {},
            "items": [_bare(line) for line in part],
        }
    ),
    "one event list": lambda lines: _dump({"kind": "EventList", "items": [_bare(line) for line in lines]}),
    "an array": lambda lines: _dump(_loads(lines)),
    "a pretty array": lambda lines: json.dumps(_loads(lines), indent=4).encode(),
    "an array, one element a line": lambda lines: b"[\n" + b",\n".join(lines) + b"\n]\n",
    "pretty-printed": lambda lines: b"".join(json.dumps(event, indent=2).encode() + b"\n" for event in _loads(lines)),
    "joined without newlines": lambda lines: b"".join(lines),
    "a string in each line": lambda lines: b"".join(
        _dump({"message": json.dumps(_text(line))}) + b"\n" for line in lines
    ),
    "CloudWatch filter-log-events": lambda lines: json.dumps(
        {
            "events": [_log_event(line) | {"logStreamName": "kube-apiserver-audit-9ac6"} for line in lines],
            "searchedLogStreams": [],
            "nextToken": None,
        },
        indent=4,
    ).encode(),
    "CloudWatch in one line": lambda lines: _dump({"events": [_log_event(line) for line in lines]}),
    "CloudWatch S3 export": lambda lines: b"".join(b"2026-11-30T05:31:11.047Z " + line + b"\n" for line in lines),
    "Firehose records": _batches(_subscription, b""),
    "subscription records": _batches(_subscription),
    "subscription to Lambda": _batches(_lambda),
    "Insights JSON": lambda lines: _dump(
        {
            "results": [
                [
                    {"field": "@timestamp", "value": "2026-11-30 05:31:11.047"},
                    {"field": "@message", "value": _text(line)},
                    {"field": "@ptr", "value": "x"},
                ]
                for line in lines
            ],
            "status": "Complete",
        }
    ),
    "Insights CSV": _csv(("@timestamp", "@message"), lambda text: ("2026-11-30 05:31:11.047", text)),
    "AKS Event Hub": _batches(
        lambda part: {
            "records": [
                {
                    "category": "kube-audit",
                    "resourceId": "/SUBSCRIPTIONS/1/PROVIDERS/MICROSOFT.CONTAINERSERVICE/MANAGEDCLUSTERS/PROD",
                    "time": "2026-11-30T05:31:12Z",
                    "properties": {"log": _text(line), "stream": "stdout", "pod": "kube-apiserver-1"},
                }
                for line in part
            ]
        }
    ),
    "AKS storage": _each(
        lambda _, text: {
            "time": "2026-11-30T05:31:12Z",
            "category": "kube-audit-admin",
            "properties": {"log": text, "pod": "kube-apiserver-1"},
        }
    ),
    "AKS with an object": _each(lambda _, text: {"category": "kube-audit", "properties": {"log": json.loads(text)}}),
    "Log Analytics AzureDiagnostics": lambda lines: json.dumps(
        [{"TimeGenerated": "2026-11-30T05:32:00Z", "Category": "kube-audit", "log_s": _text(line)} for line in lines],
        indent=2,
    ).encode(),
    "Log Analytics AKSAudit": lambda lines: json.dumps([_aks_row(line) for line in lines], indent=2).encode(),
    "Log Analytics CSV": _csv(("TimeGenerated", "log_s"), lambda text: ("2026-11-30T05:32:00Z", text)),
    "Log Analytics API": _log_analytics_api,
    "OpenShift node logs": lambda lines: b"".join(
        b"master-%d.ocp " % (n % 3) + line + b"\n" for n, line in enumerate(lines)
    ),
    "OpenShift ViaQ": _each(
        lambda _, text: {"@timestamp": "2026-11-30T05:31:12Z", "log_type": "audit", "structured": json.loads(text)}
    ),
    "Docker json-file": _docker,
    "CRI": _cri,
    "journald text": lambda lines: b"".join(
        b"Nov 30 05:31:11 cp-1 kube-apiserver[811]: " + line + b"\n" for line in lines
    ),
    "journald JSON": _each(
        lambda _, text: {"__REALTIME_TIMESTAMP": "1796016671047167", "_HOSTNAME": "cp-1", "MESSAGE": text}
    ),
    "journald bytes": _each(lambda _, text: {"_HOSTNAME": "cp-1", "MESSAGE": list(text.encode())}),
    "syslog": lambda lines: b"".join(b"<134>1 2026-11-30T05:31:11Z cp-1 audit - - - " + line + b"\n" for line in lines),
    "Filebeat": _each(
        lambda _, text: {"@timestamp": "2026-11-30T05:31:12.000Z", "message": text, "host": {"name": "cp-1"}}
    ),
    "Fluent": _each(lambda _, text: {"log": text, "stream": "stdout", "kubernetes": {"pod_name": "x"}}),
    "Vector": _each(
        lambda _, text: {"file": "/var/log/audit.log", "host": "cp-1", "message": text, "source_type": "file"}
    ),
    "Loki logcli": _each(
        lambda _, text: {"labels": {"job": "audit"}, "line": text, "timestamp": "2026-11-30T05:31:12Z"}
    ),
    "Loki API": _loki_api,
    "Splunk": _each(
        lambda n, text: {"preview": False, "offset": n, "result": {"_raw": text, "_time": "2026-11-30T05:31:12Z"}}
    ),
    "Splunk CSV": _csv(("_time", "_raw"), lambda text: ("2026-11-30T05:31:12Z", text)),
    "Splunk collector": _each(lambda _, text: {"time": 1796016671.047, "host": "cp-1", "event": json.loads(text)}),
    "Elasticsearch": lambda lines: _dump(
        {
            "took": 1,
            "hits": {
                "total": {"value": 1},
                "hits": [
                    {
                        "_index": "audit",
                        "_id": "1",
                        "_source": {"@timestamp": "2026-11-30T05:31:12Z", "message": _text(line)},
                    }
                    for line in lines
                ],
            },
        }
    ),
    "Elasticsearch documents": _each(
        lambda _, text: {"_index": "a", "_source": {"kubernetes": {"audit": json.loads(text)}}}
    ),
    "Pub/Sub push": _each(lambda _, text: _pubsub(text)),
    "gzip": lambda lines: gzip.compress(b"".join(line + b"\n" for line in lines), mtime=0),
    "gzip members": lambda lines: b"".join(gzip.compress(line + b"\n", mtime=0) for line in lines),
    "gzip of Firehose": lambda lines: gzip.compress(_batches(_subscription, b"")(lines), mtime=0),
    "zstd": lambda lines: zstandard.compress(b"".join(line + b"\n" for line in lines)),
    "zstd frames": lambda lines: b"".join(zstandard.compress(line + b"\n") for line in lines),
    "gzip in zstd": lambda lines: zstandard.compress(gzip.compress(b"".join(line + b"\n" for line in lines), mtime=0)),
}
