"""The files of a revision written where a program can read them, and nothing else."""

from collections.abc import Iterable
from pathlib import Path

from auditor.desired.blobs import Contents, UnreadableError
from auditor.desired.history import SUBMODULE, SYMLINK, Entry
from auditor.desired.source import normal_path

_LARGEST = 64 << 20
"""Bytes of all files together."""


def export(files: Iterable[tuple[str, Entry]], blobs: Contents, root: Path) -> None:
    """Write the files below `root`. Raises UnreadableError.

    Symbolic links are refused and submodules left out, so that nothing outside of `root` is read or written.
    """
    total = 0
    for path, entry in files:
        if entry.mode == SUBMODULE:
            continue
        if entry.mode == SYMLINK:
            raise UnreadableError(f"{path} is a symbolic link")
        if normal_path(path) != path or "\0" in path:
            raise UnreadableError(f"{path} is no path that can be written")
        content = blobs.content(entry.blob, path)
        total += len(content)
        if total > _LARGEST:
            raise UnreadableError("its files are larger together than anything that declares objects")
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
