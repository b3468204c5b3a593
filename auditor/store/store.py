"""A store: facts written once and read back as values, and beside them what was computed from them."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from auditor.errors import StoreError
from auditor.model.facts import (
    Announcement,
    ApplicationSnapshot,
    ArgoEvent,
    ArgoSettings,
    AuditEvent,
    Batch,
    Commit,
    Fact,
    GitRef,
    ObjectSnapshot,
    RecordKind,
    Skipped,
    SourceMark,
)
from auditor.store.database import Database, Row, connect, exclusive
from auditor.store.names import Names
from auditor.store.nights import Nights
from auditor.store.pruning import Cited, Pruned, prune, pruned_before
from auditor.store.results import Results
from auditor.store.rows import TABLES, Codec, codec, time_text
from auditor.store.shelf import Shelf, clear

SCHEMA_VERSION = 4

F = TypeVar("F", bound=Fact | SourceMark)


@dataclass(frozen=True, slots=True)
class Written:
    """What a batch brought that the store did not have."""

    facts: int
    moved: bool
    """Whether its mark says something new."""


class Store:
    """Facts and results of one database. Everything that comes out is a frozen value, in a fixed order."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.results = Results(database)
        self.nights = Nights(database)
        self.names = Names(database)

    @property
    def place(self) -> str:
        """The database as a reader may see it: its path, or its URL without the password."""
        return self._database.place

    def exclusive(self) -> AbstractContextManager[None]:
        """Keeps other runs out while it is held; raises `StoreLockedError` where one is at work."""
        return exclusive(self._database)

    @contextmanager
    def shelf(self, keeping: bool = True) -> Iterator[Shelf]:
        """What was told of each object; what is new is kept when the work is done, unless it is only read."""
        shelf = Shelf(self._database, keeping)
        yield shelf
        shelf.close()

    def close(self) -> None:
        """Give the connection back."""
        self._database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Facts in

    def write(self, batch: Batch) -> Written:
        """Keep a batch and its mark, both or neither; facts that are there already change nothing.

        The refs of a repository come in one batch and replace those of the reading before.
        """
        by_kind: dict[type[Fact], list[Fact]] = {}
        for fact in batch.facts:
            by_kind.setdefault(type(fact), []).append(fact)
        with self._database.transaction():
            self._carry(batch)
            refs: Sequence[Any] = by_kind.pop(GitRef, ())
            added = self._replace_refs(refs)
            added += sum(self._add(kind, facts) for kind, facts in by_kind.items())
            moved = self._mark(batch.mark)
            if added or moved:
                self._rise()
        return Written(added, moved)

    def withdraw(self, mark: SourceMark) -> None:
        """Let go of what was told of a source of which nothing was ever read."""
        with self._database.transaction():
            self._database.execute(f"DELETE FROM source_mark WHERE {_MARK}", _mark_key(mark))  # noqa: S608
            self._rise()

    def _rise(self) -> None:
        """Let all results be out of date."""
        self._database.execute(
            "UPDATE meta SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE key = 'generation'"
        )

    def _carry(self, batch: Batch) -> None:
        """Give what is known of a renamed source its new name, and withdraw what is read again."""
        kind, source = batch.mark.kind, batch.mark.source
        if batch.formerly:
            self._database.execute("DELETE FROM source_mark WHERE kind = ? AND source = ?", (kind, source))
            for table in ("source_mark", "skipped"):
                renaming = f"UPDATE {table} SET source = ? WHERE kind = ? AND source = ?"  # noqa: S608
                self._database.execute(renaming, (source, kind, batch.formerly))
            if kind == "audit":
                self._database.execute("UPDATE audit_event SET source = ? WHERE source = ?", (source, batch.formerly))
                clear(self._database)
        if batch.reread_from is not None:
            withdrawn = (kind, source, batch.reread_from)
            self._database.execute('DELETE FROM skipped WHERE kind = ? AND source = ? AND "offset" >= ?', withdrawn)

    def _add(self, kind: type[F], facts: Sequence[F]) -> int:
        form = codec(kind)
        added = self._database.execute_many(_insert(form), map(form.to_row, facts))
        return added if added == len(facts) else added + self._enrich([fact for fact in facts if _has_body(fact)])

    def _enrich(self, facts: Sequence[Any]) -> int:
        """Put events in the place of poorer tellings of them: a delivery may have left out bodies that another has."""
        form = codec(AuditEvent)
        columns = ", ".join(f'"{column}" = ?' for column in form.columns)
        richer = self._database.execute_many(
            f"UPDATE {form.table} SET {columns} WHERE id = ? AND {_POORER}",  # noqa: S608
            (
                (*form.to_row(fact), fact.id, *2 * (fact.request is not None, fact.response is not None))
                for fact in facts
            ),
        )
        if richer:
            clear(self._database)
        return richer

    def _replace_refs(self, refs: Sequence[GitRef]) -> int:
        added = 0
        for repository in sorted({ref.repository for ref in refs}):
            fresh = [ref for ref in refs if ref.repository == repository]
            if set(fresh) != set(self.refs(repository)):
                self._database.execute("DELETE FROM git_ref WHERE repository = ?", (repository,))
                added += self._add(GitRef, fresh)
        return added

    def _mark(self, mark: SourceMark) -> bool:
        key = _mark_key(mark)
        if next(self._read(SourceMark, _MARK, key), None) == mark:
            return False
        self._database.execute(f"DELETE FROM source_mark WHERE {_MARK}", key)  # noqa: S608
        self._add(SourceMark, (mark,))
        return True

    # Facts out

    def generation(self) -> int:
        """Rises with every batch that brought something new: results of an older generation are out of date."""
        row = self._database.one("SELECT value FROM meta WHERE key = 'generation'")
        return int(row[0]) if row else 0

    def audit_events(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        clusters: Sequence[str] = (),
        bodies: bool = True,
    ) -> Iterator[AuditEvent]:
        """Events at or after `since` and before `until`, by time and then id, streamed.

        Without `bodies` they are as if their records held none, which is many times quicker.
        """
        conditions, values = ["1 = 1"], list[Any]()
        for operator, moment in ((">=", since), ("<", until)):
            if moment is not None:
                conditions.append(f"at {operator} ?")
                values.append(time_text(moment))
        if clusters:
            conditions.append(f"cluster IN ({_marks(len(clusters))})")
            values += clusters
        return self._read(AuditEvent, " AND ".join(conditions), values, "at, id", () if bodies else _BODIES)

    def audit_events_of(self, ids: Sequence[str]) -> Iterator[AuditEvent]:
        """The events of these ids that there are, in the order of their ids."""
        asked = sorted(set(ids))
        for start in range(0, len(asked), _AT_ONCE):
            part = asked[start : start + _AT_ONCE]
            yield from self._read(AuditEvent, f"id IN ({_marks(len(part))})", part, "id")

    def audit_event(self, event_id: str) -> AuditEvent | None:
        """The redacted record that an `Evidence.event_id` points to."""
        return next(self._read(AuditEvent, "id = ?", (event_id,)), None)

    def application_snapshots(self) -> Iterator[ApplicationSnapshot]:
        """Oldest first; those without a time come before all others."""
        return self._read(ApplicationSnapshot, order=f"coalesce(at, ''), argocd, namespace, name, {_VERSION}")

    def settings(self) -> Iterator[ArgoSettings]:
        """By Argo CD, kind, namespace and name; several versions of one oldest first."""
        return self._read(ArgoSettings, order=f"argocd, kind, namespace, name, {_VERSION}")

    def argo_events(self) -> Iterator[ArgoEvent]:
        """Oldest first; those of one time as they stand in their source."""
        return self._read(ArgoEvent, order='at, medium, source, "offset", digest')

    def commits(self, repository: str | None = None) -> Iterator[Commit]:
        """By the committer's clock."""
        order = "repository, committed_at, sha"
        if repository is None:
            return self._read(Commit, order=order)
        return self._read(Commit, "repository = ?", (repository,), order)

    def refs(self, repository: str | None = None) -> Iterator[GitRef]:
        """By repository, kind and name."""
        order = "repository, kind, name"
        if repository is None:
            return self._read(GitRef, order=order)
        return self._read(GitRef, "repository = ?", (repository,), order)

    def announcements(self) -> Iterator[Announcement]:
        """Oldest first."""
        return self._read(Announcement, order='at, source, "offset", digest')

    def object_snapshots(self) -> Iterator[ObjectSnapshot]:
        """By object; several versions of one oldest first."""
        order = f"cluster, \"group\", kind, namespace, name, coalesce(at, ''), {_VERSION}"
        return self._read(ObjectSnapshot, order=order)

    def skipped(self) -> Iterator[Skipped]:
        """As they stand in their sources."""
        return self._read(Skipped, order='kind, cluster, source, "offset", digest')

    def marks(self, kind: RecordKind | None = None, name: str | None = None) -> tuple[SourceMark, ...]:
        """How far the sources were read: of all, of one kind of record, of one cluster, Argo CD or repository."""
        asked = {column: value for column, value in (("kind", kind), ("cluster", name)) if value is not None}
        where = " AND ".join(["1 = 1", *(f"{column} = ?" for column in asked)])
        return tuple(self._read(SourceMark, where, tuple(asked.values()), "kind, cluster, source, stream"))

    # Facts that go

    def prune(self, before: datetime, cited: Cited, *, dry_run: bool = False) -> tuple[Pruned, ...]:
        """Let go of facts older than `before` that no statement needs; with `dry_run` only count them."""
        return prune(self._database, before, cited, dry_run=dry_run)

    def pruned_before(self) -> datetime | None:
        """The moment before which facts were let go; None where all that was read is still there."""
        return pruned_before(self._database)

    def compact(self) -> None:
        """Give the room of what was let go back to the disk."""
        self._database.compact()

    def size(self) -> int:
        """Bytes that the store takes."""
        return self._database.size()

    # What a person asks in SQL

    def ask(self, statement: str) -> tuple[tuple[str, ...], Iterator[Row]]:
        """A person's own statement: its columns and rows. Nothing can be written from here on."""
        self._database.read_only()
        return self._database.columns_and_rows(statement)

    def _read(
        self, kind: type[F], where: str = "1 = 1", values: Row = (), order: str = "", without: Collection[str] = ()
    ) -> Iterator[F]:
        """Facts of a kind; the columns in `without` come as NULL."""
        form = codec(kind)
        ordered = f" ORDER BY {order}" if order else ""
        columns = ", ".join("NULL" if column in without else f'"{column}"' for column in form.columns)
        statement = f"SELECT {columns} FROM {form.table} WHERE {where}{ordered}"  # noqa: S608
        return self._database.read_back(self._database.rows(statement, values), form.from_row)


