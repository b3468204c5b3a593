"""Collectors: one generator a source. Each yields `Batch`es; what cannot be read is a `Skipped`, never an exception."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from auditor.config import Config
from auditor.model.facts import ApplicationSnapshot, Batch, RecordKind, SourceMark
from auditor.objects.redaction import Redactor
from auditor.progress import Progress


@dataclass(frozen=True, slots=True)
class Reading:
    """What a collector is given."""

    config: Config
    redactor: Redactor
    known: Callable[[RecordKind, str], tuple[SourceMark, ...]]
    """The marks of earlier runs, by kind and cluster (or Argo CD, or repository): what a run may skip."""
    cache: Path
    """A folder of mode 0700 for mirrors and rendered states."""
    progress: Progress
    shipped: tuple[Path, ...] = ()
    """Further such folders, only read: what the sample incident brings, for a machine without git and renderers."""
    since: datetime | None = None
    until: datetime | None = None
    """What is wanted: sources whose names show that they hold nothing of that time are not opened."""
    workers: int = 1
    """Processes (or tasks of `executor`) that scan a large file at the same time; 1 scans in this process."""
    executor: Executor | None = None
    """What runs them, where that is not this machine's processes: a Dask client's `get_executor()`."""
    applications: Callable[[], Iterable[ApplicationSnapshot]] = tuple
    """The Applications that are recorded so far, oldest first: they name the charts to fetch."""


@dataclass(frozen=True, slots=True)
class Collector:
    """One kind of source and how it is read."""

    name: str
    summary: str
    collect: Callable[[Reading], Iterator[Batch]]
