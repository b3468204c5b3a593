"""Where in a record one looks: what its wrappings said so far, and what was found there.

These are Structs, as each record that is wrapped makes several: a dataclass takes four times as long to make.
"""

from collections.abc import Callable

from msgspec import Raw, Struct
from msgspec.structs import replace

from auditor.collectors.kube_audit.delivery import Delivery, Members, said_by
from auditor.collectors.kube_audit.events import Event


class Found(Struct, frozen=True):
    """One thing inside a record: an event, or (None) something that is none, and its place there."""

    event: Event | None
    format: str
    delivery: Delivery
    start: int
    end: int
    reason: str = ""
    shared: bool = False
    """Whether its bytes were told of with another finding already."""


def _as_it_is(event: Event) -> Event:
    return event


class Place(Struct, frozen=True):
    """A place in a record, and the span that what is found there gets."""

    delivery: Delivery
    format: str
    start: int
    end: int
    depth: int = 0
    inline: bool = True
    """Whether the text at hand is the record's own bytes, so that elements have places of their own."""
    unflattened: bool = False
    """Whether dots were taken out of its keys already: what was opened on the way is not opened so once more."""
    mend: Callable[[Event], Event] = _as_it_is
    """What undoes what the wrapping did to an event."""

    def named(self, name: str) -> "Place":
        """The outermost wrapping gives the format its name."""
        return replace(self, format=self.format or name)

    def saying(self, members: Members) -> "Place":
        """With what `members` say of stream, cluster and time."""
        return replace(self, delivery=said_by(members, self.delivery))

    def deeper(self) -> "Place":
        """Inside a text of the record: what is found there has no place of its own."""
        return replace(self, depth=self.depth + 1, inline=False)

    def at(self, start: int) -> "Place":
        """Where a part of the text begins."""
        return replace(self, start=self.start + start) if self.inline else self

    def found(self, event: Event, delivery: Delivery | None = None, *, cut: bool = False) -> Found:
        """An event that is here; `delivery` is what it says of its wrapping itself."""
        delivery = delivery or self.delivery
        delivery = replace(delivery, cut=True) if cut else delivery
        return Found(self.mend(event), self.format, delivery, self.start, self.end)

    def foreign(self, reason: str) -> Found:
        """Something here that is no event."""
        return Found(None, self.format, self.delivery, self.start, self.end, reason)


class Inside(Struct, frozen=True):
    """What a wrapping holds, to be opened in its turn: a JSON value, or `plain` text with records in it."""

    content: bytes
    place: Place
    plain: bool = False


def member(raw: Raw, place: Place) -> Inside:
    """A member of an object: an object too, or a text that holds one."""
    return Inside(bytes(raw), place.deeper())
