"""What all reports have around their sections: title, scope, window, how far the records reach, contents, evidence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reports.case.dossier import Dossier
from reports.case.evidence import digest, evidence_section
from reports.contract.anchors import reachable
from reports.contract.document import Document, Section
from reports.contract.page_one import OpenGroup, PageOne, Question
from reports.page_one.as_of import as_of_rows, gap_lines
from reports.sections.checklist import anchor
from reports.words.clock import long_date
from reports.words.rich import Text, plain, ref, soft, strong, words
from reports.words.wording import count, cut, fitted, grouped, middle_cut, width

TITLE = 92.0
"""Two lines, in the units of `wording.width`; so are the limits below."""
LEAD = 205.0
SCOPE = 180.0
ANSWER = 44.0
WIDE_ANSWER = 155.0
OPEN = 73.0
HOLDS = 30.0
REMARK = 115.0
GAP = 100.0
LINES = 21
"""Of answers, unresolved rows and what wraps: so many fit at the usual distance."""


@dataclass(frozen=True, slots=True)
class Front:
    """What page one says in one report and not in another."""

    kicker: str
    name: str
    """The title where none was given, before place and day."""
    lead: Text
    caption: Text
    questions: tuple[Question, ...]
    unresolved: tuple[OpenGroup, ...] = ()
    unresolved_caption: Text = ()
    remark: Text = ()


def assembled(
    dossier: Dossier, front: Front, sections: Sequence[Section | None], last: Sequence[Section] = ()
) -> Document:
    """The whole report. Evidence comes after all that cites, so that its list is complete."""
    kept = [section for section in sections if section is not None]
    kept[:1] = [replace(section, fresh=True) for section in kept[:1]]
    kept += [evidence_section(dossier.cited, dossier.case.coverage), *last]
    title = heading(dossier, front.name)
    document = Document(
        title,
        middle_cut(f"{title}, {_brief_window(dossier)}", 110),
        _foot(dossier),
        plain(front.lead),
        _spaced(title, _page_one(dossier, front, kept)),
        tuple(kept),
    )
    return reachable(document)


def heading(dossier: Dossier, name: str) -> str:
    """The title that was given, else `name` with where and on which day."""
    if dossier.options.title:
        return cut(dossier.options.title, TITLE)
    clusters = dossier.clusters
    where = ""
    if clusters:
        where = f" on {middle_cut(clusters[0], 28)}" if len(clusters) == 1 else f" on {count(len(clusters), 'cluster')}"
    day = f", {long_date(dossier.first_at.date())}" if dossier.first_at is not None else ""
    return cut(f"{name}{where}{day}", TITLE)


def _page_one(dossier: Dossier, front: Front, sections: Sequence[Section]) -> PageOne:
    """Each text within its budget of lines: the sum of them is one page, whatever the records hold."""
    return PageOne(
        front.kicker,
        (("Scope", fitted(_scope(dossier), SCOPE)), ("Window", fitted(_window(dossier), SCOPE))),
        fitted(front.lead, LEAD),
        front.caption,
        tuple(_question(one) for one in front.questions),
        front.remark,
        front.unresolved_caption,
        tuple(_group(one) for one in front.unresolved),
        words(strong("As of "), soft("UTC")),
        tuple(replace(row, holds=fitted(row.holds, HOLDS)) for row in as_of_rows(dossier)),
        tuple(fitted(line, GAP) for line in gap_lines(dossier)),
        tuple((section.title, section.anchor) for section in sections if not section.unlisted),
    )


def _spaced(title: str, first: PageOne) -> PageOne:
    """Closer lines where the usual distance would take a second page."""
    lines = _wrapped(title, TITLE / 2) + _wrapped(plain(first.scope[0][1]), SCOPE / 2) + _lines_of(first.remark)
    lines += _wrapped(plain(first.lead), LEAD / 3, 2) + _wrapped("".join(map(plain, first.gaps)), GAP / 2, 6)
    lines += sum(
        1 + _wrapped(plain(one.text), WIDE_ANSWER / 2) for question in first.questions for one in question.answers
    )
    lines += sum(len(group.rows) for group in first.unresolved) + max(len(first.contents) - 9, 0) // 3
    return replace(first, dense=lines > LINES)


def _wrapped(text: str, line: float, usual: int = 1) -> int:
    """Lines beyond the usual number."""
    return max(-int(-width(text) // line) - usual, 0)


def _lines_of(remark: Text) -> int:
    return 1 + _wrapped(plain(remark), REMARK) if remark else 0


def _question(question: Question) -> Question:
    answers = (replace(one, text=fitted(one.text, ANSWER if one.marks else WIDE_ANSWER)) for one in question.answers)
    return replace(question, answers=tuple(answers))


def _group(group: OpenGroup) -> OpenGroup:
    return replace(group, rows=tuple(replace(row, text=fitted(row.text, OPEN)) for row in group.rows))


def _foot(dossier: Dossier) -> str:
    version = f" · auditor {dossier.options.version}" if dossier.options.version else ""
    return f"Records: sha256 {digest(dossier.cited, dossier.case.coverage)}{version}"


def _window(dossier: Dossier) -> Text:
    if dossier.first_at is None or dossier.last_at is None:
        return words("no record has a time")
    if _open_ended(dossier):
        return words("from ", dossier.clock.both(dossier.first_at), "" if dossier.clock.foreign else " UTC", " on")
    return dossier.clock.span(dossier.first_at, dossier.last_at)


def _open_ended(dossier: Dossier) -> bool:
    """Whether a window was asked for that begins where no record is any more, and with no end."""
    scope = dossier.case.scope
    return scope.since is not None and scope.until is None and dossier.last_at == scope.since


def _brief_window(dossier: Dossier) -> str:
    if dossier.first_at is None or dossier.last_at is None:
        return "no time recorded"
    first, last = dossier.clock.utc(dossier.first_at), dossier.clock.utc(dossier.last_at)
    if _open_ended(dossier):
        return f"from {first[:-3]} UTC on"
    return f"{first[:-3]}–{last[:-3]} UTC"


def _scope(dossier: Dossier) -> Text:
    """Clusters, applications and episodes: two lines whatever their number."""
    clusters = dossier.clusters
    named = ", ".join(middle_cut(name, 20) for name in clusters[:3])
    rest = f" and {len(clusters) - 3} more" if len(clusters) > 3 else ""
    where = f"{'cluster' if len(clusters) == 1 else 'clusters'} {named}{rest}" if clusters else "no cluster"
    return words(where, _applications(dossier), _episodes(dossier))


def _applications(dossier: Dossier) -> str:
    asked = dossier.case.scope.applications
    if not asked or len(asked) > 2:
        return f", {count(len(dossier.case.applications), 'application')}"
    names = ", ".join(middle_cut(one, 24) for one in asked)
    return f", {'application' if len(asked) == 1 else 'applications'} {names}"


def _episodes(dossier: Dossier) -> Text:
    episodes = dossier.case.episodes
    if not episodes:
        return words("; no episode")
    links: list[Text] = []
    for place, episode in enumerate(episodes[:3]):
        name = middle_cut(dossier.called(episode.application), 22)
        links.append(words(", " if place else "", ref(name, f"#{anchor(place)}")))
    rest = f" and {grouped(len(episodes) - 3)} more" if len(episodes) > 3 else ""
    return words("; episode " if len(episodes) == 1 else "; episodes ", *links, rest)
