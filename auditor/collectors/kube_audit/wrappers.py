"""What is inside a record: the audit events that a delivery wrapped, recognised by the keys that it has.

Wrappings nest (a Pub/Sub message with a Cloud Logging entry, a Filebeat line with a Docker line with an event), so
each one opens one layer and hands on what it finds. The table `_LAYERS` lists all that are known.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import Raw

from auditor.collectors.kube_audit import azure, elastic, events, flattened, foreign, gke, otlp, tables, text_lines
from auditor.collectors.kube_audit.delivery import Delivery, Members, said_by, string_of, time_of
from auditor.collectors.kube_audit.events import Event, moment
from auditor.collectors.kube_audit.salvage import salvage
from auditor.collectors.kube_audit.values import skip_separators, value_end

_NESTING = 16
"""Layers of wrapping; OpenTelemetry's alone has eight."""
NOT_A_RECORD = "not a record"
_INFLATED = 64 << 20
"""Bytes that a compressed record may grow to."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing inside a record: an event, or (None) something that is none, and its place there."""

    event: Event | None
    format: str
    delivery: Delivery
    start: int
    end: int
    reason: str = ""
    shared: bool = False
    """Whether its bytes were told of with another finding already."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the record we are: what was said so far, and the span that findings get."""

    delivery: Delivery
    format: str
    start: int
    end: int
    depth: int = 0
    inline: bool = True
    """Whether the text at hand is the record's own bytes, so that elements have places of their own."""

    def named(self, name: str) -> "_Place":
        """The outermost wrapping gives the format its name."""
        return replace(self, format=self.format or name)

    def saying(self, members: Members) -> "_Place":
        """With what `members` say of stream, cluster and time."""
        return replace(self, delivery=said_by(members, self.delivery))

    def deeper(self) -> "_Place":
        """Inside a text of the record: what is found there has no place of its own."""
        return replace(self, depth=self.depth + 1, inline=False)


def unwrap(record: bytes, delivery: Delivery, name: str = "") -> Iterator[Found]:
    """All that is in `record`, one JSON value. Raises msgspec.DecodeError or RecursionError where it is none."""
    yield from _open(record, _Place(delivery, name, 0, len(record)))


def unwrap_other(record: bytes) -> Iterator[Found]:
    """The same for a JSON object that is known to be no audit event itself."""
    yield from _layers(record, events.decode_members(record), _Place(_NOTHING_SAID, "", 0, len(record)))


def entry(record: bytes) -> Found | None:
    """A Cloud Logging entry of the Kubernetes API; None for anything else. Raises msgspec.DecodeError."""
    return _entry(record, _Place(_NOTHING_SAID, "gke", 0, len(record)))


_NOTHING_SAID = Delivery()


def _open(text: bytes, place: _Place) -> Iterator[Found]:
    if place.depth > _NESTING:
        yield _foreign(place, "wrapped too deeply")
        return
    if text[:1] == b"[":
        yield from _list(text, place)
        return
    if text[:1] == b'"' and b"{" in text:
        yield from _text(Raw(text), place)
        return
    if text[:1] != b"{":
        yield _foreign(place, NOT_A_RECORD)
        return
    try:
        event = events.decode(text)
        members: Members | None = None
    except (msgspec.ValidationError, UnicodeDecodeError):
        members = events.decode_members(text)
        event = events.lenient(members)
    if events.is_audit(event):
        yield Found(event, place.format or "jsonl", place.delivery, place.start, place.end)
        return
    yield from _layers(text, events.decode_members(text) if members is None else members, place)


