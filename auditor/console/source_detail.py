"""One source on a terminal: what each byte of it was, who wrote, and when each of its streams was silent."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from auditor.console.answer import console, text
from auditor.model.facts import Skipped, SourceMark

if TYPE_CHECKING:
    from rich.console import Console

KINDS = {
    "event": "events",
    "read": "reads, counted and dropped",
    "foreign": "records of others",
    "skipped": "skipped",
    "wrapping": "wrapping, blanks and line ends",
}
"""What a byte can be, in the order in which that is told."""
_WRITERS = 10
_SPANS = 20


def show_source(mark: SourceMark, skipped: Sequence[Skipped]) -> None:
    """All that is known of one source."""
    out = console()
    out.print(text(mark.source, "bold"))
    _rows(out, _facts(mark))
    if mark.account:
        out.print(text("What its bytes were", "bold"))
        _rows(out, (*account_rows(mark.account), ("in all", byte_check([mark]))))
    if mark.writers:
        out.print(text("Successful writes", "bold"))
        _rows(out, _most(mark.writers))
    for stream, spans in sorted(mark.streams.items()):
        out.print(text(f"When the stream {stream} spoke, UTC" if stream else "When it spoke, UTC", "bold"))
        _rows(out, span_rows(spans))
    if skipped:
        out.print(text("Skipped", "bold"))
        _rows(out, [(f"at byte {one.offset:,}", f"{one.length:,} bytes: {one.reason}") for one in skipped])


def account_rows(account: Mapping[str, int]) -> list[tuple[str, str]]:
    """Each kind of byte with its number and share; those of which there are none too, as none is an answer."""
    total = sum(account.values()) or 1
    return [
        (said, f"{account.get(kind, 0):,} bytes, {account.get(kind, 0) / total:.1%}") for kind, said in KINDS.items()
    ]


def byte_check(marks: Iterable[SourceMark]) -> str:
    """Whether the bytes that are accounted for are all there are."""
    read, accounted = 0, 0
    for mark in marks:
        read, accounted = read + mark.bytes, accounted + sum(mark.account.values())
    if read == accounted:
        return f"{read:,} bytes, each accounted for"
    return f"{read:,} bytes, of which {abs(read - accounted):,} are not accounted for"


def span_rows(spans: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The spans (one at least) without a silence of more than five minutes, each with the silence that follows it."""
    after = [f"then silent for {_silence(earlier[1], later[0])}" for earlier, later in pairwise(spans)]
    rows = [(_span(first, last), silence) for (first, last), silence in zip(spans, [*after, ""], strict=True)]
    rest = len(rows) - _SPANS
    return [*rows[:_SPANS], (f"and {rest:,} spans more", "--format json lists them all")] if rest > 0 else rows


def _facts(mark: SourceMark) -> list[tuple[str, str]]:
    rows = [
        ("kind", mark.kind),
        ("of", mark.cluster if mark.cluster != mark.source else ""),
        ("stream", mark.stream),
        ("format", mark.format),
        ("records", f"{mark.events:,}"),
        ("levels", ", ".join(f"{name} {mark.levels[name]:,}" for name in sorted(mark.levels))),
        ("from", f"{mark.first_at:%Y-%m-%d %H:%M:%S} UTC" if mark.first_at else ""),
        ("to", f"{mark.last_at:%Y-%m-%d %H:%M:%S} UTC" if mark.last_at else ""),
        ("", "" if mark.complete else "not read to its end"),
        ("problem", mark.complaint),
    ]
    if mark.kind == "audit":
        writes = f"{mark.successful_writes:,} stored, {mark.dry_runs:,} dry runs, {mark.failed_writes:,} not accepted"
        rows[5:5] = [("writes", writes), ("reads", f"{mark.reads:,}")]
    return [(name, said) for name, said in rows if said]


def _most(writers: Mapping[str, int]) -> list[tuple[str, str]]:
    ordered = sorted(writers.items(), key=lambda writer: (-writer[1], writer[0]))
    rows = [(name, f"{number:,}") for name, number in ordered[:_WRITERS]]
    rest = ordered[_WRITERS:]
    return [*rows, (f"and {len(rest):,} others", f"{sum(number for _, number in rest):,}")] if rest else rows


def _rows(out: "Console", rows: Iterable[tuple[str, str]]) -> None:
    from rich.padding import Padding
    from rich.table import Table

    table: Table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(overflow="fold", style="dim")
    table.add_column(overflow="fold")
    for name, said in rows:
        table.add_row(text(name), text(said))
    out.print(Padding(table, (0, 0, 1, 2)))


def _span(first: str, last: str) -> str:
    """`2026-11-30 07:02 – 07:13`, from minutes as marks have them."""
    begin, end = datetime.fromisoformat(first), datetime.fromisoformat(last)
    return f"{begin:%Y-%m-%d %H:%M} – {end:{'%H:%M' if begin.date() == end.date() else '%Y-%m-%d %H:%M'}}"


def _silence(earlier: str, later: str) -> str:
    silent = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    hours, minutes = divmod(silent // timedelta(minutes=1), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
