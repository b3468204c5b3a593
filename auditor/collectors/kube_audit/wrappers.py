"""What is inside a record: the audit events that a delivery wrapped.

Wrappings nest (a Pub/Sub message with a Cloud Logging entry, a Filebeat line with a Docker line with an event), so
each one is opened by itself (`layers`), then what it holds. What is in none that is known is looked for in tables,
under keys with dots, and in every member of an object.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from auditor.collectors.kube_audit import events, flattened, foreign, layers, tables, text_lines
from auditor.collectors.kube_audit.delivery import Delivery, Members
from auditor.collectors.kube_audit.events import Event
from auditor.collectors.kube_audit.mending import mended
from auditor.collectors.kube_audit.places import Found, Inside, Place, member
from auditor.collectors.kube_audit.salvage import salvage
from auditor.collectors.kube_audit.values import BROKEN, CUT, skip_separators, value_end

_NESTING = 16
"""Layers of wrapping; OpenTelemetry's alone has eight."""
_NOT_A_RECORD = "not a record"


def unwrap(record: bytes, delivery: Delivery, name: str = "") -> Iterator[Found]:
    """All that is in `record`, one JSON value. Raises msgspec.DecodeError or RecursionError where it is none."""
    yield from _open(record, Place(delivery, name, 0, len(record)))


def unwrap_mended(text: bytes, delivery: Delivery, name: str = "") -> Iterator[Found]:
    """The events of the JSON value that `text` begins with, whatever the decoder refuses in it left out.

    Nothing where the decoder takes it, where it is none, or cut before it says what the event is.
    """
    yield from _mended(text, Place(delivery, name, 0, len(text), inline=False))


def unwrap_other(record: bytes) -> Iterator[Found]:
    """The same for a JSON object that is known to be no audit event itself."""
    yield from _layers(record, events.decode_members(record), Place(_NOTHING_SAID, "", 0, len(record)))


def entry(record: bytes) -> Found | None:
    """A Cloud Logging entry of the Kubernetes API; None for anything else. Raises msgspec.DecodeError."""
    return layers.entry(record, Place(_NOTHING_SAID, "gke", 0, len(record)))


_NOTHING_SAID = Delivery()


def _open(text: bytes, place: Place) -> Iterator[Found]:
    if place.depth > _NESTING:
        yield place.foreign("wrapped too deeply")
        return
    if text[:1] == b"[":
        yield from _list(text, place)
        return
    if text[:1] == b'"' and b"{" in text:
        yield from _opened(member(Raw(text), place))
        return
    if text[:1] != b"{":
        yield place.foreign(_NOT_A_RECORD)
        return
    try:
        event = events.decode(text)
        members: Members | None = None
    except (msgspec.ValidationError, UnicodeDecodeError):
        members = events.decode_members(text)
        event = events.lenient(members)
    if events.is_audit(event):
        yield place.named("jsonl").found(event)
        return
    yield from _layers(text, events.decode_members(text) if members is None else members, place)


def _layers(text: bytes, members: Members, place: Place) -> Iterator[Found]:
    if tables.is_table(members):
        yield from _table(members, place.named("table"))
        return
    told: list[Found] = []
    for key, (name, layer) in layers.LAYERS.items():
        if key in members:
            found = [each for held in layer(text, members, place.named(name)) for each in _opened(held)]
            if any(each.event for each in found) or len(found) > 1 or key in layers.SURE:
                yield from found
                return
            told += (each for each in found if each.reason not in _SAYS_LITTLE)
    may_be_flattened = not place.unflattened and flattened.is_flattened(members)
    if may_be_flattened and (found := list(_flattened(members, place.named("flattened")))):
        yield from found
    else:
        yield from _anywhere(members, place.named("wrapped")) or _not_audit(members, place, told)


def _not_audit(members: Members, place: Place, told: Sequence[Found]) -> Sequence[Found]:
    """What a record without an event is, by itself or by what it holds."""
    reason = foreign.reason(members)
    return told[:1] if reason == foreign.NO_EVENT and told else (place.foreign(reason),)


_SAYS_LITTLE = frozenset({foreign.NO_EVENT, foreign.NO_RECORD})


