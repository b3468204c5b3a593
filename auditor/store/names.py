"""The names that the records of a store hold: what a question can be about."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from auditor.store.database import Database

Named: TypeAlias = Literal["application", "cluster", "namespace", "kind", "object", "actor"]
"""What has a name; kinds are told in lower case."""

_KIND = "lower(kind)"
_APPLICATIONS = f"{_KIND} IN ('application', 'kustomization', 'helmrelease')"
_INDEXED: Mapping[Named, str] = {
    "application": "application",
    "cluster": "cluster",
    "namespace": "namespace",
    "kind": _KIND,
    "object": "name",
    "actor": "actor",
}
"""Columns of changes that have an index each."""
_ELSEWHERE: Mapping[Named, tuple[tuple[str, str, str], ...]] = {
    "application": (
        ("application_snapshot", "name", "1 = 1"),
        ("change", "name", _APPLICATIONS),
        *((table, "application", "1 = 1") for table in ("finding", "episode", "drift")),
    ),
    "cluster": (("source_mark", "cluster", "kind IN ('audit', 'objects')"), ("finding", "cluster", "1 = 1")),
    "namespace": tuple((table, "namespace", "1 = 1") for table in ("object_snapshot", "finding", "drift")),
    "kind": tuple((table, _KIND, "1 = 1") for table in ("object_snapshot", "finding", "drift")),
    "object": tuple((table, "name", "1 = 1") for table in ("object_snapshot", "finding", "drift")),
    "actor": (),
}
"""Table, column and condition of the names that no change may have."""


class Names:
    """Answers quickly on a million changes: a name is looked up, and each different one is stepped to in an index."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def has(self, what: Named, name: str) -> bool:
        """Whether anything of that name is in the records."""
        places = (("change", _INDEXED[what], "1 = 1"), *_ELSEWHERE[what])
        return any(
            self._database.one(f"SELECT 1 FROM {table} WHERE {where} AND {column} = ? LIMIT 1", (name,))  # noqa: S608
            for table, column, where in places
        )

    def all(self, what: Named) -> frozenset[str]:
        """All names; without those of what has none."""
        column = _INDEXED[what]
        statements = [
            f"WITH RECURSIVE found(name) AS (SELECT min({column}) FROM change UNION ALL"  # noqa: S608
            f" SELECT (SELECT min({column}) FROM change WHERE {column} > found.name) FROM found"
            " WHERE found.name IS NOT NULL) SELECT name FROM found",
            *(f"SELECT DISTINCT {column} FROM {table} WHERE {where}" for table, column, where in _ELSEWHERE[what]),  # noqa: S608
        ]
        return frozenset(str(row[0]) for statement in statements for row in self._database.rows(statement) if row[0])
