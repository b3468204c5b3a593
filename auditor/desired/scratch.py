"""Folders for what is only in between: private, gone when done with, and swept up after a process that was killed."""

import os
import re
import shutil
import tempfile
import time
from pathlib import Path

_PREFIX = "auditor-scratch-"
_OURS = re.compile(re.escape(_PREFIX) + r"\w{8}")
"""What `tempfile` calls a folder of that prefix, and nothing that a person would."""
_LEFT = 24 * 60 * 60.0
"""Seconds after which a folder is nobody's any more: a program has a minute, an answer as long as somebody reads it."""


def scratch() -> "tempfile.TemporaryDirectory[str]":
    """An empty folder of mode 0700 below the system's for temporary files."""
    return tempfile.TemporaryDirectory(prefix=_PREFIX)


def sweep() -> None:
    """Remove what processes of this user that were killed have left behind."""
    place = Path(tempfile.gettempdir())
    for name in os.listdir(place):
        if _OURS.fullmatch(name) and _is_left(place / name):
            shutil.rmtree(place / name, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    return found.st_uid == os.getuid() and time.time() - found.st_mtime > _LEFT
