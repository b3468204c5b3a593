"""From writes to changes: those that altered an object, each with its owner and its command.

Most requests in an audit log are controllers' on objects that no person and no GitOps tool ever touches: `relevant`
leaves those out before anything is rebuilt.
"""

from collections.abc import Callable, Iterable, Iterator

from auditor.correlate.commands_sent import commands
from auditor.correlate.drafts import Channel, Identify, cause_of
from auditor.correlate.targets import KindNames, Place, is_of_an_object, targets
from auditor.model.change import AppKey, Change, Write
from auditor.model.facts import AuditEvent
from auditor.model.resource import ObjectId

Owners = Callable[[Write], tuple[tuple[AppKey, ...], str]]
"""The applications that claim the object of a write, as of the write, and by what that is known."""

Events = Callable[[], Iterable[AuditEvent]]
"""Reads all events from the start each time it is called."""


def is_change(write: Write) -> bool:
    """Whether a write altered its object, or may have."""
    return write.outcome in ("changed", "unproven")


def changes(writes: Iterable[Write], owners: Owners) -> tuple[Change, ...]:
    """The changes among these writes; writes come oldest first, and so do the changes."""
    altering = [write for write in writes if is_change(write)]
    sent = commands(altering)
    return tuple(_placed(write, sent[write.id], owners) for write in altering)


def _placed(write: Write, command: str, owners: Owners) -> Change:
    owned_by, known_by = owners(write)
    return Change(write, command, owned_by[0] if owned_by else None, owned_by, known_by if owned_by else "")


def relevant(
    events: Events, identify: Identify, channel: Channel, managed: Callable[[ObjectId], bool]
) -> Iterator[AuditEvent]:
    """The events on objects that somebody else than a controller wrote, or that are managed.

    Reads the events twice, and keeps no more than the names of objects.
    """
    names, touched = KindNames(), dict[Place, bool]()
    for event in events():
        if is_of_an_object(event):
            names.learn(event)
            by_controller = cause_of(identify(event), channel(event, "unknown")) == "controller"
            for target in targets(event):
                touched[target.place] = touched.get(target.place, False) or not by_controller
    wanted = {place for place, by_others in touched.items() if by_others or managed(names.object(place))}
    for event in events():
        if is_of_an_object(event) and any(target.place in wanted for target in targets(event)):
            yield event
