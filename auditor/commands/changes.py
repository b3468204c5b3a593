"""`auditor changes`: what was changed past the tracked branch, by whom, and what became of it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import QUESTIONS, Command
from auditor.console import options

if TYPE_CHECKING:
    from collections.abc import Sequence

CSV_COLUMNS = (
    "at", "cluster", "application", "object.group", "object.kind", "object.namespace", "object.name", "operation",
    "persisted", "actor.name", "actor.kind", "actor.acting_as", "channel", "cause", "git", "cluster_state", "fields",
    "id",
)  # fmt: skip

CAUSES = ("out-of-band", "bypass", "controller", "gitops")
"""The first two are past git: what is shown unless others are asked for."""


def changes(
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
    actor: Annotated[
        list[str] | None, typer.Option("--actor", metavar="GLOB", help="By this identity, as the record has it.")
    ] = None,
    channel: Annotated[
        list[str] | None,
        typer.Option("--channel", metavar="CHANNEL", help="By this channel, as `kubectl edit`; kubectl is any of its."),
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
    limit: options.LimitOption = None,
    form: options.TabularFormatOption = options.TabularFormat.TABLE,
    output: options.OutputOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """What was changed past the tracked branch, by whom.

    Each change says whether git has it now, and what became of it in the cluster. Options that name something may be
    repeated: any of the names will do.
    """
    from auditor.console import wire
    from auditor.console.change_list import show_changes
    from auditor.console.computed import computed
    from auditor.console.names import one_of
    from auditor.console.tables import check, say_rows
    from auditor.correlate.identity.channels import CHANNELS
    from auditor.model.verdict import CLUSTER_WORST_FIRST, GIT_WORST_FIRST
    from auditor.store import Query

    check(form, output)
    asked = Query(
        channels=_channels(one_of(channel, CHANNELS, "--channel")),
        git=one_of(git, GIT_WORST_FIRST, "--git"),
        cluster_states=one_of(cluster_state, CLUSTER_WORST_FIRST, "--cluster-state"),
        causes=_causes(cause),
        proven_only=proven,
        attempts=attempts,
    )
    with computed(config, store, quiet, as_of) as answers:
        query = answers.query(since, until, cluster, app, namespace, kind, name, limit, asked)
        query = replace(query, actors=answers.recorded(actor, "actor"))
        found, ends = answers.store.results.changes(query), answers.overview.as_of
        if form is options.TabularFormat.TABLE:
            called = "attempt" if attempts else "change"
            show_changes(found, ends, answers.times(query), answers.as_of, called=called)
        else:
            say_rows(form, output, "changes", CSV_COLUMNS, ends, map(wire.change, found))


def _channels(asked: "Sequence[str]") -> tuple[str, ...]:
    """A program stands for all its commands: nothing by `kubectl` alone would read as nothing by kubectl."""
    from auditor.correlate.identity.channels import CHANNELS

    return tuple(one for one in CHANNELS if any(one == name or one.startswith(f"{name} ") for name in asked))


def _causes(asked: list[str] | None) -> tuple[str, ...]:
    from auditor.console.names import one_of

    if not asked:
        return CAUSES[:2]
    given = one_of(asked, (*CAUSES, "all"), "--cause")
    return () if "all" in given else given


COMMAND = Command("changes", changes, QUESTIONS, 7, "auditor changes --since 2h --git not-reflected")
