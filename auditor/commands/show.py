"""`auditor show ID`: one change with its evidence."""

from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import QUESTIONS, Command
from auditor.console import options
from auditor.errors import NotFoundError

if TYPE_CHECKING:
    from auditor.model.facts import AuditEvent
    from auditor.model.resource import JsonObject
    from auditor.store import Recorded, Store

_LISTED = 8
"""Changes that are listed where several may be meant."""


def show(
    change: Annotated[str, typer.Argument(metavar="ID", help="A change's id or its audit ID, or how one begins.")],
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
        found = _found(answers.store, change)
        records = _records(answers.store, found)
        if output is options.Format.JSON:
            rows: list[JsonObject] = [{**wire.change(found), "records": [*map(record_entry, records)]}]
            say_json("auditor/show/1", wire.as_of(answers.overview.as_of), "changes", rows)
        else:
            _print(found, records)


def _found(store: "Store", wanted: str) -> "Recorded":
    """The one write whose id, or whose record's audit ID, begins so. Raises `NotFoundError` for none or several."""
    found = store.results.recorded(wanted, _LISTED + 1) or store.results.of_audit_id(wanted, _LISTED + 1)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFoundError(
            f"No change has an id or an audit ID that begins with {wanted!r}.",
            "`auditor changes` lists them; numbers of a report's evidence are its own.",
        )
    listed = [f"{one.write.id[:12]}  {one.write.at:%Y-%m-%d %H:%M:%S} UTC  {one.write.object}" for one in found]
    more = ["and more"] if len(found) > _LISTED else []
    raise NotFoundError(
        f"More than one change has an id or an audit ID that begins with {wanted!r}.",
        "\n".join(["There are:", *listed[:_LISTED], *more]),
    )


def record_entry(event: "AuditEvent") -> "JsonObject":
    """The redacted record as JSON: what the API server wrote, as far as it is kept."""
    import msgspec

    entry: JsonObject = {}
    for name in type(event).__struct_fields__:
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
    from rich.text import Text

    from auditor.console.answer import console
    from auditor.console.change_list import change_lines, explanation
    from auditor.console.json_text import escaped

    out = console()
    for line in (*change_lines(found, date=True), *explanation(found)):
        out.print(line)
    for record in records:
        out.print()
        shown = msgspec.json.format(msgspec.json.encode(record_entry(record)), indent=2).decode()
        out.print(Text(escaped(shown), "dim"), soft_wrap=True)


COMMAND = Command("show", show, QUESTIONS, 13, "auditor show 5f0e794c")
