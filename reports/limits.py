"""What the records cannot say, and the command that would bring back what is missing."""

from reports.answers import with_state
from reports.as_of import skipped_lines
from reports.document import Block, Column, Facts, Row, Section, Table
from reports.dossier import Dossier, marks
from reports.rich import Text, code, soft, words
from reports.wording import count, cut, grouped

GAPS = 40
SKIPPED = 20


def limits_section(dossier: Dossier) -> Section:
    """Who, what, when, why; then each gap, and each record that could not be read."""
    blocks: list[Block] = [Facts(tuple(_facts(dossier)))]
    blocks += [table for table in (_gaps(dossier), _skipped(dossier)) if table.rows]
    return Section("cannot", "What the records cannot say", tuple(blocks))


def _facts(dossier: Dossier) -> list[tuple[str, Text]]:
    facts = tuple(one for one in dossier.counted if not one.write.fields_known)
    unknown = with_state(dossier, "unknown")
    rows: list[tuple[str, Text]] = [
        ("Who", words("Who held a credential. The records name the one that the API server authenticated.")),
        ("What", words("What was typed in an exec or debug session; an audit log holds the request.")),
    ]
    if facts:
        rows.append(("", words("What was changed in ", marks(facts, 8), ": the record holds no body.")))
    if unknown:
        rows.append(("", words("Whether git has ", marks(unknown, 8), ".")))
    rows.append(
        (
            "When",
            words(
                "When a commit landed, to the second: git has the committer’s clock, Argo CD the first time it saw it."
            ),
        )
    )
    rows.append(
        (
            "Why",
            words("Why anything was changed, what customers noticed, and what the root cause was: the authors say."),
        )
    )
    return rows


def _gaps(dossier: Dossier) -> Table:
    found = dossier.case.coverage.gaps
    rows = []
    for gap in found[:GAPS]:
        span = "–"
        if gap.first_at is not None and gap.last_at is not None:
            span = f"{dossier.clock.utc(gap.first_at)}–{dossier.clock.utc(gap.last_at)}"
        what = words(cut(gap.sentence, 300))
        rows.append(
            Row(
                (
                    words(f"{gap.kind}{f', {cut(gap.cluster, 30)}' if gap.cluster else ''}"),
                    words(span),
                    what,
                    _export(gap.export),
                )
            )
        )
    rest = f"{grouped(len(found) - GAPS)} more in auditor sources" if len(found) > GAPS else ""
    return Table(
        words("Gaps in the records ", soft(rest)),
        (
            Column(words("Record"), "7rem"),
            Column(words("Span, UTC"), "8.2rem"),
            Column(words("What is then not known")),
            Column(words("What would bring it"), "12rem"),
        ),
        tuple(rows),
        "finds",
    )


def _export(command: str) -> Text:
    return words(code(cut(command, 200))) if command else words(soft("nothing can bring it back"))


def _skipped(dossier: Dossier) -> Table:
    found = dossier.case.coverage.skipped
    rows = [
        Row(
            (
                words(code(cut(one.source, 90))),
                words(f"byte {grouped(one.offset)}, {grouped(one.length)} long"),
                words(cut(one.reason, 160)),
            )
        )
        for one in found[:SKIPPED]
    ]
    rest = f"{count(len(found) - SKIPPED, 'more')} in auditor sources" if len(found) > SKIPPED else ""
    return Table(
        words("Skipped ", soft(rest or "; ".join(skipped_lines(dossier)[:3]))),
        (Column(words("Source")), Column(words("Place"), "11rem"), Column(words("Why"), "18rem")),
        tuple(rows),
        "ev",
    )
