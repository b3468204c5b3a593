"""The same audit events as log stores, message queues and terminals hand them out."""

import base64
import bz2
import csv
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any

import yaml

from tests.collectors.kube_audit.deliveries import Lines

_AT = "2026-11-30T05:31:12Z"


def _dump(value: Any) -> bytes:
    return json.dumps(value).encode()


def _texts(lines: Lines) -> list[str]:
    return [line.decode() for line in lines]


def _events(lines: Lines) -> list[Any]:
    return [json.loads(line) for line in lines]


def _each(wrap: Callable[[str, Any], Any]) -> Callable[[Lines], bytes]:
    """One JSON object a line, of the event as text and parsed."""
    return lambda lines: b"".join(_dump(wrap(line.decode(), json.loads(line))) + b"\n" for line in lines)


def _written(pattern: str) -> Callable[[Lines], bytes]:
    """One line of text an event."""
    return lambda lines: b"".join(pattern.replace("…", text).encode() + b"\n" for text in _texts(lines))


def _table(header: list[str], *before: str, between: str = ",") -> Callable[[Lines], bytes]:
    """CSV with the event in the last column."""

    def wrapped(lines: Lines) -> bytes:
        out = io.StringIO()
        writer = csv.writer(out, quoting=csv.QUOTE_ALL, delimiter=between)
        writer.writerow(header)
        writer.writerows([*before, text] for text in _texts(lines))
        return b"\xef\xbb\xbf" + out.getvalue().encode()

    return wrapped


def _subscribed(lines: Lines) -> str:
    """What CloudWatch puts into a Kinesis stream: base64 of gzip."""
    told = [{"id": "3", "timestamp": 1796016671047, "message": text} for text in _texts(lines)]
    record = {"messageType": "DATA_MESSAGE", "logGroup": "/aws/eks/prod/cluster", "logEvents": told}
    return base64.b64encode(gzip.compress(_dump(record), mtime=0)).decode()


def any_value(value: Any) -> Any:
    """A value as OpenTelemetry writes it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    return {"kvlistValue": {"values": pairs(value)}} if value is not None else {}


def pairs(value: Any) -> list[Any]:
    """An object as OpenTelemetry writes it."""
    return [{"key": key, "value": any_value(item)} for key, item in value.items()]


def _otlp(record: Callable[[str, Any], Any]) -> Callable[[Lines], bytes]:
    def wrapped(lines: Lines) -> bytes:
        records = [record(line.decode(), json.loads(line)) for line in lines]
        return _dump({"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {}, "logRecords": records}]}]})

    return wrapped


def _sls_row(event: Any) -> Any:
    """Alibaba's Log Service has a column a field, and objects in it as text."""
    row = {key: json.dumps(value) if isinstance(value, dict | list) else value for key, value in event.items()}
    return {"__time__": 1796016671, "__topic__": "", **row}


