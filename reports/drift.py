"""The nightly digest: what is not as git says it, by application, and by what it came to be so."""

from collections.abc import Mapping, Sequence

from auditor.model.case import Case
from auditor.model.change import AppKey
from auditor.model.drift import DRIFT_CAUSES, DriftCause, DriftedField
from auditor.model.finding import SEVERITIES
from auditor.model.resource import Json, Leaf
from auditor.objects import paths
from reports.case.course import still_frozen
from reports.case.describe import SERVICE_ACCOUNT, short_object
from reports.case.dossier import Dossier, dossier, is_own_object, marks, with_state
from reports.case.past_git import past_git
from reports.contract.document import Block, Column, Document, Facts, Heading, Paragraph, Paste, Row, Section, Table
from reports.contract.options import Options
from reports.contract.page_one import Answer, Question
from reports.contract.records import Records
from reports.contract.report import Report
from reports.frame import Front, assembled
from reports.page_one.unresolved import unresolved, unresolved_caption
from reports.register_records import head
from reports.sections.applications import applications_line, applications_section
from reports.sections.findings import ordered
from reports.sections.limits import limits_section
from reports.words.clock import stamp
from reports.words.rich import BREAK, Span, Text, act, soft, strong, words
from reports.words.wording import count, cut, dense_pair, dense_path, grouped, middle_cut, value_span

GROUPS = 40
"""Applications and findings that the pages show; JSON and CSV have all."""
CAP = 12
"""Entries of one application; the rest is counted."""


def document(case: Case, options: Options) -> Document:
    """One group an application, what the next sync undoes first."""
    told = dossier(case, options)
    front = Front(
        "Drift digest, from records alone",
        "What is not as git says it",
        _lead(told),
        words(strong("The answers "), soft("A boxed number is a change made past git, numbered as in the postmortem.")),
        _questions(told),
        unresolved(told),
        unresolved_caption(told),
        _remark(told),
    )
    sections = (
        applications_section(told),
        Section("drift", "By application", _groups(told)),
        Section("findings", "Findings", _findings(told)),
        limits_section(told),
    )
    return assembled(told, front, sections)


def records(case: Case, options: Options) -> Records:
    """One row a field, or a whole object, that is not as git says it."""
    told = dossier(case, options)
    columns = (
        "cluster",
        "application",
        "object",
        "path",
        "desired",
        "live",
        "cause",
        "by",
        "at",
        "because",
        "next",
        "change",
    )
    rows = tuple(_record(one) for one in case.drift)
    return Records("auditor/drift-report/1", "drift", columns, rows, head(told))


def _record(one: DriftedField) -> Mapping[str, Json]:
    return {
        "cluster": one.object.cluster,
        "application": one.application.name if one.application is not None else None,
        "object": str(one.object),
        "path": paths.text(one.path) or None,
        "desired": _value(one, one.desired),
        "live": _value(one, one.live),
        "desired_state": one.desired.state,
        "live_state": one.live.state,
        "cause": one.cause,
        "by": one.by or None,
        "at": stamp(one.at) if one.at is not None else None,
        "because": one.because or None,
        "next": one.next or None,
        "change": one.change,
    }


def _value(one: DriftedField, leaf: Leaf) -> Json:
    return leaf.value if one.path and leaf.state == "value" else None


def _lead(case: Dossier) -> Text:
    found = case.case.drift
    if not found:
        return _nothing(case)
    applications = {one.application for one in found} - {None}
    undone = with_state(case, "act")
    undo = words("; ", act(f"the next sync undoes {count(len(undone), 'change')}")) if undone else ()
    verb = "thing is" if len(found) == 1 else "things are"
    said = strong(f"{grouped(len(found))} {verb} not as git says")
    return words(said, _where(len(applications), [one for one in found if one.application is None], found), undo, ".")


def _where(applications: int, unowned: Sequence[DriftedField], found: Sequence[DriftedField]) -> str:
    """How many of them belong to applications: the rest would be taken for theirs."""
    if not applications:
        return ", of no application"
    where = f"in {count(applications, 'application')}"
    if not unowned:
        return f", {where}"
    return f": {grouped(len(found) - len(unowned))} {where}, {grouped(len(unowned))} of no application"


def _remark(case: Dossier) -> Text:
    """What the digest counts, beside the changes that other reports count."""
    all_of_it = past_git(case)
    if not all_of_it:
        return ()
    own = sum(is_own_object(one.object) for one in case.case.drift)
    said = " Counted is what differs now, by field or whole object"
    return words(all_of_it, said, f", {grouped(own)} of it of the GitOps tool’s own objects" if own else "", ".")


def _nothing(case: Dossier) -> Text:
    if case.case.coverage.as_of.git is None:
        cannot = words("No git repository was read, so ", strong("what differs from it cannot be told"), ".")
        return words(cannot, applications_line(case))
    return words(strong("Nothing that the records show differs from git."))


