"""Other people's programs, run for what they print: they have so long, and are read so far."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_COMPLAINT = 1 << 16
"""Bytes of a complaint that are read: its end would be of no more use."""


class ProgramError(Exception):
    """A program did not print what it was asked for; the text says why, for a sentence that names it."""


class TimedOutError(ProgramError):
    """It took too long."""


class ComplainedError(ProgramError):
    """It failed; the text is what it wrote on stderr."""


def printed(
    command: Sequence[str],
    seconds: float,
    most: int,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """What a command prints, `most` bytes of it. Raises ProgramError.

    It is asked nothing, and is ended with all that it started. Without a folder or an environment it has ours.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=complaints,
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramError(f"cannot be started: {error.strerror}") from error
        if _status(process, seconds):
            complaints.seek(0)
            raise ComplainedError(complaints.read(_COMPLAINT).decode("utf-8", "replace"))
        output.seek(0)
        return output.read(most)


def _status(process: "subprocess.Popen[bytes]", seconds: float) -> int:
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise TimedOutError(f"it took longer than {seconds:.0f} seconds") from error
