"""An application over time: what it was told to do, what it did, and when it was kept from doing it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from auditor.model.change import Actor, AppKey, Evidence
from auditor.model.resource import JsonObject


@dataclass(frozen=True, slots=True)
class AppSource:
    """One source of an Application: enough to render it. Equal sources render alike at equal revisions."""

    repo_url: str
    path: str
    target_revision: str
    chart: str = ""
    ref: str = ""
    """`$ref` name under which other sources use its files."""
    kind: Literal["auto", "directory", "kustomize", "helm", "plugin"] = "auto"
    """From which of `directory`, `kustomize`, `helm`, `plugin` is set; auto where none is."""
    options: str = "{}"
    """Canonical JSON of the `directory`, `kustomize`, `helm` or `plugin` block, overrides included; for `auto` of the
    blocks by kind, of which the one counts that the folder turns out to need."""
    problem: str = ""
    """Why it cannot be rendered, in one clause; "" where nothing stands against it."""


@dataclass(frozen=True, slots=True)
class ApplicationState:
    """An Application at one moment, read from an export or from the body of an audit event."""

    key: AppKey
    at: datetime
    resource_version: str
    project: str
    sources: tuple[AppSource, ...]
    destination_server: str
    destination_name: str
    destination_namespace: str
    cluster: str
    """The configured cluster of its destination, "" where the destination is not mapped."""
    automated: bool
    self_heal: bool
    prune: bool
    skip_reconcile: bool
    sync_options: tuple[str, ...]
    ignore_differences: tuple[JsonObject, ...]
    labels: Mapping[str, str]
    tracking_id: str
    """Of the Application itself: set where a parent application declares it, also where an instance label says so."""
    owner_set: str
    """Name of the ApplicationSet that owns it, "" for none."""
    sync_status: str
    revisions: tuple[str, ...]
    """status.sync.revision(s)."""
    health: str
    resources: tuple[tuple[str, str, str, str, str], ...]
    """status.resources as (group, kind, namespace, name, status)."""
    conditions: tuple[tuple[str, str], ...]
    """(type, message)."""
    reconciled_at: datetime | None
    document: JsonObject
    """The redacted document, for what the fields above do not hold."""
    evidence: Evidence
    rolled_out_by: str = ""
    """Name of the ApplicationSet that starts its syncs, step by step, with auto-sync off; "" for none."""

    @property
    def waits_for_a_hand(self) -> bool:
        """Whether no sync starts but by hand: neither its own policy nor its ApplicationSet starts one."""
        return not self.automated and not self.rolled_out_by


@dataclass(frozen=True, slots=True)
class SyncResource:
    """What became of one resource in a sync."""

    group: str
    kind: str
    namespace: str
    name: str
    status: str
    """Synced, SyncFailed, Pruned, PruneSkipped, "" (hook)."""
    message: str


@dataclass(frozen=True, slots=True)
class SyncRecord:
    """One Argo CD operation, joined from history, operationState, Events, logs and audit events."""

    app: AppKey
    started_at: datetime
    finished_at: datetime | None
    phase: str
    """Running, Terminating, Failed, Error, Succeeded; "" where no record says."""
    revisions: tuple[str, ...]
    sources: tuple[AppSource, ...]
    """The sources it used; () where not recorded."""
    origin: Literal["automated", "manual", "self-heal", "unknown"]
    extent: Literal["full", "selective", "unknown"]
    initiated_by: str
    """Argo CD's user, "" for automated ones."""
    requested_by: Actor | None
    """The authenticated actor who wrote the operation, where the audit log has it."""
    local_manifests: bool
    dry_run: bool
    rollback_to: int | None
    retries: int
    message: str
    resources: tuple[SyncResource, ...]
    selected: tuple[tuple[str, str, str], ...]
    """(group, kind, name) of a selective sync."""
    evidence: tuple[Evidence, ...]
    target: str = ""
    """The branch, tag or revision that was asked for by name, "" where no record says."""


FreezeForm: TypeAlias = Literal[
    "automated-removed",
    "automated-disabled",
    "self-heal-off",
    "sync-window",
    "skip-reconcile",
    "controller-scaled",
    "rollback",
    "suspended",
    "reconcile-disabled",
]
"""By what an application is kept from syncing by itself."""


@dataclass(frozen=True, slots=True)
class Freeze:
    """A span in which an application was kept from syncing by itself."""

    app: AppKey
    form: FreezeForm
    began_at: datetime
    began_by: Actor
    ended_at: datetime | None
    """None: it was still frozen when the records end."""
    ended_by: Actor | None
    undone: bool
    """Ended by something else than the hand that froze it or another person: an ApplicationSet, a parent."""
    undone_by: str
    """Name of that ApplicationSet or application, "" otherwise."""
    description: str
    """Of the sync window, where a ticket stands."""
    evidence: tuple[Evidence, ...]
    not_before: datetime | None = None
    """The last moment at which it was not on yet, where no record shows when it began: `began_at` is then the first
    record that has it."""


@dataclass(frozen=True, slots=True)
class ApplicationHistory:
    """All that the records say of one application, oldest first."""

    key: AppKey
    states: tuple[ApplicationState, ...]
    syncs: tuple[SyncRecord, ...]
    freezes: tuple[Freeze, ...]
    removed_at: datetime | None = None

    def at(self, moment: datetime) -> ApplicationState | None:
        """The state at `moment`: the last one not after it, else the first one there is."""
        earlier = next((state for state in reversed(self.states) if state.at <= moment), None)
        return earlier or (self.states[0] if self.states else None)


@dataclass(frozen=True, slots=True)
class RevisionSeen:
    """A record that shows a revision at a time: the tip of what it tracks had landed by then."""

    repo_url: str
    revision: str
    at: datetime
    evidence: Evidence
    tracked: str = ""
    """The targetRevision that its application followed, "" where that is not known."""
