"""From bytes to records: what a stream holds, framed by content, each byte accounted for.

A stream is lines, until it shows that it is not: a line may hold one JSON value, several joined without a newline, a
prefix and a value, or the beginning of a value that goes on over lines. Values that hold their records in an array and
reach beyond what is at hand are entered and read element by element, so that memory stays bounded.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

import msgspec
from msgspec import Raw

from auditor.collectors.kube_audit import containers, events, parts, wrappers
from auditor.collectors.kube_audit.events import Event
from auditor.collectors.kube_audit.facts import Delivery
from auditor.collectors.kube_audit.prefilter import Reads, doubtful
from auditor.collectors.kube_audit.values import BROKEN, CUT, skip_blank, skip_separators, value_end
from auditor.collectors.kube_audit.window import LIMIT, Window
from auditor.collectors.kube_audit.wrappers import Found
from auditor.collectors.streams import BLOCK, Stream

_BRACE = ord("{")
_BOM = b"\xef\xbb\xbf"
_REPEATS = 8
"""How often, on average, a byte may be looked at again as the possible beginning of a value over lines."""
_NOT_JSON = "not JSON"
_CUT_LINE = "cut off"
_TOO_LONG = "longer than 16 MiB"
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)
"""What decoding a record raises."""


class Sink(Protocol):
    """Receives what a scan finds. Offsets are those of the stream; `record` is the record's original bytes."""

    def event(self, event: Event, offset: int, record: bytes) -> None:
        """A plain event that is a record by itself."""
        ...

    def found(self, found: Found, offset: int, record: bytes) -> None:
        """An event or a foreign thing inside a record that begins at `offset`; its own place there is `record`."""
        ...

    def reads(self, reads: Reads) -> None:
        """Reads that were counted without decoding."""
        ...

    def undecodable(self, offset: int, length: int, reason: str) -> None:
        """Bytes that are no record."""
        ...

    def wrapping(self, length: int) -> None:
        """Bytes between records."""
        ...


@dataclass(slots=True)
class State:
    """Where a scan stands between two records: all that it needs to go on there."""

    offset: int = 0
    stack: str = ""
    """The brackets of the value that was entered, outermost first."""
    members: dict[str, str] = field(default_factory=dict)
    """What that value says of its records, as JSON text by key."""
    signature: str = ""
    """How its elements begin."""
    columns: tuple[str, ...] = ()
    """Of the CSV header read last."""


