"""`auditor collect`: reads what is new into the store."""

import os
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import NIGHTLY, Command
from auditor.console import options
from auditor.console.status import Status
from auditor.console.workspace import Workspace

if TYPE_CHECKING:
    from auditor.store import Store

WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", min=1, help="Processes that read a large audit log (default: one a processor, to 4)."
    ),
]


@dataclass(frozen=True, slots=True)
class Collected:
    """What one run of the collectors brought."""

    added: int
    """Facts that the store did not have."""
    unread: int
    """Sources that could not be read at all."""


def collect(
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Do not open audit logs whose names say that all in them is older; times as those of the questions.",
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Nor those whose names say that all is later.")
    ] = None,
    workers: WorkersOption = None,
    exit_status: options.ExitStatusOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Read what is new in the configured sources into the store.

    What can be read is read whatever happens to the rest; exit status 11 says that a source could not be. Dates in
    names are those of folders (2026/11/30/, dt=2026-11-30) and of rotated files (audit-2026-11-30T05-31-00.000.log),
    with a margin for zones and late deliveries. A log without a date is always opened, and one that was left out is
    read by a later run without the option.
    """
    from auditor.console.computed import moment_within
    from auditor.console.talk import talk
    from auditor.console.workspace import workspace

    with talk(quiet) as progress:
        place = workspace(config, store, progress)
        with place.store(create=True) as opened, opened.exclusive():
            bounds = moment_within(place, opened, since), moment_within(place, opened, until)
            collected = read_sources(place, opened, workers, *bounds)
        progress.note(f"{collected.added} new records." if collected.added else "Nothing new.")
    if collected.unread:
        raise typer.Exit(Status.SOURCE)
    if exit_status and not collected.added:
        raise typer.Exit(Status.NOTHING_NEW)


def read_sources(
    place: Workspace,
    store: "Store",
    workers: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Collected:
    """Run all collectors. A source that cannot be read is told, and keeps no other from being read.

    Audit logs whose names show that they hold nothing from `since` to `until` are not opened.
    """
    from auditor import registry
    from auditor.collectors import Reading
    from auditor.console.renamed import refuse_another_name
    from auditor.console.sample import shipped_caches

    refuse_another_name(place.config, store.marks())
    reading = Reading(
        place.config,
        place.redactor(),
        store.marks,
        place.cache(),
        place.progress,
        shipped=shipped_caches(),
        since=since,
        until=until,
        workers=workers or _processors(),
        applications=store.application_snapshots,
    )
    added, unread = 0, set[tuple[str, str, str]]()
    for collector in registry.collectors():
        for batch in collector.collect(reading):
            added += store.write(batch).facts
            if batch.mark.problem:
                unread.add((batch.mark.kind, batch.mark.cluster, batch.mark.source))
                place.progress.note(batch.mark.complaint)
    for mark in store.marks():
        if mark.problem and not mark.position and (mark.kind, mark.cluster, mark.source) not in unread:
            store.withdraw(mark)  # what was not there is there by now, under the names of its files, or is not wanted
    return Collected(added, len(unread))


def _processors() -> int:
    """How many this process may use, at most four: what the store takes in is less than four workers find."""
    allowed = getattr(os, "sched_getaffinity", None)
    return min(len(allowed(0)) if allowed else os.cpu_count() or 1, 4)


COMMAND = Command("collect", collect, NIGHTLY, 3, "auditor collect --config records/auditor.toml")