def _layers(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    if tables.is_table(members):
        yield from _table(members, place.named("table"))
        return
    told: list[Found] = []
    for key, (name, opener) in _LAYERS.items():
        if key in members:
            found = list(opener(text, members, place.named(name)))
            if any(each.event for each in found) or len(found) > 1 or key in _SURE:
                yield from found
                return
            told += (each for each in found if each.reason != foreign.NO_EVENT)
    if flattened.is_flattened(members) and (found := list(_flattened(members, place.named("flattened")))):
        yield from found
    else:
        yield from _anywhere(members, place.named("wrapped")) or _not_audit(members, place, told)


def _not_audit(members: Members, place: _Place, told: Sequence[Found]) -> Sequence[Found]:
    """What a record without an event is, by itself or by what it holds."""
    reason = foreign.reason(members)
    return told[:1] if reason == foreign.NO_EVENT and told else (_foreign(place, reason),)


def _anywhere(members: Members, place: _Place) -> list[Found]:
    """The events in members of other names. One that is there whole and cut, or as text and parsed, is one."""
    said = place.saying(members)
    texts = [raw for key, raw in members.items() if key not in _LAYERS and _RECORD.match(bytes(raw))]
    found = [(each.event, each) for raw in texts for each in _text(raw, said) if each.event is not None]
    whole: dict[tuple[str, str], Found] = {}
    for event, each in found:
        if not each.delivery.cut:
            whole.setdefault((event.audit_id, event.stage), each)
    return list(whole.values()) or [each for _, each in found[:1]]


_RECORD = re.compile(rb'\{|\[|"[^"{]*\{')


def _table(members: Members, place: _Place) -> Iterator[Found]:
    """Columns once, then rows of values."""
    for row in tables.rows(members):
        yield from _open(row, place.deeper())


def _flattened(members: Members, place: _Place) -> Iterator[Found]:
    """An event, or what it is wrapped in, whose keys have dots. Nothing where it is none."""
    text, cut = flattened.nested(members)
    inner = events.decode_members(text)
    if inner.keys() != members.keys():
        for each in _open(text, place.deeper()):
            if each.event is not None:
                yield replace(each, delivery=replace(each.delivery, cut=each.delivery.cut or cut))


def _foreign(place: _Place, reason: str) -> Found:
    return Found(None, place.format, place.delivery, place.start, place.end, reason)


def _list(text: bytes, place: _Place) -> Iterator[Found]:
    """A list of records, or one row of CloudWatch Insights. What stands beside events and is no record wraps them."""
    if _CELL.match(text):
        yield from _open(tables.cells(text), replace(place.named("cloudwatch-insights").deeper(), inline=False))
        return
    found = list(_elements(text, 0, place.named("json-array")))
    beside = any(each.event for each in found)
    yield from (each for each in found if not (beside and each.reason == NOT_A_RECORD))


def _elements(text: bytes, start: int, place: _Place) -> Iterator[Found]:
    """The elements of the array that begins at `start`, each with its own place where the text is the record's own."""
    at = skip_separators(text, start + 1)
    while at < len(text) and text[at : at + 1] != b"]":
        end = value_end(text, at)
        if end < 0:
            return
        element = text[at:end].rstrip()
        inner = place
        if place.inline:
            inner = replace(place, start=place.start + at, end=place.start + at + len(element))
        yield from _open(element, replace(inner, depth=place.depth + 1))
        at = skip_separators(text, end)


def _array(key: str) -> "Opener":
    """The elements of the member `key`."""

    def opener(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
        array = bytes(members[key])
        if array[:1] != b"[":
            return
        place = place.saying(members)
        if place.inline:
            start = text.find(array)
            yield from _elements(array, 0, replace(place, start=place.start + start))
        else:
            yield from _elements(array, 0, place)

    return opener


def _inner(key: str) -> "Opener":
    """The member `key`: an object, or a text with a record in it."""

    def opener(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
        yield from _text(members[key], place.saying(members))

    return opener


def _text(raw: Raw, place: _Place) -> Iterator[Found]:
    """What is in a member: an object as it is, or what its text holds."""
    place = place.deeper()
    data = bytes(raw)
    if data[:1] != b'"':
        if data[:1] in (b"{", b"["):
            yield from _open(data, place)
        return
    content = msgspec.json.decode(data, type=str).encode("utf-8", "replace").strip()
    yield from within(content, place)


def within(content: bytes, place: _Place) -> Iterator[Found]:
    """The records in a text, the whole of it or among other words. One that was cut keeps what it has."""
    if content[:1] == b'"' and value_end(content, 0) == len(content):
        yield from _text(Raw(content), place)
        return
    if place.depth > _NESTING:
        yield _foreign(place, "wrapped too deeply")
        return
    found: list[Found] = []
    for start, end in text_lines.records(content):
        if end > 0:
            found += _open(content[start:end].rstrip(), place)
        elif event := salvage(content[start:]):
            found.append(Found(event, place.format, replace(place.delivery, cut=True), place.start, place.end))
        else:
            found.append(_foreign(place, "text without a whole record"))
    beside = any(each.event for each in found)
    yield from (each for each in found if each.event or not beside)
    if not found:
        yield _foreign(place, "text without a record")


def in_line(line: bytes, delivery: Delivery, name: str) -> Iterator[Found]:
    """The records in a line of text."""
    yield from within(line, _Place(delivery, name, 0, len(line), inline=False))


# Layers that are more than a member


def _log_events(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """A CloudWatch subscription record; CONTROL_MESSAGE ones only say that the subscription lives."""
    if "messageType" in members and string_of(members["messageType"]) == "CONTROL_MESSAGE":
        yield _foreign(place, "a CloudWatch control message")
        return
    yield from _array("logEvents")(text, members, place)


def _lambda(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """`awslogs.data`: base64 of gzip of a subscription record."""
    inner = _object(members["awslogs"])
    yield from _encoded(inner.get("data"), place)


def _encoded(raw: Raw | None, place: _Place) -> Iterator[Found]:
    """base64 of a record, compressed or not."""
    try:
        data = base64.b64decode(string_of(raw) if raw is not None else "", validate=True)
        if data[:2] == b"\x1f\x8b":
            data = zlib.decompressobj(wbits=31).decompress(data, _INFLATED)
    except (binascii.Error, ValueError, zlib.error):
        return
    yield from within(data.strip(), place.deeper())


def _message(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """`message`: text for most shippers, an object with `data` in base64 for Pub/Sub."""
    raw = members["message"]
    if bytes(raw)[:1] == b"{" and "data" in (inner := _object(raw)):
        yield from _encoded(inner["data"], place.named("pubsub"))
    else:
        yield from _text(raw, place.saying(members))


def _properties(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """An AKS record: `properties.log` is text or an object; other categories carry other logs."""
    place = place.saying(members)
    category = string_of(members["category"]) if "category" in members else ""
    properties = _object(members["properties"])
    if "log" not in properties or (category and not category.lower().startswith("kube-audit")):
        yield _foreign(place, f"an Azure record of category {category or 'unknown'}")
        return
    yield from _text(properties["log"], place.saying(properties))


def _gke(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """A Cloud Logging entry, from a sink, `gcloud` or a BigQuery table."""
    yield _entry(text, place) or _foreign(place, "a Cloud Logging entry of another service")


def _entry(text: bytes, place: _Place) -> Found | None:
    said = gke.decode_entry(text)
    mapped = gke.event_of(said)
    if mapped is None:
        return None
    event, cut = mapped
    labels = said.resource.labels if said.resource else {}
    at = moment(said.timestamp or said.receive_timestamp)
    delivery = Delivery(at, "", events.as_text(labels.get("cluster_name")), cut)
    return Found(event, place.format, delivery, place.start, place.end)


def _row(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """A row of AKSAudit or AKSAuditAdmin."""
    event = azure.event_of(members)
    if events.is_audit(event):
        yield Found(event, place.format, place.saying(members).delivery, place.start, place.end)
    else:
        yield _foreign(place, "not an audit event")


def _data(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """`data`: Loki's answer (`data.result`), a bare Pub/Sub message, or what an envelope holds."""
    raw = bytes(members["data"])
    if raw[:1] == b'"':
        yield from _encoded(members["data"], place.named("pubsub"))
    elif raw[:1] == b"{" and "result" in (inner := _object(members["data"])):
        start = text.find(raw)
        place = replace(place, start=place.start + start) if place.inline else place
        yield from _array("result")(raw, inner, place.named("loki"))
    else:
        yield from _text(members["data"], place.named("wrapped").saying(members))


def _base64(key: str) -> "Opener":
    """The member `key`: base64 of a record."""
    return lambda text, members, place: _encoded(members[key], place.saying(members))


def _pairs(key: str) -> "Opener":
    """The member `key`: OpenTelemetry's list of keys and values, or an object."""

    def opener(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
        raw = members[key]
        if record := otlp.plain(raw) if bytes(raw)[:1] == b"[" else b"":
            yield from _open(record, place.saying(members).deeper())
        else:
            yield from _text(raw, place.saying(members))

    return opener


def _body(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """A log record of OpenTelemetry, in JSON or as a shipper writes it: text, an object, or keys and values."""
    inner = _object(members["body"])
    if "kvlistValue" in inner:
        yield from _pairs("values")(text, _object(inner["kvlistValue"]), place.saying(members))
    else:
        yield from _text(members["body"], place.saying(members))


def _snake_case(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """A Cloud Logging entry as client libraries and the tables of Log Analytics spell it."""
    yield from _gke(gke.in_camel_case(members), members, place)


def _loki_values(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """One stream of Loki's answer: labels, and pairs of nanoseconds and line."""
    labels = _object(members["stream"]) if "stream" in members else {}
    said = place.saying(labels)
    for pair in msgspec.json.decode(members["values"], type=list[list[Any]]):
        if len(pair) > 1 and isinstance(pair[1], str):
            delivery = replace(said.delivery, at=time_of(events.as_text(pair[0])))
            inner = replace(said, delivery=delivery, depth=said.depth + 1, inline=False)
            yield from within(pair[1].encode("utf-8", "replace").strip(), inner)


def _results(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """`results`: rows of CloudWatch Insights, or of Splunk."""
    rows = bytes(members["results"])[1:64].lstrip()
    yield from _array("results")(text, members, place.named("cloudwatch-insights" if rows[:1] == b"[" else "splunk"))


_CELL = re.compile(rb'\[\s*\{\s*"(?:field|value)"\s*:')


def _hits(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """Elasticsearch's answer: `hits.hits[]._source`."""
    raw = bytes(members["hits"])
    if raw[:1] != b"{" or "hits" not in (inner := _object(members["hits"])):
        return
    start = text.find(raw)
    place = replace(place, start=place.start + start) if place.inline else place
    yield from _array("hits")(raw, inner, place)


def _journald_bytes(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """`MESSAGE` of `journalctl -o json`: text, or a list of numbers where it is not UTF-8 or long."""
    raw = bytes(members["MESSAGE"])
    if raw[:1] != b"[":
        yield from _text(members["MESSAGE"], place.saying(members))
        return
    try:
        content = bytes(msgspec.json.decode(raw, type=list[int]))
    except (msgspec.DecodeError, ValueError):
        return
    yield from within(content.strip(), replace(place.saying(members), depth=place.depth + 1, inline=False))


def _kubernetes(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """`kubernetes.audit`, as the Elastic integration stores an event."""
    inner = _object(members["kubernetes"])
    for each in _text(inner["audit"], place.saying(members)) if "audit" in inner else ():
        yield each if each.event is None else replace(each, event=elastic.restored(each.event))


def _ecs(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """`event`: what was sent to Splunk's collector, or Elastic's note on an event with its `original` text."""
    inner = _object(members["event"])
    yield from _text(inner.get("original", members["event"]), place.saying(members))


def _object(raw: Raw) -> dict[str, Raw]:
    data = bytes(raw)
    return events.decode_members(data) if data[:1] == b"{" else {}


Opener = Callable[[bytes, Members, _Place], Iterator[Found]]

_LAYERS: dict[str, tuple[str, Opener]] = {
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
_SURE = frozenset({"protoPayload", "protopayload_auditlog", "proto_payload", "logEvents", "properties", "records"})
"""Keys after which no other layer is tried: what they hold is foreign if it is no audit event."""
