"""Events that wait for their turn: their bodies compressed, as a log holds many times what memory should."""

from dataclasses import dataclass, replace

import zstandard

from auditor.correlate.bodies import Bodies, Head
from auditor.correlate.sequence import Request
from auditor.model.facts import AuditEvent

_LEVEL = 1
_packer = zstandard.ZstdCompressor(_LEVEL)
_opener = zstandard.ZstdDecompressor()


@dataclass(frozen=True, slots=True)
class Packed:
    """One request on one object; `event` is without its bodies."""

    event: AuditEvent
    head: Head
    """The top of the response."""
    item: int | None
    """Its object's place in the response's list, for a deletecollection."""
    request: bytes | None
    response: bytes | None

    def opened(self) -> Request:
        """The request with its bodies."""
        event = replace(self.event, request=_unpacked(self.request), response=_unpacked(self.response))
        return Request(event, Bodies(event), self.item)


def pack(event: AuditEvent, item: int | None = None) -> Packed:
    """An event with its bodies compressed. Equal bodies are equal when they are packed."""
    head = Bodies(event).head
    bare = replace(event, request=None, response=None)
    return Packed(bare, head, item, _packed(event.request), _packed(event.response))


def _packed(body: bytes | None) -> bytes | None:
    return None if body is None else _packer.compress(body)


def _unpacked(body: bytes | None) -> bytes | None:
    return None if body is None else _opener.decompress(body)
