"""One incident as its steps are judged: the changes that belong together, and what is known around them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from auditor.config import Config
from auditor.model.application import ApplicationHistory, Freeze
from auditor.model.change import ActorKind, Change, Evidence
from auditor.model.coverage import Coverage
from auditor.model.episode import Step, StepName, StepState
from auditor.model.facts import Announcement, RecordKind
from auditor.model.verdict import Verdict

HANDS: frozenset[ActorKind] = frozenset({"person", "shared-credential"})
"""Whose changes make an incident."""

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
"""A restart is an act, and no value that git could hold or environments could share."""


@dataclass(frozen=True, slots=True)
class Incident:
    """Changes of one application that belong together, with the freezes around them."""

    history: ApplicationHistory
    changes: tuple[Change, ...]
    """Oldest first, at least one."""
    freezes: tuple[Freeze, ...]
    """Oldest first."""
    began_at: datetime
    ended_at: datetime | None
    lead_from: datetime
    """From when on a message may announce what is about to be done."""
    following_at: datetime | None
    """The first change of the application's next incident."""

    @property
    def first_at(self) -> datetime:
        """The time of the first change."""
        return self.changes[0].write.at

    @property
    def people(self) -> tuple[str, ...]:
        """Who changed, froze or unfroze, in that order."""
        ends = [actor for freeze in self.freezes for actor in (freeze.began_by, freeze.ended_by) if actor]
        actors = [*(change.write.actor for change in self.changes), *ends]
        return tuple(dict.fromkeys(actor.name for actor in actors if actor.kind in HANDS))


@dataclass(frozen=True, slots=True)
class Background:
    """What all episodes are judged by."""

    verdicts: Mapping[str, Verdict]
    announcements: Sequence[Announcement]
    coverage: Coverage
    config: Config
    parents: Mapping[str, tuple[str, ...]]
    """Parents by commit."""
    applications: tuple[str, ...]


def recorded(coverage: Coverage, kind: RecordKind, moment: datetime, cluster: str = "") -> bool:
    """Whether what was read of this kind reaches over the moment. Rotated files are one record: between the last
    event of one and the first of the next lies no gap unless `Coverage.gaps` tells of one. An export of messages
    holds all of its first day."""
    marks = [mark for mark in coverage.marks if mark.kind == kind and not mark.problem]
    mine = [mark for mark in marks if not cluster or mark.cluster == cluster]
    begins = min((mark.first_at for mark in mine if mark.first_at), default=None)
    ends = max((mark.last_at for mark in mine if mark.last_at), default=None)
    if begins is None or ends is None:
        return False
    if kind == "announcements":
        begins = begins.replace(hour=0, minute=0, second=0, microsecond=0)
    return begins <= moment <= ends and not any(
        gap.kind == kind
        and gap.cluster in ("", cluster)
        and gap.first_at is not None
        and gap.first_at <= moment <= (gap.last_at or moment)
        for gap in coverage.gaps
    )


def home(incident: Incident, config: Config) -> str:
    """The cluster where the application's Argo CD runs, "" where the configuration does not say."""
    name = incident.history.key.argocd
    return next((argocd.cluster for argocd in config.argocds if argocd.name == name), "")


def untaken(name: StepName, state: StepState, detail: str, *evidence: Evidence) -> Step:
    """A step that has no time and no person."""
    return Step(name, state, None, None, detail, evidence)


def clock(moment: datetime) -> str:
    """A time of day in a sentence."""
    return f"{moment:%H:%M:%S} UTC"
