"""A running Argo CD and its clusters, read through their API servers. Each run is a snapshot of what is there.

Argo CD keeps ten syncs of an application and its Events live an hour: what is read every night outlives both. Only GET
is ever sent, only where the configuration names a context (or `in_cluster`), and never for a Secret.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from auditor.collectors import Collector, Reading
from auditor.collectors.live.access import PREFIX, connect
from auditor.collectors.live.argocd import read_argocd
from auditor.collectors.live.connection import Connection, UnreachableError
from auditor.collectors.live.managed import ManagedObjects
from auditor.collectors.live.objects import read_objects
from auditor.config import Access, ArgoCDConfig, Config
from auditor.model.facts import Batch, RecordKind, Skipped, SourceMark
from auditor.objects.redaction import Redactor

_NO_APPLICATIONS = "No Application was read: which objects Argo CD manages here, and their live state, is unknown."


def collect(reading: Reading) -> Iterator[Batch]:
    """What every configured API server has that earlier runs did not see."""
    clusters = dict(_clusters(reading.config))
    if not clusters:
        return
    managed = ManagedObjects(reading.config)
    for argocd in reading.config.argocds:
        if argocd.access is None:
            managed.look_into_exports(argocd)
        else:
            read = partial(_argocd, reading, argocd, managed)
            yield from _connected(reading, "argocd", argocd.name, argocd.access, read)
    for cluster, access in clusters.items():
        read = partial(_objects, reading, cluster, managed)
        yield from _connected(reading, "objects", cluster, access, read)


COLLECTOR = Collector("live", "Argo CD and what it manages, from running API servers", collect)


def _clusters(config: Config) -> Iterator[tuple[str, Access]]:
    """The clusters whose objects can be read; that of a running Argo CD is reached as it is, unless said otherwise."""
    for argocd in config.argocds:
        if argocd.access is not None:
            yield argocd.cluster, argocd.access
    for cluster in config.clusters:
        if cluster.access is not None:
            yield cluster.name, cluster.access


def _argocd(reading: Reading, argocd: ArgoCDConfig, managed: ManagedObjects, connection: Connection) -> Iterator[Batch]:
    alone = sum(other.cluster == argocd.cluster for other in reading.config.argocds) == 1
    yield from read_argocd(reading, argocd, connection, partial(managed.look, argocd), alone)


def _objects(reading: Reading, cluster: str, managed: ManagedObjects, connection: Connection) -> Iterator[Batch]:
    if not managed.applications:
        raise UnreachableError(_NO_APPLICATIONS)
    yield from read_objects(reading, cluster, connection, managed.in_cluster(cluster))


def _connected(
    reading: Reading, kind: RecordKind, name: str, access: Access, read: Callable[[Connection], Iterator[Batch]]
) -> Iterator[Batch]:
    """What `read` finds at an API server, or why nothing can be asked there."""
    met: set[str] = set()
    reading.progress.begin(PREFIX + access.name, None)
    try:
        with connect(access, reading.config.folder) as connection:
            for batch in read(connection):
                met.add(batch.mark.source)
                reading.progress.advance(len(batch.facts))
                yield _without_secrets(batch, reading.redactor)
    except UnreachableError as error:
        mark = SourceMark(kind, name, PREFIX + access.name, "", "kubernetes", problem=error.message)
        yield _without_secrets(Batch((), mark), reading.redactor)
        return
    for mark in reading.known(kind, name):
        if mark.source.startswith(PREFIX) and mark.source not in met:
            # What could not be read once and is not asked for any more is no open question.
            yield Batch((), replace(mark, problem="", complete=True), reread_from=0)


def _without_secrets(batch: Batch, redactor: Redactor) -> Batch:
    """What servers and credential plugins say of a failure may hold anything. Facts are redacted already."""
    facts = tuple(
        replace(fact, reason=redactor.text(fact.reason)) if isinstance(fact, Skipped) else fact for fact in batch.facts
    )
    return replace(batch, facts=facts, mark=replace(batch.mark, problem=redactor.text(batch.mark.problem)))
