"""The attachment to a postmortem."""

from auditor.model.case import Case
from reports.contract import Report
from reports.document import Document
from reports.dossier import dossier
from reports.options import Options
from reports.records import Records
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
