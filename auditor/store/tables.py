"""The schema: one SQLModel table a fact, and one a result. Imported only to create a store: SQLModel loads slowly.

Times are RFC 3339 text in UTC with six decimals, so that they sort as text and read well in `auditor sql`. Maps and
tuples are JSON text. Bodies, and the `data` of results, are compressed with zstd.
The columns of a fact are the fields of its value in `auditor.model.facts`; a test holds the two together.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Index, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import Field, SQLModel


def _big(**options: Any) -> Any:
    return Field(sa_column=Column(BigInteger, nullable=False), **options)


class AuditEvent(SQLModel, table=True):
    """Writes and accesses of audit logs; `id` is the event's own digest, so that one delivered twice is one row."""

    __tablename__ = "audit_event"
    __table_args__ = (Index("audit_event_at", "at", "id"),)
    id: str = Field(primary_key=True)
    cluster: str
    audit_id: str
    stage: str
    level: str
    verb: str
    at: str
    stage_at: str | None
    user: str
    groups: str
    extra: str
    impersonated_user: str
    impersonated_groups: str
    source_ips: str
    user_agent: str
    request_uri: str
    api_group: str
    api_version: str
    resource: str
    subresource: str
    namespace: str
    name: str
    uid: str
    object_version: str
    code: int | None
    reason: str
    dry_run: bool
    field_manager: str
    force: bool
    request: bytes | None
    response: bytes | None
    annotations: str
    truncated: bool
    dialect: str
    stream: str
    source: str
    offset: int = _big()
    length: int = _big()
    sha256: str


class ApplicationSnapshot(SQLModel, table=True):
    """Applications as exports had them; `digest` is of what the document says, wherever it was found."""

    __tablename__ = "application_snapshot"
    digest: str = Field(primary_key=True)
    argocd: str
    kind: str
    namespace: str
    name: str
    resource_version: str
    at: str | None
    body: bytes
    source: str
    offset: int = _big()
    length: int = _big()
    sha256: str


class ArgoSettings(SQLModel, table=True):
    """AppProjects, ApplicationSets and settings of an Argo CD."""

    __tablename__ = "argo_settings"
    digest: str = Field(primary_key=True)
    argocd: str
    kind: str
    namespace: str
    name: str
    resource_version: str
    body: bytes
    source: str
    offset: int = _big()
    length: int = _big()
    sha256: str


class ArgoEvent(SQLModel, table=True):
    """What Argo CD said in Kubernetes Events and in its logs."""

    __tablename__ = "argo_event"
    __table_args__ = (Index("argo_event_at", "at"),)
    digest: str = Field(primary_key=True)
    argocd: str
    at: str
    precision: float
    component: str
    application: str
    user: str
    reason: str
    message: str
    fields: str
    medium: str
    source: str
    offset: int = _big()
    length: int = _big()
    sha256: str


class Commit(SQLModel, table=True):
    """Commits of the configured repositories."""

    __tablename__ = "git_commit"
    repository: str = Field(primary_key=True)
    sha: str = Field(primary_key=True)
    parents: str
    tree: str
    author_name: str
    author_email: str
    authored_at: str
    committer_name: str
    committer_email: str
    committed_at: str
    subject: str
    body: str
    signature: str
    changes: str


class GitRef(SQLModel, table=True):
    """Branches and tags as they were at the last reading: a new reading of a repository replaces them."""

    __tablename__ = "git_ref"
    repository: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    kind: str = Field(primary_key=True)
    sha: str
    target: str


class Announcement(SQLModel, table=True):
    """What people wrote."""

    __tablename__ = "announcement"
    digest: str = Field(primary_key=True)
    at: str
    author: str
    author_email: str
    text: str
    channel: str
    source: str
    offset: int = _big()
    length: int = _big()
    sha256: str


class ObjectSnapshot(SQLModel, table=True):
    """Objects as `kubectl get` gave them."""

    __tablename__ = "object_snapshot"
    digest: str = Field(primary_key=True)
    cluster: str
    group: str
    version: str
    kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str
    at: str | None
    body: bytes
    source: str
    offset: int = _big()
    length: int = _big()
    sha256: str


