"""The attachment to a postmortem."""

from auditor.model.case import Case
from reports.case.dossier import dossier
from reports.contract.document import Document
from reports.contract.options import Options
from reports.contract.records import Records
from reports.contract.report import Report
from reports.register_records import change_records
from reports.view import view


def document(case: Case, options: Options) -> Document:
    """The postmortem as pages."""
    return view(dossier(case, options, writes_first=True))


def records(case: Case, options: Options) -> Records:
    """Its changes as data."""
    return change_records(dossier(case, options))


REPORT = Report(
    "postmortem",
    "What changed past git, who changed it, and whether git reflects it now: the attachment for a postmortem.",
    ("html", "pdf", "markdown", "json", "csv"),
    document,
    records,
)
