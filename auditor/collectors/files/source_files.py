"""Sources that are files and are read whole: exports, logs of Argo CD, timelines."""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from auditor.collectors.files.sources import Missing, expand, is_url
from auditor.collectors.files.streams import Stream, decompressed, plain_size, reason_of
from auditor.errors import SourceError
from auditor.model.facts import Batch, RecordKind, Skipped, SourceMark

_BLOCK = 1 << 20
HEAD = 1 << 16
"""Bytes at the beginning of a file by which its content is recognised."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, and its name as reports show it."""

    path: Path
    name: str


def source_files(folder: Path, patterns: Iterable[str]) -> Iterator[SourceFile | Missing]:
    """The regular files of `patterns` (relative to `folder`), folders read whole, each file once, by name."""
    for pattern in patterns:
        if pattern == "-" or is_url(pattern):
            yield Missing(pattern, f"{pattern} is no file; only audit logs are read from elsewhere.")
    for found in expand(folder, (pattern for pattern in patterns if pattern != "-" and not is_url(pattern))):
        yield found if isinstance(found, Missing) else SourceFile(Path(found.location), found.name)


def unreadable(kind: RecordKind, cluster: str, name: str, problem: str) -> Batch:
    """What is said of a source that could not be read at all."""
    return Batch((), SourceMark(kind, cluster, name, "", "unknown", problem=problem))


def foreign_file(kind: RecordKind, cluster: str, source: SourceFile, digest: str, reason: str) -> Batch:
    """What is said of a file without any record of the kind."""
    size = source.path.stat().st_size
    mark = SourceMark(kind, cluster, source.name, "", "foreign", bytes=size, foreign=1, position={"file": digest})
    return Batch((Skipped(kind, cluster, source.name, 0, size, reason),), mark)


def read_changed(
    kind: RecordKind,
    cluster: str,
    source: SourceFile,
    earlier: SourceMark | None,
    read: Callable[[bytes, str], Iterator[Batch]],
) -> Iterator[Batch]:
    """What `read` finds in a file, given its first bytes and its digest; nothing where it is as `earlier` left it."""
    try:
        digest = file_digest(source.path)
        if earlier is None or not earlier.complete or earlier.position.get("file") != digest:
            yield from read(read_head(source.path), digest)
    except OSError as error:
        yield unreadable(kind, cluster, source.name, f"{source.name} cannot be read: {reason_of(error)}")
    except SourceError as error:
        yield unreadable(kind, cluster, source.name, error.message)


class _Readable(io.RawIOBase):
    """A stream as what `io` reads from. What cuts it short is an OSError once all before it was read."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        if not data and self._stream.damage:
            raise OSError(self._stream.damage)
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def open_content(path: Path) -> Iterator[BinaryIO]:
    """The content of `path` as UTF-8, whatever compression and encoding it has. OSError where it is damaged."""
    with path.open("rb") as raw:
        plain = plain_size(raw)
        raw.seek(0)
        yield raw if plain else cast(BinaryIO, io.BufferedReader(_Readable(decompressed(raw))))


def is_compressed(path: Path) -> bool:
    """Whether `open_content` decompresses or converts: a position in such a file cannot be sought."""
    with path.open("rb") as raw:
        return not plain_size(raw)


def read_content(path: Path, limit: int) -> bytes:
    """The whole content, decompressed. SourceError where it is larger than `limit` bytes or cannot be read."""
    content = _beginning(path, limit + 1)
    if len(content) > limit:
        raise SourceError(f"{path.name} is larger than {limit >> 20} MiB", "Export it in parts, one namespace each.")
    return content


def read_head(path: Path) -> bytes:
    """The first bytes of the content, decompressed. SourceError where it cannot be read."""
    return _beginning(path, HEAD)


def _beginning(path: Path, size: int) -> bytes:
    try:
        with open_content(path) as stream:
            blocks = iter(lambda: stream.read(min(size, _BLOCK)), b"")
            return b"".join(_first(blocks, size))
    except OSError as error:
        raise SourceError(f"{path.name} cannot be read: {reason_of(error)}") from error


def _first(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The first `size` bytes. No more memory is asked for than there are: a limit says how much could be there."""
    for block in blocks:
        yield block[:size]
        size -= len(block)
        if size <= 0:
            return


def file_digest(path: Path, length: int | None = None) -> str:
    """SHA-256 (hex) of the file as it lies there, or of its first `length` bytes."""
    digest = hashlib.sha256()
    left = length
    with path.open("rb") as raw:
        while left is None or left > 0:
            block = raw.read(1 << 20 if left is None else min(left, 1 << 20))
            if not block:
                break
            digest.update(block)
            left = None if left is None else left - len(block)
    return digest.hexdigest()
