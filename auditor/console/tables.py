"""Answers of rows with the same columns, in every format but the table for people.

Parquet, and Excel as an extra, have the rows and columns of CSV. CSV itself is written without pandas: loading it takes
seconds, and `say_csv` writes rows as they come.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import typer

from auditor.console import wire
from auditor.console.answer import json_line, say_csv, say_json, value_at
from auditor.console.options import TabularFormat
from auditor.console.reporting import put
from auditor.model.coverage import AsOf
from auditor.model.resource import Json, JsonObject
from reports.formats.typed_tables import parquet, require, xlsx

_BINARY = (TabularFormat.PARQUET, TabularFormat.XLSX)


def check(form: TabularFormat, output: Path | None) -> None:
    """Refuse before anything is computed: bytes on a terminal, a file for text, a library that is not installed."""
    if form not in _BINARY:
        if output is not None:
            raise typer.BadParameter(f"{form} goes to stdout: write > FILE.", param_hint="--output")
        return
    if (output is None or str(output) == "-") and sys.stdout.isatty():
        raise typer.BadParameter(f"a terminal cannot show {form}: name a file.", param_hint="--output")
    require(form)


def say_rows(
    form: TabularFormat, output: Path | None, name: str, columns: Sequence[str], ends: AsOf, rows: Iterable[JsonObject]
) -> None:
    """The answer `name` for programs: as JSON the whole rows under that name, else their `columns`."""
    if form is TabularFormat.JSON:
        say_json(f"auditor/{name}/1", wire.as_of(ends), name, rows)
    elif form is TabularFormat.CSV:
        say_csv(columns, rows)
    else:
        put_table(form, name, columns, rows, output)


def put_table(
    form: TabularFormat, name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Json]], output: Path | None
) -> None:
    """The answer `name` in a binary format, to a file or, without one, to stdout. `a.b` is the key b of a's value."""
    names = [column.replace(".", "_") for column in columns]
    flat = ([_flat(value_at(row, column)) for column in columns] for row in rows)
    content = parquet(names, flat) if form is TabularFormat.PARQUET else xlsx(name, names, flat)
    put(content, output, f"{name}.{form}")


def _flat(value: Json) -> Json:
    return json_line(value) if isinstance(value, list | dict) else value
