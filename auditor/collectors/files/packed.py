"""Files that are handed in packed or in another notation: bzip2, xz, tar, zip and YAML, all recognised by content.

What is inside becomes one stream: the files of an archive one after the other, each decompressed by itself, and YAML
documents as lines of JSON. Offsets that the program speaks of are those of this stream. Nothing is written to disk.
What could hold no records is refused, with the sentence that says what to hand in instead.
"""

import bz2
import lzma
import re
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from auditor.collectors.files.forms import form, refusal
from auditor.collectors.files.streams import BLOCK, Stream, decompressed, exactly, inflated, is_packed
from auditor.collectors.files.yaml_lines import YamlLines
from auditor.errors import SourceError

_NESTING = 3
"""An archive in an archive, and one more; deeper is a bomb."""
_SECTOR = 512
_REGULAR = (b"", b"\0", b"0", b"7")
_OCTAL = re.compile(rb"[0-7]{1,12}")
_MEMORY = 128 << 20
"""Bytes that an xz stream may ask for."""


def unpacked(file: BinaryIO, name: str, depth: int = 0) -> Stream:
    """The content of a file as one stream. Raises SourceError where it is nothing that could hold records."""
    stream = decompressed(file)
    for _ in range(_NESTING):
        if refused := refusal(stream.head):
            raise SourceError(f"{name} is {refused}.")
        match form(stream.head):
            case "bzip2":
                stream = inflated(_Inflated(stream, bz2.BZ2Decompressor))
            case "xz":
                stream = inflated(_Inflated(stream, lambda: lzma.LZMADecompressor(memlimit=_MEMORY)))
            case "zip":
                return _Files(_zipped(file, name, depth), stream)
            case "tar":
                return _Files(_tarred(stream, name, depth), stream)
            case "yaml":
                return YamlLines(stream)
            case _:
                break
    if is_packed(stream.head) or form(stream.head) in ("bzip2", "xz"):
        raise SourceError(f"{name} is compressed more than {_NESTING} times over: decompress it.")
    return stream


class _Inflated:
    """One bzip2 or xz stream, or many appended to each other."""

    def __init__(self, stream: Stream, begin: Any) -> None:
        self._stream = stream
        self._begin = begin
        self._inflate = begin()
        self._damage = ""

    @property
    def damage(self) -> str:
        return self._damage or self._stream.damage

    def read(self, size: int) -> bytes:
        data = b""
        try:
            while not data and not self._damage and (fresh := self._input()) is not None:
                data = self._inflate.decompress(fresh, size)
        except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
            self._damage = f"the compressed data is damaged ({error})"
        return data

    def _input(self) -> bytes | None:
        """What to inflate next, None at the end."""
        if self._inflate.eof:
            rest = self._inflate.unused_data.lstrip(b"\0") or self._stream.read(BLOCK).lstrip(b"\0")
            self._inflate = self._begin() if rest else self._inflate
            return rest or None
        if not self._inflate.needs_input:
            return b""
        fresh = self._stream.read(BLOCK)
        if not fresh:
            self._damage = "the compressed data ends too early"
        return fresh or None

    def close(self) -> None:
        self._stream.close()


class _Files:
    """The files of an archive, one after the other; each ends with a newline."""

    def __init__(self, files: Iterator[Stream | str], around: Any) -> None:
        self._files = files
        self._around = around
        self._now: Stream | None = None
        self._ended = True
        self.damage = ""

    def read(self, size: int) -> bytes:
        while self._now is not None or self._next():
            assert self._now is not None
            if data := self._now.read(size):
                self._ended = data.endswith(b"\n")
                return data
            self.damage = self.damage or self._now.damage
            self._now = None
            if not self._ended:
                self._ended = True
                return b"\n"
        return b""

    def _next(self) -> bool:
        """Go to the next file that can be read."""
        for found in self._files:
            if not isinstance(found, str):
                self._now = found
                return True
            self.damage = self.damage or found
        return False

    def close(self) -> None:
        self._around.close()


class _Member:
    """One file of a tar archive, as what opens files expects one."""

    def __init__(self, stream: Stream, size: int) -> None:
        self._stream = stream
        self._left = size
        self._padding = -size % _SECTOR

    def read(self, size: int) -> bytes:
        """At most `size` bytes, b"" at its end."""
        data = self._stream.read(min(size, self._left)) if self._left else b""
        self._left -= len(data)
        return data

    def seekable(self) -> bool:
        """It is read once, in order."""
        return False

    def close(self) -> None:
        """The archive is closed by who opened it."""

    def pass_over(self) -> bool:
        """Go to the header behind it; False where the archive ends before."""
        left = self._left + self._padding
        while left and (data := self._stream.read(min(left, BLOCK))):
            left -= len(data)
        return not left


def _tarred(stream: Stream, name: str, depth: int) -> Iterator[Stream | str]:
    """The regular files. https://www.gnu.org/software/tar/manual/html_node/Standard.html has the header."""
    while header := exactly(stream, _SECTOR).rstrip(b"\0"):
        size = _size(header[124:136])
        if header[257:262] != b"ustar" or size is None:
            yield "the tar archive is damaged"
            return
        member, path = _Member(stream, size), header[:100].rstrip(b"\0").decode("utf-8", "replace")
        if header[156:157] in _REGULAR and not _is_note(path):
            yield _inside(cast(BinaryIO, member), f"{path} in {name}", depth)
        if not member.pass_over():
            yield "the tar archive ends too early"
            return


def _size(field: bytes) -> int | None:
    """A size in octal digits, or in base 256 where it is large."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:])
    digits = field.strip(b" \0")
    return int(digits, 8) if _OCTAL.fullmatch(digits) else None


def _zipped(file: BinaryIO, name: str, depth: int) -> Iterator[Stream | str]:
    if not (file.seekable() and zipfile.is_zipfile(file)):  # what it holds is told at its end
        yield f"{name} is a zip archive that is damaged, piped or packed once more: unpack it"
        return
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    yield f"{entry.filename} in {name} is compressed in a way that is not read here"
                elif not entry.is_dir() and not _is_note(entry.filename):
                    yield _inside(cast(BinaryIO, archive.open(entry)), f"{entry.filename} in {name}", depth)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError) as error:
        # RuntimeError is what the library says of a member with a password.
        yield f"the zip archive cannot be read: {error}"


def _inside(content: BinaryIO, name: str, depth: int) -> Stream | str:
    if depth >= _NESTING:
        return f"{name} lies in too many archives"
    try:
        return unpacked(content, name, depth + 1)
    except SourceError as error:
        return error.message.rstrip(".")


def _is_note(name: str) -> bool:
    """Whether a file is hidden, as what macOS adds to an archive."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")
