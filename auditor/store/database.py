"""One connection to SQLite or PostgreSQL, as plain SQL with `?` for parameters.

Queries go to the driver itself: loading SQLAlchemy takes longer than a query on a million rows.
"""

import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

import zstandard

from auditor.errors import StatementError, StoreError, StoreLockedError

Row: TypeAlias = Sequence[Any]
V = TypeVar("V")

_CHUNK = 500
"""Rows fetched at a time: a reader holds so many, whatever the size of the answer."""

_BUSY_SECONDS = 30

_MISSTATED = ("SQLITE_ERROR", "SQLITE_READONLY", "SQLITE_MISMATCH", "22", "25", "42")
"""Codes of SQLite, and classes of PostgreSQL's, for statements that cannot be answered as they are written."""
_NOT_AS_WRITTEN = (zstandard.ZstdError, ValueError, TypeError, MemoryError)
"""What reading raises of bytes that a disk or a hand has changed; the database itself notices only some."""
_NO_TABLE = re.compile(r"no such table|relation .* does not exist")

_READING = ("temp_store = MEMORY", "cache_size = -16000")
_WRITING = ("page_size = 8192", "journal_mode = WAL", "synchronous = NORMAL", "wal_autocheckpoint = 2000")
"""Facts have digests for keys, so that each batch touches pages all over: 16 MB of them are kept at hand, and written
back together. That saves a tenth of the time of 100,000 commits. A page holds several events with their bodies; of
the 4 KB that SQLite takes it would hold one or two, and the rest of it would lie empty."""


