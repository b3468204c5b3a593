"""`auditor run`: collect, correlate, report, and say what is new. What a nightly job calls."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import NIGHTLY, Command
from auditor.commands.collect import read_sources
from auditor.console import options
from auditor.console.status import Status

if TYPE_CHECKING:
    from rich.console import RenderableType

    from auditor.config import Config
    from auditor.console.reporting import WrittenReports
    from auditor.console.told import Asked
    from auditor.console.workspace import Workspace
    from auditor.errors import DeliveryError
    from auditor.model.case import Case
    from auditor.model.night import Night, NightEntry
    from auditor.nightly.night import Bounds
    from auditor.nightly.outcome import Outcome
    from auditor.progress import Progress
    from auditor.store import Store

FORMATS = ("html", "pdf", "json")
NOTHING_NEWER = "No record is newer than those of an earlier run: what is new is what was new then."


def run(
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the reports go.")] = Path(
        "auditor-reports"
    ),
    name: Annotated[str, typer.Option("--report", metavar="NAME", help="Which report.")] = "postmortem",
    form: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="html, pdf, markdown, json or csv; may be repeated [default: html, pdf and json].",
        ),
    ] = None,
    fail_on: Annotated[
        options.Severity,
        typer.Option("--fail-on", metavar="SEVERITY", help="info, low, medium or high: what is a reason for status 3."),
    ] = options.Severity.LOW,
    app: options.OnlyAppOption = None,
    cluster: options.OnlyClusterOption = None,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Take all that is open now as known: for the first run.")
    ] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Collect, correlate and report; the exit status says what is new.

    3 new findings, 6 nothing new, 4 a source failed or came late, 5 no record to check, 0 nothing found
    (docs/exit-codes.md). New is what no run with an earlier end of records has shown.
    """
    from auditor.console.reporting import renderer_for, report_named
    from auditor.console.talk import talk
    from auditor.console.told import Asked, told_before
    from auditor.console.workspace import workspace
    from auditor.nightly.night import Bounds
    from auditor.nightly.outcome import outcome

    asked = Asked(name, tuple(form or FORMATS), output, Bounds(tuple(app or ()), tuple(cluster or ())))
    for one in asked.forms:
        renderer_for(report_named(asked.report), one)
    with talk(quiet) as progress:
        place = workspace(config, store, progress)
        with place.store(create=True) as opened, opened.exclusive():
            read_sources(place, opened)
            before = None if baseline else told_before(place, opened, asked)
            if before:
                progress.note(NOTHING_NEWER)
            night, written = before or _anew(place, opened, asked, baseline)
        undelivered = _deliver(night, place.config, progress)
    show_night(night)
    for path in written.paths:
        typer.echo(str(path))
    for problem in filter(None, (written.problem, undelivered)):
        raise problem
    raise typer.Exit(status(outcome(night, fail_on.value)))


def _anew(place: "Workspace", store: "Store", asked: "Asked", baseline: bool) -> "tuple[Night, WrittenReports]":
    from auditor.console.computed import compute
    from auditor.console.names import check
    from auditor.console.reporting import write_reports
    from auditor.console.told import tell

    case = compute(place, store)
    check(asked.bounds, case)
    if store.nights.has(case.coverage.as_of.moment):
        place.progress.note(NOTHING_NEWER)
    written = write_reports(case, place.config, asked.report, asked.forms, asked.folder)
    night = tonight(store, case, place.config, asked.bounds, baseline)
    if not (baseline or written.problem):
        tell(place, store, asked, night, written.paths)
    return night, written


def tonight(store: "Store", case: "Case", config: "Config", bounds: "Bounds", baseline: bool = False) -> "Night":
    """The night of a case, compared with what the store remembers of earlier runs, and remembered."""
    from auditor.nightly.night import compare, remembered

    shown = tuple(store.nights.shown())
    before = store.nights.before(case.coverage.as_of.moment)
    night = compare(case, shown, before, config.accepted, bounds)
    store.nights.save(night.as_of, remembered(night, shown, baseline=baseline))
    if baseline:
        taken = compare(case, tuple(store.nights.shown()), before, config.accepted, bounds)
        return replace(taken, baseline=True)
    return night


def _deliver(night: "Night", config: "Config", progress: "Progress") -> "DeliveryError | None":
    """Post the night where a webhook is configured. What keeps it from being posted keeps it not from being shown."""
    from auditor.commands.notify import deliver
    from auditor.errors import DeliveryError

    try:
        deliver(night, config, progress)
    except DeliveryError as error:
        return error
    return None


def status(said: "Outcome") -> Status:
    """The exit status of an outcome."""
    return Status[said.upper().replace("-", "_")]


def show_night(night: "Night") -> None:
    """One group an application, what is new first."""
    from rich.padding import Padding

    from auditor.console.answer import console, text
    from auditor.nightly.digest import groups, heading, left_out, remarks

    out = console()
    out.print(text(heading(night), "bold"))
    for group in groups(night):
        out.print()
        out.print(text(group.title, "bold"))
        for entry in group.entries:
            for line in _lines(entry):
                out.print(line)
        for sentence in left_out(group):
            out.print(Padding(text(sentence, "dim"), (0, 0, 0, 2)))
    out.print()
    for sentence in remarks(night):
        out.print(text(sentence, "yellow"))


def _lines(entry: "NightEntry") -> "list[RenderableType]":
    from rich.padding import Padding
    from rich.text import Text

    from auditor.console.answer import text
    from auditor.nightly.digest import details

    finding = entry.finding
    style = "bold yellow" if entry.state == "new" else "dim"
    head = Text.assemble(text(f"{entry.state:<12}", style), text(f"{finding.severity:<7}"), text(finding.ident, "bold"))
    return [
        Padding(head, (0, 0, 0, 2)),
        Padding(text(finding.message), (0, 0, 0, 14)),
        *(Padding(text(sentence, "cyan"), (0, 0, 0, 14)) for sentence in details(entry)),
    ]


COMMAND = Command("run", run, NIGHTLY, 4, "auditor run --output nightly")
