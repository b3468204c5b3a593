"""git as a reader of repositories that may be hostile: nothing of a repository's configuration runs.

Hooks, filters, text conversions, signature programs, file-system monitors and lazily fetched objects are switched off
in the environment, which git trusts above any configuration. Only plumbing that reads is called, and names of refs and
revisions reach it through standard input, never as arguments.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

# GitPython looks for git when it is imported and raises where there is none; here that is an ordinary answer.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

_CHUNK = 1 << 20
MAX_BLOB = 16 << 20
"""Bytes. Nothing that declares an object is larger than what etcd stores."""

_CONFIG = {
    "safe.directory": "*",
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "core.quotePath": "false",
    "core.commitGraph": "true",
    "core.sshCommand": "false",
    "core.alternateRefsCommand": "true",
    "credential.helper": "",
    "log.showSignature": "false",
    "log.showRoot": "true",
    "log.mailmap": "false",
    "diff.external": "",
    "gpg.program": "false",
    "i18n.logOutputEncoding": "UTF-8",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "transfer.bundleURI": "false",
    "init.defaultBranch": "main",
}

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}


class GitMissingError(Exception):
    """This machine has no git executable."""


class GitFailedError(Exception):
    """git said no; the text is its own last line, for a reader."""


def environment(extra_config: Mapping[str, str] | None = None) -> dict[str, str]:
    """What makes git read a repository without obeying it."""
    config = {**_CONFIG, **(extra_config or {})}
    numbered = {
        key: text
        for number, (name, value) in enumerate(config.items())
        for key, text in ((f"GIT_CONFIG_KEY_{number}", name), (f"GIT_CONFIG_VALUE_{number}", value))
    }
    return {**_ENVIRONMENT, **numbered, "GIT_CONFIG_COUNT": str(len(config))}


class Repository:
    """One repository on disk, read through its git directory."""

    def __init__(self, git_dir: Path) -> None:
        from git.cmd import Git

        self.git_dir = git_dir
        self._git = Git(str(git_dir))
        self._git.update_environment(**environment(), GIT_DIR=str(git_dir))

    def close(self) -> None:
        """End the process that hands out objects."""
        self._git.clear_cache()

    def output(self, *arguments: str, given: bytes = b"") -> bytes:
        """What a short command prints. Raises GitMissingError and GitFailedError."""
        return b"".join(self.stream(*arguments, given=given))

    def stream(self, *arguments: str, given: bytes = b"") -> Iterator[bytes]:
        """What a command prints, in chunks; `given` is its standard input."""
        from git.exc import GitCommandError, GitCommandNotFound

        with tempfile.TemporaryFile() as standard_input:
            standard_input.write(given)
            standard_input.seek(0)
            try:
                process = self._git.execute(["git", "--no-pager", *arguments], istream=standard_input, as_process=True)
                yield from _chunks(process.stdout)
                process.wait()
            except GitCommandNotFound as error:
                raise GitMissingError from error
            except GitCommandError as error:
                raise GitFailedError(last_line(str(error.stderr))) from error

    def blob(self, name: str) -> bytes | None:
        """The content of a blob by its object name, None where the repository has not got it
        or it is larger than MAX_BLOB."""
        from git.exc import GitCommandNotFound

        if not name or not all(letter in "0123456789abcdef" for letter in name):
            return None
        try:
            _, kind, size, content = self._git.stream_object_data(name)
        except ValueError:
            return None
        except GitCommandNotFound as error:
            raise GitMissingError from error
        is_blob = kind in ("blob", b"blob")  # annotated as text, and bytes in fact
        # A stream that is dropped reads itself to its end: the next answer is then found where it should be.
        return content.read(size) if is_blob and size <= MAX_BLOB else None


def _chunks(output: IO[bytes] | None) -> Iterator[bytes]:
    """What a program prints, as it comes: so that it goes on while what it printed is read."""
    if output is None:
        return
    try:
        fcntl.fcntl(output, fcntl.F_SETPIPE_SZ, _CHUNK)
    except (OSError, AttributeError):
        pass  # a system that keeps its pipes small is only slower
    while chunk := os.read(output.fileno(), _CHUNK):
        yield chunk


def run(arguments: Iterable[str], variables: Mapping[str, str], seconds: float) -> None:
    """A command that fetches, with a time limit. Raises GitMissingError and GitFailedError."""
    from git.cmd import Git
    from git.exc import GitCommandError, GitCommandNotFound

    try:
        Git().execute(["git", *arguments], env=dict(variables), kill_after_timeout=seconds)
    except GitCommandNotFound as error:
        raise GitMissingError from error
    except GitCommandError as error:
        raise GitFailedError(last_line(str(error.stderr))) from error


def last_line(text: str) -> str:
    """The line of git's talk that says what is wrong."""
    lines = [line.strip().strip("'") for line in text.splitlines()]
    said = [line for line in lines if line.startswith(("fatal:", "error:", "Timeout"))]
    return (said or [line for line in lines if line] or ["git failed"])[0].removeprefix("fatal: ")
