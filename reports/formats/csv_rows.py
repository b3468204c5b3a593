"""CSV for spreadsheets: one header, one line a row, and nothing that a spreadsheet would run."""

import csv
import io
import json

from auditor.model.case import Case
from auditor.model.resource import Json
from reports.contract.options import Options
from reports.contract.report import Renderer, Report
from reports.words.rich import visible

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def cell(value: Json) -> str:
    """A value as one cell: unknown is blank, text that would start a formula begins with an apostrophe."""
    if value is None:
        return ""
    shown = plain(value)
    is_number = isinstance(value, int | float)
    return visible(f"'{shown}" if shown.lstrip(" ").startswith(_FORMULA) and not is_number else shown)


def plain(value: Json) -> str:
    """Text as it is, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _render(report: Report, case: Case, options: Options) -> bytes:
    records = report.records(case, options)
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\r\n")
    writer.writerow(records.columns)
    for row in records.rows:
        writer.writerow([cell(row.get(column)) for column in records.columns])
    return sheet.getvalue().encode("utf-8", errors="replace")


RENDERER = Renderer("csv", ".csv", _render)
