"""From writes to changes: those that altered an object, each with its owner and its command."""

from collections.abc import Callable, Iterable

from auditor.correlate.writes.commands_sent import commands
from auditor.model.change import AppKey, Change, Write

Owners = Callable[[Write], tuple[tuple[AppKey, ...], str]]
"""The applications that claim the object of a write, as of the write, and by what that is known."""


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
