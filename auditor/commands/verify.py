"""`auditor verify`: do the statements still rest on the bytes that were read."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from auditor.commands import CARE, Command
from auditor.console import options
from auditor.console.status import Status

if TYPE_CHECKING:
    from auditor.console.evidence import Standing
    from auditor.console.log_chains import LogStanding
    from auditor.model.change import Evidence
    from auditor.model.facts import Origin
    from auditor.model.resource import JsonObject
    from auditor.store import Results

CSV_COLUMNS = ("statement", "standing", "evidence.kind", "evidence.source", "evidence.offset", "evidence.sha256")
_PROVES_ITSELF = "names-itself"
"""A commit is called by the hash of its content: a repository that has it has it unchanged."""
_BROKEN = ("changed", "gone")


def verify(
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    output: options.FormatOption = options.Format.TABLE,
    quiet: options.QuietOption = False,
) -> None:
    """Hash the records again that changes and findings rest on, and the audit logs as a whole.

    Exit status 3 says that some are not what was read, be it a line that no statement rests on and that was taken out
    of a log. A log that is there no more is only told of, as logs expire. What came from a running API server or
    standard input was never a file: it is not kept. A hash proves that bytes are the same, not that they were true or
    complete when they were read. The chains are kept in the store, and whoever can write it can make others: kept
    elsewhere, they tell later whether anything was added, left out or replaced, in the store too.
    """
    from auditor.console import wire
    from auditor.console.answer import say_csv, say_json
    from auditor.console.computed import computed
    from auditor.console.evidence import chain, standings
    from auditor.console.log_chains import log_places, log_standings

    with computed(config, store, quiet) as answers:
        told = list(statements(answers.store.results))
        origins = {one.origin for _, one in told if one.origin is not None}
        marks = answers.store.marks("audit")
        places = log_places(answers.config, marks)
        found = standings(answers.config.folder, origins, places)
        rows = [_row(statement, one, found) for statement, one in told]
        logs = list(log_standings(marks, places))
        if output is options.Format.TABLE:
            _show(rows, chain(origins))
            _show_logs(logs)
        elif output is options.Format.CSV:
            say_csv(CSV_COLUMNS, rows)
        else:
            ends = wire.as_of(answers.overview.as_of)
            beside: JsonObject = {"records": len(origins), "chain": chain(origins) or None}
            say_json("auditor/verify/1", ends, "statements", rows, **beside, logs=[asdict(log) for log in logs])
    if any(row["standing"] in _BROKEN for row in rows) or any(log.standing == "changed" for log in logs):
        raise typer.Exit(Status.FINDINGS)


def statements(results: "Results") -> "Iterator[tuple[str, Evidence]]":
    """Ids of changes past git and of findings, each with every record that it rests on."""
    for recorded in results.changes():
        for one in recorded.write.evidence:
            yield recorded.write.id, one
    for finding in results.findings():
        for one in finding.evidence:
            yield finding.id, one


def _row(statement: str, one: "Evidence", found: "Mapping[Origin, Standing]") -> "JsonObject":
    from auditor.console import wire

    standing = _PROVES_ITSELF if one.origin is None else found[one.origin]
    return {"statement": statement, "standing": standing, "evidence": wire.evidence(one)}


def _show(rows: "list[JsonObject]", chained: str) -> None:
    from auditor.console.answer import console, text

    out = console()
    for row in rows:
        if row["standing"] in _BROKEN:
            evidence = row["evidence"]
            place = f"{evidence['source']} at byte {evidence['offset']}" if isinstance(evidence, dict) else ""
            out.print(text(f"{row['standing']}: {place}, on which {row['statement']} rests", "yellow"))
    counts = Counter(str(row["standing"]) for row in rows)
    broken = {row["statement"] for row in rows if row["standing"] in _BROKEN}
    unkept = {row["statement"] for row in rows if row["standing"] == "not-kept"} - broken
    whole = {row["statement"] for row in rows} - broken - unkept
    out.print(text(f"{len(whole)} statements rest on unchanged records, {len(broken)} do not."))
    if unkept:
        out.print(text(f"{len(unkept)} rest on records that were never a file: there is nothing to compare them with."))
    out.print(text(", ".join(f"{name} {count}" for name, count in sorted(counts.items())), "dim"))
    if chained:
        out.print(text(f"Chain of all their records: sha256 {chained}"))


def _show_logs(logs: "list[LogStanding]") -> None:
    from auditor.console.answer import console, text

    out = console()
    for log in logs:
        if log.standing == "changed":
            out.print(text(f"changed: {log.source} is not what was read from byte {log.changed_from:,} on", "yellow"))
        elif log.standing == "gone":
            out.print(text(f"gone: {log.source}, of which {log.bytes:,} bytes were read", "yellow"))
    whole = [log for log in logs if log.standing == "unchanged"]
    read = sum(log.bytes for log in whole)
    out.print(text(f"{len(whole)} of {len(logs)} audit logs still begin with all that was read, {read:,} bytes."))
    out.print(text("The same bytes are no proof that they were true or complete when they were read.", "dim"))


COMMAND = Command("verify", verify, CARE, 16, "auditor verify --format json")
