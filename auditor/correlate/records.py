"""What gathering needs of a store, and the facts it reads once for a moment."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from auditor.model.facts import (
    Announcement,
    ApplicationSnapshot,
    ArgoEvent,
    ArgoSettings,
    AuditEvent,
    Commit,
    ObjectSnapshot,
    Skipped,
    SourceMark,
)


class Records(Protocol):
    """The facts of a store. Audit events are streamed, as often as they are asked for."""

    def audit_events(
        self, since: datetime | None = None, until: datetime | None = None, *, bodies: bool = True
    ) -> Iterator[AuditEvent]:
        """Oldest first; without bodies they are as if their records held none."""
        ...

    def audit_events_of(self, ids: Sequence[str]) -> Iterator[AuditEvent]:
        """Those of these ids, oldest first."""
        ...

    def application_snapshots(self) -> Iterable[ApplicationSnapshot]:
        """All exports of Applications."""
        ...

    def settings(self) -> Iterable[ArgoSettings]:
        """Projects, sets, `argocd-cm`."""
        ...

    def argo_events(self) -> Iterable[ArgoEvent]:
        """What Argo CD said."""
        ...

    def commits(self, repository: str | None = None) -> Iterable[Commit]:
        """Of one repository, or of all."""
        ...

    def announcements(self) -> Iterable[Announcement]:
        """What people wrote."""
        ...

    def object_snapshots(self) -> Iterable[ObjectSnapshot]:
        """Exported objects."""
        ...

    def skipped(self) -> Iterable[Skipped]:
        """What could not be read."""
        ...

    def marks(self) -> tuple[SourceMark, ...]:
        """How far each source was read."""
        ...


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts but the audit events, as of a moment. A snapshot of unknown time is taken as it is."""

    snapshots: tuple[ApplicationSnapshot, ...]
    settings: tuple[ArgoSettings, ...]
    argo_events: tuple[ArgoEvent, ...]
    commits: tuple[Commit, ...]
    """Without the paths that they changed: those are what git's reader is asked about."""
    announcements: tuple[Announcement, ...]
    objects: tuple[ObjectSnapshot, ...]
    skipped: tuple[Skipped, ...]
    marks: tuple[SourceMark, ...]


def facts(records: Records, as_of: datetime | None) -> Facts:
    """The facts that were there at `as_of`; all where it is None."""

    def then(moment: datetime | None) -> bool:
        return as_of is None or moment is None or moment <= as_of

    return Facts(
        tuple(each for each in records.application_snapshots() if then(each.at)),
        tuple(records.settings()),
        tuple(each for each in records.argo_events() if then(each.at)),
        tuple(replace(each, changes=()) for each in records.commits() if then(each.committed_at)),
        tuple(each for each in records.announcements() if then(each.at)),
        tuple(each for each in records.object_snapshots() if then(each.at)),
        tuple(records.skipped()),
        records.marks(),
    )
