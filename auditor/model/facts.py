"""What the records say, one value a fact. Nothing here is derived; all bodies are already redacted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct, structs

RecordKind: TypeAlias = Literal["audit", "argocd", "git", "announcements", "objects"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a record lies, so that a statement leads back to it.

    `offset` and `length` are bytes of the source as a reader sees it after decompression; `sha256` (hex) is
    of exactly those bytes, before redaction.
    """

    source: str
    offset: int
    length: int
    sha256: str


class AuditEvent(Struct, frozen=True, gc=False):
    """One `audit.k8s.io` Event (or a provider's entry mapped to one) that is a write or an access.

    Reads never become one. All times are aware UTC. Empty text means that the record does not say. A Struct, as these
    come by the hundred thousand: one is made in a quarter of the time of a frozen dataclass.
    """

    id: str
    """Hex digest over cluster, audit ID, stage and content: one event has one, however often it was delivered."""
    cluster: str
    audit_id: str
    stage: str
    level: str
    """Metadata, Request, RequestResponse; "" where the delivery has none (GKE)."""
    verb: str
    at: datetime
    """requestReceivedTimestamp, else the stage's, else the delivery's."""
    stage_at: datetime | None
    user: str
    groups: tuple[str, ...]
    extra: Mapping[str, tuple[str, ...]]
    impersonated_user: str
    impersonated_groups: tuple[str, ...]
    source_ips: tuple[str, ...]
    user_agent: str
    request_uri: str
    api_group: str
    api_version: str
    resource: str
    """Plural, as objectRef has it (`deployments`)."""
    subresource: str
    namespace: str
    name: str
    """objectRef's, else the one in the response (create, generateName)."""
    uid: str
    object_version: str
    """objectRef.resourceVersion: the version the client sent."""
    code: int | None
    reason: str
    """responseStatus.reason and message, for what was refused."""
    dry_run: bool
    """dryRun in the URI, or in the body of a delete."""
    field_manager: str
    force: bool
    """force=true in the URI (server-side apply)."""
    request: bytes | None
    """requestObject as redacted JSON."""
    response: bytes | None
    """responseObject as redacted JSON."""
    annotations: Mapping[str, str]
    """Admission patches and mutations, truncation, authorization reason."""
    truncated: bool
    """The record says that bodies were cut or left out: never read as complete."""
    dialect: str
    """"audit" or "gke": what a missing field means."""
    stream: str
    """Which API server or log stream it came from, "" where not told."""
    origin: Origin

    def with_bodies(self, request: bytes | None, response: bytes | None) -> "AuditEvent":
        """The same event, telling these."""
        return structs.replace(self, request=request, response=response)


@dataclass(frozen=True, slots=True)
class ApplicationSnapshot:
    """An Application (or Flux Kustomization or HelmRelease) as an export had it. `body` is the redacted document."""

    argocd: str
    """Name of the Argo CD in the configuration."""
    kind: str
    """Application, Kustomization, HelmRelease."""
    namespace: str
    name: str
    resource_version: str
    at: datetime | None
    """The latest time that the document itself holds (reconciledAt, finishedAt …): it is no older than that."""
    body: bytes
    origin: Origin


@dataclass(frozen=True, slots=True)
class ArgoSettings:
    """One AppProject, ApplicationSet, `argocd-cm` or other settings document of an Argo CD. `body` is redacted."""

    argocd: str
    kind: str
    namespace: str
    name: str
    resource_version: str
    body: bytes
    origin: Origin


@dataclass(frozen=True, slots=True)
class ArgoEvent:
    """One statement of Argo CD in a Kubernetes Event or a log line. The same statement in both is two facts."""

    argocd: str
    at: datetime
    precision: float
    """Seconds by which `at` may lie before the act (1.0 where the record has whole seconds)."""
    component: Literal["server", "controller", "applicationset", "other"]
    application: str
    """Name, or `namespace/name` where the record has the namespace too."""
    user: str
    """Argo CD's user where the record names one, else ""."""
    reason: str
    """OperationStarted, ResourceUpdated …, "" for a log line without one."""
    message: str
    fields: Mapping[str, str]
    """Further logfmt or JSON keys of the line."""
    medium: Literal["event", "log"]
    origin: Origin


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path that a commit changed against its first parent, as `git log --raw` gives it.

    Object names are hex; a blob that was or is not there is "".
    """

    path: str
    old_mode: str
    mode: str
    old_blob: str
    blob: str
    old_path: str
    """Set for a rename, else ""."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a repository."""

    repository: str
    """The `url` of the repository in the configuration."""
    sha: str
    parents: tuple[str, ...]
    tree: str
    author_name: str
    """After .mailmap."""
    author_email: str
    authored_at: datetime
    committer_name: str
    committer_email: str
    committed_at: datetime
    subject: str
    body: str
    """Redacted message without the subject: trailers are read from it."""
    signature: str
    """Status letter as `%G?` gives it without a key ring (N none, E cannot be checked …)."""
    changes: tuple[PathChange, ...]


