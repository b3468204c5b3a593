"""The postmortem, worded and ordered: a Case in, a ReportView out."""

from auditor.model.case import Case
from reports.case.dossier import Dossier, dossier
from reports.case.past_git import past_git
from reports.contract.document import ReportView
from reports.contract.options import Options
from reports.frame import Front, assembled
from reports.page_one.answers import lead, questions
from reports.page_one.unresolved import unresolved, unresolved_caption
from reports.sections.actions import actions_section
from reports.sections.applications import applications_section
from reports.sections.blocks import changes_section
from reports.sections.checklist import checklist_section
from reports.sections.findings import findings_section
from reports.sections.legend import legend_section
from reports.sections.limits import limits_section
from reports.sections.register_rows import register_section, settings_section, unproven_section
from reports.sections.staging_rows import staging_section
from reports.sections.timeline import timeline_section
from reports.words.rich import Text, soft, strong, words


def postmortem_view(case: Case, *, zone: str, title: str, version: str) -> ReportView:
    """The attachment for a postmortem. `zone` is an IANA name; a title of "" is made from the case."""
    return view(dossier(case, Options(zone, title, version), writes_first=True))


def view(case: Dossier) -> ReportView:
    """All sections in their order."""
    front = Front(
        "Postmortem record, answered from records alone",
        "Changes made past git",
        lead(case),
        words(
            strong("The three answers "), soft("A boxed number is a change. Round: git has it. Square: git has it not.")
        ),
        questions(case),
        unresolved(case),
        unresolved_caption(case),
        _remark(case),
    )
    sections = (
        applications_section(case),
        timeline_section(case),
        changes_section(case),
        register_section(case),
        settings_section(case),
        unproven_section(case),
        checklist_section(case),
        findings_section(case),
        staging_section(case),
        actions_section(case),
        limits_section(case),
    )
    return assembled(case, front, sections, (legend_section(),))


def _remark(case: Dossier) -> Text:
    """What the answers count, and what is listed apart."""
    all_of_it = past_git(case)
    return words(all_of_it, " The answers count the first; the rest is listed apart.") if all_of_it else ()
