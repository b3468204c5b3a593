"""`auditor changes`: what was changed past the tracked branch, by whom, and what became of it."""

from typing import Annotated

import typer

from auditor.commands import QUESTIONS, Command
from auditor.console.options import (
    AppOption,
    AsOfOption,
    ClusterOption,
    ConfigOption,
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

CSV_COLUMNS = (
    "at", "cluster", "application", "object.group", "object.kind", "object.namespace", "object.name", "operation",
    "persisted", "actor.name", "actor.kind", "actor.acting_as", "channel", "cause", "git", "cluster_state", "fields",
    "id",
)  # fmt: skip


def changes(
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
    actor: Annotated[
        list[str] | None, typer.Option("--actor", metavar="NAME", help="By this identity, as the record has it.")
    ] = None,
    channel: Annotated[
        list[str] | None, typer.Option("--channel", metavar="CHANNEL", help="By this channel, as `kubectl edit`.")
    ] = None,
    git: Annotated[
        list[str] | None, typer.Option("--git", metavar="VERDICT", help="With this git verdict, as not-reflected.")
    ] = None,
    cluster_state: Annotated[
        list[str] | None,
        typer.Option("--cluster-state", metavar="VERDICT", help="With this cluster verdict, as standing."),
    ] = None,
    cause: Annotated[
        list[str] | None,
        typer.Option(
            "--cause",
            metavar="CAUSE",
            help="out-of-band, bypass, controller, gitops or all [default: the first two].",
        ),
    ] = None,
    proven: Annotated[bool, typer.Option("--proven", help="Leave out what the records cannot prove.")] = False,
    attempts: Annotated[bool, typer.Option("--attempts", help="What was refused or failed, instead.")] = False,
    limit: LimitOption = None,
    form: TabularFormatOption = TabularFormat.TABLE,
    output: OutputOption = None,
    quiet: QuietOption = False,
) -> None:
    """What was changed past the tracked branch, by whom.

    Each change says whether git has it now, and what became of it in the cluster. Options that name something may be
    repeated: any of the names will do.
    """
    from auditor.console import wire
    from auditor.console.answer import say_csv, say_json
    from auditor.console.change_list import show_changes
    from auditor.console.computed import computed
    from auditor.console.tables import check, put_table
    from auditor.store import Query

    check(form, output)
    with computed(config, store, quiet, as_of) as answers:
        ends, zone = answers.overview.as_of, answers.config.report.zone
        query = Query(
            since=moment(since, answers.end, zone),
            until=moment(until, answers.end, zone),
            clusters=tuple(cluster or ()),
            applications=tuple(app or ()),
            namespaces=tuple(namespace or ()),
            kinds=tuple(kind or ()),
            names=tuple(name or ()),
            actors=tuple(actor or ()),
            channels=tuple(channel or ()),
            git=tuple(git or ()),
            cluster_states=tuple(cluster_state or ()),
            causes=_causes(cause),
            proven_only=proven,
            attempts=attempts,
            limit=limit,
        )
        found = answers.store.results.changes(query)
        if form is TabularFormat.TABLE:
            show_changes(found, ends)
        elif form is TabularFormat.CSV:
            say_csv(CSV_COLUMNS, map(wire.change, found))
        elif form is TabularFormat.JSON:
            say_json("auditor/changes/1", wire.as_of(ends), "changes", map(wire.change, found))
        else:
            put_table(form, "changes", CSV_COLUMNS, map(wire.change, found), output)


def _causes(asked: list[str] | None) -> tuple[str, ...]:
    known = ("out-of-band", "bypass", "controller", "gitops")
    if not asked:
        return known[:2]
    for one in asked:
        if one not in (*known, "all"):
            raise typer.BadParameter(f"{one!r} is none of {', '.join(known)}, all.", param_hint="--cause")
    return () if "all" in asked else tuple(asked)


COMMAND = Command("changes", changes, QUESTIONS, 7, "auditor changes --since 2h --git not-reflected")
