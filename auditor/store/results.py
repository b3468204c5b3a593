"""What was computed from the facts, kept for quick answers: columns to ask by, and the whole."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

import msgspec

from auditor.model.case import Case
from auditor.model.change import Change, Write
from auditor.model.coverage import AsOf, Gap
from auditor.model.drift import DriftedField
from auditor.model.episode import Episode
from auditor.model.finding import Finding
from auditor.model.staging import StagingPair
from auditor.model.verdict import Verdict
from auditor.store.compression import packed, unpacker
from auditor.store.database import Database, Row
from auditor.store.rows import time_text


@dataclass(frozen=True, slots=True)
class Stamp:
    """From what results were computed. Unequal stamps: compute again."""

    generation: int
    """`Store.generation()` of the facts."""
    settings: str
    """Digest of the configuration and of whatever else decides."""
    program: str
    """Version of the program."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A write, placed and judged as far as it was: one that changed nothing is no change and has no verdict."""

    write: Write
    change: Change | None
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Overview:
    """What holds for all results at once."""

    as_of: AsOf
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """Which results are wanted. () and None mean all; the values of one field are alternatives."""

    since: datetime | None = None
    until: datetime | None = None
    clusters: tuple[str, ...] = ()
    applications: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    git: tuple[str, ...] = ()
    cluster_states: tuple[str, ...] = ()
    causes: tuple[str, ...] = ("out-of-band", "bypass")
    proven_only: bool = False
    attempts: bool = False
    """Refused and failed writes in place of changes."""
    idents: tuple[str, ...] = ()
    limit: int | None = None


