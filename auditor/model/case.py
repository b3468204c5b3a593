"""All that is known of a scope, gathered once: what detectors and reports look at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from auditor.model.application import ApplicationHistory
from auditor.model.change import AppKey, Change, Write
from auditor.model.coverage import Coverage
from auditor.model.desired import DesiredState, Landing, Undeterminable
from auditor.model.drift import DriftedField
from auditor.model.episode import Episode
from auditor.model.facts import Announcement, ArgoEvent, ArgoSettings, Commit
from auditor.model.finding import Finding
from auditor.model.resource import JsonObject, ObjectId
from auditor.model.staging import StagingPair
from auditor.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Scope:
    """What a question is about. None and () mean everything."""

    since: datetime | None = None
    until: datetime | None = None
    clusters: tuple[str, ...] = ()
    applications: tuple[str, ...] = ()
    episode: str | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class LiveState:
    """What the cluster last had of an object. `body` None: it is gone."""

    object: ObjectId
    body: JsonObject | None
    at: datetime
    complete: bool
    """False where only parts of it are known."""


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that is known of a scope, and what was concluded."""

    scope: Scope
    coverage: Coverage
    applications: Mapping[AppKey, ApplicationHistory]
    writes: tuple[Write, ...]
    """All writes on managed objects and all by people, oldest first; no-op, refused, access ones too."""
    changes: tuple[Change, ...]
    """All causes, oldest first."""
    verdicts: Mapping[str, Verdict]
    """By change id; out-of-band and bypass changes have one."""
    episodes: tuple[Episode, ...]
    staging: tuple[StagingPair, ...]
    announcements: tuple[Announcement, ...]
    commits: tuple[Commit, ...]
    landings: Mapping[AppKey, tuple[Landing, ...]]
    argo_events: tuple[ArgoEvent, ...]
    settings: tuple[ArgoSettings, ...]
    desired: Mapping[AppKey, DesiredState | Undeterminable]
    """At the tip of what each application tracks."""
    live: Mapping[ObjectId, LiveState]
    drift: tuple[DriftedField, ...] = ()
    """What is not as git says it at the end of the records."""
    findings: tuple[Finding, ...] = ()
    namesakes: Mapping[AppKey, str] = field(default_factory=dict)
    """What those applications are called of which another of the records has the same name."""

    def called(self, application: AppKey) -> str:
        """What an application is called so that it is no other."""
        return self.namesakes.get(application, application.name)
