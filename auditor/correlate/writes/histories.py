"""From audit events to writes: what each request asked for, what came of it, and which fields are its actor's.

Objects are independent of each other, so each is told on its own, its requests in the API server's order, with the
state of the object carried from one to the next.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from auditor.correlate.writes.drafts import Channel, Desired, Identify, Senses
from auditor.correlate.writes.object_index import HeldLog, ObjectIndex, Objects
from auditor.correlate.writes.sequence import Sighting, in_order
from auditor.correlate.writes.story import Story
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
    objects: Objects,
    snapshots: Iterable[ObjectSnapshot],
    identify: Identify,
    channel: Channel,
    desired: Desired = _nothing_desired,
    instance_label: str = "",
) -> Iterator[ObjectHistory]:
    """These objects and those of the snapshots, one after the other in the order of their identities.

    `identify` names the actor of an event; `channel` tells by what it was sent, given its patch type; `desired` is
    asked where the records hold no state before a change; `instance_label` is the label by which Argo CD tracks, ""
    where it tracks by annotation.
    """
    seen: dict[ObjectId, list[Sighting]] = defaultdict(list)
    for snapshot in snapshots:
        seen[_shown(snapshot)].append(Sighting(snapshot))
    for subject in sorted({*objects, *seen}):
        story = Story(subject, Senses(identify, channel, desired, instance_label, objects.begins.get(subject.cluster)))
        for entry in in_order([*objects.requests(subject), *seen.pop(subject, ())]):
            story.take(entry if isinstance(entry, Sighting) else entry.opened())
        yield ObjectHistory(subject, story.writes(), story.live())


def objects_in(events: Iterable[AuditEvent], identify: Identify, channel: Channel) -> Objects:
    """All objects of some events that are in memory, in any order and more than once."""
    log = HeldLog(events)
    index = ObjectIndex(log, identify, channel)
    for event in log.bare():
        index.take(event)
    return index.objects()


def writes(
    events: Iterable[AuditEvent],
    snapshots: Iterable[ObjectSnapshot],
    identify: Identify,
    channel: Channel,
    desired: Desired = _nothing_desired,
    instance_label: str = "",
) -> tuple[Write, ...]:
    """All writes of these records, oldest first; see `histories`."""
    objects = objects_in(events, identify, channel)
    told = histories(objects, snapshots, identify, channel, desired, instance_label)
    return tuple(sorted((write for history in told for write in history.writes), key=by_time))


def by_time(write: Write) -> tuple[datetime, ObjectId, int, str]:
    """A sort key: oldest first, of one moment and object in the API server's order."""
    return (write.at, write.object, write.position, write.id)


def _shown(snapshot: ObjectSnapshot) -> ObjectId:
    group = kinds.canonical_group(snapshot.group, snapshot.kind)
    return ObjectId(snapshot.cluster, group, snapshot.kind, snapshot.namespace, snapshot.name)
