"""The files in a zip archive that holds an export, within bounds: nothing is written to disk.

What an archive says of its own sizes is not believed: reading stops at the bounds.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

MAGIC = b"PK\x03\x04"
MAX_MEMBERS = 100_000
MAX_TOTAL = 1 << 30
"""Bytes of all members together, decompressed."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LOCAL_HEADER = struct.Struct("<26xHH")
_READ_SUFFIXES = frozenset({".json", ".jsonl", ".csv", ".tsv", ".txt", ".md"})
"""Others are attachments: pictures and the like."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file, and the bytes `[start, end)` of the archive that hold it with its header."""

    path: PurePosixPath
    content: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A part of an archive that cannot be read, and why."""

    start: int
    end: int
    reason: str


def members(archive: bytes, limit: int) -> Iterator[Member | Unreadable]:
    """The files of an archive that may hold records, by name; `limit` bounds one of them, decompressed."""
    try:
        opened = zipfile.ZipFile(io.BytesIO(archive))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError, struct.error) as error:
        yield Unreadable(0, len(archive), f"not a whole zip archive: {error}")
        return
    listed = sorted(opened.infolist(), key=lambda info: (info.filename, info.header_offset))
    if len(listed) > MAX_MEMBERS:
        yield Unreadable(0, len(archive), f"more than {MAX_MEMBERS} files in the archive")
        return
    left = MAX_TOTAL
    for info in listed:
        if info.is_dir() or PurePosixPath(info.filename).suffix.lower() not in _READ_SUFFIXES:
            continue
        found = _member(opened, info, archive, min(limit, left))
        left -= len(found.content) if isinstance(found, Member) else 0
        yield found


def _member(opened: zipfile.ZipFile, info: zipfile.ZipInfo, archive: bytes, limit: int) -> Member | Unreadable:
    start, end = _place(info, archive)
    if info.compress_type not in _METHODS:
        return Unreadable(start, end, f"{_shown(info)} is compressed in a way that is not read here")
    try:
        with opened.open(info) as stream:
            content = stream.read(limit + 1)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, zlib.error, struct.error) as error:
        # RuntimeError is what the library says of a member with a password.
        return Unreadable(start, end, f"{_shown(info)} cannot be read: {error}"[:200])
    if len(content) > limit:
        return Unreadable(start, end, f"{_shown(info)} is larger than {limit >> 20} MiB")
    return Member(PurePosixPath(info.filename), content, start, end)


def _place(info: zipfile.ZipInfo, archive: bytes) -> tuple[int, int]:
    start = max(info.header_offset, 0)
    header = archive[start : start + _LOCAL_HEADER.size]
    if len(header) < _LOCAL_HEADER.size:
        return 0, len(archive)
    name, extra = _LOCAL_HEADER.unpack(header)
    return start, min(start + _LOCAL_HEADER.size + name + extra + info.compress_size, len(archive))


def _shown(info: zipfile.ZipInfo) -> str:
    return info.filename[:80]
