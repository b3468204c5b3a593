"""`auditor sources`: what the records cover, what was skipped in them, and what is missing for the three questions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import CARE, Command
from auditor.console import options
from auditor.console.status import Status

if TYPE_CHECKING:
    from auditor.config import Config
    from auditor.model.coverage import Gap
    from auditor.model.facts import RecordKind, Skipped, SourceMark
    from auditor.model.resource import Json, JsonObject

QUESTIONS_OF_KIND: "dict[RecordKind, tuple[str, ...]]" = {
    "audit": ("what changed", "who changed it"),
    "argocd": ("who changed it", "does git reflect it"),
    "git": ("does git reflect it",),
    "objects": ("what changed",),
    "announcements": ("who changed it",),
}
"""Which answers a kind of record carries."""
_PERISHABLE: "tuple[RecordKind, ...]" = ("argocd", "audit", "objects", "announcements", "git")
"""The most perishable first: Events live an hour, history has ten entries, logs rotate within days."""
CSV_COLUMNS = (
    "source", "stream", "cluster", "kind", "format", "bytes", "events", "successful_writes", "dry_runs",
    "failed_writes", "reads", "foreign", "undecodable", "first_at", "last_at", "complete", "problem",
    "configured",
)  # fmt: skip
_SHOWN_SKIPS = 5


@dataclass(frozen=True, slots=True)
class Listed:
    """A source, and whether the configuration still names it."""

    mark: "SourceMark"
    configured: bool


def sources(
    wanted: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE]", help="One source in detail, by its name or the end of it, or all below a folder."
        ),
    ] = None,
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    output: options.FormatOption = options.Format.TABLE,
    quiet: options.QuietOption = False,
) -> None:
    """What the records cover, and what is missing for each question.

    Of one source also what each of its bytes was, who wrote, and when its streams spoke and were silent.
    """
    from auditor.console import wire
    from auditor.console.answer import say_csv, say_json
    from auditor.console.computed import computed

    with computed(config, store, quiet) as answers:
        listed = [one for one in _listed(answers.store.marks(), answers.config) if _is_wanted(one.mark, wanted)]
        if wanted is not None and not listed:
            typer.echo(f"auditor: no source is called {wanted!r}. `auditor sources` lists them.", err=True)
            raise typer.Exit(Status.NOT_FOUND)
        skipped, gaps = list(answers.store.skipped()), ordered(answers.overview.gaps)
        if output is options.Format.TABLE and wanted is not None:
            _show_each(listed, skipped)
        elif output is options.Format.TABLE:
            show_sources(listed, skipped, gaps)
        elif output is options.Format.CSV:
            say_csv(CSV_COLUMNS, _entries(listed, ()))
        else:
            as_of, missing = wire.as_of(answers.overview.as_of), [_gap(gap) for gap in gaps]
            say_json("auditor/sources/1", as_of, "sources", _entries(listed, skipped), missing=missing)


def _is_wanted(mark: "SourceMark", wanted: str | None) -> bool:
    """By the name of a source, the end of it, or a folder above it."""
    if wanted is None or mark.source == wanted or mark.source.endswith(f"/{wanted}"):
        return True
    return mark.source.startswith(f"{wanted.rstrip('/')}/")


def _show_each(listed: "Iterable[Listed]", skipped: "Iterable[Skipped]") -> None:
    from auditor.console.source_detail import show_source

    by_source: dict[tuple[str, str, str], list[Skipped]] = {}
    for one in skipped:
        by_source.setdefault((one.kind, one.cluster, one.source), []).append(one)
    for entry in listed:
        mark = entry.mark
        # what was skipped knows its file and no stream: it is told with the file's first one
        show_source(mark, by_source.pop((mark.kind, mark.cluster, mark.source), []))


def ordered(gaps: "Sequence[Gap]") -> "list[Gap]":
    """What can be lost first comes first."""
    return sorted(gaps, key=lambda gap: (_PERISHABLE.index(gap.kind), gap.cluster, gap.sentence))


def _listed(marks: "Iterable[SourceMark]", config: "Config") -> "Iterator[Listed]":
    """Of what is configured no longer, only what something was read of."""
    from auditor.console.configured import is_configured

    for mark in marks:
        configured = is_configured(config, mark)
        if configured or mark.bytes or mark.events:
            yield Listed(mark, configured)


def show_sources(listed: "Sequence[Listed]", skipped: "Sequence[Skipped]", gaps: "Sequence[Gap]") -> None:
    """A line a source, then what was skipped, then what is missing for each question."""
    from rich.padding import Padding

    from auditor.console.answer import Column, console, say_table, text

    out = console()
    columns = (Column("source"), Column("format"), Column("records", number=True), Column("covers, UTC"))
    marks = [one.mark for one in listed]
    rows = [[text(mark.source), text(mark.format), text(f"{mark.events:,}"), text(_span(mark))] for mark in marks]
    if rows:
        say_table(out, columns, rows, brief=True)
    else:
        out.print(text("Nothing was collected."))
    if accounted := [mark for mark in marks if mark.account]:
        out.print(text(_account(accounted), "dim"))
    for entry in listed:
        if not entry.configured:
            out.print(text(f"{entry.mark.source} is no longer configured; what was read of it stays.", "dim"))
        elif entry.mark.problem:
            out.print(text(entry.mark.complaint, "yellow"))
    for one in skipped[:_SHOWN_SKIPS]:
        out.print(text(f"skipped: {one.source} at byte {one.offset:,}: {one.reason}", "yellow"))
    if len(skipped) > _SHOWN_SKIPS:
        out.print(text(f"and {len(skipped) - _SHOWN_SKIPS:,} more; --format json lists them all", "dim"))
    for question in ("what changed", "who changed it", "does git reflect it"):
        out.print()
        out.print(text(f"{question[0].upper()}{question[1:]}?", "bold"))
        missing = [gap for gap in gaps if question in QUESTIONS_OF_KIND[gap.kind]]
        for gap in missing:
            out.print(Padding(text(gap.sentence), (0, 0, 0, 2)))
            if gap.export:
                out.print(Padding(text(gap.export, "cyan"), (0, 0, 0, 4)))
        if not missing:
            out.print(Padding(text("Nothing is known to be missing."), (0, 0, 0, 2)))


def _account(marks: "Sequence[SourceMark]") -> str:
    """What the bytes of the audit logs were, in a sentence."""
    from auditor.console.source_detail import KINDS, byte_check

    total: Counter[str] = Counter()
    for mark in marks:
        total.update(mark.account)
    shares = (f"{said} {total[kind] / (total.total() or 1):.1%}" for kind, said in KINDS.items() if total[kind])
    return f"Audit logs: {byte_check(marks)} ({'; '.join(shares)}). `auditor sources NAME` tells of one."


def _span(mark: "SourceMark") -> str:
    if mark.first_at is None or mark.last_at is None:
        return ""
    same_day = mark.first_at.date() == mark.last_at.date()
    return f"{mark.first_at:%Y-%m-%d %H:%M} – {mark.last_at:{'%H:%M' if same_day else '%Y-%m-%d %H:%M'}}"


def _entries(listed: "Iterable[Listed]", skipped: "Iterable[Skipped]") -> "Iterator[JsonObject]":
    from auditor.console import wire

    by_source: dict[tuple[str, str, str], list[Json]] = {}
    for one in skipped:
        place = by_source.setdefault((one.kind, one.cluster, one.source), [])
        place.append({"offset": one.offset, "length": one.length, "reason": one.reason})
    for entry in listed:
        mark = entry.mark
        # what was skipped knows its file and no stream: it stands at the file's first one
        places = by_source.pop((mark.kind, mark.cluster, mark.source), [])
        yield {**wire.mark(mark), "configured": entry.configured, "skipped": places}


def _gap(gap: "Gap") -> "Json":
    from auditor.console import wire

    return {
        "kind": gap.kind,
        "cluster": gap.cluster,
        "questions": list(QUESTIONS_OF_KIND[gap.kind]),
        "first_at": wire.time(gap.first_at),
        "last_at": wire.time(gap.last_at),
        "sentence": gap.sentence,
        "export": gap.export or None,
    }


COMMAND = Command("sources", sources, CARE, 14, "auditor sources --format json")
