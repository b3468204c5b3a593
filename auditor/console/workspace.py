"""Where a command works: its configuration, its store, its cache and its redaction key."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.config import Config
from auditor.config_file import FILE_NAME, error_at, load
from auditor.errors import ConfigError
from auditor.progress import SILENT, Progress

if TYPE_CHECKING:
    from auditor.objects.redaction import Redactor
    from auditor.store import Store


@dataclass(frozen=True, slots=True)
class GivenBefore:
    """What was given before the command's name: its own options come first."""

    config: Path | None = None
    store: str | None = None


BEFORE_THE_COMMAND: ContextVar[GivenBefore] = ContextVar("given before the command", default=GivenBefore())  # noqa: B039 - frozen


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a command was started with."""

    config: Config
    progress: Progress = SILENT

    @contextmanager
    def store(self, *, create: bool = False) -> Iterator["Store"]:
        """The store, closed afterwards."""
        from auditor.store import open_store

        with open_store(self.config.store, create=create, folder=self.config.folder) as store:
            yield store

    def cache(self) -> Path:
        """The folder of mirrors and rendered states, made with mode 0700."""
        named = self.config.cache
        folder = self.config.folder / named if named else _home("XDG_CACHE_HOME", ".cache") / "auditor"
        return _private_folder(folder)

    def redactor(self) -> "Redactor":
        """Hashes secrets with the key of this configuration; the first use draws one."""
        from auditor.objects.redaction import Redactor

        named = self.config.redaction.key_file
        path = self.config.folder / named if named else _home("XDG_CONFIG_HOME", ".config") / "auditor/redaction.key"
        return Redactor(_key(path), self.config.redaction.fields)


def workspace(config: Path | None, store: str | None, progress: Progress = SILENT) -> Workspace:
    """The workspace of a command line: its own options, else those before the command's name."""
    before = BEFORE_THE_COMMAND.get()
    url = store or before.store
    path = config or before.config or Path(FILE_NAME)
    read = load(path)
    _refuse_useless_rules(read, path)
    return Workspace(replace(read, store=_from_here(url)) if url else read, progress)


def _refuse_useless_rules(config: Config, path: Path) -> None:
    """A rule that correlation would pass over is an error: whoever wrote it takes it for one that works."""
    if not config.actor_rules:
        return
    from auditor.correlate.identity.actors import rule_problem

    for position, rule in enumerate(config.actor_rules):
        if problem := rule_problem(rule):
            hint = "Patterns are globs over user, group, user_agent, field_manager and impersonated_user."
            raise error_at(path, path.read_text("utf-8-sig"), ("actor", position), problem, hint)


def _from_here(url: str) -> str:
    """A relative SQLite path of the command line starts where the person stands, not at the configuration."""
    head = "sqlite:///"
    if url.startswith(head) and not url.startswith(head + "/"):
        return head + str(Path(url.removeprefix(head)).absolute())
    return url


def _home(variable: str, usual: str) -> Path:
    named = os.environ.get(variable, "")
    if named.startswith("/"):
        return Path(named)
    try:
        return Path.home() / usual
    except RuntimeError as error:
        raise ConfigError(
            "There is no home directory to keep the redaction key and the cache in.",
            f"Set {variable}, or key_file in [redaction] and cache in [store].",
        ) from error


def _private_folder(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be made: {error.strerror}.", "Set cache in [store].") from error
    return folder


def _key(path: Path) -> bytes:
    """The key in the file; a new one, readable by its owner alone, where there is none."""
    try:
        return _read_key(path)
    except FileNotFoundError:
        _private_folder(path.parent)
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return _read_key(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be made: {error.strerror}.", "Set key_file in [redaction].") from error
    with os.fdopen(handle, "wb") as file:
        file.write(os.urandom(32).hex().encode() + b"\n")
    return _read_key(path)


def _read_key(path: Path) -> bytes:
    try:
        key = path.read_bytes().strip()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.", "It holds the redaction key.") from error
    if len(key) < 16:
        raise ConfigError(f"{path} holds no redaction key.", "Delete it and collect into a new store.")
    return key
