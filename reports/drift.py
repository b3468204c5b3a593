"""The nightly digest: what is not as git says it, by application, and which of three causes it has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from auditor.model.application import ApplicationState
from auditor.model.case import Case
from auditor.model.change import AppKey
from auditor.model.finding import SEVERITIES, Finding
from auditor.model.resource import Json
from reports.answers import with_state
from reports.contract import Report
from reports.course import still_frozen
from reports.describe import person, short_object, what
from reports.document import Block, Column, Document, Facts, Heading, Paragraph, Paste, Row, Section, Table
from reports.dossier import Dossier, Numbered, dossier, marks
from reports.findings import ordered
from reports.frame import Front, assembled
from reports.limits import limits_section
from reports.options import Options
from reports.page_one import Answer, Question
from reports.records import Records
from reports.register_records import head
from reports.rich import Text, act, plain, soft, strong, words
from reports.unresolved import unresolved
from reports.wording import count, cut, grouped, middle_cut

Origin: TypeAlias = Literal["a hand", "a pipeline", "another controller or a default", "an unfinished sync", "not told"]
GROUPS = 40
"""Applications that the pages show; JSON and CSV have all."""
CAP = 12
"""Entries of one application; the rest is counted."""
_CONTROLLERS = ("phantom-diff", "sync-loop", "second-writer")


@dataclass(frozen=True, slots=True)
class Drift:
    """One thing that is not as git says it."""

    application: AppKey | None
    object: str
    said: Text
    origin: Origin
    by: str
    following: str
    source: Text
    change: Numbered | None = None


def drifted(case: Dossier) -> tuple[Drift, ...]:
    """What stands without git, then what Argo CD says is OutOfSync and no standing change explains."""
    changes = [_of_change(case, one) for one in with_state(case, "act", "stand")]
    touched = {(one.application, one.object) for one in changes}
    rest = [one for one in _out_of_sync(case) if (one.application, one.object) not in touched]
    return (*changes, *rest)


def document(case: Case, options: Options) -> Document:
    """One group an application, most urgent first."""
    told = dossier(case, options)
    found = drifted(told)
    front = Front(
        "Drift digest, from records alone",
        "What is not as git says it",
        _lead(told, found),
        words(strong("The answers "), soft("A boxed number is a change made past git.")),
        _questions(told, found),
        unresolved(told),
        words(strong("Unresolved "), soft("most urgent first")),
    )
    sections = (
        Section("drift", "By application", _groups(told, found)),
        Section("findings", "Findings", _findings(told)),
        limits_section(told),
    )
    return assembled(told, front, sections)


def records(case: Case, options: Options) -> Records:
    """One row a thing that is not as git says it."""
    told = dossier(case, options)
    rows: list[Mapping[str, Json]] = [
        {
            "application": one.application.name if one.application is not None else None,
            "object": one.object,
            "what": plain(one.said),
            "cause": one.origin,
            "by": one.by or None,
            "next": one.following or None,
            "change": one.change.change.id if one.change is not None else None,
        }
        for one in drifted(told)
    ]
    columns = ("application", "object", "what", "cause", "by", "next", "change")
    return Records("auditor/drift/1", "drift", columns, tuple(rows), head(told))


def _of_change(case: Dossier, one: Numbered) -> Drift:
    origin: Origin = "a pipeline" if one.write.actor.kind == "ci" else "a hand"
    return Drift(
        one.change.application,
        short_object(one.write.object, case.clusters),
        words(one.mark, " ", what(one.change)),
        origin,
        person(one.write.actor),
        "the next sync undoes it" if one.state == "act" else one.verdict.next or "stands",
        case.cited.all(one.write.evidence, one.write.at, 1),
        one,
    )


def _out_of_sync(case: Dossier) -> list[Drift]:
    found: list[Drift] = []
    for key in sorted(case.case.applications, key=lambda key: (key.argocd, key.namespace, key.name)):
        states = case.case.applications[key].states
        if not states:
            continue
        latest = states[-1]
        found += [
            _of_resource(case, key, latest, kind, namespace, name)
            for _, kind, namespace, name, status in latest.resources
            if status == "OutOfSync"
        ]
    return found


def _of_resource(case: Dossier, key: AppKey, state: ApplicationState, kind: str, namespace: str, name: str) -> Drift:
    place = f"{middle_cut(namespace, 20)}/" if namespace and namespace != name else ""
    finding = _explaining(case.case.findings, key, kind, name)
    origin: Origin = "not told"
    if finding is not None:
        origin = "an unfinished sync" if finding.ident == "unfinished-sync" else "another controller or a default"
    return Drift(
        key,
        f"{middle_cut(kind, 24)} {place}{middle_cut(name, 26)}",
        words("Argo CD says OutOfSync", soft(f"; {finding.ident}") if finding is not None else ""),
        origin,
        "",
        "the next sync applies what git says" if state.automated else "waits for a manual sync",
        case.cited.all((state.evidence,), state.at, 1),
    )


def _explaining(findings: Sequence[Finding], key: AppKey, kind: str, name: str) -> Finding | None:
    mine = [one for one in findings if one.application == key]
    exact = [one for one in mine if one.ident in _CONTROLLERS and one.object is not None]
    for one in exact:
        if one.object is not None and (one.object.kind, one.object.name) == (kind, name):
            return one
    return next((one for one in mine if one.ident == "unfinished-sync"), None)


def _lead(case: Dossier, found: Sequence[Drift]) -> Text:
    if not found:
        return words(strong("Nothing that the records show differs from git."))
    applications = {one.application for one in found}
    undone = with_state(case, "act")
    undo = words("; ", act(f"the next sync undoes {grouped(len(undone))}")) if undone else ()
    verb = "is" if len(found) == 1 else "are"
    where = count(len(applications - {None}), "application")
    return words(strong(f"{count(len(found), 'thing')} {verb} not as git says"), f", in {where}", undo, ".")


def _questions(case: Dossier, found: Sequence[Drift]) -> tuple[Question, ...]:
    origins: tuple[Origin, ...] = (
        "a hand",
        "a pipeline",
        "another controller or a default",
        "an unfinished sync",
        "not told",
    )
    by = [
        Answer(grouped(number), words(origin), _marks(found, origin))
        for origin in origins
        if (number := _number(found, origin))
    ]
    frozen = still_frozen(case)
    names = ", ".join(middle_cut(freeze.app.name, 24) for freeze in frozen[:4])
    severe = [
        Answer(grouped(number), words(severity))
        for severity in reversed(SEVERITIES)
        if (number := sum(one.severity == severity for one in case.case.findings))
    ]
    return (
        Question("By what?", tuple(by) or (Answer("0", words("nothing differs")),)),
        Question("What is frozen?", (Answer(grouped(len(frozen)), words(cut(names, 100) or "nothing")),)),
        Question("Which findings?", tuple(severe) or (Answer("0", words("none")),)),
    )


def _number(found: Sequence[Drift], origin: Origin) -> int:
    return sum(one.origin == origin for one in found)


def _marks(found: Sequence[Drift], origin: Origin) -> Text:
    return marks(tuple(one.change for one in found if one.origin == origin and one.change is not None), 10)


def _groups(case: Dossier, found: Sequence[Drift]) -> tuple[Block, ...]:
    if not found:
        return (Paragraph(words("Nothing differs.")),)
    groups: dict[AppKey | None, list[Drift]] = {}
    for one in found:
        groups.setdefault(one.application, []).append(one)
    order = sorted(groups, key=lambda key: (_urgency(groups[key]), str(key)))
    tables: list[Block] = [_table(key, groups[key]) for key in order[:GROUPS]]
    rest = len(order) - GROUPS
    return (*tables, Paragraph(words(f"And {count(rest, 'more application')}."))) if rest > 0 else tuple(tables)


def _urgency(group: Sequence[Drift]) -> tuple[int, int]:
    return (0 if any(one.change is not None and one.change.state == "act" for one in group) else 1, -len(group))


def _table(key: AppKey | None, group: Sequence[Drift]) -> Table:
    name = middle_cut(key.name, 60) if key is not None else "No application"
    rest = f"{grouped(len(group) - CAP)} more not listed" if len(group) > CAP else ""
    return Table(
        words(f"{name} ", soft(", ".join(part for part in (count(len(group), "entry", "entries"), rest) if part))),
        (
            Column(words("Object"), "12rem"),
            Column(words("What")),
            Column(words("Cause"), "9.4rem"),
            Column(words("Next"), "9.4rem"),
            Column(words("Source"), "3.4rem"),
        ),
        tuple(_row(one) for one in group[:CAP]),
        "finds",
    )


def _row(one: Drift) -> Row:
    anchor = f"row-{one.change.number}" if one.change is not None else ""
    cause = words(one.origin, soft(f", {middle_cut(one.by, 50)}") if one.by else "")
    return Row((words(one.object), one.said, cause, words(cut(one.following, 160)), one.source or words("–")), anchor)


def _findings(case: Dossier) -> tuple[Block, ...]:
    found = ordered(case.case.findings)
    if not found:
        return (Paragraph(words("None beside the changes themselves.")),)
    blocks: list[Block] = []
    for place, one in enumerate(found[:GROUPS]):
        where = f" in {middle_cut(one.application.name, 50)}" if one.application is not None else ""
        blocks.append(
            Heading(f"{one.ident}{where}", f"{one.severity}, confidence {one.confidence}", f"finding-{place + 1}")
        )
        rows: list[tuple[str, Text]] = [("What", words(cut(one.message, 400), " ", marks(case.of(one.changes), 6)))]
        if one.remedy:
            rows.append(("Remedy", words(cut(one.remedy, 400))))
        blocks.append(Facts((*rows, ("Source", case.cited.all(one.evidence, one.first_at, 3) or words("–")))))
        if one.snippet:
            blocks.append(Paste(one.snippet))
    return tuple(blocks)


REPORT = Report(
    "drift",
    "The nightly digest: what is not as git says it, by application, with its cause and what happens next.",
    ("html", "pdf", "markdown", "json", "csv"),
    document,
    records,
)
