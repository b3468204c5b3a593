"""Argo CD as its owners can export it: objects, Events and logs. A folder is read whole; content decides, not names."""

from collections.abc import Iterator
from functools import partial

from auditor.collectors import Collector, Reading
from auditor.collectors.argocd import logs as argocd_logs
from auditor.collectors.argocd.exports import kind_of, read_document
from auditor.collectors.argocd.log_files import read_log
from auditor.collectors.files.document_files import read_objects
from auditor.collectors.files.documents import recognise
from auditor.collectors.files.forms import form
from auditor.collectors.files.source_files import (
    SourceFile,
    foreign_file,
    read_changed,
    source_files,
    unreadable,
)
from auditor.collectors.files.sources import Missing
from auditor.model.facts import Batch, SourceMark
from auditor.model.resource import JsonObject


def collect(reading: Reading) -> Iterator[Batch]:
    """What is new in the exports of every configured Argo CD."""
    for argocd in reading.config.argocds:
        known = {mark.source: mark for mark in reading.known("argocd", argocd.name)}
        for source in source_files(reading.config.folder, argocd.exports):
            if isinstance(source, Missing):
                yield unreadable("argocd", argocd.name, source.name, source.problem)
            else:
                earlier = known.get(source.name)
                read = partial(_read, reading, argocd.name, source, earlier)
                yield from read_changed("argocd", argocd.name, source, earlier, read)


COLLECTOR = Collector("argocd", "Argo CD and Flux: exported objects, Events and logs", collect)


def _read(
    reading: Reading, argocd: str, source: SourceFile, earlier: SourceMark | None, head: bytes, digest: str
) -> Iterator[Batch]:
    if (packed := form(head)) in ("zip", "tar", "bzip2", "xz"):
        yield foreign_file("argocd", argocd, source, digest, f"packed as {packed}: unpack it and list its folder")
    elif argocd_logs.looks_like_a_log(head):
        yield from read_log(argocd, source, earlier, digest, reading.redactor)
    elif notation := recognise(head):
        yield from read_objects(
            source,
            SourceMark("argocd", argocd, source.name, "", notation),
            digest,
            lambda document, origin: read_document(argocd, document, origin, reading.redactor),
            _foreign,
        )
    else:
        yield foreign_file("argocd", argocd, source, digest, _FOREIGN)


_FOREIGN = "neither objects nor a log of Argo CD: export with -o json or -o yaml"


def _foreign(document: JsonObject) -> str:
    return f"{kind_of(document) or 'object without a kind'}: not of Argo CD"
