"""Parquet: the rows of CSV as typed columns, for pandas, DuckDB and their like."""

from auditor.model.case import Case
from reports.contract.options import Options
from reports.contract.report import Renderer, Report
from reports.formats.typed_tables import parquet


def _render(report: Report, case: Case, options: Options) -> bytes:
    records = report.records(case, options)
    return parquet(records.columns, ([row.get(column) for column in records.columns] for row in records.rows))


RENDERER = Renderer("parquet", ".parquet", _render)
