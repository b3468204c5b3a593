"""Records of a stream, told one after the other, with every byte between and inside them accounted for."""

from dataclasses import dataclass, field
from typing import Protocol

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from auditor.collectors.kube_audit import wrappers
from auditor.collectors.kube_audit.delivery import Delivery, said_by
from auditor.collectors.kube_audit.events import Event
from auditor.collectors.kube_audit.mending import mended
from auditor.collectors.kube_audit.places import Found
from auditor.collectors.kube_audit.prefilter import Reads
from auditor.collectors.kube_audit.values import BROKEN
from auditor.collectors.kube_audit.window import LIMIT, Window

NOT_JSON = "not JSON"
CUT_OFF = "cut off"
TOO_LONG = "longer than 16 MiB"
_REPEATS = 8
"""How often, on average, a byte may be looked at again in search of what cannot be decoded."""
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
    separator: str = ","
    """What stands between them."""


class Records:
    """The place of a scan in its stream, and how it tells `sink` what it passes."""

    def __init__(self, window: Window, sink: Sink, state: State) -> None:
        self.window = window
        self.sink = sink
        self.state = state
        self._mended = 0

    def advance(self, at: int) -> None:
        """Go to `at`, past bytes between records."""
        if at > self.window.at:
            self.sink.wrapping(at - self.window.at)
            self.window.advance(at)

    def give_up(self, stop: int, reason: str) -> None:
        """What lies before `stop` is no record. At the very end of the stream it may become one: left to `tail`."""
        window = self.window
        if self.is_last(stop):
            return
        self.sink.undecodable(window.offset, stop - window.at, reason)
        window.advance(stop)

    def is_last(self, stop: int) -> bool:
        """Whether `stop` is the end of a stream that does not end with a newline."""
        window = self.window
        return window.ended and stop == len(window.text) and window.text[stop - 1 :] != b"\n"

    def take(self, start: int, end: int, name: str = "") -> None:
        """Tell what is in the value at `start`. Raises one of UNREADABLE, having told nothing."""
        window = self.window
        record = window.text[start:end].rstrip()
        self.tell(start, record, list(wrappers.unwrap(record, self._said(), name)))

    def take_mended(self, start: int, text: bytes) -> int:
        """Tell the events in the value that `text`, at `start`, begins with, and that cannot be decoded as it is.

        Where it ends; CUT where its end is not at hand, and BROKEN where it is none with an event.
        """
        if self._mended > _REPEATS * (self.window.offset + LIMIT):
            return BROKEN
        self._mended += len(text)
        made = mended(text)
        if made.end < 0:
            return made.end
        try:
            found = [each for each in wrappers.unwrap(made.text, self._said()) if each.event]
        except UNREADABLE:
            return BROKEN
        if not found:
            return BROKEN
        record = text[: made.end]
        self.tell(start, record, [replace(each, start=0, end=len(record)) for each in found])
        return start + made.end

    def _said(self) -> Delivery:
        if not self.state.members:
            return Delivery()
        return said_by({key: Raw(text) for key, text in self.state.members.items()}, Delivery())

    def tell(self, start: int, record: bytes, found: list[Found]) -> None:
        """Tell the sink what was found in `record`, which begins at `start`, and go to its end."""
        self.advance(start)
        window = self.window
        at = 0
        for each in found:
            if each.start >= at:
                self.sink.wrapping(each.start - at)
                at = max(at, each.end)
                self.sink.found(each, window.offset, record)
            else:
                self.sink.found(replace(each, shared=True), window.offset, record)
        self.sink.wrapping(len(record) - at)
        window.advance(start + len(record))
