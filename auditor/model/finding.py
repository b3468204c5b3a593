"""Conclusions, each with the evidence it rests on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from auditor.model.change import AppKey, Evidence
from auditor.model.resource import Json, ObjectId

Severity: TypeAlias = Literal["info", "low", "medium", "high"]
SEVERITIES: tuple[Severity, ...] = ("info", "low", "medium", "high")
Confidence: TypeAlias = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A conclusion, what it rests on, and what to do."""

    id: str
    """Stable over runs: digest of ident, application, object, path and the first change or time it rests on."""
    ident: str
    severity: Severity
    confidence: Confidence
    application: AppKey | None
    object: ObjectId | None
    path: str | None
    actors: tuple[str, ...]
    values: tuple[Json, ...]
    first_at: datetime | None
    last_at: datetime | None
    count: int
    message: str
    """One or two sentences; the subject is the credential or the object."""
    remedy: str
    snippet: str
    """A block that pastes as it is, "" for none."""
    changes: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    namesake: str = ""
    """What its application is called where another has the same name; "" where the name alone tells."""

    @property
    def called(self) -> str:
        """What its application is called so that it is no other, "" where it has none."""
        return self.namesake or str(self.application or "")