def _tar(lines: Lines, mode: Any = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, part in (("a.log", lines[:9]), ("._a.log", [b"note"]), ("b/c.log.gz", lines[9:])):
            data = b"\n".join(part)
            data = gzip.compress(data, mtime=0) if name.endswith("gz") else data
            entry = tarfile.TarInfo(f"must-gather/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def _zip(lines: Lines) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("audit/b.log", b"\n".join(lines[:9]))
        archive.writestr("audit/a.log", b"\n".join(lines[9:]))
        archive.writestr("__MACOSX/._b.log", b"note")
    return out.getvalue()


def _plain(lines: Lines) -> bytes:
    return b"".join(line + b"\n" for line in lines)


EXPORTS: dict[str, Callable[[Lines], bytes]] = {
    "aws logs tail": _written("2026-11-30T05:31:11.047000+00:00 kube-apiserver-audit-9ac6 …"),
    "aws --output text": _written("EVENTS\t3812\t1796016672000\tkube-apiserver-audit-9ac6\t…\t1796016671047"),
    "aws --query messages": lambda lines: json.dumps(_texts(lines), indent=4).encode(),
    "aws --query messages --output text": lambda lines: b"\t".join(lines) + b"\n",
    "aws --output yaml": lambda lines: yaml.safe_dump(
        {"events": [{"message": text} for text in _texts(lines)]}
    ).encode(),
    "jq .message": _each(lambda text, _: text),
    "Kinesis records": lambda lines: _dump({"Records": [{"SequenceNumber": "1", "Data": _subscribed(lines)}]}),
    "Kinesis to Lambda": lambda lines: _dump(
        {"Records": [{"kinesis": {"partitionKey": "1", "data": _subscribed(lines)}, "eventSource": "aws:kinesis"}]}
    ),
    "SNS": _each(lambda text, _: {"Type": "Notification", "Message": text, "Timestamp": _AT}),
    "Sentinel's AWSEKSLogs": _each(lambda text, _: {"TimeGenerated": _AT, "ClusterName": "prod", "RawEvent": text}),
    "Data Explorer": lambda lines: _dump(
        {"Tables": [{"Columns": [{"ColumnName": "log_s"}], "Rows": [[text] for text in _texts(lines)]}]}
    ),
    "Event Hubs capture": lambda lines: _dump(
        {"Body": json.dumps({"records": [{"category": "kube-audit", "properties": {"log": t}} for t in _texts(lines)]})}
    ),
    "az --output tsv": _written("kube-audit\t…\t2026-11-30T05:32:00Z"),
    "az --output yaml": lambda lines: yaml.safe_dump(
        [{"Category": "kube-audit", "log_s": text} for text in _texts(lines)]
    ).encode(),
    "kubectl logs --prefix": _written("[pod/kube-apiserver-cp-1/kube-apiserver] …"),
    "kubectl logs --prefix --timestamps": _written("[pod/apiserver-1/apiserver] 2026-11-30T05:31:11.047167001Z …"),
    "stern in colours": _written("\x1b[35mapiserver-1\x1b[0m \x1b[95mapiserver\x1b[0m …\x1b[0m"),
    "talosctl logs": _written("10.5.0.2: …"),
    "rsyslog with a cookie": _written("2026-11-30T05:31:11.047+00:00 cp-1 kube-audit: @cee:…"),
    "rsyslog JSON": _each(lambda text, _: {"timestamp": _AT, "host": "cp-1", "msg": " " + text}),
    "Filebeat with a target": _each(
        lambda _, event: {"@timestamp": _AT, "log": {"offset": 0}, "user": {"name": "root"}, "json": event}
    ),
    "ECS with the original": _each(
        lambda text, _: {
            "event": {"original": text, "action": "patch"},
            "kubernetes": {"audit": {"verb": "patch"}},
            "user": {"name": "root"},
        }
    ),
    "OpenSearch SQL": lambda lines: _dump({"schema": [{"name": "message"}], "datarows": [[t] for t in _texts(lines)]}),
    "Fluent Bit Merge_Log_Key": _each(
        lambda _, event: {
            "date": 1796016671.047,
            "stream": "stdout",
            "log_processed": event,
            "kubernetes": {"host": "x"},
        }
    ),
    "Fluent Bit stdout": lambda lines: b"".join(
        b'[0] kube.audit: [[1796016671.047, {}], {"log"=>' + _dump(text) + b"}]\n" for text in _texts(lines)
    ),
    "Fluentd forward": _each(lambda _, event: ["kube.audit", 1796016671, event]),
    "Vector parsed": _each(lambda _, event: {"file": "/a", "host": "cp-1", "parsed": event}),
    "logcli": _written('2026-11-30T05:31:12Z {filename="/var/log/audit.log", job="audit"} …'),
    "Loki push": lambda lines: _dump(
        {"streams": [{"stream": {"job": "audit"}, "values": [["1796016671047000000", t] for t in _texts(lines)]}]}
    ),
    "Grafana CSV": _table(["labels", "Time", "Line"], '{"job":"audit"}', "2026-11-30 05:31:11.047"),
    "Splunk json_rows": lambda lines: _dump({"fields": ["_time", "_raw"], "rows": [[_AT, t] for t in _texts(lines)]}),
    "Splunk json_cols": lambda lines: _dump(
        {"fields": ["_time", "_raw"], "columns": [[_AT] * len(lines), _texts(lines)]}
    ),
    "Datadog API": lambda lines: _dump(
        {"data": [{"id": "A", "attributes": {"message": "", "attributes": event}} for event in _events(lines)]}
    ),
    "Datadog archive": _each(
        lambda _, event: {"_id": "A", "date": _AT, "host": "cp-1", "attributes": event | {"usr": {"id": "x"}}}
    ),
    "Datadog CSV": _table(["Date", "Host", "Service", "Message"], _AT, "cp-1", "audit"),
    "CSV with semicolons": _table(["TimeGenerated", "log_s"], _AT, between=";"),
    "CSV with tabs": _table(["Date", "Content"], _AT, between="\t"),
    "Sumo Logic": lambda lines: _dump({"messages": [{"map": {"_raw": text}} for text in _texts(lines)]}),
    "GELF": _each(lambda text, _: {"version": "1.1", "short_message": text[:300], "full_message": text}),
    "Graylog search": lambda lines: _dump(
        {"messages": [{"message": {"source": "x", "message": t}} for t in _texts(lines)]}
    ),
    "LogScale": _each(lambda text, event: {"@rawstring": text, "verb": event["verb"], "user.username": "root"}),
    "kcat": _each(lambda text, _: {"topic": "audit", "partition": 0, "key": None, "payload": text}),
    "OpenTelemetry text": _otlp(lambda text, _: {"timeUnixNano": "1", "body": {"stringValue": text}}),
    "OpenTelemetry body": _otlp(lambda _, event: {"body": any_value(event)}),
    "OpenTelemetry attributes": _otlp(lambda _, event: {"body": {"stringValue": "x"}, "attributes": pairs(event)}),
    "CloudEvents": _each(lambda _, event: {"specversion": "1.0", "id": "1", "source": "/prod", "data": event}),
    "CloudEvents base64": _each(
        lambda text, _: {"specversion": "1.0", "id": "1", "data_base64": base64.b64encode(text.encode()).decode()}
    ),
    "Alibaba Log Service": _each(lambda _, event: _sls_row(event)),
    "Mezmo": _each(lambda text, _: {"_ts": 1796016671047, "_host": "cp-1", "_line": text}),
    "YAML documents": lambda lines: b"".join(b"---\n" + yaml.safe_dump(event).encode() for event in _events(lines)),
    "YAML EventList": lambda lines: yaml.safe_dump({"kind": "EventList", "items": _events(lines)}).encode(),
    "YAML in UTF-16": lambda lines: yaml.safe_dump_all(_events(lines), explicit_start=True).encode("utf-16"),
    "bzip2": lambda lines: bz2.compress(_plain(lines[:9])) + bz2.compress(_plain(lines[9:])),
    "xz": lambda lines: lzma.compress(_plain(lines[:9])) + lzma.compress(_plain(lines[9:])),
    "tar": _tar,
    "tar in gzip": lambda lines: _tar(lines, "w:gz"),
    "tar in xz": lambda lines: _tar(lines, "w:xz"),
    "zip": _zip,
}
