"""A run that is asked the same of the same records as the run before: what that one said and wrote still stands."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.console.computed import stamp_of
from auditor.console.reporting import WrittenReports
from auditor.console.workspace import Workspace
from auditor.model.night import Night, ToldNight
from auditor.nightly.night import Bounds

if TYPE_CHECKING:
    from auditor.store import Store


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run is asked for."""

    report: str
    forms: tuple[str, ...]
    folder: Path
    bounds: Bounds


def told_before(place: Workspace, store: "Store", asked: Asked) -> tuple[Night, WrittenReports] | None:
    """The night and the reports of the last run; None where anything is not as it was then."""
    told = store.nights.told()
    if told is None or told.asked != _digest(place, store, asked):
        return None
    if any(_content(Path(path)) != content for path, content in told.reports):
        return None
    return told.night, WrittenReports(tuple(Path(path) for path, _ in told.reports), None)


def tell(place: Workspace, store: "Store", asked: Asked, night: Night, paths: Sequence[Path]) -> None:
    """Keep what a run said and wrote."""
    reports = tuple((str(path), _content(path)) for path in paths)
    store.nights.tell(ToldNight(_digest(place, store, asked), night, reports))


def _digest(place: Workspace, store: "Store", asked: Asked) -> str:
    said = (stamp_of(place, store), store.pruned_before(), asked, Path.cwd())
    return hashlib.sha256(repr(said).encode()).hexdigest()


def _content(path: Path) -> str:
    """SHA-256 of a file, "" where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