class Database:
    """A connection that speaks one dialect; all failures of the driver become a `StoreError`."""

    def __init__(self, connection: Any, dialect: str, errors: tuple[type[Exception], ...], place: str) -> None:
        self.dialect = dialect
        self.place = place
        self._connection = connection
        self._errors = errors
        self._opened = 0

    def rows(self, statement: str, parameters: Row = ()) -> Iterator[Row]:
        """The answer, streamed."""
        with self._reported():
            cursor = self._streaming_cursor()
            try:
                cursor.execute(self._spoken(statement), _storable(parameters))
                while chunk := cursor.fetchmany(_CHUNK):
                    yield from chunk
            finally:
                with suppress(*self._errors):  # the reader may have stopped, and the store be closed before the reader
                    cursor.close()

    def columns_and_rows(self, statement: str) -> tuple[tuple[str, ...], Iterator[Row]]:
        """A statement that a person wrote: the names of its columns, and its rows. Raises `StatementError`."""
        with self._reported():
            cursor = self._connection.cursor()
            mistakes: tuple[type[Exception], ...] = (*self._errors, Warning)  # of a second statement sqlite3 warns
            try:
                cursor.execute(statement)
            except mistakes as error:
                raise self._misstated(error) from error
            names = tuple(str(column[0]) for column in cursor.description or ())
        return names, self._rest(cursor) if names else iter(())

    def one(self, statement: str, parameters: Row = ()) -> Row | None:
        """The first row of the answer."""
        return next(iter(list(self.rows(statement, parameters))), None)

    def execute(self, statement: str, parameters: Row = ()) -> int:
        """How many rows the statement touched."""
        with self._reported():
            cursor = self._connection.cursor()
            cursor.execute(self._spoken(statement), _storable(parameters))
            return max(int(cursor.rowcount), 0)

    def execute_many(self, statement: str, rows: Iterable[Row]) -> int:
        """How many rows the statement touched, all parameter rows together."""
        with self._reported():
            cursor = self._connection.cursor()
            cursor.executemany(self._spoken(statement), map(_storable, rows))
            return max(int(cursor.rowcount), 0)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: a failure inside, a full disk at the commit, or a kill leaves the store as it was."""
        self.execute("BEGIN IMMEDIATE" if self.dialect == "sqlite" else "BEGIN")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            with suppress(StoreError):
                self.execute("ROLLBACK")
            raise

    def compact(self) -> None:
        """Give the room of what was deleted back. SQLite writes the file anew, which takes as much again meanwhile."""
        self.execute("VACUUM")
        if self.dialect == "sqlite":
            self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self) -> int:
        """Bytes that the store takes."""
        row = (
            self.one("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
            if self.dialect == "sqlite"
            else self.one("SELECT pg_database_size(current_database())")
        )
        return int(row[0]) if row else 0

    def read_only(self) -> None:
        """From now on nothing can be written through this connection."""
        self.execute(
            "PRAGMA query_only = ON"
            if self.dialect == "sqlite"
            else "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"
        )

    def tables(self) -> frozenset[str]:
        """The names of the tables that are there."""
        catalogue = (
            "SELECT name FROM sqlite_master WHERE type = 'table'"
            if self.dialect == "sqlite"
            else "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        )
        return frozenset(str(row[0]) for row in self.rows(catalogue))

    def read_back(self, rows: Iterator[Row], read: Callable[[Row], V]) -> Iterator[V]:
        """Rows as the values that were written, streamed. Raises `StoreError` where one is none any more."""
        try:
            yield from map(read, rows)
        except _NOT_AS_WRITTEN as error:
            raise StoreError(
                f"{self.place} is damaged: what was stored cannot be read ({error}).",
                "Restore it from a backup, or collect once more into a new one.",
            ) from error

    def close(self) -> None:
        """Give the connection back."""
        with self._reported():
            self._connection.close()

    def _misstated(self, error: Exception) -> StoreError:
        """What a person wrote wrong; what is wrong with the database stays that."""
        said, state = str(error).strip().partition("\n")[0], getattr(error, "sqlstate", None)
        if getattr(error, "sqlite_errorname", "SQLITE_ERROR") not in _MISSTATED or (
            state and state[:2] not in _MISSTATED
        ):
            return _explained(error, self.place)
        if "readonly" in said or "read-only" in said:
            return StatementError("A question only reads: nothing can be changed.", "Begin it with SELECT.")
        unknown = _NO_TABLE.search(said)
        hint = f"Tables: {', '.join(sorted(self.tables()))}." if unknown else "docs/sql.md has the tables and columns."
        return StatementError(f"The database does not take this: {said}.", hint)

    def _streaming_cursor(self) -> Any:
        """PostgreSQL's driver would take a whole answer into memory: there the server keeps it, under a name."""
        if self.dialect == "sqlite":
            return self._connection.cursor()
        self._opened += 1
        return self._connection.cursor(f"answer_{self._opened}", withhold=True)

    def _rest(self, cursor: Any) -> Iterator[Row]:
        with self._reported():
            while chunk := cursor.fetchmany(_CHUNK):
                yield from chunk

    def _spoken(self, statement: str) -> str:
        return statement if self.dialect == "sqlite" else statement.replace("?", "%s")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise _explained(error, self.place) from error


def _storable(row: Row) -> Row:
    """Text that every database takes: PostgreSQL knows no NUL, and no encoder lone surrogates."""
    together = "".join([value for value in row if value.__class__ is str])
    if together.isascii() and "\0" not in together:
        return row
    return [_storable_text(value) if isinstance(value, str) else value for value in row]


