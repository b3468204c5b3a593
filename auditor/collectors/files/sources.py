"""What a configuration calls a source: files, folders, globs, `-` for standard input, and objects in object stores.

Object stores are read through fsspec as streams, never downloaded whole. What is in a source is recognised by its
content alone.
"""

import glob
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from auditor.collectors.files.dated import may_hold
from auditor.collectors.files.packed import unpacked
from auditor.collectors.files.streams import Stream, reason_of
from auditor.errors import SourceError


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to read: `location` is what opens it (a path, `-` or a URL), `name` what reports show."""

    name: str
    location: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A configured source behind which there is nothing, with the sentence that says so."""

    name: str
    problem: str


def expand(
    folder: Path, patterns: Iterable[str], since: datetime | None = None, until: datetime | None = None
) -> Iterator[Source | Missing]:
    """The sources that `patterns` mean, each once, those of a pattern by name. A folder is read whole.

    Those whose names show that they hold nothing from `since` to `until` are left out.
    """
    seen: set[str] = set()
    for pattern in patterns:
        for found in _sources(folder, pattern):
            if isinstance(found, Missing):
                yield found
            elif (place := _place(found)) not in seen and may_hold(found.name, since, until):
                seen.add(place)
                yield found


def _place(source: Source) -> str:
    """Where it really lies, whatever links lead there."""
    return source.location if source.location == "-" or is_url(source.location) else os.path.realpath(source.location)


def open_stream(source: Source) -> Stream:
    """The content of a source unpacked, as UTF-8. Raises SourceError where it cannot be opened."""
    file = open_raw(source)
    try:
        return unpacked(file, source.name)
    except SourceError:
        file.close()
        raise


def open_raw(source: Source) -> BinaryIO:
    """The source as it lies there. Raises SourceError."""
    if source.location == "-":
        if sys.stdin is None:
            raise SourceError("- cannot be read: standard input is closed.", "Pipe the records into the command.")
        return sys.stdin.buffer
    try:
        if is_url(source.location):
            filesystem, path = _filesystem(source.location)
            return cast(BinaryIO, filesystem.open(path, "rb", block_size=8 << 20))
        return open(source.location, "rb", buffering=0)
    except OSError as error:
        raise SourceError(f"{source.name} cannot be read: {reason_of(error)}.", _hint(error)) from error


def is_url(location: str) -> bool:
    """Whether fsspec opens it rather than the file system."""
    return "://" in location


def _sources(folder: Path, pattern: str) -> Iterator[Source | Missing]:
    if pattern == "-":
        yield Source("-", "-")
    elif is_url(pattern):
        yield from _remote(pattern)
    else:
        yield from _local(folder, pattern)


def _local(folder: Path, pattern: str) -> Iterator[Source | Missing]:
    path = str(folder / os.path.expanduser(pattern))
    found = sorted(_files(path) if not glob.has_magic(path) or os.path.exists(path) else _globbed(path))
    for file in found:
        yield Source(shown_name(folder, file), file)
    if not found:
        yield Missing(pattern, _nothing(path, pattern))


def _nothing(path: str, pattern: str) -> str:
    if os.path.isdir(path):
        return f"{pattern} holds no file."
    return f"{pattern} matches nothing." if glob.has_magic(pattern) else f"{pattern} does not exist."


def _globbed(pattern: str) -> Iterator[str]:
    for match in glob.iglob(pattern, recursive=True):
        yield from _files(match)


def _files(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        if os.path.exists(path):
            yield path
        return
    for root, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in files:
            file = os.path.join(root, name)
            if not name.startswith(".") and os.path.isfile(file):
                yield file


def shown_name(folder: Path, path: str) -> str:
    """The path below the configuration's folder, else as it is."""
    try:
        return in_utf8(Path(path).relative_to(folder).as_posix())
    except ValueError:
        return in_utf8(path)


def in_utf8(name: str) -> str:
    """A file's name as text that can be stored: bytes of it that are no UTF-8 as `\\xff`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _remote(url: str) -> Iterator[Source | Missing]:
    try:
        filesystem, path = _filesystem(url)
        found = sorted(filesystem.glob(path) if glob.has_magic(path) else filesystem.find(path))
    except SourceError as error:
        yield Missing(url, error.message)
        return
    except Exception as error:  # each object store raises its own kinds
        yield Missing(url, f"{url} cannot be listed: {reason_of(error)}.")
        return
    for file in found:
        name = filesystem.unstrip_protocol(file)
        yield Source(name, name)
    if not found:
        yield Missing(url, f"{url} holds no object.")


def _filesystem(url: str) -> tuple[Any, str]:
    import fsspec  # type: ignore[import-untyped]  # 60 ms, and only those who read object stores need it

    scheme = url.partition("://")[0]
    try:
        filesystem, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise SourceError(f"{scheme}:// needs an extra.", f"Install it: pip install 'auditor[{scheme}]'") from error
    except ValueError as error:
        raise SourceError(f"{scheme}:// is not known.", "Object stores are s3://, gs:// and abfs://.") from error
    return filesystem, path


def _hint(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "Let the account that runs auditor read it."
    return "Check the path in auditor.toml; relative paths are relative to that file."
