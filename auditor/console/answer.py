"""Answers on stdout: JSON and CSV for programs, tables for people. Record text is never taken for markup or control."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from auditor.console.json_text import escaped
from auditor.model.resource import Json, JsonObject
from reports.rich import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_WIDTH = 80
"""Columns where stdout is no terminal."""


def say_json(schema: str, as_of: JsonObject, name: str, rows: Iterable[Mapping[str, Json]], **more: Json) -> None:
    """One object on stdout, a row a line, written as the rows come."""
    head = {"schema": schema, "as_of": as_of, **more}
    out = sys.stdout
    out.write(_json(head)[:-1] + f',"{name}":[')
    for place, row in enumerate(rows):
        out.write((",\n" if place else "\n") + _json(row))
    out.write("\n]}\n")


def say_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Json]]) -> None:
    """A table whose cells no spreadsheet takes for a formula. `a.b` is the key b of the value of a."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([column.replace(".", "_") for column in columns])
    for row in rows:
        writer.writerow([_cell(_at(row, column)) for column in columns])


def console() -> "Console":
    """Prints tables on stdout, as wide as the terminal, and without colour where there is none."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    return Console(
        file=sys.stdout, width=None if terminal else _WIDTH, markup=False, emoji=False, highlight=False, soft_wrap=False
    )


def text(value: object, style: str = "") -> "Text":
    """Record text, safe to print."""
    from rich.text import Text

    return Text(visible(str(value)), style=style)


def block(value: str, style: str = "") -> "Text":
    """Text of several lines, safe to print."""
    from rich.text import Text

    return Text("\n".join(visible(line) for line in value.split("\n")), style=style)


def _json(value: Any) -> str:
    import msgspec

    return escaped(msgspec.json.encode(value).decode())


def _at(row: Mapping[str, Json], column: str) -> Json:
    value: Json = dict(row)
    for key in column.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _cell(value: Json) -> str:
    if value is None:
        return ""
    shown = visible(value) if isinstance(value, str) else _json(value)
    return "'" + shown if shown.startswith(("=", "+", "-", "@")) else shown
