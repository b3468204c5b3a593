"""A cluster or an Argo CD that was given another name: read again, all that it holds would be told twice."""

from collections.abc import Iterable, Iterator

from auditor.collectors.files.sources import Source, expand
from auditor.config import Config
from auditor.errors import ConfigError
from auditor.model.facts import RecordKind, SourceMark


def refuse_another_name(config: Config, marks: Iterable[SourceMark]) -> None:
    """Raise ConfigError where a new name stands for what was read under one that the configuration has no more."""
    read: dict[RecordKind, dict[str, set[str]]] = {}
    for mark in marks:
        if mark.position:
            read.setdefault(mark.kind, {}).setdefault(mark.cluster, set()).add(mark.source)
    for kind, what, named in _named(config):
        known = read.get(kind, {})
        former = {name: sources for name, sources in known.items() if name not in named}
        for name in sorted(named.keys() - known.keys()) if former else ():
            sources = {found.name for found in expand(config.folder, named[name]) if isinstance(found, Source)}
            for old in sorted(former):
                if sources & former[old]:
                    raise ConfigError(
                        f"What {what} {name} reads is in the store already, as that of {old}: all would be told twice.",
                        f"Call it {old} as before, or begin a new store by --store; the old one may go.",
                    )


def _named(config: Config) -> Iterator[tuple[RecordKind, str, dict[str, tuple[str, ...]]]]:
    yield "audit", "cluster", {cluster.name: cluster.audit for cluster in config.clusters}
    yield "argocd", "Argo CD", {argocd.name: argocd.exports for argocd in config.argocds}
