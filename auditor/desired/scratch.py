"""Folders for what is only in between: private, gone when done with, and swept up after a process that was killed."""

import tempfile
from pathlib import Path

from auditor.collectors.files.left_behind import sweep_up

_PREFIX = "auditor-scratch-"


def scratch() -> "tempfile.TemporaryDirectory[str]":
    """An empty folder of mode 0700 below the system's for temporary files."""
    return tempfile.TemporaryDirectory(prefix=_PREFIX)


def sweep() -> None:
    """Remove what processes of this user that were killed have left behind."""
    sweep_up(Path(tempfile.gettempdir()), _PREFIX)
