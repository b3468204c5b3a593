"""One pass over the configured audit logs: what is new in them, in batches that a store can commit one by one."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from auditor.collectors import Reading
from auditor.collectors.kube_audit import resume
from auditor.collectors.kube_audit import tally as tallies
from auditor.collectors.kube_audit.gathering import Clusters, Gathering
from auditor.collectors.kube_audit.resume import Known
from auditor.collectors.kube_audit.scan import Scanner, State
from auditor.collectors.kube_audit.tally import Tally
from auditor.collectors.sources import Missing, Source, expand, open_stream
from auditor.collectors.streams import Stream
from auditor.errors import SourceError
from auditor.model.facts import AuditEvent, Batch, Skipped, SourceMark

BATCH = 8 << 20
"""Bytes of a source between two batches: what a killed run reads again at most."""


def collect(reading: Reading) -> Iterator[Batch]:
    """Batches of all audit sources of the configuration. What cannot be read is a mark that says why."""
    names = tuple(cluster.name for cluster in reading.config.clusters)
    listed: dict[Source, list[str]] = {}
    for cluster in reading.config.clusters:
        for found in expand(reading.config.folder, cluster.audit):
            if isinstance(found, Missing):
                yield Batch((), _problem(cluster.name, found.name, found.problem))
            else:
                listed.setdefault(found, []).append(cluster.name)
    for name in names:
        own = [source for source, clusters in listed.items() if clusters[0] == name]
        for known in resume.recognise(own, reading.known("audit", name)):
            clusters = Clusters(tuple(listed[known.source]), names)
            yield from _SourceReading(reading, known, clusters).batches()


def _problem(cluster: str, name: str, sentence: str) -> SourceMark:
    return SourceMark("audit", cluster, name, "", "unknown", problem=sentence)


class _SourceReading:
    """One source, read from where an earlier run left it."""

    def __init__(self, reading: Reading, known: Known, clusters: Clusters) -> None:
        self._reading = reading
        self._known = known
        self._clusters = clusters
        self._home = clusters.candidates[0]
        self._name = known.source.name
        self._mark = known.mark
        self._formerly = known.formerly
        self._reread_from: int | None = None

    def batches(self) -> Iterator[Batch]:
        """What is new in it; nothing where nothing is."""
        try:
            raw = resume.raw_digest(self._known.source)
            if resume.unchanged(self._mark, raw) and not self._formerly:
                return
            stream = self._stream_at_mark()
        except (SourceError, OSError) as error:
            yield Batch((), self._unreadable(str(error)))
            return
        try:
            yield from self._scan(stream, raw)
        finally:
            stream.close()

    def _unreadable(self, sentence: str) -> SourceMark:
        """What was known stays known; only the problem is new."""
        known = self._reading.known("audit", self._home)
        mark = next((mark for mark in known if mark.source == self._name), None)
        return replace(mark, problem=sentence) if mark else _problem(self._home, self._name, sentence)

    def _stream_at_mark(self) -> Stream:
        """The stream where the mark left it; from its beginning, and without the mark, where the content is another."""
        stream = open_stream(self._known.source)
        if self._mark is None:
            return stream
        if resume.continued(stream, self._mark):
            self._reread_from = resume.state_of(self._mark).offset
            return stream
        stream.close()
        self._mark, self._reread_from = None, 0
        return open_stream(self._known.source)

    def _scan(self, stream: Stream, raw: str) -> Iterator[Batch]:
        state = resume.state_of(self._mark) if self._mark else State()
        sink = self._gathering()
        scanner = Scanner(stream, sink, state)
        self._reading.progress.begin(self._name, None)
        done = reported = state.offset
        for _ in scanner.run():
            self._reading.progress.advance(state.offset - reported)
            reported = state.offset
            if state.offset // BATCH != done // BATCH:
                done = state.offset
                yield from self._flush(sink, self._position(scanner), complete=False)
        position = self._position(scanner) | ({"raw": raw} if raw else {})
        sink.settle()
        clean = sink.tallies[self._home].copy()
        if scanner.tail():
            position["clean"] = tallies.encode(clean)
        if stream.damage:
            sink.damaged(sink.tallies[self._home].bytes, stream.damage)
        yield from self._flush(sink, position, complete=True)

    def _gathering(self) -> Gathering:
        """A sink that counts on from the marks of this source: one for each cluster that has events in it."""
        others = [mark for mark in self._marks_of_others() if self._mark is not None]
        floors = {mark.cluster: resume.state_of(mark).offset for mark in others}
        sink = Gathering(self._name, self._clusters, self._reading.redactor, floors)
        sink.tallies = {mark.cluster: resume.tally_of(mark) for mark in others}
        sink.tallies[self._home] = resume.tally_of(self._mark) if self._mark else Tally()
        return sink

    def _marks_of_others(self) -> Iterator[SourceMark]:
        """What is known of other clusters' events in this source."""
        for name in dict.fromkeys((*self._clusters.candidates, *self._clusters.others)):
            if name != self._home:
                known = self._reading.known("audit", name)
                yield from (mark for mark in known if mark.source in (self._name, self._formerly) and mark.position)

    def _position(self, scanner: Scanner) -> dict[str, str]:
        position = resume.position(self._known.head, scanner.near(), scanner.state)
        if self._mark and resume.state_of(self._mark).offset == scanner.state.offset:
            position["near"] = self._mark.position["near"]
        return position

    def _flush(self, sink: Gathering, position: Mapping[str, str], *, complete: bool) -> Iterator[Batch]:
        """What was found since the last time: the source's own cluster last, as its mark is the one to resume by."""
        facts, skipped = sink.take()
        for cluster in sorted(sink.tallies, key=lambda name: (name == self._home, name)):
            own = cluster == self._home
            said: tuple[AuditEvent | Skipped, ...] = (*facts.get(cluster, ()), *(skipped if own else ()))
            kept = position if own else {"state": position["state"]}
            mark = tallies.mark_of(sink.tallies[cluster], cluster, self._name, kept, complete=complete)
            if mark == self._known.mark and not self._formerly:
                continue
            yield Batch(said, mark, self._formerly, self._reread_from)
            self._formerly, self._reread_from = "", None
