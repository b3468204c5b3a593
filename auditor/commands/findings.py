"""`auditor findings`: what the detectors concluded, and what to do about it."""

from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import QUESTIONS, Command
from auditor.console.options import (
    AppOption,
    AsOfOption,
    ClusterOption,
    ConfigOption,
    ExitStatusOption,
    KindOption,
    LimitOption,
    NameOption,
    NamespaceOption,
    OutputOption,
    QuietOption,
    SinceOption,
    StoreOption,
    TabularFormat,
    TabularFormatOption,
    UntilOption,
    moment,
)
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
    config: ConfigOption = None,
    store: StoreOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    as_of: AsOfOption = None,
    cluster: ClusterOption = None,
    app: AppOption = None,
    namespace: NamespaceOption = None,
    kind: KindOption = None,
    name: NameOption = None,
    ident: Annotated[
        list[str] | None, typer.Option("--ident", metavar="IDENT", help="Of this rule, as out-of-band-change.")
    ] = None,
    limit: LimitOption = None,
    form: TabularFormatOption = TabularFormat.TABLE,
    output: OutputOption = None,
    exit_status: ExitStatusOption = False,
    quiet: QuietOption = False,
) -> None:
    """What the rules conclude from the records, and what to do.

    Options that name something may be repeated: any of the names will do.
    """
    from auditor.console import wire
    from auditor.console.answer import say_csv, say_json
    from auditor.console.computed import computed
    from auditor.console.tables import check, put_table
    from auditor.store import Query

    check(form, output)
    with computed(config, store, quiet, as_of) as answers:
        zone = answers.config.report.zone
        query = Query(
            since=moment(since, answers.end, zone),
            until=moment(until, answers.end, zone),
            clusters=tuple(cluster or ()),
            applications=tuple(app or ()),
            namespaces=tuple(namespace or ()),
            kinds=tuple(kind or ()),
            names=tuple(name or ()),
            idents=tuple(ident or ()),
            limit=limit,
        )
        found = list(answers.store.results.findings(query))
        if form is TabularFormat.TABLE:
            show_findings(found)
        elif form is TabularFormat.CSV:
            say_csv(CSV_COLUMNS, map(wire.finding, found))
        elif form is TabularFormat.JSON:
            say_json("auditor/findings/1", wire.as_of(answers.overview.as_of), "findings", map(wire.finding, found))
        else:
            put_table(form, "findings", CSV_COLUMNS, map(wire.finding, found), output)
    if exit_status and found:
        raise typer.Exit(Status.FINDINGS)


def show_findings(found: "Iterable[Finding]") -> None:
    """Each with its message, its remedy and the block to paste."""
    from rich.padding import Padding
    from rich.text import Text

    from auditor.console.answer import block, console, text

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
    out.print(text(f"{count or 'No'} finding{'' if count == 1 else 's'}.", "dim"))


COMMAND = Command("findings", findings, QUESTIONS, 10, "auditor findings --ident sync-loop --format json")