def _anywhere(members: Members, place: Place) -> list[Found]:
    """The events in members of other names. One that is in two of them, as text and parsed or cut too, is one."""
    said = place.saying(members)
    kept: list[Found] = []
    cut: list[Found] = []
    known: set[tuple[object, ...]] = set()
    for key, raw in members.items():
        if key in layers.LAYERS or not _RECORD.match(bytes(raw)):
            continue
        found = list(_opened(member(raw, said)))
        if any(each.event and not each.delivery.cut for each in found):
            kept += (each for each in found if each.event is None or _same(each.event) not in known)
            known |= {_same(each.event) for each in found if each.event}
        else:
            cut += (each for each in found if each.event)
    return kept or cut[:1]


def _same(event: Event) -> tuple[object, ...]:
    """What an event keeps in whatever form it is there twice."""
    return event.audit_id, event.stage, event.verb, event.username, event.at


_RECORD = re.compile(rb'\{|\[|"[^"{]*\{')


def _table(members: Members, place: Place) -> Iterator[Found]:
    """Columns once, then rows of values."""
    for row in tables.rows(members):
        yield from _open(row, place.deeper())


def _flattened(members: Members, place: Place) -> Iterator[Found]:
    """An event, or what it is wrapped in, whose keys have dots. Nothing where it is none."""
    text, cut = flattened.nested(members)
    inner = events.decode_members(text)
    if inner.keys() != members.keys():
        for each in _open(text, replace(place.deeper(), unflattened=True)):
            if each.event is not None:
                yield replace(each, delivery=replace(each.delivery, cut=each.delivery.cut or cut))


def _list(text: bytes, place: Place) -> Iterator[Found]:
    """A list of records, or one row of CloudWatch Insights. What stands beside events and is no record wraps them."""
    if _CELL.match(text):
        yield from _open(tables.cells(text), place.named("cloudwatch-insights").deeper())
        return
    found = list(_elements(text, place.named("json-array")))
    beside = any(each.event for each in found)
    yield from (each for each in found if not (beside and each.reason == _NOT_A_RECORD))


_CELL = re.compile(rb'\[\s*\{\s*"(?:field|value)"\s*:')


def _elements(text: bytes, place: Place) -> Iterator[Found]:
    """The elements of an array, each with its own place where the text is the record's own."""
    at = skip_separators(text, 1)
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


def _opened(held: Found | Inside) -> Iterator[Found]:
    """What is in a wrapping."""
    if isinstance(held, Found):
        yield held
    elif held.plain:
        yield from _within(held.content, held.place)
    elif held.content[:1] in (b"{", b"["):
        yield from _open(held.content, held.place)
    elif held.content[:1] == b'"':
        text = msgspec.json.decode(held.content, type=str).encode("utf-8", "replace").strip()
        yield from _within(text, held.place)


def _mended(text: bytes, place: Place) -> Iterator[Found]:
    """The events of a value that cannot be decoded. What a body of theirs holds is not looked for: it may be forged."""
    if text[:1] not in (b"{", b"[") or value_end(text, 0) != BROKEN:
        return
    made = mended(text)
    if made.end > 0:
        yield from (each for each in _open(made.text, place) if each.event)
    elif made.end == CUT and (event := salvage(made.text)):
        yield place.found(event, cut=True)


def _within(content: bytes, place: Place) -> Iterator[Found]:
    """The records in a text, the whole of it or among other words. One that was cut keeps what it has."""
    if content[:1] == b'"' and value_end(content, 0) == len(content):
        yield from _opened(member(Raw(content), place))
        return
    if place.depth > _NESTING:
        yield place.foreign("wrapped too deeply")
        return
    if whole := list(_mended(content, place)):
        yield from whole
        return
    found: list[Found] = []
    for start, end in text_lines.records(content):
        if end > 0:
            found += _open(content[start:end].rstrip(), place)
        elif event := salvage(content[start:]):
            found.append(place.found(event, cut=True))
        else:
            found.append(place.foreign("text without a whole record"))
    beside = any(each.event for each in found)
    yield from (each for each in found if not (beside and each.reason == foreign.NO_EVENT))
    if not found:
        yield place.foreign(foreign.NO_RECORD)


def in_line(line: bytes, delivery: Delivery, name: str) -> Iterator[Found]:
    """The records in a line of text."""
    yield from _within(line, Place(delivery, name, 0, len(line), inline=False))
