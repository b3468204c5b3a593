"""The postmortem, worded and ordered: a Case in, a ReportView out."""

from collections.abc import Sequence

from auditor.model.case import Case
from reports.actions import actions_section
from reports.answers import lead, questions
from reports.as_of import as_of_rows, gap_lines
from reports.blocks import changes_section
from reports.checklist import anchor, checklist_section
from reports.clock import long_date
from reports.document import ReportView, Section
from reports.dossier import Dossier, dossier
from reports.evidence import digest, evidence_section
from reports.findings import findings_section
from reports.legend import legend_section
from reports.limits import limits_section
from reports.options import Options
from reports.page_one import PageOne
from reports.register_rows import register_section, unproven_section
from reports.rich import Text, plain, ref, soft, strong, words
from reports.staging_rows import staging_section
from reports.timeline import timeline_section
from reports.unresolved import unresolved
from reports.wording import count, cut, grouped, middle_cut

TITLE = 78.0
"""Average characters: two lines at most."""


def postmortem_view(case: Case, *, zone: str, title: str, version: str) -> ReportView:
    """The attachment for a postmortem. `zone` is an IANA name; a title of "" is made from the case."""
    return view(dossier(case, Options(zone, title, version)))


def view(case: Dossier) -> ReportView:
    """All sections in their order. Evidence comes last of what cites, so that its list is complete."""
    sections = [
        timeline_section(case),
        changes_section(case),
        register_section(case),
        unproven_section(case),
        checklist_section(case),
        findings_section(case),
        staging_section(case),
        actions_section(case),
        limits_section(case),
    ]
    kept = [section for section in sections if section is not None]
    first = _page_one(case, kept)
    kept += [evidence_section(case.cited, case.case.coverage), legend_section()]
    name = heading(case)
    return ReportView(
        name,
        middle_cut(f"{name}, {_brief_window(case)}", 110),
        foot(case),
        plain(first.lead),
        first,
        tuple(kept),
    )


def heading(case: Dossier) -> str:
    """The title that was given, else what changed where and on which day."""
    if case.options.title:
        return cut(case.options.title, TITLE)
    where = (
        f" on {middle_cut(case.clusters[0], 28)}"
        if len(case.clusters) == 1
        else f" on {count(len(case.clusters), 'cluster')}"
    )
    day = f", {long_date(case.first_at.date())}" if case.first_at is not None else ""
    return cut(f"Changes made past git{where if case.clusters else ''}{day}", TITLE)


def foot(case: Dossier) -> str:
    version = f" · auditor {case.options.version}" if case.options.version else ""
    return f"Records: sha256 {digest(case.cited, case.case.coverage)}{version}"


def window(case: Dossier) -> Text:
    """The window in UTC, then in the reader's zone."""
    if case.first_at is None or case.last_at is None:
        return words("no record has a time")
    return case.clock.span(case.first_at, case.last_at)


def _brief_window(case: Dossier) -> str:
    if case.first_at is None or case.last_at is None:
        return "no time recorded"
    return f"{case.clock.utc(case.first_at)[:-3]}–{case.clock.utc(case.last_at)[:-3]} UTC"


def contents(sections: Sequence[Section]) -> tuple[tuple[str, str], ...]:
    found = [(section.title, section.anchor) for section in sections if section.anchor != "register-s"]
    return (*found, ("Evidence", "evidence"), ("Words and marks", "words"))


def _page_one(case: Dossier, sections: Sequence[Section]) -> PageOne:
    return PageOne(
        "Postmortem record, answered from records alone",
        (("Scope", _scope(case)), ("Window", window(case))),
        lead(case),
        words(
            strong("The three answers "), soft("A boxed number is a change. Round: git has it. Square: git has it not.")
        ),
        questions(case),
        _remark(case),
        words(strong("Unresolved "), soft("most urgent first")),
        unresolved(case),
        words(strong("As of "), soft("UTC")),
        as_of_rows(case),
        gap_lines(case),
        contents(sections),
    )


def _scope(case: Dossier) -> Text:
    """Clusters, applications and episodes: two lines whatever their number."""
    named = [middle_cut(name, 20) for name in case.clusters[:3]]
    rest = f" and {len(case.clusters) - 3} more" if len(case.clusters) > 3 else ""
    clusters = (
        f"{'cluster' if len(case.clusters) == 1 else 'clusters'} {', '.join(named)}{rest}" if named else "no cluster"
    )
    asked = case.case.scope.applications
    apps = (
        f", {'application' if len(asked) == 1 else 'applications'} {', '.join(middle_cut(one, 24) for one in asked[:2])}"
        if asked
        else ""
    )
    if not asked or len(asked) > 2:
        apps = f", {count(len(case.case.applications), 'application')}"
    return words(clusters, apps, _episodes(case))


def _episodes(case: Dossier) -> Text:
    episodes = case.case.episodes
    if not episodes:
        return words("; no episode")
    links: list[Text] = []
    for place, episode in enumerate(episodes[:3]):
        links.append(words(", " if place else "", ref(middle_cut(episode.application.name, 22), f"#{anchor(place)}")))
    rest = f" and {grouped(len(episodes) - 3)} more" if len(episodes) > 3 else ""
    return words("; episode " if len(episodes) == 1 else "; episodes ", *links, rest)


def _remark(case: Dossier) -> Text:
    if not case.unproven:
        return ()
    number = len(case.unproven)
    return words(
        f"{count(number, 'write')} may have changed something and cannot be shown to have: ",
        ref("listed apart", "#unproven"),
        ", counted in nothing.",
    )
