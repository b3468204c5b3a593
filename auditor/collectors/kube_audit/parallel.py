"""A large plain file, scanned in parts by several processes at once.

Each part is a task of a `concurrent.futures.Executor`: this machine's processes, or those of a Dask cluster. A part is
taken only if the one before it ended between two lines with nothing open; a file that turns out not to be lines is
scanned on in one piece from there. So the outcome is that of a scan in one process, byte for byte.
"""

import multiprocessing
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

from auditor.collectors.files.sources import Source, open_raw
from auditor.collectors.files.streams import Section, plain_size
from auditor.collectors.kube_audit.gathering import Clusters, Gathering
from auditor.collectors.kube_audit.records import State
from auditor.collectors.kube_audit.scan import Scanner
from auditor.collectors.kube_audit.tally import Tally
from auditor.errors import SourceError
from auditor.model.facts import AuditEvent, Skipped
from auditor.objects.redaction import Redactor

PART = 8 << 20
"""Bytes of a part: as many as a process may hold the facts of."""
_WORTHWHILE = 4 * PART


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker needs to scan any part of one source."""

    source: Source
    clusters: Clusters
    redactor: Redactor
    floors: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Part:
    """What is in a part. `whole` says that a scan of the next lines may begin afresh."""

    start: int
    state: State
    whole: bool
    facts: Mapping[str, Sequence[AuditEvent]]
    skipped: tuple[Skipped, ...]
    tallies: Mapping[str, Tally]
    near: bytes


def scan_part(task: Task, start: int, end: int) -> Part:
    """Scan the lines that begin from `start` to `end`. Runs in a worker."""
    section = Section(open_raw(task.source), start, end)
    try:
        sink = Gathering(task.source.name, task.clusters, task.redactor, dict(task.floors))
        scanner = Scanner(section, sink, State(section.start))
        for _ in scanner.run():
            pass
    finally:
        section.close()
    facts, skipped = sink.take()
    state = scanner.state
    whole = not (state.stack or state.columns or scanner.tail())
    return Part(section.start, state, whole, facts, skipped, sink.tallies, scanner.near())


def parts(task: Task, state: State, executor: Executor, workers: int) -> Iterator[Part]:
    """The parts of a source from `state` on, in order, up to the first that is not whole; that one is not told.

    No more than `workers` and one are scanned ahead, so that memory stays bounded. A source that is too small to be
    worth it, or that is no plain file, has none.
    """
    spans = deque(_spans(task.source, state))
    at = state.offset
    running: deque[Future[Part]] = deque()
    try:
        while spans or running:
            while spans and len(running) <= workers:
                running.append(executor.submit(scan_part, task, *spans.popleft()))
            part = _result(running.popleft())
            if part is None or not part.whole or part.start != at:
                return
            at = part.state.offset
            yield part
    finally:
        for future in running:
            future.cancel()


def _result(future: Future[Part]) -> Part | None:
    """None where the worker died or could not read: this process then goes on alone, and says what it meets."""
    try:
        return future.result()
    except (BrokenExecutor, SourceError, OSError):
        return None


def _spans(source: Source, state: State) -> Iterator[tuple[int, int]]:
    if state.stack or state.columns or source.location == "-":
        return
    with open_raw(source) as file:
        size = plain_size(file)
    if size - state.offset < _WORTHWHILE:
        return
    edges = [state.offset, *range(state.offset // PART * PART + PART, size, PART), size]
    yield from pairwise(edges)


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """Processes of this machine. They are started only when there is something to scan."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as executor:
        yield executor