def _questions(case: Dossier) -> tuple[Question, ...]:
    by = [
        Answer(grouped(number), words(cause), _marks(case, cause))
        for cause in DRIFT_CAUSES
        if (number := sum(one.cause == cause for one in case.case.drift))
    ]
    frozen = still_frozen(case)
    names = ", ".join(middle_cut(case.called(freeze.app), 24) for freeze in frozen[:4])
    findings = ordered(case.case.findings)
    severe = [
        Answer(grouped(number), words(severity))
        for severity in reversed(SEVERITIES)
        if (number := sum(one.severity == severity for one in findings))
    ]
    return (
        Question("By what?", tuple(by) or (_no_cause(case),)),
        Question("What is frozen?", (Answer(grouped(len(frozen)), words(cut(names, 100) or "nothing")),)),
        Question("Which findings?", tuple(severe) or (Answer("0", words("none")),)),
    )


def _no_cause(case: Dossier) -> Answer:
    known = case.case.coverage.as_of.git is not None
    return Answer("0", words("nothing differs")) if known else Answer("–", words("cannot be told"))


def _marks(case: Dossier, cause: DriftCause) -> Text:
    ids = tuple(one.change for one in case.case.drift if one.cause == cause and one.change is not None)
    changes = case.of(ids)
    return marks(changes, 10 if len(changes) <= 10 else 5)


def _groups(case: Dossier) -> tuple[Block, ...]:
    if not case.case.drift:
        return (Paragraph(_nothing(case)),)
    groups: dict[AppKey | None, list[DriftedField]] = {}
    for one in case.case.drift:
        groups.setdefault(one.application, []).append(one)
    order = sorted(groups, key=lambda key: (*_urgency(case, groups[key]), str(key)))
    tables: list[Block] = [_table(case, key, groups[key]) for key in order[:GROUPS]]
    rest = len(order) - GROUPS
    return (*tables, Paragraph(words(f"And {count(rest, 'more application')}."))) if rest > 0 else tuple(tables)


def _urgency(case: Dossier, group: Sequence[DriftedField]) -> tuple[int, int]:
    changes = case.of(tuple(one.change for one in group if one.change is not None))
    return (0 if any(one.state == "act" for one in changes) else 1, -len(group))


def _table(case: Dossier, key: AppKey | None, group: Sequence[DriftedField]) -> Table:
    name = middle_cut(case.called(key), 60) if key is not None else "No application"
    rest = f", {grouped(len(group) - CAP)} of them not listed" if len(group) > CAP else ""
    return Table(
        words(f"{name} ", soft(count(len(group), "entry", "entries") + rest)),
        (
            Column(words("Object, field"), "13rem"),
            Column(words("Git")),
            Column(words("Live")),
            Column(words("By what"), "10.4rem"),
            Column(words("Next"), "10rem"),
        ),
        tuple(_row(case, one) for one in group[:CAP]),
        "finds",
    )


def _row(case: Dossier, one: DriftedField) -> Row:
    changes = case.of((one.change,) if one.change is not None else ())
    git, live = _sides(one)
    field = Span("path", dense_path(one.path) if one.path else "whole object")
    cause = [words(one.cause, soft(f", {middle_cut(one.by.removeprefix(SERVICE_ACCOUNT), 50)}") if one.by else "")]
    cause.append(words(marks(changes), " " if changes else "", *_sources(case, one)))
    told = words(*[part for line in cause if line for part in (line, BREAK)][:-1], *_because(one))
    return Row(
        (words(short_object(one.object, case.clusters), field), git, live, told, words(cut(one.next or "–", 160)))
    )


def _sources(case: Dossier, one: DriftedField) -> tuple[Text, ...]:
    return tuple(case.cited.all(each.write.evidence, each.write.at, 1) for each in case.of((one.change or "",)))


def _because(one: DriftedField) -> tuple[Span, ...]:
    return (BREAK, soft(cut(one.because, 120))) if one.because and one.change is None else ()


def _sides(one: DriftedField) -> tuple[Text, Text]:
    if one.path:
        first, second = dense_pair(one.desired, one.live)
        return words(value_span(one.desired, first, 44)), words(value_span(one.live, second, 44))
    return _presence(one.desired), _presence(one.live)


def _presence(leaf: Leaf) -> Text:
    return words(Span("absent", "absent") if leaf.state == "absent" else Span("value", "present"))


def _findings(case: Dossier) -> tuple[Block, ...]:
    found = ordered(case.case.findings)
    if not found:
        return (Paragraph(words("None beside the changes themselves.")),)
    blocks: list[Block] = []
    for place, one in enumerate(found[:GROUPS], 1):
        where = f" in {middle_cut(case.called(one.application), 50)}" if one.application is not None else ""
        blocks.append(
            Heading(f"{one.ident}{where}", f"{one.severity}, confidence {one.confidence}", f"finding-{place}")
        )
        rows: list[tuple[str, Text]] = [("What", words(cut(one.message, 400), " ", marks(case.of(one.changes), 6)))]
        if one.remedy:
            rows.append(("Remedy", words(cut(one.remedy, 400))))
        blocks.append(Facts((*rows, ("Source", case.cited.all(one.evidence, one.first_at, 3) or words("–")))))
        if one.snippet:
            blocks.append(Paste(one.snippet))
    rest = len(found) - GROUPS
    return (*blocks, Paragraph(words(f"And {grouped(rest)} more: auditor findings."))) if rest > 0 else tuple(blocks)


REPORT = Report(
    "drift",
    "The nightly digest: what is not as git says it, by application, by what, and what happens next.",
    ("html", "pdf", "markdown", "json", "csv"),
    document,
    records,
)
