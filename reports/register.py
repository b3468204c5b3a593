"""The change register that an auditor asks for: one row a change of whatever cause, and one a deployment."""

from collections import Counter
from collections.abc import Iterable, Sequence

from auditor.model.application import SyncRecord
from auditor.model.case import Case
from auditor.model.change import Cause, Change, Evidence, Write
from auditor.model.resource import Json
from reports.case.course import syncs
from reports.case.describe import SERVICE_ACCOUNT, before_after, person, whole, whole_change
from reports.case.dossier import Dossier, Numbered, dossier
from reports.case.past_git import past_git
from reports.case.reach import beyond
from reports.contract.document import Block, Column, Document, Paragraph, Row, Section, Table
from reports.contract.options import Options
from reports.contract.page_one import Answer, Question
from reports.contract.records import Records
from reports.contract.report import Report
from reports.frame import Front, assembled
from reports.register_records import COLUMNS, change_row, head, sync_row
from reports.sections.limits import limits_section
from reports.words.rich import BREAK, Span, Text, code, joined, ref, soft, strong, text, words
from reports.words.wording import count, cut, dense_path, grouped, middle_cut

ROWS = 400
"""Rows that a page shows; CSV and JSON have all."""
FIELDS = 3
CAUSES: tuple[tuple[Cause, str], ...] = (
    ("gitops", "from the tracked branch"),
    ("out-of-band", "past git"),
    ("bypass", "through Argo CD and not from the tracked branch"),
    ("controller", "by a controller"),
)


def listed(case: Dossier) -> tuple[Change, ...]:
    """Changes of all causes on managed objects, and on any object those that went past git."""
    return tuple(
        change
        for change in case.case.changes
        if change.application is not None or change.write.cause in ("out-of-band", "bypass")
    )


def document(case: Case, options: Options) -> Document:
    """The register as pages."""
    told = dossier(case, options)
    changes, deployments = listed(told), syncs(told)
    front = Front(
        "Change register, from records alone",
        "Register of changes",
        _lead(told, changes, deployments),
        words(strong("What is listed "), soft("one row a change, one a deployment")),
        (
            Question("Which changes?", _causes(changes)),
            Question("Which deployments?", _origins(deployments)),
            Question("Is anything left out?", _reconciled_answer(told)),
        ),
        remark=_remark(told),
    )
    sections = (
        Section("changes", "Changes", _change_blocks(told, changes)),
        Section("deployments", "Deployments", _sync_blocks(told, deployments)),
        Section("reconciliation", "Reconciliation", (_reconciliation(told),)),
        limits_section(told),
    )
    return assembled(told, front, sections)


def records(case: Case, options: Options) -> Records:
    """The register as data, oldest first, with its reconciliation."""
    told = dossier(case, options)
    rows = [change_row(told, change) for change in listed(told)] + [sync_row(sync) for sync in syncs(told)]
    rows.sort(key=lambda row: (str(row["at"]), str(row["kind"]), str(row["name"])))
    account: dict[str, Json] = {name: number for name, number, _ in reconciliation(told)}
    return Records("auditor/register/1", "entries", COLUMNS, tuple(rows), head(told) | {"reconciliation": account})


def reconciliation(case: Dossier) -> list[tuple[str, int, str]]:
    """Where each record of the audit logs went: (key, number, words). All but the last add up to the last."""
    marks = [mark for mark in case.case.coverage.marks if mark.kind == "audit"]
    successful = sum(mark.successful_writes for mark in marks)
    outcomes = _outcomes(case.case.writes)
    ours = {change.write.id for change in listed(case) if change.write.persisted == "proven"}
    changed = _requests(write for write in case.case.writes if write.id in ours)
    elsewhere = max(outcomes["changed"] - changed, 0)
    rest = successful - sum(
        outcomes[name] for name in ("changed", "unproven", "no-op", "status", "bookkeeping", "access")
    )
    total = sum(mark.events + mark.undecodable + mark.foreign for mark in marks)
    parts = [
        ("changes", changed, "requests whose changes are in this register"),
        ("unproven", outcomes["unproven"], "requests that may have changed something and cannot be shown to have"),
        ("no_ops", outcomes["no-op"], "requests that changed nothing"),
        ("status", outcomes["status"] + outcomes["bookkeeping"], "requests that wrote status or bookkeeping only"),
        ("access", outcomes["access"], "requests for access: exec, debug containers, tokens"),
        ("unmanaged", elsewhere + rest, "successful writes on what no application owns, or out of this report’s scope"),
        ("dry_runs", sum(mark.dry_runs for mark in marks), "dry runs"),
        ("refused", sum(mark.failed_writes for mark in marks), "requests that were refused or failed"),
        ("reads", sum(mark.reads for mark in marks), "reads"),
    ]
    known = sum(number for _, number, _ in parts)
    skipped = sum(mark.undecodable + mark.foreign for mark in marks)
    parts.append(
        ("other_stages", total - skipped - known, "further stages of the same requests, repeats, and what is neither")
    )
    parts.append(("skipped", skipped, "records that are foreign or could not be read"))
    return [*parts, ("records", total, "records in the audit logs that were read")]


