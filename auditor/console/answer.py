"""Answers on stdout: JSON and CSV for programs, tables for people. Record text is never taken for markup or control."""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from auditor.console.json_text import escaped, keep_all_characters
from auditor.model.resource import Json, JsonObject
from reports.words.rich import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PADDING = re.compile(r" +((?:\x1b\[[\d;]*m)*)$", re.MULTILINE)
"""Spaces at the end of a line, before what switches colours off again."""
_WIDEST = 100_000
"""Columns where no terminal bounds them: nothing is wrapped, so that whoever searches a line finds all of it."""


def say_json(schema: str, as_of: JsonObject, name: str, rows: Iterable[Mapping[str, Json]], **more: Json) -> None:
    """One object on stdout, a row a line, written as the rows come."""
    head = {"schema": schema, "as_of": as_of, **more}
    out = sys.stdout
    keep_all_characters(out)
    out.write(json_line(head)[:-1] + f',"{name}":[')
    for place, row in enumerate(rows):
        out.write((",\n" if place else "\n") + json_line(row))
    out.write("\n]}\n")


def say_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Json]]) -> None:
    """A table whose cells no spreadsheet takes for a formula. `a.b` is the key b of the value of a."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([column.replace(".", "_") for column in columns])
    for row in rows:
        writer.writerow([_cell(value_at(row, column)) for column in columns])


class Trimmed:
    """A stream of which no line ends in spaces: Rich fills its lines up, and whoever copies one would have them."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, said: str) -> int:
        """Whole lines, as Rich writes them."""
        return self._stream.write(_PADDING.sub(r"\1", said))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def console() -> "Console":
    """Prints tables on stdout, as wide as the terminal; where there is none as wide as COLUMNS says, without colour."""
    from rich.console import Console

    out: Any = Trimmed(sys.stdout)
    given = os.environ.get("COLUMNS", "")
    width = None if sys.stdout.isatty() else int(given) if given.isdecimal() and int(given) else _WIDEST
    return Console(file=out, width=width, markup=False, emoji=False, highlight=False, soft_wrap=False)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    title: str
    number: bool = False


def say_table(
    out: "Console", columns: Sequence[Column], rows: Sequence[Sequence["Text"]], *, brief: bool = False
) -> None:
    """A table whose cells stay whole.

    Where the terminal is too narrow for it, a line a cell, titles on the left; for a `brief` one, whose cells explain
    themselves, a line for the first cell and one for the others.
    """
    from rich.measure import Measurement
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(text(column.title), justify="right" if column.number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    wanted = Measurement.get(out, out.options.update(max_width=_WIDEST), table).maximum
    if wanted <= out.width:
        out.print(table)
    elif not out.is_terminal:
        out.width, usual = wanted, out.width
        out.print(table)
        out.width = usual
    elif brief:
        _brief(out, columns, rows)
    else:
        _stacked(out, columns, rows)


def _brief(out: "Console", columns: Sequence[Column], rows: Sequence[Sequence["Text"]]) -> None:
    for first, *others in rows:
        out.print(first)
        cells = zip(columns[1:], others, strict=True)
        said = [f"{cell.plain} {column.title}" if column.number else cell.plain for column, cell in cells if cell.plain]
        out.print(text(f"  {', '.join(said)}", "dim"))


def _stacked(out: "Console", columns: Sequence[Column], rows: Sequence[Sequence["Text"]]) -> None:
    from rich.table import Table

    for row in rows:
        lines = Table.grid(padding=(0, 2, 0, 0))
        lines.add_column(no_wrap=True, style="dim")
        lines.add_column(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            if cell.plain:
                lines.add_row(text(column.title), cell)
        out.print(lines)
        out.print()


def tally(count: int, one: str, many: str, times: str) -> str:
    """How many there are; where there is none, also for which `times` that holds."""
    return f"{count} {one if count == 1 else many}." if count else f"No {many}. {times}".rstrip()


def text(value: object, style: str = "") -> "Text":
    """Record text, safe to print."""
    from rich.text import Text

    return Text(visible(str(value)), style=style)


def block(value: str, style: str = "") -> "Text":
    """Text of several lines, safe to print."""
    from rich.text import Text

    return Text("\n".join(visible(line) for line in value.split("\n")), style=style)


def json_line(value: Any) -> str:
    """A value as JSON on one line that can be shown on a terminal."""
    import msgspec

    return escaped(msgspec.json.encode(value).decode())


def value_at(row: Mapping[str, Json], column: str) -> Json:
    """The value of a column: `a.b` is the key b of the value of a. None where there is no such key."""
    value: Json = dict(row)
    for key in column.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _cell(value: Json) -> str:
    if value is None:
        return ""
    shown = visible(value) if isinstance(value, str) else json_line(value)
    return "'" + shown if shown.startswith(("=", "+", "-", "@")) else shown
