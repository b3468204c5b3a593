"""Reads auditor.toml. An unknown key, a wrong type or a name that nothing has is a ConfigError that names the line."""

import dataclasses
import os
import tomllib
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from auditor.config import (
    AcceptedFinding,
    ActorRule,
    AnnouncementsConfig,
    ArgoCDConfig,
    ClusterConfig,
    Config,
    EnvironmentPair,
    Goals,
    NotifyConfig,
    Person,
    Redaction,
    ReportConfig,
    RepositoryConfig,
)
from auditor.errors import ConfigError
from auditor.model.change import ActorKind

FILE_NAME = "auditor.toml"

Place: TypeAlias = tuple[str | int, ...]
"""Where a value stands: `("cluster", 1, "audit")`."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Store:
    url: str = "sqlite:///auditor.db"
    cache: str = ""


_TABLES: Mapping[str, type[Any]] = {
    "store": _Store,
    "goals": Goals,
    "report": ReportConfig,
    "redaction": Redaction,
    "notify": NotifyConfig,
}
_LISTS: Mapping[str, tuple[type[Any], str]] = {
    "cluster": (ClusterConfig, "clusters"),
    "argocd": (ArgoCDConfig, "argocds"),
    "repository": (RepositoryConfig, "repositories"),
    "announcements": (AnnouncementsConfig, "announcements"),
    "environments": (EnvironmentPair, "environments"),
    "actor": (ActorRule, "actor_rules"),
    "person": (Person, "people"),
    "accept": (AcceptedFinding, "accepted"),
}
"""Section of the file -> value and field of `Config`."""

_WANTED = {
    str: "text in quotes",
    int: "a whole number",
    bool: "true or false",
    tuple: 'a list of texts, as ["one", "two"]',
}


def load(path: Path, environment: Mapping[str, str] = os.environ) -> Config:
    """The configuration of a file, with `AUDITOR_<TABLE>_<KEY>` of the environment over it."""
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(
            f"There is no configuration at {path}.", "Run `auditor init` here, or give one by --config."
        ) from error
    except IsADirectoryError as error:
        raise ConfigError(f"{path} is a folder.", f"Give the file in it: --config {path / FILE_NAME}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.", "It must be a UTF-8 text file in TOML.") from error
    return parse(text, path, environment)


def parse(text: str, path: Path, environment: Mapping[str, str]) -> Config:
    """The configuration that `text` holds; `path` is what errors call it and what relative paths start from."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error).replace("at end of document", f"at the end, line {len(text.splitlines())}")
        raise ConfigError(f"{path}: {said}", "It must be valid TOML.") from error
    reader = _Reader(path, text)
    reader.known_sections(document)
    tables: dict[str, Any] = {
        name: _overridden(reader.table(kind, document.get(name, {}), (name,)), name, environment)
        for name, kind in _TABLES.items()
    }
    lists: Mapping[str, Any] = {
        target: reader.tables(kind, document.get(name, []), name) for name, (kind, target) in _LISTS.items()
    }
    store = tables.pop("store")
    config = Config(folder=path.absolute().parent, store=store.url, cache=store.cache, **tables, **lists)
    reader.agrees(config)
    return config


