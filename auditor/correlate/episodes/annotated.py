"""Announcements in annotations: what somebody wrote onto the object, or onto its application, while changing it.

Any prefix will do: `acme.example/break-glass: "INC-2041, pool exhausted"`. The annotation of `kubectl annotate` or of
a manifest says what; who and when are those of the write.
"""

from collections.abc import Iterable, Mapping

from auditor.model.change import Write
from auditor.model.facts import Announcement

NAMES = frozenset({"announcement", "break-glass", "break-glass-reason", "change-reason", "incident", "incident-reason"})
"""Last parts of the keys that count."""


def annotated(writes: Iterable[Write], applications: Mapping[str, str]) -> tuple[Announcement, ...]:
    """The announcements that the writes of people set, oldest first. `applications` has the application's name by
    the id of a write: the text begins with it, else with the object's name."""
    found = [
        Announcement(
            at=write.at,
            author=write.actor.name,
            author_email=write.actor.name if "@" in write.actor.name else "",
            text=f"{applications.get(write.id) or write.object.name}: {change.after.value}",
            channel=str(write.object),
            origin=origin,
        )
        for write in writes
        if write.outcome in ("changed", "unproven") and write.actor.kind in ("person", "shared-credential", "unknown")
        for change in write.fields
        if _announces(change.path) and isinstance(change.after.value, str) and change.after.value
        if (origin := write.evidence[0].origin if write.evidence else None) is not None
    ]
    return tuple(sorted(found, key=lambda announcement: (announcement.at, announcement.channel, announcement.text)))


def _announces(path: tuple[object, ...]) -> bool:
    match path:
        case ("metadata", "annotations", str(key)):
            return key.rpartition("/")[2] in NAMES
        case _:
            return False
