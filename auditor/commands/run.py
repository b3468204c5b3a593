"""`auditor run`: collect, correlate, report. What a nightly job calls."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import NIGHTLY, Command
from auditor.commands.collect import read_sources
from auditor.console.options import ConfigOption, QuietOption, StoreOption
from auditor.console.status import Status

if TYPE_CHECKING:
    from auditor.config import AcceptedFinding
    from auditor.model.case import Case
    from auditor.model.finding import Finding

FORMATS = ("html", "pdf", "json")


def run(
    config: ConfigOption = None,
    store: StoreOption = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the reports go.")] = Path(
        "auditor-reports"
    ),
    name: Annotated[str, typer.Option("--report", metavar="NAME", help="Which report.")] = "postmortem",
    form: Annotated[
        list[str] | None, typer.Option("--format", "-f", metavar="FORMAT", help="html, pdf, markdown, json or csv.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Collect, correlate and report; the exit status says what was found.

    0 nothing, 3 findings, 4 records were missing or could not be read, 5 no record to check (docs/exit-codes.md).
    """
    from auditor.console.computed import compute
    from auditor.console.reporting import write_reports
    from auditor.console.talk import talk
    from auditor.console.workspace import workspace

    with talk(quiet) as progress:
        place = workspace(config, store, progress)
        with place.store(create=True) as opened, opened.exclusive():
            read_sources(place, opened)
            case = compute(place, opened)
            written = write_reports(case, place.config, name, form or FORMATS, output)
    for path in written:
        typer.echo(str(path))
    raise typer.Exit(verdict(case, place.config.accepted))


def verdict(case: "Case", accepted: "tuple[AcceptedFinding, ...]" = ()) -> Status:
    """The one status that says most: findings, else what could not be checked, else clean."""
    if any(not _is_accepted(finding, accepted, case) for finding in case.findings if finding.severity != "info"):
        return Status.FINDINGS
    if not any(mark.kind in ("audit", "argocd") and mark.events for mark in case.coverage.marks):
        return Status.NOT_CHECKED
    if case.coverage.gaps or case.coverage.skipped:
        return Status.PARTLY_CHECKED
    return Status.CLEAN


def _is_accepted(finding: "Finding", accepted: "tuple[AcceptedFinding, ...]", case: "Case") -> bool:
    """An acceptance holds up to its day, measured by the end of the records: the clock is never asked."""
    moment = case.coverage.as_of.moment
    today = moment.date().isoformat() if moment else ""
    return any(
        one.ident == finding.ident
        and one.application in ("", str(finding.application))
        and one.object in ("", str(finding.object))
        and one.path in ("", finding.path)
        and (not one.expires or today <= one.expires)
        for one in accepted
    )


COMMAND = Command("run", run, NIGHTLY, 4)
