"""All bytes that were read of a source, as a chain of hashes: so that what no statement cites is watched over too.

The content is cut at fixed places into leaves, and each leaf's SHA-256 is hashed with what came before it. The chain
depends on the bytes alone: not on how many runs and workers read them, nor on how the file is compressed or called.
It is kept every few megabytes, so that a change can be placed.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256

import msgspec

from auditor.collectors.files.streams import BLOCK, Stream

LEAF = 64 << 10
"""Bytes of a leaf: what a run that goes on reads again at most. Every chain that is kept depends on it."""
CHUNK = 8 << 20
"""Bytes between two places of a chain that are kept."""
_LEAVES = CHUNK // LEAF
_MOST = 512
"""Places that are kept; beyond that every other one is let go, and they lie twice as far apart from then on."""


@dataclass(frozen=True, slots=True)
class Span:
    """Some of a source, hashed where it was read: whole leaves, and the bytes before and after them as they are."""

    before: bytes
    leaves: tuple[bytes, ...]
    after: bytes


class Link(msgspec.Struct, frozen=True):
    """A chain as a mark remembers it. Hashes are hex."""

    leaves: int
    """Whole leaves in `head`."""
    head: str
    places: tuple[str, ...]
    """`head` as it was every `apart(leaves)` bytes."""
    open: int
    """Bytes that follow the last whole leaf."""
    open_sha256: str
    rest: int = 0
    """Bytes behind those, which the source ended with and which are read again as no whole record."""
    rest_sha256: str = ""

    @property
    def length(self) -> int:
        """Bytes from the beginning of the source that it covers."""
        return self.leaves * LEAF + self.open + self.rest

    @property
    def sha256(self) -> str:
        """One hash for all of them."""
        return sha256(f"{self.head}:{self.open_sha256}:{self.rest_sha256}".encode()).hexdigest()


@dataclass(slots=True)
class Chain:
    """The chain of a source up to where it was read."""

    leaves: int = 0
    head: bytes = b""
    places: list[bytes] = field(default_factory=list)
    open: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes | memoryview) -> None:
        """Go on with the bytes that follow."""
        for leaf in _hashed(self.open, data):
            self._append(leaf)

    def add(self, span: Span) -> None:
        """Go on with a span that begins here."""
        self.feed(span.before)
        for leaf in span.leaves:
            self._append(leaf)
        self.feed(span.after)

    def link(self, rest: bytes = b"") -> Link:
        """What a mark remembers of it, and of the bytes that follow where they are the last."""
        places = tuple(place.hex() for place in self.places)
        link = Link(self.leaves, self.head.hex(), places, len(self.open), sha256(self.open).hexdigest())
        return msgspec.structs.replace(link, rest=len(rest), rest_sha256=sha256(rest).hexdigest()) if rest else link

    def _append(self, leaf: bytes) -> None:
        self.head = sha256(self.head + leaf).digest()
        self.leaves += 1
        if self.leaves % _LEAVES:
            return
        if apart(self.leaves) > apart(self.leaves - 1):
            del self.places[::2]
        if self.leaves * LEAF % apart(self.leaves) == 0:
            self.places.append(self.head)


def apart(leaves: int) -> int:
    """Bytes between the places that are kept of a chain of so many leaves."""
    distance = 1
    while leaves // _LEAVES // distance > _MOST:
        distance *= 2
    return distance * CHUNK


def resumed(link: Link, passed: bytes) -> Chain | None:
    """The chain of a link, of which `passed` are the last bytes; None where those are not what they were."""
    still = passed[len(passed) - link.open :]
    if sha256(still).hexdigest() != link.open_sha256:
        return None
    return Chain(link.leaves, bytes.fromhex(link.head), list(map(bytes.fromhex, link.places)), bytearray(still))


def first_difference(stream: Stream, link: Link) -> int | None:
    """Read as much as a link covers; None where that is what was read then, else the place from which on it is not.

    It may lie as far behind that place as `apart` says.
    """
    now = Chain()
    for block in _blocks(stream, link.length - link.rest):
        now.feed(block)
    found = now.link(b"".join(_blocks(stream, link.rest)))
    if found == link:
        return None
    step = apart(link.leaves) // apart(found.leaves)
    pairs = zip(link.places, found.places[step - 1 :: step], strict=False)
    same = next((at for at, (then, is_now) in enumerate(pairs) if then != is_now), None)
    if same is None:
        same = min(len(link.places), len(found.places) // step)
    return same * apart(link.leaves)


def _blocks(stream: Stream, left: int) -> Iterator[bytes]:
    """So many bytes of a stream, fewer where it ends."""
    while left and (block := stream.read(min(BLOCK, left))):
        left -= len(block)
        yield block


class Spanned:
    """A stream that is hashed as it is read. It begins at `start` of its source."""

    def __init__(self, stream: Stream, start: int) -> None:
        self._stream = stream
        self._missing = -start % LEAF
        self._before = bytearray()
        self._leaves: list[bytes] = []
        self._open = bytearray()

    @property
    def damage(self) -> str:
        """See Stream."""
        return self._stream.damage

    def read(self, size: int) -> bytes:
        """See Stream."""
        data = self._stream.read(size)
        own = self._missing - len(self._before)
        if own:
            self._before += data[:own]
        self._leaves += _hashed(self._open, memoryview(data)[own:])
        return data

    def close(self) -> None:
        """See Stream."""
        self._stream.close()

    def span(self) -> Span:
        """All that was read of it."""
        return Span(bytes(self._before), tuple(self._leaves), bytes(self._open))


class Passing:
    """A stream that holds on to what was read of it until that is passed: a scan reads ahead of its place."""

    def __init__(self, stream: Stream, offset: int) -> None:
        self._stream = stream
        self._offset = offset
        self._held: deque[memoryview] = deque()

    @property
    def damage(self) -> str:
        """See Stream."""
        return self._stream.damage

    def read(self, size: int) -> bytes:
        """See Stream."""
        data = self._stream.read(size)
        self._held.append(memoryview(data))
        return data

    def close(self) -> None:
        """See Stream."""
        self._stream.close()

    def passed(self, offset: int) -> Iterator[memoryview]:
        """What lies before `offset` and was not given yet."""
        while self._held and self._offset < offset:
            block = self._held.popleft()
            own, rest = block[: offset - self._offset], block[offset - self._offset :]
            if rest:
                self._held.appendleft(rest)
            self._offset += len(own)
            yield own

    def held(self) -> bytes:
        """What was read and not passed."""
        return b"".join(self._held)


def _hashed(begun: bytearray, data: bytes | memoryview) -> Iterator[bytes]:
    """Hashes of the leaves that `data` completes; what is left of it is in `begun`, the leaf that is not whole."""
    view, at = memoryview(data), 0
    if begun:
        at = LEAF - len(begun)
        begun += view[:at]
        if len(begun) < LEAF:
            return
        yield sha256(begun).digest()
        begun.clear()
    while at + LEAF <= len(view):
        yield sha256(view[at : at + LEAF]).digest()
        at += LEAF
    begun += view[at:]
