"""`auditor prune`: lets old records go, and keeps what a statement rests on."""

from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import CARE, Command
from auditor.console import options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from auditor.store import Pruned


def prune(
    keep: Annotated[
        str,
        typer.Option("--keep", metavar="TIME", help="What is not older stays: 30d before the records end, or a day."),
    ],
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Let old records go that no statement rests on.

    What a change past git, a finding or an episode is about keeps its whole history, and every other object that is
    still there its last known state. Git, announcements and what was read of each source stay.
    """
    from auditor.console.cited import cited
    from auditor.console.computed import compute, correlated
    from auditor.console.moment import moment
    from auditor.console.talk import talk
    from auditor.console.workspace import workspace
    from auditor.model.case import Scope

    with talk(quiet) as progress:
        place = workspace(config, store, progress)
        with place.store() as opened, opened.exclusive():
            size, case = opened.size(), correlated(place, opened, Scope())
            before = moment(keep, case.coverage.as_of.moment, place.config.report.zone, progress.note)
            assert before is not None
            counted = opened.prune(before, cited(case, opened.nights.shown()), dry_run=dry_run)
            if not dry_run and any(one.gone for one in counted):
                compute(place, opened)
                opened.compact()
            sizes = (size, opened.size())
    show_pruned(counted, before, sizes, dry_run=dry_run)


def show_pruned(counted: "Sequence[Pruned]", before: "datetime", sizes: tuple[int, int], *, dry_run: bool) -> None:
    """A line a kind of record: what goes, and what stays though it is as old."""
    from auditor.console.answer import Column, console, say_table, text

    out = console()
    out.print(text(f"Records before {before:%Y-%m-%d %H:%M:%S} UTC", "bold"))
    columns = (Column(""), Column("would go" if dry_run else "gone", number=True), Column("stay", number=True))
    say_table(out, columns, [[text(one.name), text(f"{one.gone:,}"), text(f"{one.stayed:,}")] for one in counted])
    out.print(text("What stays is what changes past git, findings and episodes rest on, and last known states."))
    out.print(text("Git, announcements, settings and what was read of each source stay too.", "dim"))
    if dry_run:
        out.print(text(f"Nothing was changed. The store has {_megabytes(sizes[0])}."))
    elif any(one.gone for one in counted):
        out.print(text(f"The store had {_megabytes(sizes[0])} and has {_megabytes(sizes[1])}."))
    else:
        out.print(text("There was nothing to let go."))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


COMMAND = Command("prune", prune, CARE, 17, "auditor prune --keep 30d")
