"""Folders for what is only in between, which a process that was killed has left behind."""

import os
import re
import shutil
import time
from pathlib import Path

_LEFT = 24 * 60 * 60.0
"""Seconds after which a folder is nobody's any more: a program has minutes, an answer as long as somebody reads it."""


def sweep_up(place: Path, prefix: str) -> None:
    """Remove those in `place` that `tempfile` made under that prefix for this user, long ago."""
    ours = re.compile(re.escape(prefix) + r"\w{8}")  # what `tempfile` calls them, and nothing that a person would
    for name in os.listdir(place):
        if ours.fullmatch(name) and _is_left(place / name):
            shutil.rmtree(place / name, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    return found.st_uid == os.getuid() and time.time() - found.st_mtime > _LEFT
