"""Which findings earlier runs have shown. Unlike results, these outlast a new computation."""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from auditor.model.finding import Finding
from auditor.model.night import Shown, ToldNight
from auditor.store.compression import packed, unpacker
from auditor.store.database import Database
from auditor.store.rows import time_text


class Nights:
    """What the runs on one store remembered."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def shown(self) -> Iterator[Shown]:
        """All findings that runs have shown, by id."""
        decode = unpacker(Finding)
        statement = "SELECT first_as_of, ended_as_of, data FROM shown_finding ORDER BY id"
        rows = self._database.rows(statement)
        return self._database.read_back(rows, lambda row: Shown(decode(row[2]), _moment(row[0]), _moment(row[1])))

    def before(self, as_of: datetime | None) -> datetime | None:
        """The as-of of the last run whose records ended earlier."""
        if as_of is None:
            return None
        row = self._database.one("SELECT max(as_of) FROM night WHERE as_of < ?", (time_text(as_of),))
        return _moment(row[0]) if row else None

    def has(self, as_of: datetime | None) -> bool:
        """Whether a run on records that end then was remembered."""
        return as_of is not None and bool(
            self._database.one("SELECT 1 FROM night WHERE as_of = ?", (time_text(as_of),))
        )

    def told(self) -> ToldNight | None:
        """What the last run said; None where something was remembered since."""
        row = self._database.one("SELECT value FROM meta WHERE key = 'night'")
        return msgspec.json.decode(row[0], type=ToldNight) if row else None

    def tell(self, night: ToldNight) -> None:
        """Keep what the last run said."""
        said = msgspec.json.encode(night).decode()
        with self._database.transaction():
            self._database.execute("DELETE FROM meta WHERE key = 'night'")
            self._database.execute("INSERT INTO meta (key, value) VALUES ('night', ?)", (said,))

    def save(self, as_of: datetime | None, shown: Iterable[Shown]) -> None:
        """Remember a run and what it showed; rows of the same findings are replaced, all others stay."""
        rows = [(one.finding.id, _text(one.first_as_of), _text(one.ended_as_of), packed(one.finding)) for one in shown]
        with self._database.transaction():
            if as_of is not None:
                self._database.execute(
                    "INSERT INTO night (as_of) VALUES (?) ON CONFLICT DO NOTHING", (time_text(as_of),)
                )
            self._database.execute("DELETE FROM meta WHERE key = 'night'")
            self._database.execute_many("DELETE FROM shown_finding WHERE id = ?", [row[:1] for row in rows])
            self._database.execute_many(
                "INSERT INTO shown_finding (id, first_as_of, ended_as_of, data) VALUES (?, ?, ?, ?)", rows
            )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _text(moment: datetime | None) -> str | None:
    return time_text(moment) if moment else None
