"""Bytes in bounded memory: gzip and zstd taken off, UTF-16 read as UTF-8, all recognised by content.

Offsets that the program speaks of are those of the bytes that a `Stream` gives. What cuts a stream short (a damaged
archive, a connection that broke) is told in `damage` and never raised, as what was read before it stays.
"""

import codecs
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol, cast

from isal import isal_zlib

from auditor.collectors.files.forms import form

BLOCK = 1 << 18
"""Bytes of one read: small enough to stay in a processor's cache while it is searched."""
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_MEMBER = 31
"""What zlib calls a gzip member with a window of any size."""
_NoGzip = cast(type[Exception], isal_zlib.error)  # the stub takes the class for an instance
_NESTING = 3
"""A compressed file inside a compressed file, and one more; deeper is a bomb."""
_WINDOW = 1 << 27
"""Bytes of memory that a zstd frame may ask for (`zstd --long` asks for as much)."""


class Stream(Protocol):
    """Bytes in order, read once."""

    @property
    def damage(self) -> str:
        """After the end: what cut the stream short, "" where it is whole."""
        ...

    def read(self, size: int) -> bytes:
        """At most `size` bytes, and b"" at the end."""
        ...

    def close(self) -> None:
        """Let go of the file or connection."""
        ...


def decompressed(file: BinaryIO) -> "Peeked":
    """`file` with whatever compression and encoding its first bytes show taken off."""
    return inflated(_Raw(file))


def inflated(packed: Stream) -> "Peeked":
    """The same of a stream. What is packed more often than `_NESTING` times stays so."""
    stream = Peeked(packed)
    for _ in range(_NESTING):
        if stream.head.startswith(_GZIP):
            stream = Peeked(_Gzip(stream))
        elif stream.head.startswith(_ZSTD):
            stream = Peeked(_Zstd(stream))
    encoding = _utf16(stream.head)
    return Peeked(_Transcoded(stream, encoding)) if encoding else stream


def is_packed(head: bytes) -> bool:
    """Whether what begins so is gzip or zstd."""
    return head.startswith((_GZIP, _ZSTD))


def exactly(stream: Stream, size: int) -> bytes:
    """The next `size` bytes; fewer where the stream ends before."""
    data = b""
    while len(data) < size and (more := stream.read(size - len(data))):
        data += more
    return data


def skip(stream: Stream, offset: int) -> bool:
    """Go to `offset` of a stream from which nothing was read; False where it ends before."""
    if isinstance(stream, Peeked) and stream.seek(offset):
        return True
    while offset and (block := stream.read(min(offset, BLOCK))):
        offset -= len(block)
    return not offset


class Section:
    """The lines of a plain file that begin in a span of it: from the first one after `start` to the last before `end`.

    Sections that follow each other hold every line once. `start` is where the first one really begins.
    """

    def __init__(self, file: BinaryIO, start: int, end: int) -> None:
        self.damage = ""
        self._file = file
        self.start = self._line_at(start)
        self._end = self._line_at(end)
        self._at = self.start
        file.seek(self.start)

    def read(self, size: int) -> bytes:
        """See Stream."""
        data = self._file.read(min(size, max(self._end - self._at, 0)))
        self._at += len(data)
        return data

    def close(self) -> None:
        """See Stream."""
        self._file.close()

    def _line_at(self, offset: int) -> int:
        """Where the first line begins at or after `offset`; the end of the file where none does."""
        if not offset:
            return 0
        at = offset - 1
        self._file.seek(at)
        while block := self._file.read(BLOCK):
            if (newline := block.find(b"\n")) >= 0:
                return at + newline + 1
            at += len(block)
        return at


class Lines:
    """A stream that can be cut into runs of whole lines, and is a stream again for what is left."""

    def __init__(self, stream: Stream, offset: int, held: bytes = b"") -> None:
        self.offset = offset
        """Where the first byte lies that was not given away."""
        self._stream = stream
        self._held = held

    @property
    def damage(self) -> str:
        """See Stream."""
        return self._stream.damage

    def read(self, size: int) -> bytes:
        """See Stream."""
        data, self._held = (self._held[:size], self._held[size:]) if self._held else (self._stream.read(size), b"")
        self.offset += len(data)
        return data

    def close(self) -> None:
        """See Stream."""
        self._stream.close()

    def runs(self, size: int, longest: int) -> Iterator[tuple[int, bytes]]:
        """The lines in runs of about `size` bytes, each with its offset, up to a line that is longer than `longest`.

        What follows the last newline is left, and so is all of a stream that has less than one run.
        """
        blocks, length = [self._held], len(self._held)
        while length <= longest and (block := self._stream.read(BLOCK)):
            blocks.append(block)
            length += len(block)
            if length >= size and b"\n" in block:
                run, newline, rest = b"".join(blocks).rpartition(b"\n")
                blocks, length = [rest], len(rest)
                start, self.offset = self.offset, self.offset + len(run) + 1
                self._held = rest
                yield start, run + newline
        self._held = b"".join(blocks)


