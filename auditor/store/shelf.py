"""What correlation told of each object, kept from one run to the next, opaque: it knows itself what it was told from.

The table comes with the first run that keeps something: a store of before does not have it.
"""

from auditor.store.database import Database

_TABLE = "told_object"
_ROWS = 200
"""How many are written in one transaction."""


class Shelf:
    """The last story of each object."""

    def __init__(self, database: Database, keeping: bool = True) -> None:
        self._database = database
        self._keeping = keeping
        self._fresh: dict[str, tuple[str, bytes]] = {}
        self._seen: set[str] = set()
        self._there: bool | None = None

    def find(self, subject: str, inputs: str) -> bytes | None:
        """What was kept of an object, where it was told from these inputs."""
        self._seen.add(subject)
        if not self._exists():
            return None
        row = self._database.one(f"SELECT data FROM {_TABLE} WHERE object = ? AND inputs = ?", (subject, inputs))  # noqa: S608
        return bytes(row[0]) if row else None

    def keep(self, subject: str, inputs: str, told: bytes) -> None:
        """Keep this in place of what was kept of the object; it is there for good after `close`."""
        if not self._keeping:
            return
        self._fresh[subject] = (inputs, told)
        if len(self._fresh) >= _ROWS:
            self._write()

    def close(self) -> None:
        """Write what is left, and let go of objects that nobody asked for."""
        self._write()
        if self._keeping and self._exists():
            kept = {str(row[0]) for row in self._database.rows(f"SELECT object FROM {_TABLE}")}  # noqa: S608
            with self._database.transaction():
                self._database.execute_many(
                    f"DELETE FROM {_TABLE} WHERE object = ?",  # noqa: S608
                    ((subject,) for subject in sorted(kept - self._seen)),
                )
        self._seen.clear()

    def _exists(self) -> bool:
        if self._there is None:
            self._there = _TABLE in self._database.tables()
        return self._there

    def _write(self) -> None:
        if not self._fresh:
            return
        with self._database.transaction():
            if not self._exists():
                kind = "BLOB" if self._database.dialect == "sqlite" else "BYTEA"
                self._database.execute(
                    f"CREATE TABLE {_TABLE} (object TEXT PRIMARY KEY, inputs TEXT NOT NULL, data {kind} NOT NULL)"
                )
                self._there = True
            rows = [(subject, *told) for subject, told in self._fresh.items()]
            self._database.execute_many(f"DELETE FROM {_TABLE} WHERE object = ?", [row[:1] for row in rows])  # noqa: S608
            self._database.execute_many(f"INSERT INTO {_TABLE} (object, inputs, data) VALUES (?, ?, ?)", rows)  # noqa: S608
        self._fresh.clear()


def clear(database: Database) -> None:
    """Let go of all stories: what they were told from was pruned, or bears another name."""
    if _TABLE in database.tables():
        database.execute(f"DELETE FROM {_TABLE}")  # noqa: S608
