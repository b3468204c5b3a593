"""`auditor sql`: a person's own question to the database, which it cannot change."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import CARE, Command
from auditor.console import options
from auditor.errors import StatementError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from auditor.model.resource import JsonObject

_BYTES = "(compressed)"
"""In place of bodies and other compressed columns, which no table can show."""


def sql(
    statement: Annotated[str, typer.Argument(metavar="SQL", help='As "select user, count(*) from audit_event …".')],
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    output: options.FormatOption = options.Format.TABLE,
) -> None:
    """Ask the database in SQL; nothing can be changed.

    The tables and their columns are told in docs/sql.md.
    """
    from auditor.console.answer import say_csv, say_json
    from auditor.console.workspace import workspace

    with workspace(config, store).store() as opened:
        try:
            columns, rows = opened.ask(statement)
        except StatementError as error:
            raise typer.BadParameter(f"{error.message} {error.hint}", param_hint="SQL") from error
        if output is options.Format.TABLE:
            _show(columns, rows)
        elif output is options.Format.CSV:
            say_csv(columns, _entries(columns, rows))
        else:
            say_json("auditor/sql/1", {}, "rows", _entries(columns, rows))


def _entries(columns: "Sequence[str]", rows: "Iterable[Sequence[object]]") -> "Iterator[JsonObject]":
    for row in rows:
        yield {column: _plain(value) for column, value in zip(columns, row, strict=True)}


def _plain(value: object) -> str | int | float | None:
    if isinstance(value, bytes | memoryview):
        return _BYTES
    return value if isinstance(value, str | int | float) or value is None else str(value)


def _show(columns: "Sequence[str]", rows: "Iterable[Sequence[object]]") -> None:
    from auditor.console.answer import Column, console, say_table, text

    shown = [[text("" if value is None else _plain(value)) for value in row] for row in rows]
    say_table(console(), [Column(column) for column in columns], shown)


COMMAND = Command("sql", sql, CARE, 15, 'auditor sql "select user, count(*) from audit_event group by user"')
