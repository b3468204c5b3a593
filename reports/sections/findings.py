"""Findings beside the changes themselves, with what they rest on and what to do."""

from collections.abc import Sequence

from auditor.model.finding import SEVERITIES, Finding
from reports.case.dossier import Dossier, marks
from reports.contract.document import Block, Column, Facts, Heading, Paragraph, Paste, Row, Section, Table
from reports.pictures.loop import loop_picture
from reports.words.rich import BREAK, Text, act, sign, soft, words
from reports.words.wording import cut, grouped, middle_cut

ROWS = 40
DETAILS = 6
SHOWN_ELSEWHERE = ("out-of-band-change", "not-in-git", "staging-drift")
"""Each change has its row and its block, each staging difference its own section."""


def findings_section(dossier: Dossier) -> Section:
    """A table of all, worst first; those with a picture or a block to paste in full below."""
    found = ordered(dossier.case.findings)
    if not found:
        nothing = words("No finding beside the changes themselves.")
        return Section("findings", "Findings", (Paragraph(nothing),))
    blocks: list[Block] = [_table(dossier, found[:ROWS])]
    if len(found) > ROWS:
        blocks.append(Paragraph(words(f"And {grouped(len(found) - ROWS)} more: auditor findings.")))
    detailed = [one for one in found if one.ident == "sync-loop" or one.snippet][:DETAILS]
    for place, one in enumerate(detailed):
        blocks += _detail(dossier, one, place)
    return Section("findings", "Findings", tuple(blocks))


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Worst first, then oldest; without those that the report shows in their own places."""
    kept = [one for one in findings if one.ident not in SHOWN_ELSEWHERE]
    return sorted(kept, key=lambda one: (-SEVERITIES.index(one.severity), one.ident, _time(one), one.id))


def _time(one: Finding) -> str:
    return one.first_at.isoformat() if one.first_at is not None else ""


def _table(dossier: Dossier, found: Sequence[Finding]) -> Table:
    return Table(
        words("Beside the changes themselves ", soft("most severe first")),
        (
            Column(words("Finding"), "8.8rem"),
            Column(words("Application"), "8.2rem"),
            Column(words("What")),
            Column(words("Severity; last seen, UTC"), "7rem"),
            Column(words("Source"), "4.6rem"),
        ),
        tuple(_row(dossier, one) for one in found),
        "finds",
    )


def _row(dossier: Dossier, one: Finding) -> Row:
    application = middle_cut(dossier.called(one.application), 50) if one.application is not None else "none"
    changes = marks(dossier.of(one.changes), 6)
    told = words(cut(one.message, 320), " " if changes else "", changes)
    source = dossier.cited.all(one.evidence, one.first_at, 4)
    return Row((words(one.ident), words(application), told, _state(dossier, one), source or words("–")))


def _state(dossier: Dossier, one: Finding) -> Text:
    severe = one.severity in ("high", "medium")
    first = words(sign("", "act"), act(one.severity)) if severe else words(one.severity)
    parts = [first]
    if one.last_at is not None:
        parts.append(words(dossier.clock.time(one.last_at)))
    if one.count > 1:
        parts.append(words(soft(f"{grouped(one.count)} times")))
    return words(*[piece for part in parts for piece in (part, BREAK)][:-1])


def _detail(dossier: Dossier, one: Finding, place: int) -> list[Block]:
    name = f" in {middle_cut(dossier.called(one.application), 50)}" if one.application is not None else ""
    target = f"{one.object.kind} {middle_cut(one.object.name, 50)}" if one.object is not None else ""
    note = ", ".join(part for part in (target, cut(one.path or "", 90)) if part)
    blocks: list[Block] = [Heading(f"{one.ident}{name}", note, f"finding-{place + 1}")]
    picture = loop_picture(dossier, one, place) if one.ident == "sync-loop" else None
    if picture is not None:
        blocks.append(picture)
    rows: list[tuple[str, Text]] = [("What", words(cut(one.message, 600)))]
    if one.actors:
        rows.append(("Writers", words(", ".join(middle_cut(actor, 80) for actor in one.actors[:4]))))
    if one.remedy:
        rows.append(("Remedy", words(cut(one.remedy, 600))))
    blocks.append(Facts(tuple(rows)))
    if one.snippet:
        blocks.append(Paste(one.snippet))
    return blocks