def _outcomes(writes: Sequence[Write]) -> Counter[str]:
    """Requests by what became of them: a request that deleted many objects is one."""
    seen: dict[str, str] = {}
    for write in writes:
        seen.setdefault(_request(write), write.outcome)
    return Counter(seen.values())


def _requests(writes: Iterable[Write]) -> int:
    return len({_request(write) for write in writes})


def _request(write: Write) -> str:
    first = write.evidence[0] if write.evidence else None
    return (first.event_id or f"{first.ref} {first.origin}") if first is not None else write.id


def _lead(case: Dossier, changes: Sequence[Change], deployments: Sequence[SyncRecord]) -> Text:
    proven = _proven(changes)
    outside = () if proven or deployments else beyond(case)
    if outside:
        return outside
    past = sum(change.write.cause in ("out-of-band", "bypass") for change in proven)
    return words(
        f"{count(len(proven), 'change')} and {count(len(deployments), 'deployment')} are in the records; ",
        strong(f"{grouped(past)} went past git"),
        ".",
    )


def _proven(changes: Sequence[Change]) -> list[Change]:
    return [change for change in changes if change.write.persisted == "proven"]


def _causes(changes: Sequence[Change]) -> tuple[Answer, ...]:
    """The changes by cause; what is not shown to have changed anything is listed, and counted apart."""
    proven = _proven(changes)
    numbers = Counter(change.write.cause for change in proven)
    rows = tuple(Answer(grouped(numbers[cause]), words(said)) for cause, said in CAUSES)
    rest = len(changes) - len(proven)
    return (
        (*rows, Answer(grouped(rest), words("not shown to have changed anything, and counted in none of these")))
        if rest
        else rows
    )


def _remark(case: Dossier) -> Text:
    """Which of those past git the postmortem counts: all are listed here."""
    all_of_it = past_git(case)
    return words(all_of_it, " All of it is listed here.") if all_of_it else ()


def _origins(deployments: Sequence[SyncRecord]) -> tuple[Answer, ...]:
    numbers: Counter[str] = Counter(sync.origin for sync in deployments)
    names = (("automated", "automated"), ("manual", "by hand"), ("self-heal", "self-heal"), ("unknown", "not told"))
    failed = sum(sync.phase in ("Failed", "Error") for sync in deployments)
    rows = [Answer(grouped(numbers[origin]), words(said)) for origin, said in names if numbers[origin]]
    return (*rows, Answer(grouped(failed), words("of them failed"))) if rows else (Answer("0", words("none recorded")),)


def _reconciled_answer(case: Dossier) -> tuple[Answer, ...]:
    parts = reconciliation(case)
    wrong = [name for name, number, _ in parts if number < 0]
    if wrong:
        said = words("audit records were read; more writes than requests: " + ", ".join(wrong))
    else:
        said = words("audit records were read; ", ref("Reconciliation", "#reconciliation"), " says where each went")
    return (Answer(grouped(parts[-1][1]), said),)


def _change_blocks(case: Dossier, changes: Sequence[Change]) -> tuple[Block, ...]:
    if not changes:
        return (Paragraph(words("No change is in the records.")),)
    table = Table(
        words(
            "Oldest first ",
            soft(
                "what went past git has the postmortem’s number; what is not recorded is a dash; “…” stands for "
                "spec.template.spec.containers"
            ),
        ),
        (
            Column(words("No."), "2.2rem"),
            Column(words("UTC, source, ID"), "4.9rem"),
            Column(words("Object, application"), "10.6rem"),
            Column(words("What")),
            Column(words("Who, by what"), "9.4rem"),
            Column(words("In git by"), "6.2rem"),
            Column(words("Ended"), "6.4rem"),
        ),
        tuple(_change_row(case, change) for change in changes[:ROWS]),
        "reg",
    )
    rest = len(changes) - ROWS
    more = (Paragraph(words(f"And {grouped(rest)} more, in ", code("auditor report register --format csv"), ".")),)
    return (table, *more) if rest > 0 else (table,)


