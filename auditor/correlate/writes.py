"""From audit events to writes: what each request asked for, what came of it, and which fields are its actor's.

Objects are independent of each other, so each is told on its own, its requests in the API server's order, with the
state of the object carried from one to the next.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from auditor.correlate.bodies import Bodies
from auditor.correlate.drafts import Channel, Desired, Identify, Senses
from auditor.correlate.sequence import Entry, Request, Sighting, in_order, once
from auditor.correlate.story import Story
from auditor.correlate.targets import is_of_an_object, kind_names, targets
from auditor.model.case import LiveState
from auditor.model.change import Write
from auditor.model.facts import AuditEvent, ObjectSnapshot
from auditor.model.resource import JsonObject, ObjectId
from auditor.objects import kinds


@dataclass(frozen=True, slots=True)
class ObjectHistory:
    """All that the records say of one object."""

    object: ObjectId
    writes: tuple[Write, ...]
    """In the API server's order."""
    live: LiveState


def _nothing_desired(subject: ObjectId, at: datetime) -> JsonObject | None:
    return None


def histories(
    events: Iterable[AuditEvent],
    snapshots: Iterable[ObjectSnapshot],
    identify: Identify,
    channel: Channel,
    desired: Desired = _nothing_desired,
    instance_label: str = "",
) -> Iterator[ObjectHistory]:
    """The objects of these records, one after the other in the order of their identities.

    Records may come in any order and more than once. `identify` names the actor of an event; `channel` tells by what
    it was sent, given its patch type; `desired` is asked where the records hold no state before a change;
    `instance_label` is the label by which Argo CD tracks, "" where it tracks by annotation.
    """
    entries = by_object(events, snapshots)
    begins = _begins(entries)
    for subject in sorted(entries):
        story = Story(subject, Senses(identify, channel, desired, instance_label, begins.get(subject.cluster)))
        for entry in in_order(entries.pop(subject)):
            story.take(entry)
        yield ObjectHistory(subject, story.writes(), story.live())


def writes(
    events: Iterable[AuditEvent],
    snapshots: Iterable[ObjectSnapshot],
    identify: Identify,
    channel: Channel,
    desired: Desired = _nothing_desired,
    instance_label: str = "",
) -> tuple[Write, ...]:
    """All writes of these records, oldest first; see `histories`."""
    told = histories(events, snapshots, identify, channel, desired, instance_label)
    return tuple(sorted((write for history in told for write in history.writes), key=by_time))


def by_time(write: Write) -> tuple[datetime, ObjectId, int, str]:
    """A sort key: oldest first, of one moment and object in the API server's order."""
    return (write.at, write.object, write.position, write.id)


def live_states(told: Iterable[ObjectHistory]) -> dict[ObjectId, LiveState]:
    """What the cluster last had of each object."""
    return {history.object: history.live for history in told}


def by_object(events: Iterable[AuditEvent], snapshots: Iterable[ObjectSnapshot]) -> dict[ObjectId, list[Entry]]:
    """The entries of each object, in no particular order."""
    requests = once(event for event in events if is_of_an_object(event))
    names = kind_names(requests)
    entries: dict[ObjectId, list[Entry]] = {}
    for event in requests:
        bodies = Bodies(event)
        for target in targets(event, names):
            entries.setdefault(target.object, []).append(Request(event, bodies, target.position))
    for snapshot in snapshots:
        entries.setdefault(_shown(snapshot), []).append(Sighting(snapshot))
    return entries


def _begins(entries: Mapping[ObjectId, list[Entry]]) -> dict[str, datetime]:
    """By cluster, the time of the first audit event."""
    begins: dict[str, datetime] = {}
    for subject, told in entries.items():
        times = [entry.event.at for entry in told if isinstance(entry, Request)]
        if times:
            begins[subject.cluster] = min(begins.get(subject.cluster, times[0]), *times)
    return begins


def _shown(snapshot: ObjectSnapshot) -> ObjectId:
    group = kinds.canonical_group(snapshot.group, snapshot.kind)
    return ObjectId(snapshot.cluster, group, snapshot.kind, snapshot.namespace, snapshot.name)
