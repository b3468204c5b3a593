"""`auditor collect`: reads what is new into the store."""

from typing import TYPE_CHECKING

import typer

from auditor.commands import NIGHTLY, Command
from auditor.console.options import ConfigOption, ExitStatusOption, QuietOption, StoreOption
from auditor.console.status import Status
from auditor.console.workspace import Workspace

if TYPE_CHECKING:
    from auditor.store import Store


def collect(
    config: ConfigOption = None,
    store: StoreOption = None,
    exit_status: ExitStatusOption = False,
    quiet: QuietOption = False,
) -> None:
    """Read what is new in the configured sources into the store."""
    from auditor.console.talk import talk
    from auditor.console.workspace import workspace

    with talk(quiet) as progress:
        place = workspace(config, store, progress)
        with place.store(create=True) as opened, opened.exclusive():
            added = read_sources(place, opened)
            problems = [mark for mark in opened.marks() if mark.problem]
        progress.note(f"{added} new records." if added else "Nothing new.")
    if exit_status:
        raise typer.Exit(Status.PARTLY_CHECKED if problems else Status.CLEAN if added else Status.NOTHING_NEW)


def read_sources(place: Workspace, store: "Store") -> int:
    """Run all collectors; how many facts they brought. A source that cannot be read is told, and keeps no other."""
    from auditor import registry
    from auditor.collectors import Reading
    from auditor.console.sample import shipped_caches

    reading = Reading(
        place.config, place.redactor(), store.marks, place.cache(), place.progress, shipped=shipped_caches()
    )
    added = 0
    for collector in registry.collectors():
        for batch in collector.collect(reading):
            added += store.write(batch).facts
            if batch.mark.problem:
                place.progress.note(f"{batch.mark.source}: {batch.mark.problem}")
    return added


COMMAND = Command("collect", collect, NIGHTLY, 3)