class Skipped(SQLModel, table=True):
    """What could not be read, with its place."""

    __tablename__ = "skipped"
    digest: str = Field(primary_key=True)
    kind: str
    cluster: str
    source: str
    offset: int = _big()
    length: int = _big()
    reason: str


class SourceMark(SQLModel, table=True):
    """How far each source was read: written with the facts that it covers."""

    __tablename__ = "source_mark"
    kind: str = Field(primary_key=True)
    cluster: str = Field(primary_key=True)
    source: str = Field(primary_key=True)
    stream: str = Field(primary_key=True)
    format: str
    bytes: int = _big()
    events: int = _big()
    successful_writes: int = _big()
    dry_runs: int = _big()
    failed_writes: int = _big()
    reads: int = _big()
    foreign: int = _big()
    undecodable: int = _big()
    writers: str
    levels: str
    account: str
    streams: str
    first_at: str | None
    last_at: str | None
    position: str
    complete: bool
    problem: str


class Change(SQLModel, table=True):
    """Changes and other writes with their verdicts: columns to ask by, and the whole as `data`."""

    __tablename__ = "change"
    __table_args__ = (
        Index("change_at", "listed", "at", "id"),
        Index("change_application", "application", "at"),
        Index("change_actor", "actor", "at"),
        Index("change_object", "name", "at"),
        Index("change_namespace", "namespace", "at"),
        Index("change_cluster_at", "cluster", "at"),
        Index("change_verdict", "git", "cluster_state", "at"),
        Index("change_channel", "channel", "at"),
        Index("change_cause", "cause", "at"),
        Index("change_kind", text("lower(kind)"), "at"),
    )
    id: str = Field(primary_key=True)
    at: str
    listed: int
    """1 for out-of-band and bypass changes, 0 for other changes, -1 for writes that are none."""
    cluster: str
    application: str | None
    argocd: str | None
    group: str
    kind: str
    namespace: str
    name: str
    operation: str
    outcome: str
    persisted: str
    actor: str
    actor_kind: str
    channel: str
    cause: str
    command: str
    git: str
    cluster_state: str
    data: bytes


class Episode(SQLModel, table=True):
    """Break-glass episodes."""

    __tablename__ = "episode"
    id: str = Field(primary_key=True)
    at: str
    application: str
    data: bytes


class Finding(SQLModel, table=True):
    """What the detectors concluded."""

    __tablename__ = "finding"
    id: str = Field(primary_key=True)
    position: int
    at: str | None
    ident: str
    severity: str
    cluster: str | None
    application: str | None
    kind: str | None
    namespace: str | None
    name: str | None
    data: bytes


class StagingPair(SQLModel, table=True):
    """Environments side by side."""

    __tablename__ = "staging_pair"
    position: int = Field(primary_key=True)
    staging: str
    production: str
    data: bytes


class Drift(SQLModel, table=True):
    """What is not as git says it, a row a field."""

    __tablename__ = "drift"
    position: int = Field(primary_key=True)
    cluster: str
    application: str | None
    kind: str
    namespace: str
    name: str
    cause: str
    data: bytes


class Night(SQLModel, table=True):
    """The runs that compared their findings with earlier ones, named by the end of their records."""

    __tablename__ = "night"
    as_of: str = Field(primary_key=True)


class ShownFinding(SQLModel, table=True):
    """Findings as runs have shown them: since which run, and until which; a baseline has no first run."""

    __tablename__ = "shown_finding"
    id: str = Field(primary_key=True)
    first_as_of: str | None
    ended_as_of: str | None
    data: bytes


class Meta(SQLModel, table=True):
    """The schema's version, the count of writes that brought something new, and what the results were computed from."""

    __tablename__ = "meta"
    key: str = Field(primary_key=True)
    value: str


def ddl(dialect: str) -> list[str]:
    """The statements that create an empty store, for `sqlite` or `postgresql`."""
    spoken: Any = {"sqlite": sqlite.dialect, "postgresql": postgresql.dialect}[dialect]()
    statements = []
    for table in SQLModel.metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=spoken)))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index).compile(dialect=spoken)) for index in indexes]
    return statements
