"""Rows as a table of typed columns, in the files that pandas and spreadsheets open: Parquet and Excel.

A column has its type from its name, never from what one night's rows happen to hold, so that the files of many nights
read as one data set. Text is as in CSV: lists and objects are JSON, and nothing has a control character.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from auditor.errors import RenderError
from auditor.model.resource import Json
from reports.formats.csv_rows import cell, plain
from reports.words.rich import visible

if TYPE_CHECKING:
    import pandas as pd

Rows: TypeAlias = Iterable[Sequence[Json]]

EXTRAS = {"parquet": ("pyarrow", "parquet"), "xlsx": ("openpyxl", "excel")}
"""What each format needs: the library, and the extra of this program that brings it."""
_TIME, _TEXT = "datetime64[us, UTC]", "string"
_NUMBERS = {"count": "Int64", "offset": "Int64"}
_SHEET_ROWS = 1_048_576
_SHEET_CELL = 32_767
"""Code units of UTF-16 that Excel takes into one cell."""
_CUT = "… (cut: a cell of Excel holds no more)"
_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
"""Excel reads `_x003D_` as the character of that number, and `_x005F_` as the underscore."""
_DAY = datetime(1980, 1, 1)  # noqa: DTZ001 - a ZIP archive knows no zone, and none before this day
"""When each workbook says it was made: the clock is no part of the records."""


def require(form: str) -> None:
    """RenderError where the library of a format is not installed."""
    library, extra = EXTRAS[form]
    if find_spec(library) is None:
        raise RenderError(f"The format {form} needs {library}.", f"Install it: pip install 'auditor[{extra}]'")


def parquet(names: Sequence[str], rows: Rows) -> bytes:
    """Times are timestamps in UTC, counts nullable integers, spans of seconds nullable floats, the rest is text."""
    require("parquet")
    file = io.BytesIO()
    _frame(names, rows, [_type(name) for name in names], _shown).to_parquet(file, engine="pyarrow", index=False)
    return file.getvalue()


def xlsx(title: str, names: Sequence[str], rows: Rows) -> bytes:
    """One sheet; times are text as in CSV, as a cell of Excel has no zone, and no text is a formula."""
    require("xlsx")
    from openpyxl import Workbook  # type: ignore[import-untyped,unused-ignore]

    types = [_TEXT if _type(name) == _TIME else _type(name) for name in names]
    frame = _frame(names, rows, types, _guarded)
    if len(frame) >= _SHEET_ROWS:
        raise RenderError(f"A sheet of Excel cannot hold {len(frame):,} rows.", "Use --format parquet or csv.")
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)
    sheet.freeze_panes = "A2"
    sheet.append(list(names))
    for row in frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None):
        sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return _undated(file, book.properties)


def _type(name: str) -> str:
    if name == "at" or name.endswith("_at"):
        return _TIME
    return "Float64" if name.startswith("seconds_") else _NUMBERS.get(name, _TEXT)


def _frame(
    names: Sequence[str], rows: Rows, types: Sequence[str], text: Callable[[Json], str | None]
) -> "pd.DataFrame":
    import pandas as pd

    found = list(rows)
    columns: dict[str, Any] = {}
    for place, (name, kind) in enumerate(zip(names, types, strict=True)):
        values: list[Any] = [row[place] for row in found]
        if kind == _TIME:
            values = [datetime.fromisoformat(at) if at else None for at in values]
        elif kind == _TEXT:
            values = [text(value) for value in values]
        columns[name] = pd.Series(values, dtype=kind)
    return pd.DataFrame(columns)


def _shown(value: Json) -> str | None:
    return None if value is None else visible(plain(value))


def _guarded(value: Json) -> str | None:
    """As CSV has it, within what a cell can hold."""
    if value is None:
        return None
    shown = _ESCAPE.sub("_x005F_", cell(value))
    units = shown.encode("utf-16-le")
    if len(units) <= 2 * _SHEET_CELL:
        return shown
    return units[: 2 * (_SHEET_CELL - len(_CUT))].decode("utf-16-le", "ignore") + _CUT


def _undated(file: io.BytesIO, properties: Any) -> bytes:
    """The same workbook, with one day in place of the moments that the libraries read from the clock."""
    from openpyxl.xml.constants import ARC_CORE  # type: ignore[import-untyped,unused-ignore]
    from openpyxl.xml.functions import tostring  # type: ignore[import-untyped,unused-ignore]

    properties.created = properties.modified = _DAY
    settled = io.BytesIO()
    with zipfile.ZipFile(file) as dated, zipfile.ZipFile(settled, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in dated.namelist():
            content = tostring(properties.to_tree()) if name == ARC_CORE else dated.read(name)
            archive.writestr(zipfile.ZipInfo(name, _DAY.timetuple()[:6]), content, zipfile.ZIP_DEFLATED)
    return settled.getvalue()
