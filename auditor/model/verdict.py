"""What git and the cluster say of a change, as of a moment."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

GitWord: TypeAlias = Literal[
    "not-reflected", "not-in-git", "not-declared", "on-branch", "superseded", "unknown", "reflected", "already"
]
GIT_WORST_FIRST: tuple[GitWord, ...] = (
    "not-reflected",
    "not-in-git",
    "not-declared",
    "on-branch",
    "superseded",
    "unknown",
    "reflected",
    "already",
)

ClusterWord: TypeAlias = Literal["deleted", "overwritten", "reverted-by-gitops", "reverted", "unknown", "standing"]
CLUSTER_WORST_FIRST: tuple[ClusterWord, ...] = (
    "deleted",
    "overwritten",
    "reverted-by-gitops",
    "reverted",
    "unknown",
    "standing",
)


@dataclass(frozen=True, slots=True)
class Authored:
    """Where a value was written, which may lie on a merged branch. The author is as the commit says."""

    commit: str
    author: str
    """`Name <mail>` after .mailmap."""


@dataclass(frozen=True, slots=True)
class GitVerdict:
    """Whether the tracked branch has the value. `commit` is the first-parent commit with which it landed (for
    `on-branch` the commit on that branch)."""

    verdict: GitWord
    reason: str = ""
    commit: str | None = None
    author: str | None = None
    at: datetime | None = None
    """Committer time of `commit`."""
    landed_by: datetime | None = None
    """Latest: first record of a revision that contains it."""
    authored: Authored | None = None
    pull_request: int | None = None
    branch: str | None = None
    delay_seconds: float | None = None
    """From the change to the landing; null where the landing interval contains the change."""
    confidence: Literal["high", "low"] = "high"
    says: str = ""
    """What git has instead, as text to read; "" where that adds nothing."""
    signature: str = ""

    @property
    def landed_at(self) -> datetime | None:
        """By the committer's clock, or by the first record of it where that clock ran ahead."""
        return min((moment for moment in (self.at, self.landed_by) if moment), default=None)


@dataclass(frozen=True, slots=True)
class ClusterVerdict:
    """What became of the value in the cluster."""

    verdict: ClusterWord
    reason: str = ""
    at: datetime | None = None
    by: str | None = None
    """Audit user of the first later write that left another value."""
    write: str | None = None
    """Id of that write."""


Prospect: TypeAlias = Literal[
    "undone-at-next-sync", "undone-at-next-revision", "undone-at-manual-sync", "kept", "invisible", "settled", "unknown"
]


@dataclass(frozen=True, slots=True)
class FieldVerdict:
    """Both answers for one field."""

    git: GitVerdict
    cluster: ClusterVerdict
    prospect: Prospect | None = None
    """What happens next to this field, None where it is what happens to the change as a whole."""
    next: str = ""
    """The same in words."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The two answers for a change: as a whole (its worst field, or the whole object), and field by field."""

    change: str
    git: GitVerdict
    cluster: ClusterVerdict
    fields: tuple[FieldVerdict, ...]
    """In the order of the change's fields; () for a created or deleted object."""
    argocd_sees: bool | None
    prospect: Prospect
    next: str
    """What happens next, in words."""