class _Reader:
    """Turns tables into values, and complaints into errors with a line."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def known_sections(self, document: Mapping[str, object]) -> None:
        for name in document:
            if name not in _TABLES and name not in _LISTS:
                raise self.error((name,), f"unknown section [{name}]", f"Known are: {', '.join((*_TABLES, *_LISTS))}.")

    def tables(self, kind: type[T], value: object, name: str) -> tuple[T, ...]:
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error((name,), f"[{name}] may stand several times", f"Write it as [[{name}]].")
        return tuple(self.table(kind, item, (name, position)) for position, item in enumerate(value))

    def table(self, kind: type[T], value: object, place: Place) -> T:
        if not isinstance(value, dict):
            raise self.error(place, f"{place[0]} must be a table", f"Write it as [{place[0]}].")
        hints = typing.get_type_hints(kind)
        for key, item in value.items():
            if key not in hints:
                known = ", ".join(hints)
                raise self.error((*place, key), f"unknown key {key!r} in [{place[0]}]", f"Known are: {known}.")
            if not _fits(item, hints[key]):
                wanted = _WANTED[typing.get_origin(hints[key]) or hints[key]]
                raise self.error((*place, key), f"{key} must be {wanted}", "")
        missing = [
            field.name
            for field in dataclasses.fields(kind)  # type: ignore[arg-type]
            if field.name not in value
            and field.default is dataclasses.MISSING
            and field.default_factory is dataclasses.MISSING
        ]
        if missing:
            raise self.error(place, f"[[{place[0]}]] lacks {' and '.join(missing)}", "")
        return kind(**{key: tuple(item) if isinstance(item, list) else item for key, item in value.items()})

    def agrees(self, config: Config) -> None:
        """Names that stand for one another must be there, once."""
        self._once("cluster", [cluster.name for cluster in config.clusters])
        self._once("argocd", [argocd.name for argocd in config.argocds])
        self._once("repository", [repository.name for repository in config.repositories], "url")
        clusters = {cluster.name for cluster in config.clusters}
        for position, argocd in enumerate(config.argocds):
            if clusters and argocd.cluster not in clusters:
                known = ", ".join(sorted(clusters))
                hint = f"Name one of the [[cluster]] sections ({known}): the one it runs in."
                raise self.error(("argocd", position, "cluster"), f"there is no cluster {argocd.cluster!r}", hint)
        self._servers(config)
        self._accesses("cluster", config.clusters)
        self._accesses("argocd", config.argocds)
        for position, rule in enumerate(config.actor_rules):
            if rule.kind not in typing.get_args(ActorKind):
                hint = f"Known are: {', '.join(typing.get_args(ActorKind))}."
                raise self.error(("actor", position, "kind"), f"unknown kind of actor {rule.kind!r}", hint)
        for position, source in enumerate(config.announcements):
            self._zone(source.zone, ("announcements", position, "zone"))
        self._zone(config.report.zone, ("report", "zone"))
        self._webhook(config.notify.webhook)
        for position, accepted in enumerate(config.accepted):
            self._day(accepted.expires, ("accept", position, "expires"))

    def _once(self, section: str, names: Sequence[str], key: str = "name") -> None:
        for position, name in enumerate(names):
            if name in names[:position]:
                raise self.error((section, position, key), f"a second [[{section}]] is called {name!r}", "")

    def _servers(self, config: Config) -> None:
        """A destination that two clusters claim is ambiguous, unless it is the address of an Argo CD's own cluster."""
        seen: dict[str, str] = {}
        for position, cluster in enumerate(config.clusters):
            for server in cluster.server:
                if server in seen and server != "https://kubernetes.default.svc":
                    raise self.error(
                        ("cluster", position, "server"),
                        f"{server} is claimed by the clusters {seen[server]!r} and {cluster.name!r}",
                        "A destination can name one cluster only.",
                    )
                seen[server] = cluster.name

    def _accesses(self, section: str, places: Sequence[ClusterConfig | ArgoCDConfig]) -> None:
        for position, place in enumerate(places):
            if place.in_cluster and (place.context or place.kubeconfig):
                other = "context" if place.context else "kubeconfig"
                hint = "The one is for a pod inside of the cluster, the other for everywhere else."
                raise self.error((section, position, "in_cluster"), f"in_cluster and {other} exclude each other", hint)

    def _zone(self, name: str, place: Place) -> None:
        if not name:
            return
        try:
            ZoneInfo(name)
        except (KeyError, ValueError, OSError) as error:
            hint = "Use an IANA name such as Europe/Berlin or UTC."
            raise self.error(place, f"there is no time zone {name!r}", hint) from error

    def _webhook(self, url: str) -> None:
        """The URL is a secret: what is wrong with it is told without it."""
        try:
            parts = urlsplit(url)
            fits = not url or (parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable())
        except ValueError:
            fits = False
        if not fits or " " in url:
            hint = "Give the address that the chat made for an incoming webhook."
            raise self.error(("notify", "webhook"), "webhook must be an http:// or https:// URL", hint)

    def _day(self, text: str, place: Place) -> None:
        try:
            fits = not text or date.fromisoformat(text).isoformat() == text
        except ValueError:
            fits = False
        if not fits:
            raise self.error(place, f"{text!r} is no day", 'Write it as "2027-03-31", in quotes.')

    def error(self, place: Place, message: str, hint: str) -> ConfigError:
        return error_at(self._path, self._text, place, message, hint)


def error_at(path: Path, text: str, place: Place, message: str, hint: str) -> ConfigError:
    """What is wrong at a place of the file that holds `text`, with its line. `message` has no full stop."""
    line = line_of(text, place)
    where = f"{path}, line {line}" if line else f"{path}"
    return ConfigError(f"{where}: {message}.", hint)


def line_of(text: str, place: Place) -> int | None:
    """The line on which the value at `place` begins: the first after the longest readable head that lacks it."""
    lines = text.splitlines()
    start = 0
    for count in range(1, len(lines) + 1):
        try:
            head = tomllib.loads("\n".join(lines[:count]) + "\n")
        except tomllib.TOMLDecodeError:
            continue
        if _holds(head, place):
            return next(number for number in range(start + 1, count + 1) if _says_something(lines[number - 1]))
        start = count
    return None


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _holds(value: Any, place: Place) -> bool:
    for step in place:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _fits(value: object, hint: Any) -> bool:
    if typing.get_origin(hint) is tuple:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))


def _overridden(table: Any, name: str, environment: Mapping[str, str]) -> Any:
    """`AUDITOR_STORE_URL`, `AUDITOR_REPORT_ZONE` … over what the file says; lists are split at commas."""
    hints = typing.get_type_hints(type(table))
    prefix = f"AUDITOR_{name.upper()}_"
    given = {key.removeprefix(prefix).lower(): value for key, value in environment.items() if key.startswith(prefix)}
    for key in given:
        if key not in hints:
            known = ", ".join(prefix + hint.upper() for hint in hints)
            raise ConfigError(f"{prefix}{key.upper()} overrides nothing.", f"Known are: {known}.")
    return dataclasses.replace(table, **{key: _read(prefix, key, value, hints[key]) for key, value in given.items()})


def _read(prefix: str, key: str, value: str, hint: Any) -> object:
    if typing.get_origin(hint) is tuple:
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if hint is int:
        try:
            return int(value)
        except ValueError as error:
            raise ConfigError(f"{prefix}{key.upper()} must be a whole number, not {value!r}.", "") from error
    return value
