"""Objects as `kubectl get -o yaml|json [--show-managed-fields]` exported them: snapshots of the live state."""

from collections.abc import Iterator
from functools import partial

import orjson

from auditor.collectors import Collector, Reading
from auditor.collectors.files.document_files import read_objects
from auditor.collectors.files.documents import recognise
from auditor.collectors.files.source_files import (
    SourceFile,
    foreign_file,
    read_changed,
    source_files,
    unreadable,
)
from auditor.collectors.files.sources import Missing
from auditor.model.facts import Batch, ObjectSnapshot, Origin, SourceMark
from auditor.model.resource import JsonObject
from auditor.objects.document import child, text
from auditor.objects.redaction import Redactor
from auditor.objects.timestamps import latest_moment

_NOT_STORED = frozenset({"Event", "Status", "Table"})
"""Kinds that are no state of a cluster. kubectl prints the last two where an answer is no object."""


def collect(reading: Reading) -> Iterator[Batch]:
    """What is new in the object exports of every configured cluster."""
    for cluster in reading.config.clusters:
        known = {mark.source: mark for mark in reading.known("objects", cluster.name)}
        for source in source_files(reading.config.folder, cluster.objects):
            if isinstance(source, Missing):
                yield unreadable("objects", cluster.name, source.name, source.problem)
            else:
                read = partial(_read, reading, cluster.name, source)
                yield from read_changed("objects", cluster.name, source, known.get(source.name), read)


COLLECTOR = Collector("objects", "Live objects as kubectl exported them", collect)


def read_object(cluster: str, document: JsonObject, origin: Origin, redactor: Redactor) -> ObjectSnapshot | None:
    """The snapshot in an exported object, None for what is no object of a cluster."""
    kind, version, metadata = text(document, "kind"), text(document, "apiVersion"), child(document, "metadata")
    name = text(metadata, "name")
    if not kind or not version or not name or kind in _NOT_STORED:
        return None
    group, _, number = version.rpartition("/")
    return ObjectSnapshot(
        cluster=cluster,
        group=group,
        version=number,
        kind=kind,
        namespace=text(metadata, "namespace"),
        name=name,
        uid=text(metadata, "uid"),
        resource_version=text(metadata, "resourceVersion"),
        at=latest_moment(document),
        body=orjson.dumps(redactor.document(document)),
        origin=origin,
    )


def _read(reading: Reading, cluster: str, source: SourceFile, head: bytes, digest: str) -> Iterator[Batch]:
    form = recognise(head)
    if not form:
        yield foreign_file("objects", cluster, source, digest, "no Kubernetes objects")
        return
    yield from read_objects(
        source,
        SourceMark("objects", cluster, source.name, "", form),
        digest,
        lambda document, origin: read_object(cluster, document, origin, reading.redactor),
        lambda document: f"{text(document, 'kind') or 'object without a kind'}: no state of a cluster",
    )
