"""Files of exported objects as batches of facts, each fact with the bytes that it was read from."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from auditor.collectors.files.documents import Document, documents
from auditor.collectors.files.source_files import SourceFile, read_content
from auditor.collectors.files.tally import Tally
from auditor.model.facts import (
    ApplicationSnapshot,
    ArgoEvent,
    ArgoSettings,
    Batch,
    ObjectSnapshot,
    Origin,
    SourceMark,
)
from auditor.model.resource import JsonObject

MAX_FILE = 512 << 20
"""Bytes of one file, decompressed."""
BATCH = 500

DocumentFact = ApplicationSnapshot | ArgoSettings | ArgoEvent | ObjectSnapshot


@dataclass
class _Progress:
    """One file while it is read: what is not yet yielded, and the mark so far."""

    mark: SourceMark
    tally: Tally
    facts: list[tuple[int | None, DocumentFact]] = field(default_factory=list)

    def batch(self) -> Batch:
        """What was read since the last batch. One list was read at one moment: the latest that its objects hold."""
        dated = tuple(_dated(self.facts))
        times = [at for fact in dated if (at := getattr(fact, "at", None)) is not None]
        first, last = self.mark.first_at, self.mark.last_at
        self.mark = replace(
            self.mark,
            first_at=min([*times, *([first] if first else [])], default=None),
            last_at=max([*times, *([last] if last else [])], default=None),
        )
        self.facts.clear()
        return Batch(dated, self.mark)


def read_objects(
    source: SourceFile,
    begin: SourceMark,
    digest: str,
    read: Callable[[JsonObject, Origin], DocumentFact | None],
    foreign: Callable[[JsonObject], str],
) -> Iterator[Batch]:
    """The facts that `read` finds in the objects of a file; `foreign` says why an object holds none.

    `digest` is the file's own, kept in the last mark so that the next run can pass over an unchanged file.
    SourceError where the file cannot be read at all.
    """
    content = read_content(source.path, MAX_FILE)
    now = _Progress(replace(begin, complete=False), Tally(begin.kind, begin.cluster, source.name))
    for found in documents(content):
        start, end = found.start, found.end
        if not isinstance(found, Document):
            now.tally.skip(found.reason, start, end - start)
            now.mark = replace(now.mark, undecodable=now.mark.undecodable + 1)
            continue
        origin = Origin(source.name, start, end - start, hashlib.sha256(memoryview(content)[start:end]).hexdigest())
        fact = read(found.value, origin)
        if fact is None:
            now.tally.skip(foreign(found.value), start, end - start)
            now.mark = replace(now.mark, foreign=now.mark.foreign + 1)
            continue
        now.facts.append((found.list_number, fact))
        now.mark = replace(now.mark, events=now.mark.events + 1, bytes=end)
        if len(now.facts) >= BATCH:
            yield now.batch()
    now.mark = replace(now.mark, bytes=len(content), complete=True, position={"file": digest})
    last = now.batch()
    yield Batch((*last.facts, *now.tally.skipped()), last.mark)


def _dated(facts: list[tuple[int | None, DocumentFact]]) -> Iterator[DocumentFact]:
    latest: dict[int | None, datetime] = {}
    for number, fact in facts:
        if isinstance(fact, ApplicationSnapshot | ObjectSnapshot) and fact.at is not None:
            latest[number] = max(fact.at, latest.get(number, fact.at))
    for number, fact in facts:
        if number is not None and isinstance(fact, ApplicationSnapshot | ObjectSnapshot):
            yield replace(fact, at=latest.get(number))
        else:
            yield fact
