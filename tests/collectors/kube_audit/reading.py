"""A reading of audit logs for tests: files in a folder, and a store that is a dict."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from auditor.collectors import Reading
from auditor.collectors.kube_audit import COLLECTOR
from auditor.config import ClusterConfig, Config
from auditor.model.facts import AuditEvent, Batch, RecordKind, Skipped, SourceMark
from auditor.objects.redaction import Redactor
from auditor.progress import SILENT


class Shelf:
    """Keeps batches as the store does: facts by identity, one mark a source, each batch whole or not at all."""

    def __init__(self) -> None:
        self.events: dict[str, AuditEvent] = {}
        self.skipped: set[Skipped] = set()
        self.marks: dict[tuple[str, str], SourceMark] = {}
        self.largest = 0

    def write(self, batch: Batch) -> None:
        name = batch.mark.source
        if batch.formerly:
            self._rename(batch.formerly, name)
        if batch.reread_from is not None:
            start = batch.reread_from
            self.skipped = {each for each in self.skipped if each.source != name or each.offset < start}
        for fact in batch.facts:
            if isinstance(fact, AuditEvent):
                self.events.setdefault(fact.id, fact)
            else:
                assert isinstance(fact, Skipped)
                self.skipped.add(fact)
        self.marks[batch.mark.cluster, name] = batch.mark
        self.largest = max(self.largest, len(batch.facts))

    def _rename(self, old: str, new: str) -> None:
        self.skipped = {replace(each, source=new) if each.source == old else each for each in self.skipped}
        self.marks = {
            (cluster, new if name == old else name): replace(mark, source=new) if name == old else mark
            for (cluster, name), mark in self.marks.items()
        }

    def known(self, kind: RecordKind, cluster: str) -> tuple[SourceMark, ...]:
        return tuple(mark for (name, _), mark in sorted(self.marks.items()) if kind == "audit" and name == cluster)

    def mark(self, source: str = "") -> SourceMark:
        found = [mark for (_, name), mark in self.marks.items() if not source or name == source]
        assert len(found) == 1, [mark.source for mark in found]
        return found[0]


def batches(folder: Path, shelf: Shelf, clusters: Iterable[ClusterConfig] = (), workers: int = 1) -> Iterator[Batch]:
    """What the collector says of `folder`, given what the shelf knows."""
    chosen = tuple(clusters) or (ClusterConfig("prod", audit=(".",)),)
    config = Config(folder, clusters=chosen)
    yield from COLLECTOR.collect(Reading(config, Redactor(b"k" * 32), shelf.known, folder, SILENT, workers=workers))


def collected(
    folder: Path, shelf: Shelf | None = None, clusters: Iterable[ClusterConfig] = (), workers: int = 1
) -> Shelf:
    """The shelf after one whole run."""
    shelf = shelf or Shelf()
    for batch in batches(folder, shelf, clusters, workers):
        shelf.write(batch)
    return shelf
