"""Break-glass episodes and their five steps."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from auditor.model.change import AppKey, Evidence

StepState: TypeAlias = Literal["done", "missing", "late", "out-of-order", "not-recorded", "not-needed"]
StepName: TypeAlias = Literal["freeze", "change", "announce", "git", "unfreeze"]
STEP_NAMES: tuple[StepName, ...] = ("freeze", "change", "announce", "git", "unfreeze")


@dataclass(frozen=True, slots=True)
class Step:
    """One of the five steps, as far as it is recorded."""

    name: StepName
    state: StepState
    at: datetime | None
    by: str | None
    detail: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Episode:
    """One break-glass incident on one application."""

    id: str
    application: AppKey
    actors: tuple[str, ...]
    began_at: datetime
    ended_at: datetime | None
    """None while it is open at the end of the records."""
    steps: tuple[Step, ...]
    """Five, in the order of `STEP_NAMES`."""
    changes: tuple[str, ...]
    """Ids, oldest first."""
    seconds_to_announce: float | None
    seconds_to_git: float | None
    seconds_frozen: float | None
    seconds_exposed: float | None
    """From the first change until none of its fields stood without git."""
