"""What is inside a record: the audit events that a delivery wrapped, recognised by the keys that it has.

Wrappings nest (a Pub/Sub message with a Cloud Logging entry, a Filebeat line with a Docker line with an event), so
each one opens one layer and hands on what it finds. The table `_LAYERS` lists all that are known.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import Raw

from auditor.collectors.kube_audit import azure, events, gke
from auditor.collectors.kube_audit.delivery import Delivery, Members, said_by, string_of, time_of
from auditor.collectors.kube_audit.events import Event, moment
from auditor.collectors.kube_audit.salvage import salvage
from auditor.collectors.kube_audit.values import skip_separators, value_end

_NESTING = 8
"""Layers of wrapping; real deliveries have at most four."""
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
        if row := _insights_row(text):
            yield from _open(row, replace(place.named("cloudwatch-insights"), depth=place.depth + 1, inline=False))
        else:
            yield from _elements(text, 0, place.named("json-array"))
        return
    if text[:1] != b"{":
        yield _foreign(place, "not a record")
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
    for key, (name, opener) in _LAYERS.items():
        if key in members:
            found = list(opener(text, members, place.named(name)))
            if any(each.event for each in found) or len(found) > 1 or key in _SURE:
                yield from found
                return
    yield _foreign(place, "not an audit event")


def _foreign(place: _Place, reason: str) -> Found:
    return Found(None, place.format, place.delivery, place.start, place.end, reason)


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
    """The record in a text: the whole of it, or what follows a prefix. One that was cut keeps what it has."""
    if content[:1] == b'"' and value_end(content, 0) == len(content):
        yield from _text(Raw(content), place)
        return
    start = content.find(b"{")
    if start < 0 or place.depth > _NESTING:
        yield _foreign(place, "text without a record")
        return
    content = content[start:]
    end = value_end(content, 0)
    if end == len(content):
        yield from _open(content, place)
    elif event := salvage(content):
        yield Found(event, place.format, replace(place.delivery, cut=True), place.start, place.end)
    else:
        yield _foreign(place, "text without a whole record")


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


def _tables(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """The answer of the Log Analytics API: columns once, then rows of values."""
    for table in msgspec.json.decode(members["tables"], type=list[dict[str, Any]]):
        names = [events.as_text(column.get("name")) for column in table.get("columns", ())]
        for row in table.get("rows", ()):
            encoded = msgspec.json.encode(dict(zip(names, row, strict=False)))
            yield from _open(encoded, place.deeper())


def _row(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """A row of AKSAudit or AKSAuditAdmin."""
    event = azure.event_of(members)
    if events.is_audit(event):
        yield Found(event, place.format, place.saying(members).delivery, place.start, place.end)
    else:
        yield _foreign(place, "not an audit event")


def _data(text: bytes, members: Members, place: _Place) -> Iterator[Found]:
    """`data`: Loki's answer (`data.result`) or a bare Pub/Sub message."""
    raw = bytes(members["data"])
    if raw[:1] == b'"':
        yield from _encoded(members["data"], place)
    elif raw[:1] == b"{" and "result" in (inner := _object(members["data"])):
        start = text.find(raw)
        place = replace(place, start=place.start + start) if place.inline else place
        yield from _array("result")(raw, inner, place.named("loki"))


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


def _insights_row(text: bytes) -> bytes:
    """A row of CloudWatch Insights (a list of field and value) as an object; b"" for any other list."""
    if not _CELL.match(text):
        return b""
    cells = msgspec.json.decode(text, type=list[dict[str, Any]])
    return msgspec.json.encode({events.as_text(cell.get("field")): cell.get("value") for cell in cells})


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
    if "audit" in inner:
        yield from _text(inner["audit"], place.saying(members))


def _object(raw: Raw) -> dict[str, Raw]:
    data = bytes(raw)
    return events.decode_members(data) if data[:1] == b"{" else {}


Opener = Callable[[bytes, Members, _Place], Iterator[Found]]

_LAYERS: dict[str, tuple[str, Opener]] = {
    "protoPayload": ("gke", _gke),
    "protopayload_auditlog": ("gke-bigquery", _gke),
    "logEvents": ("cloudwatch-subscription", _log_events),
    "awslogs": ("cloudwatch-lambda", _lambda),
    "events": ("cloudwatch", _array("events")),
    "items": ("event-list", _array("items")),
    "records": ("aks", _array("records")),
    "properties": ("aks", _properties),
    "log_s": ("aks-log-analytics", _inner("log_s")),
    "AuditId": ("aks-log-analytics", _row),
    "tables": ("aks-log-analytics", _tables),
    "hits": ("elasticsearch", _hits),
    "_source": ("elasticsearch", _inner("_source")),
    "data": ("", _data),
    "values": ("loki", _loki_values),
    "results": ("", _results),
    "result": ("splunk", _inner("result")),
    "_raw": ("splunk", _inner("_raw")),
    "line": ("loki", _inner("line")),
    "MESSAGE": ("journald", _journald_bytes),
    "@message": ("cloudwatch-insights", _inner("@message")),
    "structured": ("viaq", _inner("structured")),
    "kubernetes": ("elasticsearch", _kubernetes),
    "message": ("shipper", _message),
    "log": ("container", _inner("log")),
    "event": ("hec", _inner("event")),
    "textPayload": ("gke", _inner("textPayload")),
    "jsonPayload": ("gke", _inner("jsonPayload")),
    "body": ("otel", _inner("body")),
}
"""By the key that shows the wrapping, in the order in which they are tried: its name, and what opens it."""
_SURE = frozenset({"protoPayload", "protopayload_auditlog", "logEvents", "properties", "records"})
"""Keys after which no other layer is tried: what they hold is foreign if it is no audit event."""
