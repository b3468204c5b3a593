"""A cluster or an Argo CD with another name, or two out of one: read again, all that it holds would be told twice."""

from collections.abc import Iterable, Iterator

from auditor.collectors.files.sources import Source, expand
from auditor.config import Config
from auditor.errors import ConfigError
from auditor.model.facts import RecordKind, SourceMark


def refuse_another_name(config: Config, marks: Iterable[SourceMark]) -> None:
    """Raise ConfigError where a new name stands for what was read under one that no longer reads it."""
    read: dict[RecordKind, dict[str, set[str]]] = {}
    for mark in marks:
        if mark.position:
            read.setdefault(mark.kind, {}).setdefault(mark.cluster, set()).add(mark.source)
    for kind, what, named in _named(config):
        known = read.get(kind, {})
        for name in sorted(named.keys() - known.keys()) if known else ():
            sources = _names(config, named[name])
            for old in sorted(known):
                if sources & known[old] - _names(config, named.get(old, ())):
                    as_before = f"Let {old} read it" if old in named else f"Call it {old}"
                    raise ConfigError(
                        f"What {what} {name} reads is in the store already, as that of {old}: all would be told twice.",
                        f"{as_before} as before, or begin a new store by --store; the old one may go.",
                    )


def _names(config: Config, paths: Iterable[str]) -> set[str]:
    """What the sources are called that lie there now."""
    return {found.name for found in expand(config.folder, tuple(paths)) if isinstance(found, Source)}


def _named(config: Config) -> Iterator[tuple[RecordKind, str, dict[str, tuple[str, ...]]]]:
    yield "audit", "cluster", {cluster.name: cluster.audit for cluster in config.clusters}
    yield "argocd", "Argo CD", {argocd.name: argocd.exports for argocd in config.argocds}
