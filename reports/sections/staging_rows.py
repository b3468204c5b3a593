"""Where staging and production differ now, and why."""

from auditor.model.staging import STAGING_WORST_FIRST, StagingDifference, StagingPair
from reports.case.dossier import Dossier, marks
from reports.contract.document import Block, Column, Paragraph, Row, Section, Table
from reports.words.rich import Span, Text, soft, strong, words
from reports.words.wording import count, cut, dense_pair, dense_path, grouped, middle_cut, value_span

ROWS = 20


def staging_section(dossier: Dossier) -> Section:
    """A table a pair, without what the environments are meant to differ in."""
    if not dossier.case.staging:
        said = "No staging application is paired with one of this report."
        return Section("staging", "Staging", (Paragraph(words(said)),))
    blocks: list[Block] = []
    for pair in dossier.case.staging:
        blocks += pair_blocks(dossier, pair, ROWS)
    return Section("staging", "Staging", tuple(blocks))


def pair_blocks(dossier: Dossier, pair: StagingPair, limit: int) -> list[Block]:
    """The unexpected differences of one pair, worst first, at most `limit`; the deliberate ones counted."""
    telling = unexpected(pair)
    deliberate = len(pair.differences) - len(telling)
    names = f"{middle_cut(pair.staging.name, 50)} and {middle_cut(pair.production.name, 50)}"
    overlay = f"{count(deliberate, 'difference')} of the overlay not listed" if deliberate else ""
    if not telling:
        same = f"{names} differ in nothing but their overlay" if deliberate else f"{names} do not differ"
        return [Paragraph(words(f"{same}.", f" ({overlay})" if overlay else ""))]
    table = Table(
        words(f"Where {names} differ now, and why ", soft(overlay)),
        (
            Column(words("Field"), "11.6rem"),
            Column(words("Staging"), "7rem"),
            Column(words("Production"), "7rem"),
            Column(words("Why")),
            Column(words("Advice"), "4.6rem"),
        ),
        tuple(_row(dossier, pair, one) for one in telling[:limit]),
        "plain",
    )
    rest = len(telling) - limit
    return [table, Paragraph(words(f"And {grouped(rest)} more."))] if rest > 0 else [table]


def unexpected(pair: StagingPair) -> list[StagingDifference]:
    """All but plain overlays, worst first."""
    found = [one for one in pair.differences if one.causes != ("overlay",)]
    return sorted(found, key=lambda one: (_rank(one), str(one.object), dense_path(one.path)))


def _rank(one: StagingDifference) -> int:
    return min((STAGING_WORST_FIRST.index(cause) for cause in one.causes), default=len(STAGING_WORST_FIRST))


def _row(dossier: Dossier, pair: StagingPair, one: StagingDifference) -> Row:
    first, second = dense_pair(one.staging, one.production)
    if one.path:
        sides = (value_span(one.staging, first, 60), value_span(one.production, second, 60))
    else:
        sides = (_presence(one.staging.state), _presence(one.production.state))
    field = dense_path(one.path) if one.path else "whole object"
    name = words(f"{one.object.kind} {middle_cut(one.object.name, 44)}", Span("path", field))
    return Row((name, words(sides[0]), words(sides[1]), _why(dossier, one), words(one.advice or "–")))


def _presence(state: str) -> Span:
    return Span("absent", "absent") if state == "absent" else Span("value", "present")


def _why(dossier: Dossier, one: StagingDifference) -> Text:
    causes = [strong(cause) for cause in one.causes]
    row: list[Span | str] = []
    for cause in causes:
        row += [", ", cause] if row else [cause]
    changes = marks(dossier.of(one.changes), 4)
    commit = dossier.cited.commit(one.commit) if one.commit else ()
    because = f": {cut(one.because, 260)}" if one.because else ""
    return words(*row, " " if changes else "", changes, because, " " if commit else "", commit)