class Scanner:
    """Reads a stream from `state.offset` on (it must stand there) and tells `sink` what is in it."""

    def __init__(self, stream: Stream, sink: Sink, state: State | None = None) -> None:
        self.state = state or State()
        self._sink = sink
        self._window = Window(stream, self.state.offset)
        self._looked_again = 0
        self._among_entries = False

    def run(self) -> Iterator[None]:
        """Scan all whole records, pausing between them so that what was found so far can be taken away."""
        window = self._window
        while window.left or window.grow():
            before = window.offset
            if self.state.stack:
                self._contained()
            else:
                self._lines()
            self.state.offset = window.offset
            yield
            if window.offset == before and window.ended:
                return
            if window.offset == before:
                window.grow()

    def tail(self) -> bool:
        """After `run`: tell of what the stream ends with and is not a whole record, half-written or cut for good.

        `state` stays before it, so that a next run reads it again. False where there is no such thing.
        """
        window = self._window
        if not window.left:
            return False
        self._sink.undecodable(window.offset, window.left, _CUT_LINE)
        window.advance(len(window.text))
        return True

    def near(self) -> bytes:
        """Bytes just before the scan's place, as many as are at hand."""
        return self._window.near()

    def _advance(self, at: int) -> None:
        """Go to `at`, past bytes between records."""
        if at > self._window.at:
            self._sink.wrapping(at - self._window.at)
            self._window.advance(at)

    def _give_up(self, stop: int, reason: str) -> None:
        """What lies before `stop` is no record. At the very end of the stream it may become one: left to `tail`."""
        window = self._window
        if self._is_last(stop):
            return
        self._sink.undecodable(window.offset, stop - window.at, reason)
        window.advance(stop)

    def _is_last(self, stop: int) -> bool:
        """Whether `stop` is the end of a stream that does not end with a newline."""
        window = self._window
        return window.ended and stop == len(window.text) and window.text[stop - 1 :] != b"\n"

    def _take(self, start: int, end: int, name: str = "") -> None:
        """Tell what is in the value at `start`. Raises one of UNREADABLE, having told nothing."""
        window = self._window
        record = window.text[start:end].rstrip()
        self._tell(start, record, list(wrappers.unwrap(record, self._said(), name)))

    def _said(self) -> Delivery:
        if not self.state.members:
            return Delivery()
        return wrappers.delivery_of({key: Raw(text) for key, text in self.state.members.items()})

    def _tell(self, start: int, record: bytes, found: list[Found]) -> None:
        """Tell the sink what was found in `record`, which begins at `start`, and go to its end."""
        self._advance(start)
        window = self._window
        at = 0
        for each in found:
            if each.start >= at:
                self._sink.wrapping(each.start - at)
                at = max(at, each.end)
                self._sink.found(each, window.offset, record)
            else:
                self._sink.found(replace(each, shared=True), window.offset, record)
        self._sink.wrapping(len(record) - at)
        window.advance(start + len(record))

    # Lines

    def _lines(self) -> None:
        window = self._window
        text = window.text
        end = len(text) if window.ended else text.rfind(b"\n") + 1
        if end <= window.at:
            self._long_line()
            return
        for start, stop, reads in doubtful(text, window.at, end):
            if reads.count:
                self._sink.reads(reads)
                window.advance(start)
            if start < stop:
                self._line(start, stop)
                if window.at != stop:
                    return

    def _long_line(self) -> None:
        """A line whose end is not at hand: entered where it holds an array of records, skipped where it is too long."""
        window = self._window
        if window.left < BLOCK:
            return
        start = skip_separators(window.text, window.at)
        if window.text[start : start + 1] in (b"{", b"[") and containers.begins_container(window.text, start):
            self._enter(start)
        elif window.left > LIMIT:
            self._skip_line()

    def _skip_line(self) -> None:
        """Pass over a line that is too long, keeping none of it."""
        window = self._window
        offset, length = window.offset, 0
        while (stop := window.text.find(b"\n", window.at)) < 0:
            length += window.left
            window.advance(len(window.text))
            if not window.grow():
                break
        else:
            length += stop - window.at
            window.advance(stop)
        self._sink.undecodable(offset, length, _TOO_LONG)

    def _line(self, start: int, stop: int) -> None:
        """Take one line, and go to its end; or go elsewhere, if the scan must go on there."""
        if stop - start > LIMIT:
            self._give_up(stop, _TOO_LONG)
            return
        line = self._window.text[start:stop]
        if line[0] != _BRACE:
            self._other_line(start, stop, line)
            return
        try:
            if self._among_entries and self._entry(start, line):
                return
            event = events.decode(line)
            if not events.is_audit(event):
                self._wrapped_line(start, line.rstrip())
                return
        except UNREADABLE:
            self._other_line(start, stop, line)
            return
        record = line.rstrip()
        self._sink.event(event, self._window.offset, record)
        self._window.advance(start + len(record))
        self._advance(stop)

    def _entry(self, start: int, line: bytes) -> bool:
        """Take a Cloud Logging entry, without looking for what else it might be."""
        record = line.rstrip()
        found = wrappers.entry(record)
        if found is not None:
            self._tell(start, record, [found])
            self._advance(start + len(line))
        return found is not None

    def _wrapped_line(self, start: int, record: bytes) -> None:
        """Take a line that is a JSON object and no event."""
        found = list(wrappers.unwrap_other(record))
        if not any(each.delivery.cut for each in found) or not self._in_parts(start, record):
            self._tell(start, record, found)
        self._among_entries = found[0].format == "gke" if found else False

    def _other_line(self, start: int, stop: int, line: bytes) -> None:
        body = line.lstrip(_BOM + b" \t\r\n\0").rstrip(b" \t\r\n\0")
        if not body:
            self._advance(skip_blank(self._window.text, stop))
            return
        first = start + line.find(body)
        self._advance(first)
        if body[0] in b"{[":
            self._value_line(first, stop, body)
        else:
            self._text_line(first, stop, body)

    def _value_line(self, start: int, stop: int, body: bytes) -> None:
        """A line that begins like a JSON value: whole, several joined, the first of many lines, or broken."""
        whole = value_end(body, 0)
        if whole == CUT:
            self._value_over_lines(start, stop)
            return
        if whole == BROKEN:
            self._give_up(stop, _NOT_JSON)
            return
        try:
            found = list(wrappers.unwrap(body[:whole].rstrip(), Delivery()))
        except UNREADABLE:
            self._give_up(stop if whole == len(body) else start + whole, _NOT_JSON)
            return
        if any(each.delivery.cut for each in found) and self._in_parts(start, body):
            return
        self._tell(start, body[:whole].rstrip(), found)
        if whole == len(body):
            self._advance(stop)

    def _value_over_lines(self, start: int, stop: int) -> None:
        """A value that goes on behind the line, or a line that was cut."""
        window = self._window
        text = window.text
        if self._looked_again > _REPEATS * (window.offset + LIMIT):
            self._give_up(stop, _CUT_LINE)
            return
        end = value_end(text, start)
        self._looked_again += (len(text) if end < 0 else end) - start
        if end > 0:
            try:
                self._take(start, end)
            except UNREADABLE:
                self._give_up(stop, _NOT_JSON)
        elif end == CUT and containers.begins_container(text, start):
            self._enter(start)
        elif end == BROKEN or window.left > LIMIT:
            self._give_up(stop, _NOT_JSON if end == BROKEN else _CUT_LINE)

    def _text_line(self, start: int, stop: int, body: bytes) -> None:
        """A line with something before its record, a row or the header of a CSV, or none of them."""
        if columns := wrappers.columns(body):
            self.state.columns = columns
            self._advance(stop)
            return
        if self._in_parts(start, body):
            return
        found = self._found_in_text(body)
        if found is None or (any(each.delivery.cut for each in found) and self._is_last(stop)):
            self._give_up(stop, _NOT_JSON)
            return
        self._tell(start, body, found)
        self._advance(stop)

    def _found_in_text(self, body: bytes) -> list[Found] | None:
        """What a line of text holds; None where that is no JSON."""
        row = wrappers.csv_row(body, self.state.columns) if self.state.columns or b'{""' in body else None
        brace = body.find(b"{")
        if row is None and brace < 0:
            return None
        delivery, name = (Delivery(), "csv") if row is not None else wrappers.prefixed(body, brace)
        try:
            found = list(wrappers.unwrap(row or body[brace:], delivery, name))
        except UNREADABLE:
            return None
        return [replace(each, start=0, end=len(body)) for each in found]

    def _in_parts(self, start: int, line: bytes) -> bool:
        """Take the record of which `line` is the first part, or wait for its last; False where it is no part."""
        window = self._window
        part = parts.part_of(line)
        if part is None or part.last:
            return False
        joined = parts.join(window.text, start)
        if joined is None:
            return window.left < LIMIT
        record = window.text[start : joined.stop]
        if found := self._found_in_text(joined.text.strip()):
            self._tell(start, record, [replace(each, start=0, end=len(record)) for each in found])
        else:
            self._give_up(joined.stop, _NOT_JSON)
        return True

    # Inside an array that was entered

    def _enter(self, start: int) -> None:
        self._push(start)
        self.state.members, self.state.signature = {}, ""

    def _push(self, at: int) -> None:
        self.state.stack += self._window.text[at : at + 1].decode()
        self._advance(at + 1)

    def _contained(self) -> None:
        """Go through what is at hand, until something is not whole or the value ends."""
        window = self._window
        while self.state.stack:
            self._advance(skip_separators(window.text, window.at))
            if not window.left:
                return
            before = window.offset
            if window.text[window.at] in b"]}":
                self.state.stack = self.state.stack[:-1]
                self._advance(window.at + 1)
            elif self.state.stack[-1] == "[":
                self._element()
            else:
                self._member()
            if window.offset == before:
                return

    def _element(self) -> None:
        window = self._window
        end = value_end(window.text, window.at)
        if end == CUT and window.left <= LIMIT:
            return
        sign = containers.signature(window.text[window.at : window.at + 128])
        if end > 0:
            try:
                self._take(window.at, end)
                self.state.signature = self.state.signature or sign.decode("utf-8", "replace")
            except UNREADABLE:
                self._give_up(end, _NOT_JSON)
            return
        self._resume_after_damage(_TOO_LONG if end == CUT else _NOT_JSON)

    def _resume_after_damage(self, reason: str) -> None:
        """Go to the next element that begins like those before, or to where it may begin."""
        window = self._window
        offset, length = window.offset, 0
        sign = self.state.signature.encode() or b'{"'
        while (at := containers.next_element(window.text, window.at, sign)) < 0:
            step = window.left if window.ended else max(window.left - 256, 0)
            length += step
            window.advance(window.at + step)
            if not window.grow():
                step = window.left
                length += step
                window.advance(len(window.text))
                self.state.stack = ""
                break
        else:
            length += at - window.at
            window.advance(at)
        self._sink.undecodable(offset, length, reason)

    def _member(self) -> None:
        """A member of an object that was entered: entered too, remembered or passed over."""
        window = self._window
        member = containers.member_at(window.text, window.at)
        if member is None:
            if window.ended or window.left > LIMIT:
                self._resume_after_damage(_NOT_JSON)
            return
        key, value = member
        if containers.enters(key, window.text, value):
            self._push(value)
            return
        end = value_end(window.text, value)
        if end > 0 and (end < len(window.text) or window.ended):
            if containers.says(key):
                self.state.members[key] = window.text[value:end].strip().decode("utf-8", "replace")
            self._advance(end)
        elif end == BROKEN or window.left > LIMIT:
            self._resume_after_damage(_NOT_JSON)
