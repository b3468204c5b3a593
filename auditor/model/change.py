"""Writes, changes and field changes: what the audit events mean."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from auditor.model.facts import Origin
from auditor.model.resource import Leaf, ObjectId, Path

ActorKind: TypeAlias = Literal[
    "person",
    "shared-credential",
    "gitops",
    "ci",
    "autoscaler",
    "admission",
    "control-plane",
    "node",
    "operator",
    "unknown",
]

Cause: TypeAlias = Literal["out-of-band", "bypass", "controller", "gitops"]

Outcome: TypeAlias = Literal["changed", "unproven", "no-op", "dry-run", "refused", "status", "access", "bookkeeping"]
"""What became of a write. `unproven`: it may have changed something, and the record cannot show it. `bookkeeping`:
only server-owned or GitOps metadata moved. `access`: exec, ephemeral container, impersonated token …"""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A pointer from a statement to a raw record."""

    kind: Literal["audit", "argocd-event", "argocd-log", "application", "object", "commit", "announcement"]
    ref: str
    """Audit ID, event id, commit SHA, `app@resourceVersion` …: how the record calls itself."""
    origin: Origin | None
    event_id: str = ""
    """`AuditEvent.id` where the record is one: the redacted record can be read back from the store."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it, as far as the record names anybody."""

    name: str
    """As the record has it; "" only where the record names nobody."""
    kind: ActorKind
    acting_as: str | None = None
    """The impersonated user."""
    known_by: str = ""
    """How we know, in words: `authenticated user`, `Argo CD event by carol`, `field manager and time` …"""
    rule: str = ""
    """Ident of the actor rule that decided."""
    account: str = ""
    """The audit user, where `name` was joined from another record (argocd-server's edits)."""


@dataclass(frozen=True, slots=True)
class AppKey:
    """An application: the Argo CD that has it, its namespace and name."""

    argocd: str
    namespace: str
    name: str
    kind: str = "Application"
    """Application, or Flux's Kustomization and HelmRelease, which may bear one name in one namespace."""

    @property
    def is_flux(self) -> bool:
        """Whether Flux deploys it."""
        return self.kind != "Application"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One leaf of a change. `path` stops at atomic lists."""

    path: Path
    before: Leaf
    after: Leaf


@dataclass(frozen=True, slots=True)
class SideEffect:
    """A leaf that differs after a write and that its request does not name: never the actor's."""

    path: Path
    before: Leaf
    after: Leaf
    by: str
    """`admission webhook NAME`, `default`, `allocation`, `not recorded`."""


@dataclass(frozen=True, slots=True)
class Write:
    """One request that asked the API server to store something, with what it asked for and what came of it."""

    id: str
    at: datetime
    object: ObjectId
    """The object it means: the parent for `scale`, each object for a deletecollection."""
    verb: str
    subresource: str
    outcome: Outcome
    persisted: Literal["proven", "unproven"]
    operation: Literal["create", "update", "delete"]
    actor: Actor
    channel: str
    cause: Cause
    patch_type: str
    """json-patch, merge, strategic, apply, put, create, delete, unknown."""
    field_manager: str
    user_agent: str
    asked: tuple[FieldChange, ...]
    """The leaves that the request names, `after` as asked for; also for no-op writes and for refused ones."""
    fields: tuple[FieldChange, ...]
    """The actor's field changes."""
    side_effects: tuple[SideEffect, ...]
    notes: tuple[str, ...]
    """Evidence lines that are no fields: `removed argocd.argoproj.io/tracking-id`, `rewrote last-applied` …"""
    resource_version: str
    """After the write, "" where not recorded."""
    code: int | None
    reason: str
    """For what was refused: what the API server said."""
    fields_known: bool
    """False where the record holds no bodies: `fields` is then empty and says nothing."""
    known_by: Literal["event", "ownership"]
    """`ownership`: the write's own event is missing and managedFields tell of it."""
    evidence: tuple[Evidence, ...]
    disagreement: str = ""
    """A sentence where what the client claims of itself and who it was authenticated as do not agree."""
    admitted_by: tuple[str, ...] = ()
    """Admission webhooks that the record says mutated the request."""
    position: int = 0
    """Its place among the writes of its object, in the API server's order: the clocks of two servers may disagree."""
    marks: tuple[tuple[str, str], ...] = ()
    """Annotations and labels that say whose the object is (tracking-id, instance label, Flux labels), as (key, value):
    by the state before the write, for a create after it. () where the records do not hold them."""
    last_applied: str = ""
    """The last-applied annotation that the write asked to store, "" for none."""


@dataclass(frozen=True, slots=True)
class Change:
    """A write that altered one object, placed: whose object it is and in which command it was sent."""

    write: Write
    command: str
    """Groups the writes of one command: the id of its first change."""
    application: AppKey | None
    owners: tuple[AppKey, ...]
    """All applications that claim the object; more than one is a finding."""
    owner_known_by: str
    """tracking-id, instance label, status.resources, rendered manifests; "" where nobody owns it."""

    @property
    def id(self) -> str:
        """The write's: one write is one change of one object."""
        return self.write.id
