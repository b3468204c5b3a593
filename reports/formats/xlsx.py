"""Excel: the rows of CSV as one sheet."""

from auditor.model.case import Case
from reports.contract.options import Options
from reports.contract.report import Renderer, Report
from reports.formats.typed_tables import xlsx


def _render(report: Report, case: Case, options: Options) -> bytes:
    records = report.records(case, options)
    rows = ([row.get(column) for column in records.columns] for row in records.rows)
    return xlsx(report.name, records.columns, rows)


RENDERER = Renderer("xlsx", ".xlsx", _render)
