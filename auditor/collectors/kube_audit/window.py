"""The part of a stream that a scan has at hand."""

from auditor.collectors.files.streams import BLOCK, Stream

LIMIT = 16 << 20
"""Bytes of the longest record; a longer one is skipped, with its place."""
_NEAR = 4096


class Window:
    """Bytes of a stream from the scan's place on: `text[at:]`, of which `at` is `offset` in the stream.

    `passed` are bytes before the first.
    """

    def __init__(self, stream: Stream, offset: int, passed: bytes = b"") -> None:
        self.text = b""
        self.at = 0
        self.offset = offset
        self.ended = False
        self._passed = passed
        self._stream = stream

    @property
    def left(self) -> int:
        """Bytes at hand."""
        return len(self.text) - self.at

    def grow(self) -> bool:
        """Fetch at least as much as is at hand: waiting for the end of a value then costs no more than its length."""
        if self.ended:
            return False
        self._passed = self.near()
        more = self._stream.read(max(BLOCK, min(self.left, LIMIT - self.left)))
        self.ended = not more
        self.text = self.text[self.at :] + more if self.left else more
        self.at = 0
        return not self.ended

    def near(self) -> bytes:
        """Bytes just before the place, at most 4 KiB."""
        return (self._passed + self.text[max(self.at - _NEAR, 0) : self.at])[-_NEAR:]

    def advance(self, at: int) -> None:
        """Go on at `text[at]`."""
        self.offset += at - self.at
        self.at = at
