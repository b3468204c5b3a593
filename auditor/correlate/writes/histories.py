"""From audit events to writes: what each request asked for, what came of it, and which fields are its actor's.

Objects are independent of each other, so each is told on its own, its requests in the API server's order, with the
state of the object carried from one to the next.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial

from auditor.correlate.writes.drafts import Channel, Desired, Identify, Senses
from auditor.correlate.writes.object_index import HeldLog, ObjectIndex, Objects
from auditor.correlate.writes.packed import Packed
from auditor.correlate.writes.recall import ObjectHistory, Recall
from auditor.correlate.writes.sequence import Sighting, in_order
from auditor.correlate.writes.story import Story
from auditor.model.change import Write
from auditor.model.facts import AuditEvent, ObjectSnapshot
from auditor.model.resource import JsonObject, ObjectId
from auditor.objects import kinds


def _nothing_desired(subject: ObjectId, at: datetime) -> JsonObject | None:
    return None


def histories(
    objects: Objects,
    snapshots: Iterable[ObjectSnapshot],
    identify: Identify,
    channel: Channel,
    desired: Desired = _nothing_desired,
    instance_label: str = "",
    recall: Recall | None = None,
) -> Iterator[ObjectHistory]:
    """These objects and those of the snapshots, one after the other in the order of their identities.

    `identify` names the actor of an event; `channel` tells by what it was sent, given its patch type; `desired` is
    asked where the records hold no state before a change; `instance_label` is the label by which Argo CD tracks, ""
    where it tracks by annotation. `recall` gives again what was told before.
    """
    seen: dict[ObjectId, list[Sighting]] = defaultdict(list)
    for snapshot in snapshots:
        seen[shown(snapshot)].append(Sighting(snapshot))
    for subject in sorted({*objects, *seen}):
        senses = Senses(identify, channel, desired, instance_label, objects.begins.get(subject.cluster))
        sightings = seen.pop(subject, [])
        tell = partial(_told, subject, objects, sightings)
        if recall is None:
            yield tell(senses)
        else:
            inputs = recall.inputs(subject, objects.names(subject), sightings, senses)
            yield recall.history(subject, inputs, senses, tell)
        objects.drop(subject)


def _told(subject: ObjectId, objects: Objects, sightings: Iterable[Sighting], senses: Senses) -> ObjectHistory:
    story = Story(subject, senses)
    entries: list[Packed | Sighting] = [*objects.requests(subject), *sightings]
    for entry in in_order(entries):
        story.take(entry if isinstance(entry, Sighting) else entry.opened())
    return ObjectHistory(subject, story.writes(), story.live())


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


def shown(snapshot: ObjectSnapshot) -> ObjectId:
    """The object that a snapshot shows, under the group in which requests on it are told."""
    group = kinds.canonical_group(snapshot.group, snapshot.kind)
    return ObjectId(snapshot.cluster, group, snapshot.kind, snapshot.namespace, snapshot.name)
