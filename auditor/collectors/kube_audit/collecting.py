"""One pass over the configured audit logs: what is new in them, in batches that a store can commit one by one."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import closing, contextmanager
from dataclasses import replace

from auditor.collectors import Reading
from auditor.collectors.files.sources import Missing, Source, expand, open_raw, open_stream
from auditor.collectors.files.streams import Lines, Stream, plain_size, skip
from auditor.collectors.kube_audit import parallel, resume
from auditor.collectors.kube_audit import tally as tallies
from auditor.collectors.kube_audit.chain import Chain, Passing
from auditor.collectors.kube_audit.gathering import Clusters, Gathering
from auditor.collectors.kube_audit.parallel import Part, Task
from auditor.collectors.kube_audit.records import State
from auditor.collectors.kube_audit.resume import Known
from auditor.collectors.kube_audit.scan import Scanner
from auditor.collectors.kube_audit.tally import Tally
from auditor.errors import SourceError
from auditor.model.facts import AuditEvent, Batch, Skipped, SourceMark

BATCH = 8 << 20
"""Bytes of a source between two batches: what a killed run reads again at most."""


def collect(reading: Reading) -> Iterator[Batch]:
    """Batches of all audit sources of the configuration. What cannot be read is a mark that says why."""
    listed: dict[Source, list[str]] = {}
    for cluster in reading.config.clusters:
        for found in expand(reading.config.folder, cluster.audit, reading.since, reading.until):
            if isinstance(found, Missing):
                yield Batch((), _unreadable(reading, cluster.name, found.name, found.problem))
            else:
                listed.setdefault(found, []).append(cluster.name)
    with _executor(reading) as executor:
        for cluster in reading.config.clusters:
            own = [source for source, names in listed.items() if names[0] == cluster.name]
            marks = reading.known("audit", cluster.name)
            readings = [
                _SourceReading(reading, known, tuple(listed[known.source]), executor)
                for known in resume.recognise(own, marks)
            ]
            small = parallel.ahead([each.task_ahead() for each in readings], executor, reading.workers)
            for each, asked in zip(readings, small, strict=True):
                yield from each.batches(asked)


def _unreadable(reading: Reading, cluster: str, name: str, sentence: str) -> SourceMark:
    """A mark with a problem; what was known stays known."""
    mark = next((mark for mark in reading.known("audit", cluster) if mark.source == name), None)
    return replace(mark or SourceMark("audit", cluster, name, "", "unknown"), problem=sentence)


@contextmanager
def _executor(reading: Reading) -> Iterator[Executor | None]:
    """What scans large files beside this process; None where this process does it all."""
    if reading.executor is not None or reading.workers <= 1:
        yield reading.executor
        return
    with parallel.processes(reading.workers) as executor:
        yield executor


class _SourceReading:
    """One source, read from where an earlier run left it. `names` are the clusters that list it."""

    def __init__(self, reading: Reading, known: Known, names: Sequence[str], executor: Executor | None) -> None:
        self._reading = reading
        self._executor = executor
        self._source = known.source
        self._head = known.head
        self._before = known.mark
        self._mark = known.mark
        self._formerly = known.formerly
        self._chain = Chain()
        self._reread_from: int | None = None
        self._home = names[0]
        self._clusters = Clusters(tuple(names), tuple(cluster.name for cluster in reading.config.clusters))

    def task_ahead(self) -> Task | None:
        """What a worker needs to scan the source before its turn comes; None where its beginning is known already."""
        return self._task({}) if self._mark is None and self._source.location != "-" else None

    def batches(self, asked: Future[Part | None] | None) -> Iterator[Batch]:
        """What is new in it; nothing where nothing is. `asked` is a worker that may have scanned it."""
        try:
            raw = resume.raw_digest(self._source)
            if resume.unchanged(self._mark, raw) and not self._formerly:
                return
            stream = self._stream_at_mark()
        except (SourceError, OSError) as error:
            yield Batch((), _unreadable(self._reading, self._home, self._source.name, str(error)))
            return
        yield from self._scan(stream, raw, asked)

    def _stream_at_mark(self) -> Stream:
        """The stream where the mark left it; from its beginning, and without the mark, where the content is another."""
        stream = open_stream(self._source)
        if self._mark is None:
            return stream
        if chain := resume.continued(stream, self._mark):
            self._chain = chain
            self._reread_from = resume.state_of(self._mark).offset
            return stream
        stream.close()
        self._mark, self._reread_from = None, 0
        return open_stream(self._source)

    def _scan(self, stream: Stream, raw: str, asked: Future[Part | None] | None) -> Iterator[Batch]:
        state = resume.state_of(self._mark) if self._mark else State()
        sink = self._gathering()
        self._reading.progress.begin(self._source.name, self._total(state))
        lines, near = Lines(stream, state.offset), b""
        for part in self._parts(lines, state, sink.floors, asked):
            for cluster, tally in part.tallies.items():
                sink.tallies.setdefault(cluster, Tally()).add(tally)
            self._reading.progress.advance(part.state.offset - state.offset)
            state, near = part.state, part.near
            self._chain.add(part.span)
            yield from self._told(sink, part.facts, part.skipped, self._position(part.near, state))
        if lines.offset != state.offset:
            lines.close()
            again = open_stream(self._source)
            skip(again, state.offset)
            lines = Lines(again, state.offset)
        passing = Passing(lines, state.offset)
        scanner = Scanner(passing, sink, state, near)
        with closing(passing):
            yield from self._scan_on(scanner, sink, passing)
            yield from self._end(scanner, sink, passing, raw)

    def _total(self, state: State) -> int | None:
        """Bytes to read, where that can be told."""
        if self._source.location == "-":
            return None
        with open_raw(self._source) as file:
            size = plain_size(file)
        return size - state.offset if size else None

    def _task(self, floors: Mapping[str, int]) -> Task:
        return Task(self._source, self._clusters, self._reading.redactor, floors)

    def _parts(
        self, lines: Lines, state: State, floors: Mapping[str, int], asked: Future[Part | None] | None
    ) -> Iterator[Part]:
        """What workers scanned of it."""
        if asked and (part := parallel.small_part(asked)):
            yield part
        elif self._executor is not None:
            workers = max(self._reading.workers, 1)
            yield from parallel.parts(self._task(floors), lines, state, self._executor, workers)

    def _scan_on(self, scanner: Scanner, sink: Gathering, passing: Passing) -> Iterator[Batch]:
        """All whole records, a batch every few megabytes."""
        done = reported = scanner.state.offset
        for _ in scanner.run():
            offset = scanner.state.offset
            for block in passing.passed(offset):
                self._chain.feed(block)
            self._reading.progress.advance(offset - reported)
            reported = offset
            if offset // BATCH != done // BATCH:
                done = offset
                yield from self._told(sink, *sink.take(), self._position(scanner.near(), scanner.state))

    def _end(self, scanner: Scanner, sink: Gathering, passing: Passing, raw: str) -> Iterator[Batch]:
        """The last batch: with what the source ends with, which the next run reads again if it is not whole."""
        position = self._position(scanner.near(), scanner.state, passing.held()) | ({"raw": raw} if raw else {})
        sink.settle()
        clean = sink.tallies[self._home].copy()
        if scanner.tail():
            position["clean"] = tallies.encode(clean)
        if scanner.state.stack:
            sink.damaged(scanner.state.offset, "the value that holds the records is not closed")
        if passing.damage:
            sink.damaged(sink.tallies[self._home].bytes, passing.damage)
        yield from self._told(sink, *sink.take(), position, complete=True)

    def _gathering(self) -> Gathering:
        """A sink that counts on from the marks of this source: one for each cluster that has events in it."""
        others = tuple(self._marks_of_others()) if self._mark else ()
        floors = {mark.cluster: resume.state_of(mark).offset for mark in others}
        sink = Gathering(self._source.name, self._clusters, self._reading.redactor, floors)
        sink.tallies = {mark.cluster: resume.tally_of(mark) for mark in others}
        sink.tallies[self._home] = resume.tally_of(self._mark) if self._mark else Tally()
        return sink

    def _marks_of_others(self) -> Iterator[SourceMark]:
        """What is known of other clusters' events in this source."""
        for name in dict.fromkeys((*self._clusters.candidates, *self._clusters.others)):
            if name != self._home:
                for mark in self._reading.known("audit", name):
                    if mark.source in (self._source.name, self._formerly) and mark.position:
                        yield mark

    def _position(self, near: bytes, state: State, rest: bytes = b"") -> dict[str, str]:
        position = resume.position(self._head, near, state, self._chain.link(rest))
        if self._mark and resume.state_of(self._mark).offset == state.offset:
            position["near"] = self._mark.position["near"]
        return position

    def _told(
        self,
        sink: Gathering,
        facts: Mapping[str, Sequence[AuditEvent]],
        skipped: Sequence[Skipped],
        position: Mapping[str, str],
        *,
        complete: bool = False,
    ) -> Iterator[Batch]:
        """A batch for each cluster: the source's own last, as its mark is the one to resume by."""
        for cluster in sorted(sink.tallies, key=lambda name: (name == self._home, name)):
            own = cluster == self._home
            said: tuple[AuditEvent | Skipped, ...] = (*facts.get(cluster, ()), *(skipped if own else ()))
            kept = position if own else {"state": position["state"]}
            mark = tallies.mark_of(sink.tallies[cluster], cluster, self._source.name, kept, complete=complete)
            if mark == self._before and not self._formerly:
                continue
            yield Batch(said, mark, self._formerly, self._reread_from)
            self._formerly, self._reread_from = "", None
