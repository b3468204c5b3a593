"""Staging drift as a report of its own: what to open the morning after."""

from collections import Counter
from collections.abc import Sequence

from auditor.model.case import Case
from auditor.model.resource import Json, Leaf
from auditor.model.staging import STAGING_WORST_FIRST, StagingDifference, StagingPair
from auditor.objects import paths
from reports.case.dossier import Dossier, dossier, marks
from reports.contract.document import Document, Paragraph, Section
from reports.contract.options import Options
from reports.contract.page_one import Answer, OpenGroup, OpenRow, Question
from reports.contract.records import Records
from reports.contract.report import Report
from reports.frame import Front, assembled
from reports.register_records import head
from reports.sections.limits import limits_section
from reports.sections.staging_rows import pair_blocks, unexpected
from reports.words.rich import Text, soft, strong, words
from reports.words.wording import count, cut, field_name, grouped, middle_cut

ROWS = 200
PAIRS = 5
"""Pairs that page one counts; the sections have all."""
ADVICE = ("revert", "promote", "decide")
ENTRIES = 2


def document(case: Case, options: Options) -> Document:
    """The pairs of environments with their differences, and a list of what to promote and what to revert."""
    told = dossier(case, options)
    pairs = case.staging
    front = Front(
        "Staging drift, explained from records alone",
        "Where staging and production differ",
        _lead(pairs),
        words(strong("The pairs "), soft("differences by cause, worst first")),
        _questions(pairs),
        _advised(told, pairs),
        words(strong("To do "), soft("by what the history advises")),
    )
    sections = [_section(told, pair, place) for place, pair in enumerate(pairs)]
    if not sections:
        nothing = "No applications are paired: [[environments]] in auditor.toml names pairs that no rule finds."
        sections = [Section("pairs", "Pairs", (Paragraph(words(nothing)),))]
    return assembled(told, front, (*sections, limits_section(told)))


def records(case: Case, options: Options) -> Records:
    """One row a difference."""
    rows = [_record(pair, one) for pair in case.staging for one in pair.differences]
    columns = (
        "staging",
        "production",
        "object",
        "path",
        "staging_value",
        "production_value",
        "causes",
        "because",
        "advice",
    )
    return Records("auditor/staging-report/1", "differences", columns, tuple(rows), head(dossier(case, options)))


def _record(pair: StagingPair, one: StagingDifference) -> dict[str, Json]:
    return {
        "staging": pair.staging.name,
        "production": pair.production.name,
        "object": f"{one.object.group_kind} {one.object.name}",
        "path": paths.text(one.path) or None,
        "staging_value": _value(one.staging),
        "production_value": _value(one.production),
        "causes": ", ".join(one.causes),
        "because": one.because,
        "advice": one.advice,
    }


def _value(leaf: Leaf) -> Json:
    return leaf.value if leaf.state == "value" else None


def _lead(pairs: Sequence[StagingPair]) -> Text:
    telling = sum(len(unexpected(pair)) for pair in pairs)
    if not pairs:
        return words("No staging application is paired with one in production.")
    if not telling:
        return words(strong("Nothing differs"), f" in {count(len(pairs), 'pair')} but what the overlays say.")
    revert = sum(one.advice == "revert" for pair in pairs for one in unexpected(pair))
    promote = sum(one.advice == "promote" for pair in pairs for one in unexpected(pair))
    return words(
        strong(f"{count(telling, 'difference')} in {count(len(pairs), 'pair')}"),
        f" beside the overlays; {grouped(promote)} to promote, {grouped(revert)} to revert.",
    )


def _questions(pairs: Sequence[StagingPair]) -> tuple[Question, ...]:
    worst = sorted(pairs, key=lambda pair: (-len(unexpected(pair)), str(pair.production)))[:PAIRS]
    found = [
        Question(f"{middle_cut(pair.staging.name, 16)} and {middle_cut(pair.production.name, 16)}", _causes(pair))
        for pair in worst
    ]
    rest = len(pairs) - len(worst)
    more = (Question("Other pairs", (Answer(grouped(rest), words("in the sections below")),)),) if rest else ()
    return (*found, *more)


def _causes(pair: StagingPair) -> tuple[Answer, ...]:
    numbers = Counter(one.causes[0] for one in pair.differences if one.causes)
    shown = [Answer(grouped(numbers[cause]), words(cause)) for cause in STAGING_WORST_FIRST if numbers[cause]]
    return tuple(shown[:3]) or (Answer("0", words("differences")),)


def _advised(case: Dossier, pairs: Sequence[StagingPair]) -> tuple[OpenGroup, ...]:
    """What to revert, promote and decide: two rows each and the number of the rest."""
    groups: list[OpenGroup] = []
    for advice in ADVICE:
        found = [
            (pair, place, one) for place, pair in enumerate(pairs) for one in unexpected(pair) if one.advice == advice
        ]
        rows = [
            OpenRow(_entry(case, pair, one), f"#pair-{place + 1}", "the pair") for pair, place, one in found[:ENTRIES]
        ]
        if len(found) > ENTRIES:
            rows[-1] = OpenRow(words(f"and {grouped(len(found) - ENTRIES + 1)} more"), rows[-1].page, "the pair")
        if rows:
            groups.append(OpenGroup(advice.capitalize(), "", False, tuple(rows)))
    return tuple(groups)


def _entry(case: Dossier, pair: StagingPair, one: StagingDifference) -> Text:
    shown = marks(case.of(one.changes), 3)
    place = f"{middle_cut(pair.production.name, 24)}: {one.object.kind} {middle_cut(one.object.name, 24)}"
    return words(shown, " " if shown else "", cut(f"{place}, {field_name(one.path)}", 70))


def _section(case: Dossier, pair: StagingPair, place: int) -> Section:
    title = f"{middle_cut(pair.staging.name, 30)} and {middle_cut(pair.production.name, 30)}"
    paired = Paragraph(words(soft(f"Paired by {cut(pair.paired_by, 120)}.")))
    return Section(f"pair-{place + 1}", title, (paired, *pair_blocks(case, pair, ROWS)), unlisted=place >= PAIRS)


REPORT = Report(
    "staging",
    "Every field in which staging and production differ now, explained; what to promote and what to revert.",
    ("html", "pdf", "markdown", "json", "csv"),
    document,
    records,
)
