"""A `Reading` over a folder of a test, and what earlier runs left in its marks."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from auditor.collectors import Reading
from auditor.config import AnnouncementsConfig, ArgoCDConfig, ClusterConfig, Config
from auditor.model.facts import Batch, RecordKind, Skipped, SourceMark
from auditor.objects.redaction import Redactor
from auditor.progress import SILENT

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"

T = TypeVar("T")


def reading(folder: Path, marks: Iterable[SourceMark] = (), announcements: str = "slack/", zone: str = "") -> Reading:
    """Argo CD's exports in `argocd/`, objects in `live/`, announcements in `slack/`."""
    config = Config(
        folder,
        clusters=(ClusterConfig("prod", objects=("live/",)),),
        argocds=(ArgoCDConfig("main", "prod", ("argocd/",)),),
        announcements=(AnnouncementsConfig(announcements, zone),),
    )
    earlier = tuple(marks)

    def known(kind: RecordKind, cluster: str) -> tuple[SourceMark, ...]:
        return tuple(mark for mark in earlier if (mark.kind, mark.cluster) == (kind, cluster))

    return Reading(config, Redactor(b"k" * 32), known, folder, SILENT)


def facts(batches: Iterable[Batch], of: type[T]) -> list[T]:
    """All facts of one kind."""
    return [fact for batch in batches for fact in batch.facts if isinstance(fact, of)]


def reasons(batches: Iterable[Batch]) -> list[str]:
    """Why things were skipped."""
    return [skipped.reason for skipped in facts(batches, Skipped)]


def last_marks(batches: Iterable[Batch]) -> list[SourceMark]:
    """The last mark of each source."""
    return list({batch.mark.source: batch.mark for batch in batches}.values())


def collected(collect: Callable[[Reading], Iterator[Batch]], folder: Path, **given: Any) -> list[Batch]:
    """All batches of a collector over a folder."""
    return list(collect(reading(folder, **given)))
