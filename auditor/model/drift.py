"""What is not as git says it now, and by what it came to be so."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from auditor.model.change import AppKey
from auditor.model.resource import Leaf, ObjectId, Path

DriftCause: TypeAlias = Literal[
    "a hand", "a pipeline", "another controller or a default", "an unfinished sync", "not told"
]
DRIFT_CAUSES: tuple[DriftCause, ...] = (
    "a hand",
    "a pipeline",
    "another controller or a default",
    "an unfinished sync",
    "not told",
)


@dataclass(frozen=True, slots=True)
class DriftedField:
    """One field, or one whole object, whose live value is not git's."""

    application: AppKey | None
    """None for what somebody made and no application owns."""
    object: ObjectId
    path: Path
    """() for an object that only one of the two has."""
    desired: Leaf
    """At the tip of the tracked branch; absent where git does not declare it."""
    live: Leaf
    cause: DriftCause
    by: str
    """Who or what gave the live value, "" where no record says."""
    at: datetime | None
    """When it did."""
    because: str
    """How the cause is known, or why it is not, as a clause."""
    next: str
    """What happens next, as a sentence; "" where that cannot be told."""
    change: str | None
    """Id of the change by a hand or a pipeline."""