def _change_row(case: Dossier, change: Change) -> Row:
    write, target, numbered = change.write, change.write.object, case.by_id.get(change.id)
    place = f"{target.namespace}/" if target.namespace else ""
    owner = case.called(change.application) if change.application is not None else "no application"
    marked = " (unproven)" if write.persisted == "unproven" else ""
    cluster = f", {target.cluster}" if len(case.clusters) > 1 else ""
    return Row(
        (
            words(numbered.mark) if numbered is not None else words("–"),
            words(
                case.clock.time(write.at),
                BREAK,
                case.cited.all(write.evidence, write.at, 1),
                BREAK,
                code(case.idents[change.id]),
            ),
            words(
                cut(target.kind, 40), BREAK, cut(f"{place}{target.name}", 100), BREAK, soft(cut(owner + cluster, 60))
            ),
            _what(change),
            words(
                middle_cut(person(write.actor), 70),
                BREAK,
                soft(f"{cut(write.channel, 40)}, {write.cause}{marked}"),
            ),
            _in_git(case, change),
            _ended(case, change),
        ),
        *_targets(numbered),
    )


def _targets(numbered: Numbered | None) -> tuple[str, tuple[str, ...]]:
    """Where the number of a change leads: it has no block here, so its row is both."""
    return (f"row-{numbered.label}", (f"change-{numbered.label}",)) if numbered is not None else ("", ())


def _what(change: Change) -> Text:
    if whole(change):
        return words(Span("path", "whole object"), whole_change(change))
    fields = change.write.fields
    if not fields:
        return words(Span("unknown", "unknown"))
    row: list[Span] = []
    for place, field in enumerate(fields[:FIELDS]):
        row += [*([BREAK] if place else []), Span("path", dense_path(field.path)), *before_after(field, 40)]
    rest = len(fields) - FIELDS
    return words(row, *((BREAK, soft(f"and {count(rest, 'more field')}")) if rest > 0 else ()))


def _in_git(case: Dossier, change: Change) -> Text:
    row = change_row(case, change)
    commit, pull = row["commit"], row["pull_request"]
    if not isinstance(commit, str):
        return words(str(row["git"] or "–"))
    return words(str(row["git"]), BREAK, case.cited.commit(commit), text(f", #{pull}") if pull else "")


def _ended(case: Dossier, change: Change) -> Text:
    verdict = case.case.verdicts.get(change.id)
    if verdict is None:
        return words("–")
    at = verdict.cluster.at
    return words(verdict.cluster.verdict, *((BREAK, case.clock.time(at)) if at is not None else ()))


def _sync_blocks(case: Dossier, deployments: Sequence[SyncRecord]) -> tuple[Block, ...]:
    if not deployments:
        return (Paragraph(words("No sync is in the records.")),)
    table = Table(
        words("Syncs, oldest first"),
        (
            Column(case.clock.heading, "8.6rem" if case.clock.foreign else "5.4rem"),
            Column(words("Application")),
            Column(words("Sync"), "9rem"),
            Column(words("Asked for by"), "15rem"),
            Column(words("Revision"), "6rem"),
            Column(words("Source"), "4rem"),
        ),
        tuple(_sync_row(case, sync) for sync in deployments[:ROWS]),
        "times",
    )
    rest = len(deployments) - ROWS
    return (table, Paragraph(words(f"And {grouped(rest)} more."))) if rest > 0 else (table,)


def _sync_row(case: Dossier, sync: SyncRecord) -> Row:
    asked = sync.initiated_by or (sync.requested_by.name if sync.requested_by is not None else "")
    asked = asked.removeprefix(SERVICE_ACCOUNT)
    revisions = [words(code(revision[:9] if len(revision) >= 40 else cut(revision, 24))) for revision in sync.revisions]
    evidence: tuple[Evidence, ...] = sync.evidence
    return Row(
        (
            case.clock.both(sync.started_at),
            words(middle_cut(case.called(sync.app), 50)),
            words(f"{sync.origin}, {sync.extent}", soft(f" {sync.phase or 'not told'}")),
            words(middle_cut(asked, 50) or "–"),
            joined(revisions[:2], " ") or words("–"),
            case.cited.all(evidence, sync.started_at, 1) or words("–"),
        )
    )


def _reconciliation(case: Dossier) -> Table:
    parts = reconciliation(case)
    rows = [Row((words(said), words(grouped(number)))) for _, number, said in parts[:-1]]
    total = Row((words(strong(parts[-1][2])), words(strong(grouped(parts[-1][1])))))
    return Table(
        words("Where each record went ", soft("the rows add up to the last one")),
        (Column(words("Records")), Column(words("Number"), "7rem", numeric=True)),
        (*rows, total),
        "times",
    )


REPORT = Report(
    "register",
    "One row a change of whatever cause and one a deployment, with a reconciliation that adds up.",
    ("html", "pdf", "markdown", "json", "csv", "parquet", "xlsx"),
    document,
    records,
)
