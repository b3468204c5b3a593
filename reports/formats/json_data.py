"""JSON: the records of a report under their schema."""

import json

from auditor.model.case import Case
from reports.contract.options import Options
from reports.contract.report import Renderer, Report


def _render(report: Report, case: Case, options: Options) -> bytes:
    records = report.records(case, options)
    answer = {"schema": records.schema, **records.head, records.list_name: [dict(row) for row in records.rows]}
    # Escaped throughout: a record's control and direction marks never reach a terminal.
    return (json.dumps(answer, ensure_ascii=True, indent=1) + "\n").encode("ascii")


RENDERER = Renderer("json", ".json", _render)