@dataclass(frozen=True, slots=True)
class GitRef:
    """A branch or tag of a repository as it was when it was read."""

    repository: str
    name: str
    """`main`, `hotfix/inc-2041`, `v1.2.0`; never a remote's prefix."""
    kind: Literal["branch", "tag", "pull", "head", "former", "boundary"]
    """`head` is what HEAD points to; `pull` is a pull-request ref that a mirror brings; `former` is a tip that a
    branch had before it was pushed over; `boundary` is a commit at which a shallow clone ends."""
    sha: str
    """The commit, tags peeled."""
    target: str
    """For `head` and `former`: the branch's name."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """One message that people wrote: a Slack message, a row of an incident timeline, an annotation."""

    at: datetime
    author: str
    """As the source shows it."""
    author_email: str
    text: str
    """Redacted."""
    channel: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class ObjectSnapshot:
    """One object as `kubectl get -o yaml` or a live read gave it. `body` is redacted and keeps managedFields."""

    cluster: str
    group: str
    version: str
    kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str
    at: datetime | None
    """When it was read, where that is known; the latest time that the document holds otherwise."""
    body: bytes
    origin: Origin


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in a source that could not be read, with its place. Never an error, always counted."""

    kind: RecordKind
    cluster: str
    source: str
    offset: int
    length: int
    reason: str


@dataclass(frozen=True, slots=True)
class SourceMark:
    """How far a source (or one stream in it) was read, and what was in it. Written in one transaction with the facts
    that it covers, so that a killed run resumes exactly there. Counters are totals of the source so far."""

    kind: RecordKind
    cluster: str
    """The cluster for audit logs and objects, the Argo CD's or repository's name otherwise."""
    source: str
    """As the report shows it: the path below the configuration's folder, or the URL."""
    stream: str
    format: str
    """jsonl, event-list, cloudwatch, gke, git, slack …"""
    bytes: int = 0
    events: int = 0
    """All stages."""
    successful_writes: int = 0
    dry_runs: int = 0
    failed_writes: int = 0
    reads: int = 0
    foreign: int = 0
    undecodable: int = 0
    writers: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    account: Mapping[str, int] = field(default_factory=dict)
    """Every byte by what it was: event, read, foreign, skipped, wrapping. They add up to `bytes`."""
    streams: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """By stream (one an API server, "" where not told), the spans of minutes (`2026-11-30T07:00`, UTC, first and last)
    in which it was never silent for more than five minutes: what lies between them is a gap."""
    first_at: datetime | None = None
    last_at: datetime | None = None
    position: Mapping[str, str] = field(default_factory=dict)
    """The collector's own bookkeeping for resuming: identity of the file, offset, digests. Opaque to all others."""
    complete: bool = True
    """False while a source is being read; a source that stays so was cut short."""
    problem: str = ""
    """One sentence where the source could not be read at all (missing, denied, not a repository)."""

    @property
    def complaint(self) -> str:
        """`problem` as a sentence that names its subject, "" where there is none."""
        if not self.problem:
            return ""
        sentence = self.problem if self.problem.endswith((".", "!", "?")) else f"{self.problem}."
        return sentence if self.source in sentence else f"{self.source}: {sentence}"


Fact: TypeAlias = (
    AuditEvent
    | ApplicationSnapshot
    | ArgoSettings
    | ArgoEvent
    | Commit
    | GitRef
    | Announcement
    | ObjectSnapshot
    | Skipped
)


@dataclass(frozen=True, slots=True)
class Batch:
    """What a collector yields: facts, and the mark that covers them. The store commits both together."""

    facts: tuple[Fact, ...]
    mark: SourceMark
    formerly: str = ""
    """The name under which an earlier run met this very content (a rotated file): the mark, the skipped places and
    the origins of that source get the name in `mark` before anything is written."""
    reread_from: int | None = None
    """What was said to be skipped in this source at or after this offset is withdrawn: it is read again."""
