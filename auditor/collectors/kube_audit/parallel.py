"""A large source, scanned in parts by several processes at once.

Each part is a task of a `concurrent.futures.Executor`: this machine's processes, or those of a Dask cluster. A worker
reads its section of a plain file itself; of a compressed one it is sent the lines. A part is taken only if the one
before it ended between two lines with nothing open; a source that turns out not to be lines is scanned on in one piece
from there. So the outcome is that of a scan in one process, byte for byte. Of many small sources each is a part.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, TypeVar

import msgspec

from auditor.collectors.files.sources import Source, is_url, open_raw, open_stream
from auditor.collectors.files.streams import BLOCK, Held, Lines, Section, Stream, plain_size
from auditor.collectors.kube_audit.chain import Span, Spanned
from auditor.collectors.kube_audit.gathering import Clusters, Gathering
from auditor.collectors.kube_audit.records import State
from auditor.collectors.kube_audit.scan import Scanner
from auditor.collectors.kube_audit.tally import Tally
from auditor.collectors.kube_audit.window import LIMIT
from auditor.errors import SourceError
from auditor.model.facts import AuditEvent, Skipped
from auditor.objects.redaction import Redactor

_Told = TypeVar("_Told")
PART = 8 << 20
"""Bytes of a part: as many as a process may hold the facts of."""
_WORTHWHILE = 4 * PART
_MANY = 8
_MUCH = 4 << 20
"""So many small sources, and so many bytes in them, are worth starting workers."""


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
    packed: bytes
    """Its facts by cluster as MessagePack, which crosses between processes in half the time of a pickle."""
    skipped: tuple[Skipped, ...]
    tallies: Mapping[str, Tally]
    near: bytes
    span: Span

    @property
    def facts(self) -> Mapping[str, Sequence[AuditEvent]]:
        """By cluster."""
        return _unpack(self.packed)


_unpack = msgspec.msgpack.Decoder(dict[str, list[AuditEvent]]).decode


def scan_section(task: Task, start: int, end: int) -> Part:
    """Scan the lines of a plain file that begin from `start` to `end`. Runs in a worker."""
    section = Section(open_raw(task.source), start, end)
    try:
        return _scan(task, section, section.start)
    finally:
        section.close()


def scan_lines(task: Task, start: int, lines: bytes) -> Part:
    """Scan lines that begin at `start` of their source. Runs in a worker."""
    return _scan(task, Held(lines), start)


def scan_small(task: Task) -> Part | None:
    """Scan a whole source from its beginning; None where it is no small one, or not sound. Runs in a worker."""
    with closing(Lines(open_stream(task.source), 0)) as lines:
        blocks = list(iter(lambda: lines.read(BLOCK) if lines.offset <= 2 * PART else b"", b""))
        if lines.offset > 2 * PART or lines.damage:
            return None
    return _scan(task, Held(b"".join(blocks)), 0)


def _scan(task: Task, stream: Stream, start: int) -> Part:
    sink = Gathering(task.source.name, task.clusters, task.redactor, dict(task.floors))
    spanned = Spanned(stream, start)
    scanner = Scanner(spanned, sink, State(start))
    for _ in scanner.run():
        pass
    facts, skipped = sink.take()
    state = scanner.state
    whole = not (state.stack or state.columns or scanner.tail())
    packed = msgspec.msgpack.encode(facts)
    return Part(start, state, whole, packed, skipped, sink.tallies, scanner.near(), spanned.span())


def parts(task: Task, lines: Lines, state: State, executor: Executor, workers: int) -> Iterator[Part]:
    """The parts of a source from `state` on, in order, up to the first that is not whole; that one is not told.

    No more than `workers` and one are scanned ahead, so that memory stays bounded. A source that is too small to be
    worth it has none. `lines` is the source at `state`, and is where it was unless the source is compressed.
    """
    if state.stack or state.columns or task.source.location == "-":
        return
    jobs = _jobs(task, lines, state)
    running: deque[Future[Part] | None] = deque()
    at = state.offset
    try:
        while True:
            for job in islice(jobs, workers + 1 - len(running)):
                running.append(_submitted(executor, *job))
            part = _result(running.popleft()) if running else None
            if part is None or not part.whole or part.start != at:
                return
            at = part.state.offset
            yield part
    finally:
        for future in filter(None, running):
            future.cancel()


def ahead(
    tasks: Sequence[Task | None], executor: Executor | None, workers: int
) -> Iterator[Future[Part | None] | None]:
    """For each task, in their order, what `scan_small` will say of its source; None for those that are not asked.

    None is asked where all together are too little to be worth it, and few are asked before the first is wanted.
    """
    sources = [task.source for task in tasks if task]
    worth_it = executor and len(sources) >= _MANY and _size(sources) >= _MUCH
    waiting: deque[Future[Part | None] | None] = deque()
    for task in tasks:
        waiting.append(_submitted(executor, scan_small, task) if executor and task and worth_it else None)
        if len(waiting) > 2 * workers:
            yield waiting.popleft()
    yield from waiting


def _size(sources: Iterable[Source]) -> int:
    """Bytes as they lie there; what a request is needed to learn counts as much."""
    size = 0
    for source in sources:
        with suppress(OSError):
            size += _MUCH if is_url(source.location) else os.stat(source.location).st_size
    return size


def small_part(asked: Future[Part | None]) -> Part | None:
    """What `scan_small` said; None where this process must scan the source."""
    part = _result(asked)
    return part if part is not None and part.whole else None


def _submitted(executor: Executor, work: Callable[..., _Told], *job: Any) -> Future[_Told] | None:
    """None where a worker was killed, as by the kernel short of memory, or the system starts no further one."""
    try:
        return executor.submit(work, *job)
    except (BrokenExecutor, OSError):
        return None


def _result(future: Future[Part] | Future[Part | None] | None) -> Part | None:
    """None where the worker died or could not read: this process then goes on alone, and says what it meets."""
    try:
        return future.result() if future else None
    except (BrokenExecutor, SourceError, OSError):
        return None


def _jobs(task: Task, lines: Lines, state: State) -> Iterator[tuple[Any, ...]]:
    """What workers are to call, in the order of the source."""
    with open_raw(task.source) as file:
        size = plain_size(file)
    if size:
        for start, end in _spans(state.offset, size):
            yield scan_section, task, start, end
    else:
        for start, run in lines.runs(PART, LIMIT):
            yield scan_lines, task, start, run


def _spans(start: int, size: int) -> Iterator[tuple[int, int]]:
    if size - start >= _WORTHWHILE:
        yield from pairwise([start, *range(start // PART * PART + PART, size, PART), size])


@contextmanager
def processes(workers: int) -> Iterator[Executor | None]:
    """Processes of this machine, started only when there is something to scan; None where it lets none share work."""
    context = multiprocessing.get_context("spawn")
    try:
        executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_attend_to_parent)
    except (OSError, ImportError, NotImplementedError):  # no semaphores, as in some sandboxes
        yield None
        return
    with executor:
        yield executor


def _attend_to_parent() -> None:
    """A worker leaves interrupts to the process that started it, and ends when that one does, killed or not."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)
