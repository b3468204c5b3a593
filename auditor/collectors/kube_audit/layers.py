"""The wrappings that are known, each by the key that shows it: what it says of the record, and what it holds.

A layer opens one wrapping and hands on what is inside; `wrappers` opens that in its turn.
"""

import base64
import binascii
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from auditor.collectors.kube_audit import azure, elastic, events, foreign, gke, otlp
from auditor.collectors.kube_audit.delivery import Delivery, Members, string_of, time_of
from auditor.collectors.kube_audit.events import moment
from auditor.collectors.kube_audit.places import Found, Inside, Place, member

_INFLATED = 64 << 20
"""Bytes that a compressed record may grow to."""
Layer = Callable[[bytes, Members, Place], Iterator[Found | Inside]]


def _array(key: str) -> Layer:
    """The elements of the member `key`."""

    def layer(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
        array = bytes(members[key])
        if array[:1] == b"[":
            yield Inside(array, place.saying(members).at(text.find(array)))

    return layer


def _inner(key: str) -> Layer:
    """The member `key`: an object, or a text with a record in it."""

    def layer(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
        yield member(members[key], place.saying(members))

    return layer


def _log_events(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """A CloudWatch subscription record; CONTROL_MESSAGE ones only say that the subscription lives."""
    if "messageType" in members and string_of(members["messageType"]) == "CONTROL_MESSAGE":
        yield place.foreign("a CloudWatch control message")
        return
    yield from _array("logEvents")(text, members, place)


def _lambda(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """`awslogs.data`: base64 of gzip of a subscription record."""
    inner = _object(members["awslogs"])
    yield from _encoded(inner.get("data"), place)


def _encoded(raw: Raw | None, place: Place) -> Iterator[Found | Inside]:
    """base64 of a record, compressed or not."""
    try:
        data = base64.b64decode(string_of(raw) if raw is not None else "", validate=True)
        if data[:2] == b"\x1f\x8b":
            data = zlib.decompressobj(wbits=31).decompress(data, _INFLATED)
    except (binascii.Error, ValueError, zlib.error):
        return
    yield Inside(data.strip(), place.deeper(), plain=True)


def _message(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """`message`: text for most shippers, an object with `data` in base64 for Pub/Sub."""
    raw = members["message"]
    if bytes(raw)[:1] == b"{" and "data" in (inner := _object(raw)):
        yield from _encoded(inner["data"], place.named("pubsub"))
    else:
        yield member(raw, place.saying(members))


def _properties(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """An AKS record: `properties.log` is text or an object; other categories carry other logs."""
    place = place.saying(members)
    category = string_of(members["category"]) if "category" in members else ""
    properties = _object(members["properties"])
    if "log" not in properties or (category and not category.lower().startswith("kube-audit")):
        yield place.foreign(f"an Azure record of category {category or 'unknown'}")
        return
    yield member(properties["log"], place.saying(properties))


def _gke(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """A Cloud Logging entry, from a sink, `gcloud` or a BigQuery table."""
    yield entry(text, place) or place.foreign("a Cloud Logging entry of another service")


def entry(text: bytes, place: Place) -> Found | None:
    """A Cloud Logging entry of the Kubernetes API; None for anything else. Raises msgspec.DecodeError."""
    said = gke.decode_entry(text)
    mapped = gke.event_of(said)
    if mapped is None:
        return None
    event, cut = mapped
    labels = said.resource.labels if said.resource else {}
    at = moment(said.timestamp or said.receive_timestamp)
    delivery = Delivery(at, "", events.as_text(labels.get("cluster_name")), cut)
    return place.found(event, delivery)


def _row(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """A row of AKSAudit or AKSAuditAdmin."""
    event = azure.event_of(members)
    if events.is_audit(event):
        yield place.saying(members).found(event)
    else:
        yield place.foreign(foreign.NO_EVENT)


def _data(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """`data`: Loki's answer (`data.result`), a bare Pub/Sub message, or what an envelope holds."""
    raw = bytes(members["data"])
    if raw[:1] == b'"':
        yield from _encoded(members["data"], place.named("pubsub"))
    elif raw[:1] == b"{" and "result" in (inner := _object(members["data"])):
        yield from _array("result")(raw, inner, place.named("loki").at(text.find(raw)))
    else:
        yield member(members["data"], place.named("wrapped").saying(members))


def _base64(key: str) -> Layer:
    """The member `key`: base64 of a record."""
    return lambda text, members, place: _encoded(members[key], place.saying(members))


def _pairs(key: str) -> Layer:
    """The member `key`: OpenTelemetry's list of keys and values, or an object."""

    def layer(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
        raw = members[key]
        if record := otlp.plain(raw) if bytes(raw)[:1] == b"[" else b"":
            yield Inside(record, place.saying(members).deeper())
        else:
            yield member(raw, place.saying(members))

    return layer


def _body(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """A log record of OpenTelemetry, in JSON or as a shipper writes it: text, an object, or keys and values."""
    inner = _object(members["body"])
    if "kvlistValue" in inner:
        yield from _pairs("values")(text, _object(inner["kvlistValue"]), place.saying(members))
    else:
        yield member(members["body"], place.saying(members))


def _snake_case(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """A Cloud Logging entry as client libraries and the tables of Log Analytics spell it."""
    yield from _gke(gke.in_camel_case(members), members, place)


def _loki_values(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """One stream of Loki's answer: labels, and pairs of nanoseconds and line."""
    labels = _object(members["stream"]) if "stream" in members else {}
    said = place.saying(labels)
    pairs: Any = msgspec.json.decode(members["values"])
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, list) and len(pair) > 1 and isinstance(pair[1], str):
            delivery = replace(said.delivery, at=time_of(events.as_text(pair[0])))
            line = pair[1].encode("utf-8", "replace").strip()
            yield Inside(line, replace(said, delivery=delivery).deeper(), plain=True)


def _results(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """`results`: rows of CloudWatch Insights, or of Splunk."""
    rows = bytes(members["results"])[1:64].lstrip()
    yield from _array("results")(text, members, place.named("cloudwatch-insights" if rows[:1] == b"[" else "splunk"))


def _hits(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """Elasticsearch's answer: `hits.hits[]._source`."""
    raw = bytes(members["hits"])
    if raw[:1] != b"{" or "hits" not in (inner := _object(members["hits"])):
        return
    yield from _array("hits")(raw, inner, place.at(text.find(raw)))


def _journald_bytes(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """`MESSAGE` of `journalctl -o json`: text, or a list of numbers where it is not UTF-8 or long."""
    raw = bytes(members["MESSAGE"])
    if raw[:1] != b"[":
        yield member(members["MESSAGE"], place.saying(members))
        return
    try:
        content = bytes(msgspec.json.decode(raw, type=list[int]))
    except (msgspec.DecodeError, ValueError):
        return
    yield Inside(content.strip(), place.saying(members).deeper(), plain=True)


def _kubernetes(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """`kubernetes.audit`, as the Elastic integration stores an event."""
    inner = _object(members["kubernetes"])
    if "audit" in inner:
        yield member(inner["audit"], replace(place.saying(members), mend=elastic.restored))


def _ecs(text: bytes, members: Members, place: Place) -> Iterator[Found | Inside]:
    """`event`: what was sent to Splunk's collector, or Elastic's note on an event with its `original` text."""
    inner = _object(members["event"])
    yield member(inner.get("original", members["event"]), place.saying(members))


def _object(raw: Raw) -> dict[str, Raw]:
    data = bytes(raw)
    return events.decode_members(data) if data[:1] == b"{" else {}


LAYERS: dict[str, tuple[str, Layer]] = {
    "protoPayload": ("gke", _gke),
    "protopayload_auditlog": ("gke-bigquery", _gke),
    "proto_payload": ("gke-bigquery", _snake_case),
    "logEvents": ("cloudwatch-subscription", _log_events),
    "awslogs": ("cloudwatch-lambda", _lambda),
    "events": ("cloudwatch", _array("events")),
    "items": ("event-list", _array("items")),
    "records": ("aks", _array("records")),
    "Records": ("kinesis", _array("Records")),
    "properties": ("aks", _properties),
    "log_s": ("aks-log-analytics", _inner("log_s")),
    "AuditId": ("aks-log-analytics", _row),
    "tables": ("aks-log-analytics", _array("tables")),
    "Tables": ("aks-log-analytics", _array("Tables")),
    "RawEvent": ("sentinel", _inner("RawEvent")),
    "hits": ("elasticsearch", _hits),
    "_source": ("elasticsearch", _inner("_source")),
    "fields": ("elasticsearch", _inner("fields")),
    "resourceLogs": ("otlp", _array("resourceLogs")),
    "streams": ("loki", _array("streams")),
    "Data": ("kinesis", _base64("Data")),
    "data_base64": ("cloudevents", _base64("data_base64")),
    "data": ("", _data),
    "values": ("loki", _loki_values),
    "results": ("", _results),
    "result": ("splunk", _inner("result")),
    "_raw": ("splunk", _inner("_raw")),
    "line": ("loki", _inner("line")),
    "MESSAGE": ("journald", _journald_bytes),
    "@message": ("cloudwatch-insights", _inner("@message")),
    "@rawstring": ("logscale", _inner("@rawstring")),
    "structured": ("viaq", _inner("structured")),
    "event": ("event", _ecs),
    "kubernetes": ("elasticsearch", _kubernetes),
    "message": ("shipper", _message),
    "log": ("container", _inner("log")),
    "textPayload": ("gke", _inner("textPayload")),
    "jsonPayload": ("gke", _inner("jsonPayload")),
    "body": ("otel", _body),
    "attributes": ("attributes", _pairs("attributes")),
}
"""By the key that shows the wrapping, in the order in which they are tried: its name, and what opens it."""
SURE = frozenset({"protoPayload", "protopayload_auditlog", "proto_payload", "logEvents", "properties", "records"})
"""Keys after which no other layer is tried: what they hold is foreign if it is no audit event."""
