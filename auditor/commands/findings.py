"""`auditor findings`: what the detectors concluded, and what to do about it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import QUESTIONS, Command
from auditor.console import options
from auditor.console.status import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from auditor.model.finding import Finding

CSV_COLUMNS = (
    "ident", "severity", "confidence", "application", "cluster", "object.kind", "object.namespace", "object.name",
    "path", "first_at", "last_at", "count", "message", "remedy", "id",
)  # fmt: skip
SEVERITY_STYLES = {"high": "bold yellow", "medium": "yellow", "low": "", "info": "dim"}


def findings(
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    since: options.SinceOption = None,
    until: options.UntilOption = None,
    as_of: options.AsOfOption = None,
    cluster: options.ClusterOption = None,
    app: options.AppOption = None,
    namespace: options.NamespaceOption = None,
    kind: options.KindOption = None,
    name: options.NameOption = None,
    ident: Annotated[
        list[str] | None, typer.Option("--ident", metavar="IDENT", help="Of this rule, as out-of-band-change.")
    ] = None,
    limit: options.LimitOption = None,
    form: options.TabularFormatOption = options.TabularFormat.TABLE,
    output: options.OutputOption = None,
    exit_status: options.ExitStatusOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """What the rules conclude from the records, and what to do.

    Options that name something may be repeated: any of the names will do.
    """
    from auditor.console import wire
    from auditor.console.computed import computed
    from auditor.console.tables import check, say_rows

    check(form, output)
    with computed(config, store, quiet, as_of) as answers:
        query = answers.query(since, until, cluster, app, namespace, kind, name, limit)
        found = list(answers.store.results.findings(replace(query, idents=tuple(ident or ()))))
        if form is options.TabularFormat.TABLE:
            show_findings(found, answers.times(query))
        else:
            say_rows(form, output, "findings", CSV_COLUMNS, answers.overview.as_of, map(wire.finding, found))
    if exit_status and found:
        raise typer.Exit(Status.FINDINGS)


def show_findings(found: "Iterable[Finding]", times: str) -> None:
    """Each with its message, its remedy and the block to paste."""
    from rich.padding import Padding
    from rich.text import Text

    from auditor.console.answer import block, console, tally, text

    out, count = console(), 0
    for finding in found:
        style = SEVERITY_STYLES[finding.severity]
        place = f"application {finding.application}" if finding.application else ""
        out.print(Text.assemble(text(f"{finding.severity:<7}", style), text(finding.ident, "bold"), "  ", text(place)))
        out.print(Padding(text(finding.message), (0, 0, 0, 7)))
        if finding.remedy:
            out.print(Padding(text(finding.remedy, "cyan"), (0, 0, 0, 7)))
        if finding.snippet:
            out.print(Padding(block(finding.snippet, "dim"), (0, 0, 0, 9)))
        out.print()
        count += 1
    out.print(text(tally(count, "finding", "findings", times), "dim"))


COMMAND = Command("findings", findings, QUESTIONS, 10, "auditor findings --ident sync-loop --format json")
