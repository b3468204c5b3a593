"""One kind of object at one API server while it is read: what is new in it, and the mark that says so."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from auditor.collectors.files.document_files import DocumentFact
from auditor.collectors.files.documents import Document, documents
from auditor.collectors.files.tally import Tally
from auditor.collectors.live.connection import RequestError
from auditor.collectors.live.lists import Page
from auditor.model.facts import ApplicationSnapshot, ArgoEvent, Batch, ObjectSnapshot, Origin, SourceMark
from auditor.model.resource import JsonObject
from auditor.objects.document import child, text

BATCH = 200

Keep = Callable[[JsonObject, Origin], DocumentFact | None]
"""What is kept of an object."""
Look = Callable[[JsonObject], None]
"""Sees every object, known or new."""


def _pass(document: JsonObject) -> None:
    """Nothing to see."""


class LiveSource:
    """Takes answers and gives batches.

    An object in a version that an earlier run has read adds nothing: the mark's position holds the version of each. Its
    `bytes`, `foreign` and `undecodable` are those of the last reading, `events` counts all that was ever new.
    """

    def __init__(
        self, begin: SourceMark, earlier: SourceMark | None, api_version: str, kind: str, keep: Keep, look: Look = _pass
    ) -> None:
        self._mark = replace(earlier or begin, bytes=0, foreign=0, undecodable=0, complete=False, problem="")
        self._versions = dict(self._mark.position)
        self._seen: set[str] = set()
        self._type: JsonObject = {"apiVersion": api_version, "kind": kind}
        self._keep, self._look = keep, look
        self._tally = Tally(begin.kind, begin.cluster, begin.source)
        self._facts: list[DocumentFact] = []
        self._started, self._whole = False, True

    @property
    def name(self) -> str:
        """As the report shows it."""
        return self._mark.source

    def read(self, pages: Iterable[Page], wanted: Collection[str] | None = None) -> Iterator[Batch]:
        """Take these pages, with a batch whenever there is enough for one."""
        for page in pages:
            self.take(page, wanted)
            if len(self._facts) >= BATCH:
                yield self.batch()

    def take(self, page: Page, wanted: Collection[str] | None = None) -> None:
        """The objects of an answer; those of other names than `wanted` are passed over."""
        base = self._mark.bytes
        for found in documents(page.content):
            start, length = base + found.start, found.end - found.start
            name = text(child(found.value, "metadata"), "name") if isinstance(found, Document) else ""
            if not isinstance(found, Document) or not name:
                self._mark = replace(self._mark, undecodable=self._mark.undecodable + 1)
                self._tally.skip(
                    "an object without a name" if isinstance(found, Document) else found.reason, start, length
                )
            elif wanted is None or name in wanted:
                digest = hashlib.sha256(memoryview(page.content)[found.start : found.end]).hexdigest()
                self._object(found.value | self._type, Origin(self.name, start, length, digest), page.at)
        self._mark = replace(self._mark, bytes=base + len(page.content))
        self._cover(page.at)

    def skip(self, reason: str) -> None:
        """A part of the source that could not be read, in a sentence."""
        self._whole = False
        self._tally.skip(reason, 0, 0)

    def batch(self) -> Batch:
        """What was read since the last one. The first withdraws what the run before could not read."""
        facts, self._facts = tuple(self._facts), []
        first, self._started = not self._started, True
        return Batch(facts, replace(self._mark, position=dict(self._versions)), reread_from=0 if first else None)

    def close(self, problem: str = "") -> Batch:
        """The last batch; `problem` says why nothing could be read.

        Where all was read, objects that are gone are forgotten; else what earlier runs brought stays known.
        """
        if self._whole and not problem:
            self._versions = {name: version for name, version in self._versions.items() if name in self._seen}
        self._mark = replace(self._mark, complete=True, problem=problem)
        last = self.batch()
        return replace(last, facts=(*last.facts, *self._tally.skipped()))

    def _object(self, document: JsonObject, origin: Origin, at: datetime | None) -> None:
        self._look(document)
        metadata = child(document, "metadata")
        name, version = f"{text(metadata, 'namespace')}/{text(metadata, 'name')}", text(metadata, "resourceVersion")
        self._seen.add(name)
        if version and self._versions.get(name) == version:
            return
        fact = self._keep(document, origin)
        if fact is None:
            self._mark = replace(self._mark, foreign=self._mark.foreign + 1)
            return
        self._versions[name] = version
        self._facts.append(_dated(fact, at))
        self._mark = replace(self._mark, events=self._mark.events + 1)
        self._cover(fact.at if isinstance(fact, ArgoEvent) else None)

    def _cover(self, at: datetime | None) -> None:
        if at is not None:
            first, last = self._mark.first_at, self._mark.last_at
            self._mark = replace(self._mark, first_at=min(at, first or at), last_at=max(at, last or at))


def _dated(fact: DocumentFact, at: datetime | None) -> DocumentFact:
    """A snapshot was read at the time of the answer; without one it is no older than what it says itself."""
    if at is not None and isinstance(fact, ApplicationSnapshot | ObjectSnapshot):
        return replace(fact, at=at)
    return fact


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the objects of a source, such as those of one namespace."""

    pages: Iterable[Page]
    """Asked for while they are read."""
    unknown: str
    """What nobody can tell without it."""
    wanted: Collection[str] | None = None
    """Names; None for all."""


def read_parts(source: LiveSource, parts: Sequence[Part]) -> Iterator[Batch]:
    """All batches of a source. What one part lacks is told, and the next is read."""
    problems = []
    for part in parts:
        try:
            yield from source.read(part.pages, part.wanted)
        except RequestError as error:
            problems.append(f"{error.message} Unknown is then {part.unknown}.")
    if problems and len(problems) == len(parts):
        more = f" The same holds for {len(problems) - 1} more." if len(problems) > 1 else ""
        yield source.close(problems[0] + more)
        return
    for problem in problems:
        source.skip(problem)
    yield source.close()
