"""The files that a configured path, folder or glob means, and their content whether compressed or not."""

import glob
import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from auditor.collectors.files.sources import in_utf8
from auditor.errors import SourceError
from auditor.model.facts import Batch, RecordKind, Skipped, SourceMark

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
HEAD = 1 << 16
"""Bytes at the beginning of a file by which its content is recognised."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, and its name as reports show it."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class MissingSource:
    """A configured path behind which there is nothing to read."""

    name: str
    problem: str


def source_files(folder: Path, patterns: Iterable[str]) -> Iterator[SourceFile | MissingSource]:
    """The regular files of `patterns` (relative to `folder`), folders read whole, each file once, by name."""
    seen: set[Path] = set()
    for pattern in patterns:
        found = sorted(_matches(folder, pattern))
        if not found:
            yield MissingSource(pattern, _problem(folder, pattern))
        for path in found:
            if (real := path.resolve()) not in seen:
                seen.add(real)
                yield SourceFile(path, shown_name(folder, path))


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
        yield unreadable(kind, cluster, source.name, f"{source.name} cannot be read: {_sentence(error)}")
    except SourceError as error:
        yield unreadable(kind, cluster, source.name, error.message)


def shown_name(folder: Path, path: Path) -> str:
    """`path` below `folder` where it lies there, with `/` on every system."""
    absolute, root = path.absolute(), folder.absolute()
    return in_utf8(absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else path.as_posix())


@contextmanager
def open_content(path: Path) -> Iterator[BinaryIO]:
    """The content of `path` as a stream, decompressed where it is gzip or zstd."""
    with path.open("rb") as raw:
        magic = raw.read(4)
        raw.seek(0)
        if magic.startswith(_GZIP):
            with gzip.GzipFile(fileobj=raw) as stream:
                yield cast(BinaryIO, stream)
        elif magic == _ZSTD:
            import zstandard

            with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as reader:
                yield cast(BinaryIO, io.BufferedReader(reader))
        else:
            yield raw


def is_compressed(path: Path) -> bool:
    """Whether `open_content` decompresses: a position in such a file cannot be sought."""
    with path.open("rb") as raw:
        magic = raw.read(4)
    return magic.startswith(_GZIP) or magic == _ZSTD


def read_content(path: Path, limit: int) -> bytes:
    """The whole content, decompressed. SourceError where it is larger than `limit` bytes or cannot be read."""
    try:
        with open_content(path) as stream:
            content = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error, ValueError, _zstd_error()) as error:
        raise SourceError(f"{path.name} cannot be read: {_sentence(error)}") from error
    if len(content) > limit:
        raise SourceError(f"{path.name} is larger than {limit >> 20} MiB", "Export it in parts, one namespace each.")
    return content


def read_head(path: Path) -> bytes:
    """The first bytes of the content, decompressed. SourceError where it cannot be read."""
    try:
        with open_content(path) as stream:
            return stream.read(HEAD)
    except (OSError, EOFError, zlib.error, ValueError, _zstd_error()) as error:
        raise SourceError(f"{path.name} cannot be read: {_sentence(error)}") from error


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


def _zstd_error() -> type[Exception]:
    import zstandard

    return cast(type[Exception], zstandard.ZstdError)


def _sentence(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return reason or type(error).__name__


def _matches(folder: Path, pattern: str) -> Iterator[Path]:
    path = folder / pattern
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from _files_below(path)
    elif glob.has_magic(pattern):
        for name in glob.iglob(str(path), recursive=True):
            if Path(name).is_file():
                yield Path(name)


def _files_below(folder: Path) -> Iterator[Path]:
    """Regular files, hidden ones left out; a linked folder is not entered, so that no loop can be built."""
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if not entry.is_symlink():
                yield from _files_below(entry)
        elif entry.is_file():
            yield entry


def _problem(folder: Path, pattern: str) -> str:
    path = folder / pattern
    if path.is_dir():
        return f"{pattern} holds no files"
    if glob.has_magic(pattern):
        return f"no file matches {pattern}"
    return f"{pattern} does not exist"
