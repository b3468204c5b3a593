"""What one environment has and the other lacks."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from auditor.model.change import AppKey
from auditor.model.resource import Leaf, ObjectId, Path

StagingCause: TypeAlias = Literal[
    "hotfix-not-in-git", "production-hotfix", "staging-change", "unexplained", "promotion", "overlay"
]
STAGING_WORST_FIRST: tuple[StagingCause, ...] = (
    "hotfix-not-in-git",
    "production-hotfix",
    "staging-change",
    "unexplained",
    "promotion",
    "overlay",
)


@dataclass(frozen=True, slots=True)
class StagingDifference:
    """A field (or object) that differs between the two, explained."""

    object: ObjectId
    """As production names it; as staging names it where production has none."""
    path: Path
    """() where the whole object is on one side only."""
    staging: Leaf
    production: Leaf
    causes: tuple[StagingCause, ...]
    """Worst first."""
    because: str
    changes: tuple[str, ...]
    commit: str | None
    advice: str
    """promote, revert, decide, nothing."""


@dataclass(frozen=True, slots=True)
class StagingPair:
    """Two applications side by side."""

    staging: AppKey
    production: AppKey
    paired_by: str
    differences: tuple[StagingDifference, ...]