class Results:
    """The results of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def stamp(self) -> Stamp | None:
        """From what the results that are here were computed; None where there are none."""
        row = self._database.one("SELECT value FROM meta WHERE key = 'stamp'")
        return msgspec.json.decode(row[0], type=Stamp) if row else None

    def overview(self) -> Overview:
        """The end of each kind of record, and what they do not cover."""
        row = self._database.one("SELECT value FROM meta WHERE key = 'overview'")
        if row is None:
            return Overview(AsOf({}, None, None, None, None), ())
        return msgspec.json.decode(row[0], type=Overview)

    def save(self, case: Case, stamp: Stamp) -> None:
        """Replace all results by those of `case`, in one transaction."""
        overview = Overview(case.coverage.as_of, case.coverage.gaps)
        with self._database.transaction():
            for table in ("change", "episode", "finding", "staging_pair", "drift"):
                self._database.execute(f"DELETE FROM {table}")  # noqa: S608
            self._database.execute("DELETE FROM meta WHERE key IN ('stamp', 'overview')")
            self._fill("change", _CHANGE_COLUMNS, map(_change_row, _recorded(case)))
            self._fill("episode", _EPISODE_COLUMNS, map(_episode_row, case.episodes))
            self._fill("finding", _FINDING_COLUMNS, map(_finding_row, range(len(case.findings)), case.findings))
            self._fill("staging_pair", _PAIR_COLUMNS, map(_pair_row, range(len(case.staging)), case.staging))
            self._fill("drift", _DRIFT_COLUMNS, map(_drift_row, range(len(case.drift)), case.drift))
            for key, value in (("stamp", stamp), ("overview", overview)):
                self._database.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (key, _json(value)))

    def changes(self, query: Query = Query()) -> Iterator[Recorded]:
        """Changes (or attempts) that the query asks for, oldest first."""
        conditions = _Conditions()
        if query.attempts:
            conditions.one_of("listed", (-1,))
            conditions.one_of("outcome", ("refused",))
        else:
            past_git = bool(query.causes) and set(query.causes) <= {"out-of-band", "bypass"}
            conditions.one_of("listed", (1,) if past_git else (0, 1))
            conditions.one_of("cause", query.causes)
            conditions.one_of("persisted", ("proven",) if query.proven_only else ())
        for column, values in (("git", query.git), ("cluster_state", query.cluster_states)):
            conditions.one_of(column, values)
        conditions.one_of("actor", query.actors)
        conditions.one_of("channel", query.channels)
        conditions.place(query)
        return self._recorded(conditions, "at, id", query.limit)

    def recorded(self, prefix: str, limit: int = 2) -> tuple[Recorded, ...]:
        """Writes whose id begins with `prefix`, at most `limit` of them."""
        conditions = _Conditions()
        conditions.add("id >= ? AND id < ?", (prefix, prefix + "\U0010ffff"))
        return tuple(self._recorded(conditions, "id", limit))

    def of_audit_id(self, prefix: str, limit: int = 2) -> tuple[Recorded, ...]:
        """Writes that rest on a record whose audit ID begins with `prefix`, at most `limit` of them."""
        bounds = (prefix, prefix + "\U0010ffff")
        statement = "SELECT id, at FROM audit_event WHERE audit_id >= ? AND audit_id < ? ORDER BY at, id LIMIT 100"
        events = {str(event): str(at) for event, at in self._database.rows(statement, bounds)}
        conditions = _Conditions()
        conditions.one_of("listed", (-1, 0, 1))
        conditions.one_of("at", sorted(set(events.values())))
        found = self._recorded(conditions, "at, id", None) if events else iter(())
        told = (one for one in found if any(proof.event_id in events for proof in one.write.evidence))
        return tuple(islice(told, limit))

    def of_object(self, kinds: Sequence[str], namespace: str | None, name: str) -> Iterator[Recorded]:
        """All that was written to the objects of a name, whoever wrote it, oldest first. Kinds in lower case."""
        conditions = _Conditions()
        conditions.one_of("name", (name,))
        conditions.one_of("lower(kind)", kinds)
        conditions.one_of("namespace", () if namespace is None else (namespace,))
        return self._recorded(conditions, "at, id", None)

    def episodes(self, query: Query = Query()) -> Iterator[Episode]:
        """Oldest first."""
        conditions = _Conditions()
        conditions.during(query)
        conditions.one_of("application", query.applications)
        return self._values("episode", Episode, conditions, "at, id", query.limit)

    def findings(self, query: Query = Query()) -> Iterator[Finding]:
        """In the order of the case: what needs a person first."""
        conditions = _Conditions()
        conditions.one_of("ident", query.idents)
        conditions.place(query)
        return self._values("finding", Finding, conditions, "position", query.limit)

    def drift(self, query: Query = Query(), causes: Sequence[str] = ()) -> Iterator[DriftedField]:
        """In the order of the case; the query's times say nothing here: drift is what is so now."""
        conditions = _Conditions()
        conditions.one_of("cause", causes)
        conditions.place(replace(query, since=None, until=None))
        return self._values("drift", DriftedField, conditions, "position", query.limit)

    def staging(self) -> Iterator[StagingPair]:
        """In the order of the case."""
        return self._values("staging_pair", StagingPair, _Conditions(), "position", None)

    def _recorded(self, conditions: "_Conditions", order: str, limit: int | None) -> Iterator[Recorded]:
        return self._values("change", Recorded, conditions, order, limit)

    def _values(
        self, table: str, kind: type, conditions: "_Conditions", order: str, limit: int | None
    ) -> Iterator[Any]:
        decode: Callable[[bytes], Any] = unpacker(kind)
        bound = "" if limit is None else f" LIMIT {int(limit)}"
        statement = f"SELECT data FROM {table} WHERE {conditions.text} ORDER BY {order}{bound}"  # noqa: S608
        rows = self._database.rows(statement, conditions.values)
        return self._database.read_back(rows, lambda row: decode(row[0]))

    def _fill(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        names = ", ".join(f'"{column}"' for column in columns)
        marks = ", ".join("?" * len(columns))
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
        self._database.execute_many(statement, rows)


class _Conditions:
    """The conditions of a statement and their parameters, growing together."""

    def __init__(self) -> None:
        self._parts = ["1 = 1"]
        self.values: list[Any] = []

    @property
    def text(self) -> str:
        return " AND ".join(self._parts)

    def add(self, part: str, values: Iterable[Any]) -> None:
        self._parts.append(part)
        self.values += values

    def one_of(self, column: str, values: Sequence[Any]) -> None:
        if values:
            self.add(f"{column} IN ({', '.join('?' * len(values))})", values)

    def during(self, query: Query) -> None:
        for operator, moment in ((">=", query.since), ("<", query.until)):
            if moment is not None:
                self.add(f"at {operator} ?", (time_text(moment),))

    def place(self, query: Query) -> None:
        self.during(query)
        for column, values in (
            ("cluster", query.clusters),
            ("application", query.applications),
            ("namespace", query.namespaces),
            ("lower(kind)", tuple(kind.lower() for kind in query.kinds)),
            ("name", query.names),
        ):
            self.one_of(column, values)


_CHANGE_COLUMNS = (
    "id", "at", "listed", "cluster", "application", "argocd", "group", "kind", "namespace", "name", "operation",
    "outcome", "persisted", "actor", "actor_kind", "channel", "cause", "command", "git", "cluster_state", "data",
)  # fmt: skip
_EPISODE_COLUMNS = ("id", "at", "application", "data")
_FINDING_COLUMNS = (
    "id", "position", "at", "ident", "severity", "cluster", "application", "kind", "namespace", "name", "data",
)  # fmt: skip
_DRIFT_COLUMNS = ("position", "cluster", "application", "kind", "namespace", "name", "cause", "data")
_PAIR_COLUMNS = ("position", "staging", "production", "data")


def _recorded(case: Case) -> Iterator[Recorded]:
    changed = set()
    for change in case.changes:
        changed.add(change.id)
        yield Recorded(change.write, change, case.verdicts.get(change.id))
    for write in case.writes:
        if write.id not in changed:
            yield Recorded(write, None, None)


def _change_row(recorded: Recorded) -> Row:
    write, change, verdict = recorded.write, recorded.change, recorded.verdict
    owner = change.application if change else None
    return (
        write.id, time_text(write.at), _listed(recorded), write.object.cluster, owner.name if owner else None,
        owner.argocd if owner else None, write.object.group, write.object.kind, write.object.namespace,
        write.object.name, write.operation, write.outcome, write.persisted, write.actor.name, write.actor.kind,
        write.channel, write.cause, change.command if change else "", verdict.git.verdict if verdict else "",
        verdict.cluster.verdict if verdict else "", packed(recorded),
    )  # fmt: skip


def _listed(recorded: Recorded) -> int:
    if recorded.change is None:
        return -1
    return int(recorded.write.cause in ("out-of-band", "bypass"))


def _episode_row(episode: Episode) -> Row:
    return episode.id, time_text(episode.began_at), episode.application.name, packed(episode)


def _finding_row(position: int, finding: Finding) -> Row:
    place, owner = finding.object, finding.application
    return (
        finding.id, position, time_text(finding.first_at) if finding.first_at else None, finding.ident,
        finding.severity, place.cluster if place else None, owner.name if owner else None,
        place.kind if place else None, place.namespace if place else None, place.name if place else None,
        packed(finding),
    )  # fmt: skip


def _drift_row(position: int, one: DriftedField) -> Row:
    place, owner = one.object, one.application
    name = owner.name if owner else None
    return position, place.cluster, name, place.kind, place.namespace, place.name, one.cause, packed(one)


def _pair_row(position: int, pair: StagingPair) -> Row:
    return position, pair.staging.name, pair.production.name, packed(pair)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
