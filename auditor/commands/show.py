"""`auditor show ID`: one change with its evidence."""

from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import QUESTIONS, Command
from auditor.console import options
from auditor.console.status import Status

if TYPE_CHECKING:
    from auditor.model.facts import AuditEvent
    from auditor.model.resource import JsonObject
    from auditor.store import Recorded, Store


def show(
    change: Annotated[str, typer.Argument(metavar="ID", help="A change's id, or how it begins.")],
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    output: options.FormatOption = options.Format.TABLE,
    quiet: options.QuietOption = False,
) -> None:
    """One change, and the records it rests on."""
    from auditor.console import wire
    from auditor.console.answer import say_json
    from auditor.console.computed import computed

    if output is options.Format.CSV:
        raise typer.BadParameter("One change is no table: use --format table or json.", param_hint="--format")
    with computed(config, store, quiet) as answers:
        found = answers.store.results.recorded(change)
        if len(found) != 1:
            typer.echo(f"auditor: {'more than one' if found else 'no'} change has an id that begins so.", err=True)
            raise typer.Exit(Status.NOT_FOUND)
        records = _records(answers.store, found[0])
        if output is options.Format.JSON:
            rows: list[JsonObject] = [{**wire.change(found[0]), "records": [*map(record_entry, records)]}]
            say_json("auditor/show/1", wire.as_of(answers.overview.as_of), "changes", rows)
        else:
            _print(found[0], records)


def record_entry(event: "AuditEvent") -> "JsonObject":
    """The redacted record as JSON: what the API server wrote, as far as it is kept."""
    import msgspec

    entry: JsonObject = {}
    for name in type(event).__slots__:
        value = getattr(event, name)
        if name in ("request", "response"):
            entry[name] = msgspec.json.decode(value) if value else None
        else:
            entry[name] = msgspec.to_builtins(value)
    return entry


def _records(store: "Store", found: "Recorded") -> "list[AuditEvent]":
    events = (store.audit_event(one.event_id) for one in found.write.evidence if one.event_id)
    return [event for event in events if event is not None]


def _print(found: "Recorded", records: "list[AuditEvent]") -> None:
    import msgspec

    from auditor.console.answer import block, console
    from auditor.console.change_list import change_lines, explanation

    out = console()
    for line in (*change_lines(found, date=True), *explanation(found)):
        out.print(line)
    for record in records:
        out.print()
        shown = msgspec.json.format(msgspec.json.encode(record_entry(record)), indent=2).decode()
        out.print(block(shown, "dim"))


COMMAND = Command("show", show, QUESTIONS, 13, "auditor show 5f0e794c")
