"""`auditor drift`: what is not as git says it now, and by what."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import QUESTIONS, Command
from auditor.console import options
from auditor.console.status import Status

if TYPE_CHECKING:
    from auditor.model.drift import DriftedField
    from auditor.model.resource import JsonObject

COLUMNS = (
    "application", "cluster", "group", "kind", "namespace", "name", "path", "desired", "live", "cause", "by", "at",
    "because", "next", "change",
)  # fmt: skip


def drift(
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    cluster: options.ClusterOption = None,
    app: options.AppOption = None,
    namespace: options.NamespaceOption = None,
    kind: options.KindOption = None,
    name: options.NameOption = None,
    cause: Annotated[
        list[str] | None,
        typer.Option("--cause", metavar="CAUSE", help="Of this cause, as 'a hand' or 'an unfinished sync'."),
    ] = None,
    limit: options.LimitOption = None,
    form: options.TabularFormatOption = options.TabularFormat.TABLE,
    output: options.OutputOption = None,
    exit_status: options.ExitStatusOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """What is not as git says it, field by field, and by what.

    A hand, a pipeline, another controller or a default, an unfinished sync; what no record tells is said to be so.
    """
    from auditor.console.computed import computed
    from auditor.console.names import one_of
    from auditor.console.tables import check, say_rows
    from auditor.model.drift import DRIFT_CAUSES

    causes = one_of(cause, DRIFT_CAUSES, "--cause")
    check(form, output)
    with computed(config, store, quiet) as answers:
        query = answers.query(cluster=cluster, app=app, namespace=namespace, kind=kind, name=name, limit=limit)
        found = list(answers.store.results.drift(query, causes))
        if form is options.TabularFormat.TABLE:
            show_drift(found, git_was_read=answers.overview.as_of.git is not None)
        else:
            say_rows(form, output, "drift", COLUMNS, answers.overview.as_of, map(entry, found))
    if exit_status and found:
        raise typer.Exit(Status.FINDINGS)


def entry(one: "DriftedField") -> "JsonObject":
    """One entry of `auditor/drift/1`."""
    from auditor.console import wire
    from auditor.objects import paths

    return {
        "application": one.application.name if one.application else None,
        "object": str(one.object),
        "cluster": one.object.cluster,
        **wire.thing(one.object),
        "path": paths.text(one.path) if one.path else None,
        "what": _what(one),
        "desired": one.desired.value if one.path and one.desired.state == "value" else None,
        "live": one.live.value if one.path and one.live.state == "value" else None,
        "desired_state": one.desired.state,
        "live_state": one.live.state,
        "cause": one.cause,
        "by": one.by or None,
        "at": wire.time(one.at),
        "because": one.because,
        "next": one.next or None,
        "change": one.change,
    }


def show_drift(found: "Iterable[DriftedField]", *, git_was_read: bool = True) -> None:
    """One group an application: the field with both values, then its cause and what happens next."""
    from rich.padding import Padding
    from rich.text import Text

    from auditor.console.answer import console, text

    out, count, above = console(), 0, ""
    for one in found:
        title = f"application {one.application}" if one.application else "no application"
        if title != above:
            out.print(text(title, "bold"))
            above = title
        out.print(Padding(text(f"{one.object}: {_what(one)}"), (0, 0, 0, 2)))
        by = f", {one.by}" if one.by else ""
        at = f", {one.at:%Y-%m-%d %H:%M:%S} UTC" if one.at else ""
        out.print(Padding(Text.assemble(text(one.cause, "yellow"), text(f"{by}{at} ({one.because})")), (0, 0, 0, 4)))
        if one.next:
            out.print(Padding(text(one.next, "dim"), (0, 0, 0, 4)))
        count += 1
    if count:
        out.print()
    out.print(text(_closing(count, git_was_read), "dim"))


def _closing(count: int, git_was_read: bool) -> str:
    if count:
        return f"{count} {'thing is' if count == 1 else 'things are'} not as git says."
    if git_was_read:
        return "Nothing that the records show differs."
    return "No git repository was read, so what differs from it cannot be told. `auditor sources` says what is missing."


def _what(one: "DriftedField") -> str:
    from auditor.console.change_list import value_words
    from auditor.objects import paths

    if not one.path:
        return "git does not declare it" if one.desired.state == "absent" else "deleted, and git declares it"
    return f"{paths.text(one.path)}: git {value_words(one.desired)}, live {value_words(one.live)}"


COMMAND = Command("drift", drift, QUESTIONS, 11, "auditor drift --app shop-prod --cause 'a hand'")