class Held:
    """Bytes at hand as a Stream."""

    def __init__(self, data: bytes) -> None:
        self.damage = ""
        self._data = data
        self._at = 0

    def read(self, size: int) -> bytes:
        """See Stream."""
        data = self._data[self._at : self._at + size]
        self._at += len(data)
        return data

    def close(self) -> None:
        """See Stream."""


def plain_size(file: BinaryIO) -> int:
    """The size of a file that holds UTF-8 as it is, so that it may be read in sections; 0 for any other."""
    if not file.seekable():
        return 0
    head = file.read(BLOCK)
    plain = head[:2] not in (_GZIP, _ZSTD[:2]) and not _utf16(head) and not form(head)
    return file.seek(0, 2) if plain else 0


def reason_of(error: Exception) -> str:
    """What an error of a file or an object store says, without its number and path."""
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".").lower()


def _utf16(head: bytes) -> str:
    if head.startswith(codecs.BOM_UTF16_LE) or (head[:1] in (b"{", b"[") and head[1:2] == b"\0"):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE) or (head[:1] == b"\0" and head[1:2] in (b"{", b"[")):
        return "utf-16-be"
    return ""


class _Raw:
    """A file object as a Stream."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.damage = ""

    def read(self, size: int) -> bytes:
        try:
            return self._file.read(size) or b""
        except Exception as error:  # whatever the object store's client raises
            self.damage = f"reading stopped: {reason_of(error)}"
            return b""

    def close(self) -> None:
        if self._file is not getattr(sys.stdin, "buffer", None):  # a process may be started without one
            self._file.close()

    def seek(self, offset: int) -> bool:
        if not self._file.seekable():
            return False
        self._file.seek(offset)
        return True


class Peeked:
    """A stream whose first bytes, `head`, were looked at."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.head = b""
        while len(self.head) < 8 and (more := stream.read(BLOCK)):
            self.head += more
        self._left = self.head

    @property
    def damage(self) -> str:
        """See Stream."""
        return self._stream.damage

    def read(self, size: int) -> bytes:
        """See Stream."""
        if not self._left:
            return self._stream.read(size)
        given, self._left = self._left[:size], self._left[size:]
        return given

    def close(self) -> None:
        """See Stream."""
        self._stream.close()

    def seek(self, offset: int) -> bool:
        """Go to `offset` without reading what lies before it; False where the stream cannot."""
        if not (isinstance(self._stream, _Raw) and self._stream.seek(offset)):
            return False
        self._left = b""
        return True


class _Gzip:
    """One gzip member or many, appended to each other, with zero padding between or after them."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._inflate = isal_zlib.decompressobj(wbits=_MEMBER)
        self._input = b""
        self._ended = False
        self._damage = ""

    @property
    def damage(self) -> str:
        return self._damage or self._stream.damage

    def read(self, size: int) -> bytes:
        data = b""
        try:
            while not data and not self._ended:
                data = self._some(size)
        except _NoGzip as error:
            self._break(f"the gzip data is damaged ({error})")
        return data

    def close(self) -> None:
        self._stream.close()

    def _some(self, size: int) -> bytes:
        if self._inflate.eof and not self._next_member():
            return b""
        self._input = self._input or self._stream.read(BLOCK)
        at_end = not self._input
        data = self._inflate.decompress(self._input, size)
        self._input = self._inflate.unconsumed_tail
        if at_end and not data and not self._inflate.eof:
            self._break("the gzip data ends too early")
        return data

    def _next_member(self) -> bool:
        rest = self._inflate.unused_data.lstrip(b"\0")
        while not rest and (block := self._stream.read(BLOCK)):
            rest = block.lstrip(b"\0")
        self._ended = not rest
        if rest and not _GZIP.startswith(rest[:2]):
            self._break("bytes that are not gzip follow its end")
        self._inflate, self._input = isal_zlib.decompressobj(wbits=_MEMBER), rest
        return not self._ended

    def _break(self, sentence: str) -> None:
        self._damage, self._ended = sentence, True


class _Zstd:
    """One zstd frame or many."""

    def __init__(self, stream: Stream) -> None:
        import zstandard

        self._stream = stream
        self._errors = zstandard.ZstdError
        self._damage = ""
        decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
        self._reader = decompressor.stream_reader(cast(Any, stream), read_across_frames=True, closefd=False)

    @property
    def damage(self) -> str:
        return self._damage or self._stream.damage

    def read(self, size: int) -> bytes:
        if self._damage:
            return b""
        try:
            return self._reader.read(size)
        except self._errors as error:
            self._damage = f"the zstd data is damaged ({error})"
            return b""

    def close(self) -> None:
        self._stream.close()


class _Transcoded:
    """UTF-16 as UTF-8; what is not UTF-16 becomes U+FFFD, so that damage stays where it is."""

    def __init__(self, stream: Stream, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._left = b""

    @property
    def damage(self) -> str:
        return self._stream.damage

    def read(self, size: int) -> bytes:
        while not self._left and (block := self._stream.read(size)):
            self._left = self._decoder.decode(block).encode("utf-8", "replace")
        if not self._left:
            self._left = self._decoder.decode(b"", final=True).encode("utf-8", "replace")
            self._decoder.reset()
        given, self._left = self._left[:size], self._left[size:]
        return given

    def close(self) -> None:
        self._stream.close()
