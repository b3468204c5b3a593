"""From audit events to writes: what each request asked for, what came of it, and which fields are its actor's.

Objects are independent of each other, so each is told on its own, its requests in the API server's order, with the
state of the object carried from one to the next.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from auditor.correlate.drafts import Channel, Desired, Identify, Senses
from auditor.correlate.packed import Packed, pack
from auditor.correlate.sequence import Sighting, in_order, once, once_by
from auditor.correlate.story import Story
from auditor.correlate.targets import KindNames, Place, is_of_an_object, targets
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
            story.take(entry if isinstance(entry, Sighting) else entry.opened())
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


def by_object(
    events: Iterable[AuditEvent], snapshots: Iterable[ObjectSnapshot]
) -> dict[ObjectId, list[Packed | Sighting]]:
    """The entries of each object, in no particular order, their bodies packed until it is their turn."""
    names = KindNames()
    told: dict[Place, list[Packed]] = {}
    for event in _objects_once(events):
        names.learn(event)
        for target in targets(event):
            told.setdefault(target.place, []).append(pack(event, target.item))
    entries: dict[ObjectId, list[Packed | Sighting]] = {}
    for place, requests in told.items():
        entries.setdefault(names.object(place), []).extend(_once(requests))
    for snapshot in snapshots:
        entries.setdefault(_shown(snapshot), []).append(Sighting(snapshot))
    return entries


def _objects_once(events: Iterable[AuditEvent]) -> Iterator[AuditEvent]:
    """Those about stored objects; of two tellings of one deletecollection the one that names its objects, as no
    object of its own shows that they are one."""
    collections: list[AuditEvent] = []
    for event in events:
        if event.verb == "deletecollection":
            collections.append(event)
        elif is_of_an_object(event):
            yield event
    yield from once(collections)


def _once(requests: Iterable[Packed]) -> list[Packed]:
    return once_by(requests, lambda each: each.event, lambda each: (each.request, each.response))


def _begins(entries: Mapping[ObjectId, list[Packed | Sighting]]) -> dict[str, datetime]:
    """By cluster, the time of the first audit event."""
    begins: dict[str, datetime] = {}
    for subject, told in entries.items():
        times = [entry.event.at for entry in told if isinstance(entry, Packed)]
        if times:
            begins[subject.cluster] = min(begins.get(subject.cluster, times[0]), *times)
    return begins


def _shown(snapshot: ObjectSnapshot) -> ObjectId:
    group = kinds.canonical_group(snapshot.group, snapshot.kind)
    return ObjectId(snapshot.cluster, group, snapshot.kind, snapshot.namespace, snapshot.name)