def _storable_text(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", "␀")


def _explained(error: Exception, place: str) -> StoreError:
    said = str(error).strip()
    if "full" in said or "No space left" in said:
        return StoreError(
            f"The disk is full: {place} takes no more.", "What was stored before is intact: make room and run again."
        )
    if "locked" in said:
        return StoreLockedError(f"Another program is writing to {place}.", "Wait until it has finished and run again.")
    if "not a database" in said or "malformed" in said or "Could not decode" in said:
        return StoreError(f"{place} is not an auditor store, or it is damaged: {said}.", "Give another one by --store.")
    if "readonly" in said or "read-only" in said or "unable to open" in said or "query_only" in said:
        return StoreError(f"{place} cannot be written: {said}.", "Check its folder's permissions, or use --store.")
    return StoreError(f"The store {place} refused a statement: {said}.", "")


def connect(url: str, folder: Path, create: bool) -> Database:
    """A connection to the database of a URL (`sqlite:///relative`, `sqlite:////absolute`, `postgresql://…`)."""
    if url.startswith("sqlite://"):
        return _connect_sqlite(sqlite_path(url, folder), create)
    if url.startswith(("postgresql://", "postgresql+psycopg://", "postgres://")):
        return _connect_postgresql(url)
    raise StoreError(
        f"A store is sqlite:///FILE or postgresql://…, not {_shown(url)}.", "Correct [store] url or --store."
    )


def sqlite_path(url: str, folder: Path) -> Path:
    """The file of a SQLite URL; a relative one lies below `folder`."""
    name = unquote(url.removeprefix("sqlite://").removeprefix("/"))
    if not name:
        raise StoreError(f"{url} names no file.", "Write it as sqlite:///auditor.db.")
    return folder / name


def _connect_sqlite(path: Path, create: bool) -> Database:
    if not path.exists():
        if not create:
            raise StoreError(f"There is no store at {path}.", "Run `auditor collect` first.")
        _create_private(path)
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    place = path if writable else _read_only_uri(path)
    try:
        connection = sqlite3.connect(
            place, timeout=_BUSY_SECONDS, isolation_level=None, cached_statements=64, uri=not writable
        )
    except sqlite3.Error as error:
        raise _explained(error, str(path)) from error
    database = Database(connection, "sqlite", (sqlite3.Error, OverflowError), str(path))
    for pragma in (*_WRITING, *_READING) if writable else _READING:
        database.execute(f"PRAGMA {pragma}")
    return database


def _read_only_uri(path: Path) -> str:
    """For a database in a folder that cannot be written: SQLite would make its shared memory there.

    Where nothing is left in its log, it is opened as one that nobody changes.
    """
    log = path.with_name(f"{path.name}-wal")
    settled = not log.exists() or not log.stat().st_size
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if settled else ''}"


def _create_private(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreError(f"{path} cannot be created: {error.strerror}.", "Name a writable place by --store.") from error


def _connect_postgresql(url: str) -> Database:
    try:
        import psycopg
    except ImportError as error:
        raise StoreError(
            "A PostgreSQL store needs a driver that is not installed.", "Install auditor[postgresql]."
        ) from error
    scheme, _, rest = url.partition("://")
    try:
        connection = psycopg.connect(f"{scheme.partition('+')[0]}://{rest}", autocommit=True)
    except psycopg.Error as error:
        raise StoreError(f"PostgreSQL does not answer: {str(error).strip()}", "Check [store] url.") from error
    return Database(connection, "postgresql", (psycopg.Error,), _shown(url))


def _shown(url: str) -> str:
    """A URL without its password."""
    scheme, separator, rest = url.partition("://")
    credentials, at, place = rest.rpartition("@")
    return f"{scheme}{separator}{credentials.partition(':')[0]}{at}{place}"


@contextmanager
def exclusive(database: Database) -> Iterator[None]:
    """One run at a time on one store. A killed run's lock goes with its process."""
    with _file_lock(database) if database.dialect == "sqlite" else _advisory_lock(database):
        yield


@contextmanager
def _file_lock(database: Database) -> Iterator[None]:
    import fcntl

    try:
        handle = os.open(f"{database.place}.lock", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise StoreError(f"{database.place} cannot be locked: {error.strerror}.", "Check its folder.") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise _in_use(database) from error
    try:
        yield
    finally:
        os.close(handle)


@contextmanager
def _advisory_lock(database: Database) -> Iterator[None]:
    number = int.from_bytes(hashlib.sha256(b"auditor run").digest()[:8], "big", signed=True)
    row = database.one("SELECT pg_try_advisory_lock(?)", (number,))
    if not (row and row[0]):
        raise _in_use(database)
    try:
        yield
    finally:
        with suppress(StoreError):
            database.one("SELECT pg_advisory_unlock(?)", (number,))


def _in_use(database: Database) -> StoreLockedError:
    return StoreLockedError(
        f"Another run is at work on {database.place}.", "Wait until it has finished; one run at a time uses a store."
    )
