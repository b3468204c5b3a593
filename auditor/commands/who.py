"""`auditor who OBJECT`: who set what on one object."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import QUESTIONS, Command
from auditor.console import options
from auditor.errors import NotFoundError

if TYPE_CHECKING:
    from auditor.console.object_name import Named
    from auditor.model.resource import JsonObject, ObjectId, Path
    from auditor.store import Recorded, Results


SHOWN = 50
"""Writes to an object that a table has: an autoscaler's objects have thousands."""


def who(
    wanted: Annotated[
        list[str],
        typer.Argument(
            metavar="OBJECT",
            help="deployment/web, shop-prod/deployment/web, web for any kind, or as answers print it: Deployment"
            " shop-prod/web.",
        ),
    ],
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    cluster: options.ClusterOption = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", metavar="NAME", help="The object's namespace.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Also how each answer is known.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            min=1,
            help=f"At most so many writes to an object, the latest [default: {SHOWN} in a table, else all].",
        ),
    ] = None,
    output: options.FormatOption = options.Format.TABLE,
    quiet: options.QuietOption = False,
) -> None:
    """Who set what on one object, and when."""
    from auditor.console import wire
    from auditor.console.answer import say_csv, say_json
    from auditor.console.computed import computed
    from auditor.console.object_name import like_it, readings

    written = " ".join(wanted)
    named = readings(written, namespace)
    with computed(config, store, quiet) as answers:
        found = _written_to(answers.store.results, named, answers.recorded(cluster, "cluster"))
        rows = [row for thing in _objects(found) for row in last_writers(thing, found)]
        if output is options.Format.JSON:
            fields: list[JsonObject] = [{**row} for row in rows]
            as_of = wire.as_of(answers.overview.as_of)
            shown = found if limit is None else _latest(found, limit)
            say_json("auditor/who/1", as_of, "changes", map(wire.change, shown), fields=list(fields))
        elif output is options.Format.CSV:
            say_csv(("cluster", "object.kind", "object.namespace", "object.name", *_COLUMNS), rows)
        else:
            _show(found, explain, limit or SHOWN)
        if not found:
            place = f" in {namespace}" if namespace else ""
            hint = like_it(named[0].name, answers.records.names.all("object"))
            raise NotFoundError(f"No write to {written}{place} is recorded.", hint)


_COLUMNS = ("path", "value", "state", "actor", "channel", "at", "change")


def _written_to(results: "Results", named: "Sequence[Named]", clusters: "Sequence[str]") -> "list[Recorded]":
    """Of the ways to understand a name, what was written to the first that the records have."""
    for one in named:
        found = [
            recorded
            for recorded in results.of_object(one.kinds, one.namespace, one.name)
            if not clusters or recorded.write.object.cluster in clusters
        ]
        if found:
            return found
    return []


def last_writers(thing: "ObjectId", found: "Sequence[Recorded]") -> "list[JsonObject]":
    """For each field that a change of the object named: the last one, whose it is and what it left."""
    from auditor.console import wire
    from auditor.objects.paths import text as path_text

    last: dict[Path, JsonObject] = {}
    for one in found:
        if one.write.object != thing or one.change is None:
            continue
        for field in one.write.fields:
            last[field.path] = {
                "cluster": thing.cluster,
                "object": wire.thing(thing),
                "path": path_text(field.path),
                "value": field.after.value,
                "state": field.after.state,
                "actor": one.write.actor.name,
                "channel": one.write.channel,
                "at": wire.time(one.write.at),
                "change": one.write.id,
            }
    return sorted(last.values(), key=lambda row: str(row["path"]))


def _objects(found: "Sequence[Recorded]") -> "list[ObjectId]":
    return sorted({one.write.object for one in found})


def _latest(found: "Sequence[Recorded]", limit: int) -> "list[Recorded]":
    """So many of each object, oldest first."""
    left = dict.fromkeys(_objects(found), limit)
    kept: list[Recorded] = []
    for one in reversed(found):
        if left[one.write.object] > 0:
            left[one.write.object] -= 1
            kept.append(one)
    return kept[::-1]


def _show(found: "Sequence[Recorded]", explain: bool, limit: int) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from auditor.console.answer import console, text
    from auditor.console.change_list import change_lines, explanation

    out = console()
    for thing in _objects(found):
        out.print(text(f"{thing} in {thing.cluster}", "bold"))
        for row in last_writers(thing, found):
            out.print(Padding(Text.assemble(text(row["path"], "bold"), " = ", text(_shown(row))), (0, 0, 0, 2)))
            said = f"{row['actor'] or 'nobody named'}, {row['channel']}, {_seconds(str(row['at']))}"
            out.print(Padding(text(said, "cyan"), (0, 0, 0, 4)))
        out.print()
        mine = [one for one in found if one.write.object == thing]
        if len(mine) > limit:
            more = f"{len(mine) - limit} earlier {'write is' if len(mine) - limit == 1 else 'writes are'} not shown"
            out.print(text(f"  {more}: --limit {len(mine)} has all.", "dim"))
        for one in mine[-limit:]:
            for line in change_lines(one, date=True):
                out.print(line)
            for line in explanation(one) if explain else ():
                out.print(line)
        out.print()


def _shown(row: "JsonObject") -> str:
    from auditor.console.change_list import value_words
    from auditor.model.resource import Leaf

    state = row["state"]
    return (
        value_words(Leaf("value", row["value"]) if state == "value" else Leaf("absent"))
        if state != "unknown"
        else "unknown"
    )


def _seconds(at: str) -> str:
    """`2026-11-30 07:00:40 UTC` of a time as JSON has it."""
    return f"{at[:19].replace('T', ' ')} UTC"


COMMAND = Command("who", who, QUESTIONS, 8, "auditor who shop-prod/deployment/api --explain")
