"""Which sources the configuration still names: what was read of the others stays, and is no open question any more."""

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from auditor.collectors.files.sources import is_url, shown_name
from auditor.collectors.live.access import PREFIX
from auditor.config import Access, Config
from auditor.model.facts import RecordKind, SourceMark

if TYPE_CHECKING:
    from auditor.store import Store


class Configured:
    """A store's records, with what is said of sources that are configured no longer taken as settled."""

    def __init__(self, store: "Store", config: Config) -> None:
        self._store = store
        self._config = config

    def marks(self, kind: RecordKind | None = None, name: str | None = None) -> tuple[SourceMark, ...]:
        """A source that nobody wants to be read any more neither fails nor waits for its end."""
        found = self._store.marks(kind, name)
        return tuple(
            mark if is_configured(self._config, mark) else replace(mark, problem="", complete=True) for mark in found
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def is_configured(config: Config, mark: SourceMark) -> bool:
    """Whether the configuration names what the mark is of."""
    named, accesses = _named(config, mark)
    if mark.source.startswith(PREFIX):
        read = mark.source.removeprefix(PREFIX)
        return any(access and (read == access.name or read.startswith(f"{access.name}/")) for access in accesses)
    return any(pattern == mark.source or _means(_shown(config, pattern), mark.source) for pattern in named)


def _named(config: Config, mark: SourceMark) -> tuple[Sequence[str], Iterable[Access | None]]:
    """What is configured under the mark's name: paths, and API servers that are read live."""
    clusters = [cluster for cluster in config.clusters if cluster.name == mark.cluster]
    if mark.kind == "audit":
        return [path for cluster in clusters for path in cluster.audit], ()
    if mark.kind == "objects":
        return [path for cluster in clusters for path in cluster.objects], [cluster.access for cluster in clusters]
    if mark.kind == "argocd":
        argocds = [argocd for argocd in config.argocds if argocd.name == mark.cluster]
        return [path for argocd in argocds for path in argocd.exports], [argocd.access for argocd in argocds]
    if mark.kind == "git":
        return [one.path or one.url for one in config.repositories if one.url == mark.cluster], ()
    return [one.path for one in config.announcements], ()


def _shown(config: Config, pattern: str) -> str:
    """A configured path as the names of its sources begin."""
    if is_url(pattern):
        return pattern.rstrip("/")
    return os.path.normpath(shown_name(config.folder, str(config.folder / os.path.expanduser(pattern))))


def _means(pattern: str, source: str) -> bool:
    """Whether a path, folder, glob or URL leads to a source of that name."""
    found = source.rstrip("/") if is_url(source) else os.path.normpath(source)
    if pattern in (".", found) or found.startswith(f"{pattern}/"):
        return True
    above = found.split("/")
    places = ("/".join(above[:depth]) for depth in range(1, len(above) + 1))
    return glob.has_magic(pattern) and any(fnmatchcase(place, pattern) for place in places)
