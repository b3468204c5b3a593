"""Letting old facts go, and keeping what a statement needs: its records, and the whole history of what it is about.

What goes before the cutoff are audit events, statements of Argo CD, and snapshots. Of an object that a statement is
about all events stay, so that it is judged after pruning as it was before; of its Application, which Argo CD writes to
all day, what was around the statement; of any other object that is still there the last known state, from which the
next change is told. Git, announcements, settings, what was skipped and how far each
source was read stay: they are small, and a source is not to be read again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from auditor.model.change import AppKey
from auditor.model.resource import ObjectId
from auditor.store.database import Database, Row
from auditor.store.rows import time_text
from auditor.store.shelf import clear

KEY = "pruned"
"""Under which `meta` holds the cutoff."""


Span: TypeAlias = tuple[datetime, datetime]
"""From the first moment to the last."""


@dataclass(frozen=True, slots=True)
class Cited:
    """What statements rest on."""

    events: frozenset[str]
    """Ids of audit events."""
    by_people: frozenset[str]
    """Ids of audit events that must not stand without what was before them: they would be taken for changes."""
    records: frozenset[tuple[str, int]]
    """Source and offset of what Argo CD said."""
    objects: frozenset[ObjectId]
    applications: Mapping[AppKey, tuple[Span, ...]]
    """Around which moments what is known of an application matters."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """Facts of one kind that are older than the cutoff."""

    name: str
    gone: int
    stayed: int


_TEMPORARY: Mapping[str, str] = {
    "cited_event": "id TEXT PRIMARY KEY",
    "by_people": "id TEXT PRIMARY KEY",
    "cited_record": 'source TEXT, "offset" BIGINT, PRIMARY KEY (source, "offset")',
    "cited_application": "argocd TEXT, namespace TEXT, name TEXT, begins TEXT, ends TEXT",
    "anchor": "cluster TEXT, api_group TEXT, resource TEXT, namespace TEXT, name TEXT, begins TEXT, ends TEXT",
    "anchor_snapshot": """argocd TEXT, kind TEXT, namespace TEXT, name TEXT, at TEXT,
        PRIMARY KEY (argocd, kind, namespace, name, at)""",
    "cited_object": """cluster TEXT, "group" TEXT, kind TEXT, namespace TEXT, name TEXT,
        PRIMARY KEY (cluster, "group", kind, namespace, name)""",
    "kept_thing": """cluster TEXT, api_group TEXT, resource TEXT, namespace TEXT, name TEXT,
        PRIMARY KEY (cluster, api_group, resource, namespace, name)""",
    "emptied": """cluster TEXT, api_group TEXT, resource TEXT, namespace TEXT, at TEXT,
        PRIMARY KEY (cluster, api_group, resource, namespace)""",
    "last_state": """cluster TEXT, api_group TEXT, resource TEXT, namespace TEXT, name TEXT, at TEXT, deleted TEXT,
        PRIMARY KEY (cluster, api_group, resource, namespace, name)""",
    "last_application": """argocd TEXT, kind TEXT, namespace TEXT, name TEXT, at TEXT,
        PRIMARY KEY (argocd, kind, namespace, name)""",
    "last_object": """cluster TEXT, "group" TEXT, kind TEXT, namespace TEXT, name TEXT, at TEXT,
        PRIMARY KEY (cluster, "group", kind, namespace, name)""",
}
"""Tables that a pruning works with, gone after it: one pass over the facts for each, no search within a search."""

_PREPARED = (
    # Objects whose whole history stays: what statements are about, and what says when nothing was to be synced.
    """
    INSERT INTO kept_thing SELECT DISTINCT cluster, api_group, resource, namespace, name FROM audit_event
    WHERE (id IN (SELECT id FROM cited_event) AND resource NOT IN ('applications', 'kustomizations', 'helmreleases'))
       OR (api_group = 'argoproj.io' AND resource = 'appprojects')
       OR (api_group = '' AND resource = 'configmaps' AND name = 'argocd-cm')
    """,
    # A record of an Application that is cited has a time of its own.
    """
    INSERT INTO cited_application SELECT '', namespace, name, at, at FROM audit_event
    WHERE id IN (SELECT id FROM cited_event) AND resource IN ('applications', 'kustomizations', 'helmreleases')
    """,
    # What an Application was when a statement's time begins: all from there on stays.
    """
    INSERT INTO anchor
    SELECT event.cluster, event.api_group, event.resource, event.namespace, event.name, max(event.at), cited.ends
    FROM audit_event AS event JOIN cited_application AS cited
      ON cited.namespace = event.namespace AND cited.name = event.name AND event.at < cited.begins
    WHERE event.resource IN ('applications', 'kustomizations', 'helmreleases') AND event.response IS NOT NULL
      AND event.code < 300 AND event.verb <> 'delete' AND NOT event.truncated AND NOT event.dry_run
      AND event.id NOT IN (SELECT id FROM by_people)
    GROUP BY event.cluster, event.api_group, event.resource, event.namespace, event.name, cited.begins, cited.ends
    """,
    """
    INSERT INTO anchor
    SELECT event.cluster, event.api_group, event.resource, event.namespace, event.name, cited.begins, cited.ends
    FROM audit_event AS event JOIN cited_application AS cited
      ON cited.namespace = event.namespace AND cited.name = event.name
    WHERE event.resource IN ('applications', 'kustomizations', 'helmreleases')
    GROUP BY event.cluster, event.api_group, event.resource, event.namespace, event.name, cited.begins, cited.ends
    """,
    """
    INSERT INTO anchor_snapshot
    SELECT DISTINCT shot.argocd, shot.kind, shot.namespace, shot.name, max(shot.at)
    FROM application_snapshot AS shot JOIN cited_application AS cited ON cited.argocd = shot.argocd
      AND cited.namespace = shot.namespace AND cited.name = shot.name AND shot.at < cited.begins
    GROUP BY shot.argocd, shot.kind, shot.namespace, shot.name, cited.begins
    ON CONFLICT DO NOTHING
    """,
    # The last body of each object: an answer of the API server, else a request that holds the whole.
    """
    INSERT INTO last_state SELECT cluster, api_group, resource, namespace, name,
        coalesce(max(CASE WHEN response IS NOT NULL AND subresource IN ('', 'status') AND verb <> 'delete' THEN at END),
                 max(CASE WHEN request IS NOT NULL AND subresource = '' AND verb IN ('create', 'update') THEN at END)),
        max(CASE WHEN subresource = '' AND verb = 'delete' THEN at END)
    FROM audit_event
    WHERE at < ? AND verb <> 'deletecollection' AND (code IS NULL OR code < 300) AND NOT truncated AND NOT dry_run
      AND id NOT IN (SELECT id FROM by_people)
    GROUP BY cluster, api_group, resource, namespace, name
    """,
    # With a namespace goes what is in it, and no record names each object.
    """
    INSERT INTO emptied SELECT cluster, api_group, resource, namespace, max(at) FROM audit_event
    WHERE at < ? AND verb = 'deletecollection' AND (code IS NULL OR code < 300) AND NOT dry_run
      AND "user" = 'system:serviceaccount:kube-system:namespace-controller'
    GROUP BY cluster, api_group, resource, namespace
    """,
    # What is gone has no state that anything could change.
    """
    DELETE FROM last_state WHERE at IS NULL OR deleted >= at OR EXISTS (
        SELECT 1 FROM emptied WHERE emptied.cluster = last_state.cluster AND emptied.api_group = last_state.api_group
        AND emptied.resource = last_state.resource AND emptied.namespace = last_state.namespace
        AND emptied.at >= last_state.at)
    """,
    """
    INSERT INTO last_application SELECT argocd, kind, namespace, name, max(at) FROM application_snapshot
    WHERE at < ? GROUP BY argocd, kind, namespace, name
    """,
    """
    INSERT INTO last_object SELECT cluster, "group", kind, namespace, name, max(at) FROM object_snapshot
    WHERE at < ? GROUP BY cluster, "group", kind, namespace, name
    """,
)
"""A `?` is the cutoff."""

_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "audit events",
        "audit_event",
        # A request that deleted many names none: it belongs to every kept object of its kind.
        """
        id NOT IN (SELECT id FROM cited_event)
        AND (cluster, api_group, resource, namespace, name)
            NOT IN (SELECT cluster, api_group, resource, namespace, name FROM kept_thing)
        AND NOT EXISTS (
            SELECT 1 FROM last_state WHERE last_state.cluster = audit_event.cluster
            AND last_state.api_group = audit_event.api_group AND last_state.resource = audit_event.resource
            AND last_state.namespace = audit_event.namespace AND last_state.name = audit_event.name
            AND last_state.at <= audit_event.at)
        AND NOT (resource IN ('applications', 'kustomizations', 'helmreleases') AND (
            EXISTS (
                SELECT 1 FROM anchor WHERE anchor.cluster = audit_event.cluster
                AND anchor.api_group = audit_event.api_group AND anchor.resource = audit_event.resource
                AND anchor.namespace = audit_event.namespace AND anchor.name = audit_event.name
                AND audit_event.at BETWEEN anchor.begins AND anchor.ends)))
        AND NOT (verb = 'deletecollection' AND (cluster, api_group, resource, namespace)
            IN (SELECT cluster, api_group, resource, namespace FROM kept_thing))
        """,
    ),
    (
        "statements of Argo CD",
        "argo_event",
        # What a user did there is short, and names the person behind a change.
        """
        "user" = '' AND (source, "offset") NOT IN (SELECT source, "offset" FROM cited_record)
        AND NOT EXISTS (
            SELECT 1 FROM cited_application AS cited WHERE cited.argocd = argo_event.argocd
            AND argo_event.application IN (cited.name, cited.namespace || '/' || cited.name)
            AND argo_event.at BETWEEN cited.begins AND cited.ends)
        """,
    ),
    (
        "snapshots of Applications",
        "application_snapshot",
        """
        (argocd, kind, namespace, name, at) NOT IN (SELECT argocd, kind, namespace, name, at FROM last_application)
        AND (argocd, kind, namespace, name, at) NOT IN (SELECT argocd, kind, namespace, name, at FROM anchor_snapshot)
        AND NOT EXISTS (
            SELECT 1 FROM cited_application AS cited WHERE cited.argocd = application_snapshot.argocd
            AND cited.namespace = application_snapshot.namespace AND cited.name = application_snapshot.name
            AND application_snapshot.at BETWEEN cited.begins AND cited.ends)
        """,
    ),
    (
        "snapshots of objects",
        "object_snapshot",
        """
        (cluster, "group", kind, namespace, name)
            NOT IN (SELECT cluster, "group", kind, namespace, name FROM cited_object)
        AND (cluster, "group", kind, namespace, name, at)
            NOT IN (SELECT cluster, "group", kind, namespace, name, at FROM last_object)
        """,
    ),
)
"""What a fact is called, its table, and when one that is older than the cutoff goes."""


def prune(database: Database, before: datetime, cited: Cited, *, dry_run: bool) -> tuple[Pruned, ...]:
    """Let go of what is older than `before` and not needed; with `dry_run` only count it. All or nothing."""
    cutoff = time_text(before)
    with database.transaction():
        _note(database, cited)
        database.execute("CREATE INDEX cited_application_name ON cited_application (namespace, name)")
        database.execute("CREATE INDEX anchor_name ON anchor (namespace, name)")
        for statement in _PREPARED:
            database.execute(statement, (cutoff,) * statement.count("?"))
        counted = tuple(_apply(database, cutoff, *rule, dry_run=dry_run) for rule in _RULES)
        if not dry_run and any(one.gone for one in counted):
            _remember(database, cutoff)
        for table in _TEMPORARY:
            database.execute(f"DROP TABLE {table}")
    return counted


def pruned_before(database: Database) -> datetime | None:
    """The latest moment before which facts were let go; None where none were."""
    row = database.one("SELECT value FROM meta WHERE key = ?", (KEY,))
    return datetime.fromisoformat(row[0]) if row else None


def _note(database: Database, cited: Cited) -> None:
    for table, columns in _TEMPORARY.items():
        database.execute(f"CREATE TEMPORARY TABLE {table} ({columns})")
    applications = {
        (key.argocd, key.namespace, key.name, time_text(begins), time_text(ends))
        for key, spans in cited.applications.items()
        for begins, ends in spans
    }
    objects = {(one.cluster, one.group, one.kind, one.namespace, one.name) for one in cited.objects}
    database.execute_many("INSERT INTO cited_event VALUES (?)", ((ident,) for ident in sorted(cited.events)))
    database.execute_many("INSERT INTO by_people VALUES (?)", ((ident,) for ident in sorted(cited.by_people)))
    database.execute_many("INSERT INTO cited_record VALUES (?, ?)", sorted(cited.records))
    database.execute_many("INSERT INTO cited_application VALUES (?, ?, ?, ?, ?)", sorted(applications))
    database.execute_many("INSERT INTO cited_object VALUES (?, ?, ?, ?, ?)", sorted(objects))


def _apply(database: Database, cutoff: str, name: str, table: str, goes: str, *, dry_run: bool) -> Pruned:
    old = _count(database, f"SELECT count(*) FROM {table} WHERE at < ?", (cutoff,))  # noqa: S608
    if dry_run:
        gone = _count(database, f"SELECT count(*) FROM {table} WHERE at < ? AND {goes}", (cutoff,))  # noqa: S608
    else:
        gone = database.execute(f"DELETE FROM {table} WHERE at < ? AND {goes}", (cutoff,))  # noqa: S608
    return Pruned(name, gone, old - gone)


def _count(database: Database, statement: str, values: Row) -> int:
    row = database.one(statement, values)
    return int(row[0]) if row else 0


def _remember(database: Database, cutoff: str) -> None:
    clear(database)
    row = database.one("SELECT value FROM meta WHERE key = ?", (KEY,))
    database.execute("DELETE FROM meta WHERE key = ?", (KEY,))
    database.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (KEY, max(cutoff, row[0] if row else "")))
    database.execute("UPDATE meta SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE key = 'generation'")
