"""`auditor findings`: what the detectors concluded, and what to do about it."""

from dataclasses import replace
from itertools import takewhile
from typing import Annotated

import typer

from auditor.commands import QUESTIONS, Command
from auditor.console import options
from auditor.console.status import Status

CSV_COLUMNS = (
    "ident", "severity", "confidence", "application", "cluster", "object.kind", "object.namespace", "object.name",
    "path", "first_at", "last_at", "count", "message", "remedy", "id",
)  # fmt: skip


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
        list[str] | None,
        typer.Option("--ident", "--rule", metavar="IDENT", help="Of this rule, as out-of-band-change."),
    ] = None,
    severity: Annotated[
        options.Severity,
        typer.Option("--severity", metavar="SEVERITY", help="Of this severity or worse: info, low, medium or high."),
    ] = options.Severity.INFO,
    limit: options.LimitOption = None,
    form: options.TabularFormatOption = options.TabularFormat.TABLE,
    output: options.OutputOption = None,
    exit_status: options.ExitStatusOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """What the rules conclude from the records, and what to do.

    Options that name something may be repeated: any of the names will do. In the table, the bare fact that a change was
    made past git stands with the finding that says more of it.
    """
    from auditor.console import wire
    from auditor.console.computed import computed
    from auditor.console.finding_list import show_findings
    from auditor.console.tables import check, say_rows

    check(form, output)
    idents = _idents(ident)
    with computed(config, store, quiet, as_of) as answers:
        query = answers.query(since, until, cluster, app, namespace, kind, name, limit)
        ordered = answers.store.results.findings(replace(query, idents=idents))
        # the worst come first, so that a limit on them is one on what is left of them too
        found = list(takewhile(lambda one: one.severity in severity.and_worse, ordered))
        if form is options.TabularFormat.TABLE:
            show_findings(found, answers.times(query))
        else:
            say_rows(form, output, "findings", CSV_COLUMNS, answers.overview.as_of, map(wire.finding, found))
        unread = answers.outside(query)
    if exit_status and (found or unread):
        raise typer.Exit(Status.FINDINGS if found else Status.NOT_CHECKED)


def _idents(asked: list[str] | None) -> tuple[str, ...]:
    from auditor import registry
    from auditor.console.names import one_of

    return one_of(asked, [detector.ident for detector in registry.detectors()], "--ident") if asked else ()


COMMAND = Command("findings", findings, QUESTIONS, 10, "auditor findings --severity medium --app shop-prod")
