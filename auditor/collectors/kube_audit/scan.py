"""From bytes to records: what a stream holds, framed by content, each byte accounted for.

A stream is lines, until it shows that it is not: a line may hold one JSON value, several joined without a newline, a
prefix and a value, or the beginning of a value that goes on over lines. Values that hold their records in an array and
reach beyond what is at hand are entered and read element by element, so that memory stays bounded.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from auditor.collectors.files.streams import BLOCK, Stream
from auditor.collectors.kube_audit import events, foreign, parts, salvage, text_lines, wrappers
from auditor.collectors.kube_audit.containers import Container, begins_container
from auditor.collectors.kube_audit.delivery import Delivery
from auditor.collectors.kube_audit.places import Found
from auditor.collectors.kube_audit.prefilter import Reads, doubtful
from auditor.collectors.kube_audit.records import CUT_OFF, NOT_JSON, TOO_LONG, UNREADABLE, Records, Sink, State
from auditor.collectors.kube_audit.values import BROKEN, CUT, skip_blank, skip_separators, value_end
from auditor.collectors.kube_audit.window import LIMIT, Window

_BRACE = ord("{")
_BOM = b"\xef\xbb\xbf"
_ALIKE = 16
"""Bytes with which the lines of one log begin alike: a key, and a part of its value."""
_REPEATS = 8
"""How often, on average, a byte may be looked at again as the possible beginning of a value over lines."""


class Scanner:
    """Reads a stream from `state.offset` on (it must stand there) and tells `sink` what is in it.

    `passed` are the bytes just before, where they are known.
    """

    def __init__(self, stream: Stream, sink: Sink, state: State | None = None, passed: bytes = b"") -> None:
        self.state = state or State()
        self._sink = sink
        self._window = Window(stream, self.state.offset, passed)
        self._records = Records(self._window, sink, self.state)
        self._container = Container(self._records)
        self._looked_again = 0
        self._among_entries = False

    def run(self) -> Iterator[None]:
        """Scan all whole records, pausing between them so that what was found so far can be taken away."""
        window = self._window
        while window.left or window.grow():
            before = window.offset
            if self.state.stack:
                self._container.scan()
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
        self._sink.undecodable(window.offset, window.left, CUT_OFF)
        window.advance(len(window.text))
        return True

    def near(self) -> bytes:
        """Bytes just before the scan's place, as many as are at hand."""
        return self._window.near()

    def _lines(self) -> None:
        window = self._window
        text = window.text
        end = len(text) if window.ended else text.rfind(b"\n") + 1
        if end <= window.at:
            self._long_line()
            return
        reads = Reads()
        for start, stop in doubtful(text, window.at, end, reads):
            window.advance(start)
            if start < stop:
                self._line(start, stop)
                if window.at != stop:
                    break
        if reads.count:
            self._sink.reads(reads)

    def _long_line(self) -> None:
        """A line whose end is not at hand: entered where it holds an array of records, skipped where it is too long."""
        window = self._window
        if window.left < BLOCK:
            return
        start = skip_separators(window.text, window.at)
        if window.text[start : start + 1] in (b"{", b"[") and begins_container(window.text, start):
            self._container.enter(start)
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
        self._sink.undecodable(offset, length, TOO_LONG)

    def _line(self, start: int, stop: int) -> None:
        """Take one line, and go to its end; or go elsewhere, if the scan must go on there."""
        if stop - start > LIMIT:
            self._records.give_up(stop, TOO_LONG)
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
        self._records.advance(stop)

    def _entry(self, start: int, line: bytes) -> bool:
        """Take a Cloud Logging entry, without looking for what else it might be."""
        record = line.rstrip()
        found = wrappers.entry(record)
        if found is not None:
            self._sink.found(found, self._window.offset, record)
            self._window.advance(start + len(record))
            self._records.advance(start + len(line))
        return found is not None

    def _wrapped_line(self, start: int, record: bytes) -> None:
        """Take a line that is a JSON object and no event."""
        found = list(wrappers.unwrap_other(record))
        if not any(each.delivery.cut for each in found) or not self._in_parts(start, record):
            self._records.tell(start, record, found)
        self._among_entries = found[0].format == "gke" if found else False

    def _other_line(self, start: int, stop: int, line: bytes) -> None:
        body = line.lstrip(_BOM + b" \t\r\n\0").rstrip(b" \t\r\n\0")
        if not body:
            self._records.advance(skip_blank(self._window.text, stop))
            return
        first = start + line.find(body)
        self._records.advance(first)
        if body[0] in b"{[":
            self._value_line(first, stop, body)
        else:
            self._text_line(first, stop, body)

    def _value_line(self, start: int, stop: int, body: bytes) -> None:
        """A line that begins like a JSON value: whole, several joined, the first of many lines, or broken."""
        whole = value_end(body, 0)
        if whole < 0 and (end := self._records.take_mended(start, body)) > 0:
            if end == start + len(body):
                self._records.advance(stop)
            return
        if whole == CUT and not salvage.was_cut(body):
            self._value_over_lines(start, stop)
            return
        if whole < 0 or (whole < len(body) and body[0] != _BRACE and b"{" not in body[:whole]):
            self._text_line(start, stop, body)
            return
        try:
            found = list(wrappers.unwrap(body[:whole].rstrip(), Delivery()))
        except UNREADABLE:
            if self._records.take_mended(start, body) < 0:
                self._records.give_up(stop if whole == len(body) else start + whole, NOT_JSON)
            return
        if any(each.delivery.cut for each in found) and self._in_parts(start, body):
            return
        self._records.tell(start, body[:whole].rstrip(), found)
        if whole == len(body):
            self._records.advance(stop)

    def _value_over_lines(self, start: int, stop: int) -> None:
        """A value that goes on behind the line, or a line that was cut."""
        window = self._window
        text = window.text
        if self._looked_again > _REPEATS * (window.offset + LIMIT) or _event_follows(text, start, stop):
            self._records.give_up(stop, CUT_OFF)
            return
        end = value_end(text, start)
        self._looked_again += (len(text) if end < 0 else end) - start
        if end > 0:
            try:
                self._records.take(start, end)
            except UNREADABLE:
                self._records.give_up(stop, NOT_JSON)
        elif end == CUT and begins_container(text, start):
            self._container.enter(start)
        elif end == BROKEN or window.left > LIMIT:
            self._records.give_up(stop, NOT_JSON if end == BROKEN else CUT_OFF)

    def _text_line(self, start: int, stop: int, body: bytes) -> None:
        """A line with something before its record, a row or the header of a CSV, or none of them."""
        if columns := text_lines.columns(body):
            self.state.columns, self.state.separator = columns, text_lines.separator(body)
            self._records.advance(stop)
            return
        if self._in_parts(start, body):
            return
        found = self._found_in_text(body)
        if found is None or (self._records.is_last(stop) and not _has_whole_event(found)):
            self._records.give_up(stop, foreign.line_reason(body))
            return
        self._records.tell(start, body, found)
        self._records.advance(stop)

    def _found_in_text(self, body: bytes) -> list[Found] | None:
        """What a line of text holds; None where that is no JSON."""
        is_row = self.state.columns or b'{""' in body
        row = text_lines.csv_row(body, self.state.columns, self.state.separator) if is_row else None
        try:
            found = list(wrappers.unwrap(row, Delivery(), "csv")) if row is not None else self._behind_prefix(body)
        except UNREADABLE:
            return None
        return [replace(each, start=0, end=len(body)) for each in found] or None

    def _behind_prefix(self, body: bytes) -> list[Found]:
        """A record that goes to the end of its line, as most do, or what stands among other words."""
        first = body.find(b"{")
        if first < 0:
            return []
        delivery, name = text_lines.prefixed(body, first)
        try:
            return list(wrappers.unwrap(body[first:], delivery, name))
        except UNREADABLE:
            mended = wrappers.unwrap_mended(text_lines.plain(body[first:]), delivery, name)
            return list(mended) or self._among_words(text_lines.plain(body), delivery, name)

    def _among_words(self, line: bytes, delivery: Delivery, name: str) -> list[Found]:
        """The records among the words of a line: nothing where braces only look like one. A cut one if it says so."""
        begins = next((start for start, end in text_lines.records(line) if end > 0 or salvage.was_cut(line)), -1)
        found = list(wrappers.in_line(line, delivery, name)) if begins >= 0 else []
        first = line.find(b"{")
        return found if begins in (first - 1, first) or any(each.event for each in found) else []

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
            self._records.tell(start, record, [replace(each, start=0, end=len(record)) for each in found])
        else:
            self._records.give_up(joined.stop, NOT_JSON)
        return True


def _event_follows(text: bytes, start: int, stop: int) -> bool:
    """Whether the line behind the one at `start` is an event, and begins as that one does: that one was cut."""
    if not text.startswith(text[start : min(stop, start + _ALIKE)].rstrip(), stop):
        return False
    try:
        return events.is_audit(events.decode(text[stop : text.find(b"\n", stop) + 1 or len(text)]))
    except UNREADABLE:
        return False


def _has_whole_event(found: list[Found]) -> bool:
    """Whether a line is more than the beginning of one: what else it holds may become an event."""
    return any(each.event and not each.delivery.cut for each in found)
