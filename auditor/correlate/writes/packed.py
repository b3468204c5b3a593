"""Events that wait for their turn: their bodies compressed, as a log holds many times what memory should."""

from dataclasses import dataclass

import zstandard

from auditor.correlate.writes.bodies import Bodies, Head
from auditor.correlate.writes.sequence import Request
from auditor.model.facts import AuditEvent

_LEVEL = 1
_packer = zstandard.ZstdCompressor(_LEVEL)
_opener = zstandard.ZstdDecompressor()


@dataclass(frozen=True, slots=True)
class Packed:
    """One request on one object. A packed one has its event without bodies."""

    event: AuditEvent
    head: Head
    """The top of the response."""
    item: int | None
    """Its object's place in the response's list, for a deletecollection."""
    packed: tuple[bytes | None, bytes | None] | None
    """Both bodies compressed; None where the event has them as they are."""

    def bodies(self) -> tuple[bytes | None, bytes | None]:
        """Request and response."""
        if self.packed is None:
            return self.event.request, self.event.response
        request, response = self.packed
        return _unpacked(request), _unpacked(response)

    def opened(self) -> Request:
        """The request with its bodies."""
        event = self.event
        if self.packed is not None:
            request, response = self.bodies()
            event = event.with_bodies(request, response)
        return Request(event, Bodies(event), self.item)


def pack(event: AuditEvent, item: int | None = None, keep_open: bool = False) -> Packed:
    """An event that waits, its bodies compressed unless they are to stay as they are."""
    head = Bodies(event).head
    if keep_open:
        return Packed(event, head, item, None)
    bare = event.with_bodies(None, None)
    return Packed(bare, head, item, (_packed(event.request), _packed(event.response)))


def _packed(body: bytes | None) -> bytes | None:
    return None if body is None else _packer.compress(body)


def _unpacked(body: bytes | None) -> bytes | None:
    return None if body is None else _opener.decompress(body)
