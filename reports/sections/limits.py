"""What the records cannot say, and the command that would bring back what is missing."""

from collections import Counter

from auditor.model.facts import RecordKind
from reports.case.dossier import Dossier, marks, with_state
from reports.contract.document import Block, Column, Facts, Row, Section, Table
from reports.words.rich import Text, code, soft, words
from reports.words.wording import count, cut, grouped, middle_cut

GAPS = 40
SKIPPED = 20


def limits_section(dossier: Dossier) -> Section:
    """Who, what, when, why; then each gap, and each record that could not be read."""
    blocks: list[Block] = [Facts(tuple(_facts(dossier)))]
    blocks += [table for table in (_gaps(dossier), _skipped(dossier)) if table.rows]
    return Section("cannot", "What the records cannot say", tuple(blocks))


def skipped_lines(dossier: Dossier) -> list[str]:
    """What could not be read, counted, one line a kind of record."""
    foreign = _foreign(dossier)
    counts = Counter(
        skipped.kind for skipped in dossier.case.coverage.skipped if (skipped.kind, skipped.source) not in foreign
    )
    names = {"audit": "audit log", "argocd": "Argo CD export", "git": "git", "announcements": "announcements"}
    lines = [
        f"{count(number, 'place')} in the {names.get(kind, 'object exports')} were skipped"
        for kind, number in sorted(counts.items())
    ]
    problems = [mark for mark in dossier.case.coverage.marks if mark.problem]
    return lines + [mark.complaint.replace(mark.source, middle_cut(mark.source, 40)) for mark in problems]


def _facts(dossier: Dossier) -> list[tuple[str, Text]]:
    unheard = tuple(one for one in dossier.counted if one.write.known_by == "ownership")
    facts = tuple(one for one in dossier.counted if not one.write.fields_known)
    unknown = with_state(dossier, "unknown")
    rows: list[tuple[str, Text]] = [
        ("Who", words("Who held a credential. The records name the one that the API server authenticated.")),
        ("What", words("What was typed in an exec or debug session; an audit log holds the request.")),
    ]
    if unheard:
        rows.append(("", words("Who sent ", marks(unheard, 8), ": managedFields tell of it, no audit event does.")))
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


def _foreign(dossier: Dossier) -> set[tuple[RecordKind, str]]:
    """Sources of which nothing was skipped but what is another program's: no gap, as it would have said nothing."""
    found = {(mark.kind, mark.source) for mark in dossier.case.coverage.marks if mark.foreign}
    return found - {(mark.kind, mark.source) for mark in dossier.case.coverage.marks if mark.undecodable}