_POORER = "(request IS NULL OR ?) AND (response IS NULL OR ?) AND ((request IS NULL AND ?) OR (response IS NULL AND ?))"
"""Of a row: it has no body that the event has not, and not all that the event has."""
_MARK = "kind = ? AND cluster = ? AND source = ? AND stream = ?"
_BODIES = ("request", "response")
_AT_ONCE = 500
"""Ids in one statement: databases bound the number of parameters."""
_VERSION = "length(resource_version), resource_version, digest"
"""Versions are opaque, yet every API server counts them up: this is how they came, where times do not tell."""


def open_store(url: str, *, create: bool = True, folder: Path = Path()) -> Store:
    """The store of a URL; a relative SQLite path lies below `folder`.

    Raises `StoreError` where it cannot be reached, is not ours, or was written by another version of the schema; with
    `create` false also where it is not there.
    """
    database = connect(url, folder, create)
    try:
        _check(database, create)
    except BaseException:
        database.close()
        raise
    return Store(database)


def _check(database: Database, create: bool) -> None:
    there = database.tables()
    if "meta" not in there:
        if not create and not there:
            raise StoreError(f"{database.place} is empty.", "Run `auditor collect` first.")
        if there & set(TABLES.values()) or (database.dialect == "sqlite" and there):
            raise StoreError(f"{database.place} is a database of another program.", "Name another one by --store.")
        _create(database)
    row = database.one("SELECT value FROM meta WHERE key = 'schema'")
    found = int(row[0]) if row and str(row[0]).isdigit() else 0
    if found > SCHEMA_VERSION:
        raise StoreError(
            f"{database.place} was written by a newer auditor (schema {found}; this one knows {SCHEMA_VERSION}).",
            "Upgrade auditor, or name another store by --store.",
        )
    if found < SCHEMA_VERSION:
        raise StoreError(
            f"{database.place} was written by an older auditor (schema {found}; this one writes {SCHEMA_VERSION}).",
            "Collect once more into a new store; keep the old one for as long as its evidence is wanted.",
        )


def _create(database: Database) -> None:
    from auditor.store.tables import ddl

    with database.transaction():
        if "meta" in database.tables():  # another program was quicker
            return
        for statement in ddl(database.dialect):
            database.execute(statement)
        start = (("schema", str(SCHEMA_VERSION)), ("generation", "0"))
        database.execute_many("INSERT INTO meta (key, value) VALUES (?, ?)", start)


def _insert(form: Codec[Any]) -> str:
    """Rows whose key is there already are left as they are."""
    return (
        f"INSERT INTO {form.table} ({_quoted(form.columns)})"  # noqa: S608
        f" VALUES ({_marks(len(form.columns))}) ON CONFLICT DO NOTHING"
    )


def _has_body(fact: object) -> bool:
    return isinstance(fact, AuditEvent) and (fact.request is not None or fact.response is not None)


def _mark_key(mark: SourceMark) -> Row:
    return (mark.kind, mark.cluster, mark.source, mark.stream)


def _quoted(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _marks(count: int) -> str:
    return ", ".join("?" * count)
