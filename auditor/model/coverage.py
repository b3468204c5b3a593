"""Which records there are, how far they reach, and what they cannot say."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from auditor.model.facts import RecordKind, Skipped, SourceMark


@dataclass(frozen=True, slots=True)
class AsOf:
    """The end of each kind of record; None where there is no record of the kind."""

    audit: Mapping[str, datetime]
    """By cluster."""
    argocd: datetime | None
    git: datetime | None
    announcements: datetime | None
    objects: datetime | None

    @property
    def moment(self) -> datetime | None:
        """The end of the records: the latest of all."""
        known = [*self.audit.values(), *filter(None, (self.argocd, self.git, self.announcements, self.objects))]
        return max(known, default=None)

    def until(self, moment: datetime) -> "AsOf":
        """The same, nothing later than `moment`."""

        def earlier(end: datetime | None) -> datetime | None:
            return None if end is None else min(end, moment)

        return AsOf(
            {cluster: min(end, moment) for cluster, end in self.audit.items()},
            earlier(self.argocd),
            earlier(self.git),
            earlier(self.announcements),
            earlier(self.objects),
        )


@dataclass(frozen=True, slots=True)
class Gap:
    """A span or a thing that the records do not cover, in a sentence that says what is then unknown."""

    kind: RecordKind
    cluster: str
    first_at: datetime | None
    last_at: datetime | None
    sentence: str
    export: str
    """The command that exports what is missing, "" where nothing can bring it back."""
    failed: bool = False
    """Whether a source that is configured failed or came late: tonight's answer is then a partial one."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was read, how far it reaches, and what it leaves open."""

    marks: tuple[SourceMark, ...]
    skipped: tuple[Skipped, ...]
    as_of: AsOf
    gaps: tuple[Gap, ...]
