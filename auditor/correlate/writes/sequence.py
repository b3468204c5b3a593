"""The requests on one object in the order in which the API server stored them.

Lines of an audit log are not in order, and the clocks of two API servers differ. `resourceVersion` is one counter for
all servers, so it orders what carries it; the rest goes by time between those.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

from auditor.correlate.writes.bodies import Bodies, Head, Meta
from auditor.model.facts import AuditEvent, ObjectSnapshot
from auditor.objects import kinds

FINAL_STAGES = ("ResponseComplete", "")
"""Those that say what came of a request; deliveries without stages have one event a request."""

_TWICE_WITHIN = timedelta(seconds=1)
_DELIVERED_WITHIN = timedelta(minutes=1)
_WHOLE_SECOND = timedelta(seconds=1)
"""A snapshot's time is often the latest that stands in it, and those have no fractions: what was written in the same
second is in it."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request on one object."""

    event: AuditEvent
    bodies: Bodies = field(compare=False)
    item: int | None = None
    """Its object's place in the response's list, for a deletecollection."""

    @property
    def head(self) -> Head:
        """The top of the response."""
        return self.bodies.head


class Answered(Protocol):
    """A request of which only the event and the top of its response are at hand."""

    @property
    def event(self) -> AuditEvent:
        """The event; its bodies may be elsewhere."""
        ...

    @property
    def head(self) -> Head:
        """The top of the response."""
        ...


@dataclass(frozen=True, slots=True)
class Sighting:
    """A snapshot of the object."""

    snapshot: ObjectSnapshot


Entry = Request | Sighting

A = TypeVar("A", bound=Answered)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Place:
    version: int | None
    rank: int
    at: datetime
    id: str
    uid: str
    ends_a_life: bool

    @property
    def key(self) -> tuple[int, int, datetime, str]:
        return (self.version or 0, self.rank, self.at, self.id)


def once(events: Iterable[AuditEvent]) -> list[AuditEvent]:
    """Each request once: without early stages of what has a final one, and without second tellings of one request.

    An audit ID proves nothing, as a client may choose it. Two events are one request only if they are the same record,
    or two stages of it, or what an aggregated API server wrote beside the one that passed the request on.
    """
    return once_by(events, lambda event: event, lambda event: (event.request, event.response))


def once_by(
    told: Iterable[T], event_of: Callable[[T], AuditEvent], bodies_of: Callable[[T], tuple[bytes | None, bytes | None]]
) -> list[T]:
    """`once` for what holds events and bodies in its own way; equal bodies must be equal bytes."""
    unique = {event_of(each).id: each for each in told}
    ordered = sorted(unique.values(), key=lambda each: _final_first(event_of(each)))
    kept: dict[tuple[str, ...], list[T]] = {}
    for each in ordered:
        alike = kept.setdefault(_request_key(event_of(each)), [])
        for place, other in enumerate(alike):
            if _is_one_request(event_of(each), event_of(other), bodies_of(each), bodies_of(other)):
                if _richness(bodies_of(each)) > _richness(bodies_of(other)):
                    alike[place] = each
                break
        else:
            alike.append(each)
    return [each for alike in kept.values() for each in alike]


def _final_first(event: AuditEvent) -> tuple[bool, datetime, str]:
    return (event.stage not in FINAL_STAGES, event.at, event.id)


def _request_key(event: AuditEvent) -> tuple[str, ...]:
    uri = event.request_uri or f"{event.api_group}/{event.resource}/{event.namespace}/{event.name}"
    return (event.cluster, event.audit_id, event.verb, uri, event.subresource, event.user, event.impersonated_user)


_Bodies = tuple[bytes | None, bytes | None]


def _is_one_request(event: AuditEvent, other: AuditEvent, bodies: _Bodies, others: _Bodies) -> bool:
    if _lost_its_times(event) or _lost_its_times(other):
        return _may_be_one_record(event, other)
    if event.stage not in FINAL_STAGES:
        return event.at == other.at
    kind = kinds.kind_of(event.api_group, event.resource)
    if not event.audit_id or (kind is not None and kinds.is_built_in(event.api_group, kind)):
        return False
    contradict = bodies[0] and others[0] and bodies[0] != others[0]
    return not contradict and abs(event.at - other.at) <= _TWICE_WITHIN and event.source_ips != other.source_ips


def _lost_its_times(event: AuditEvent) -> bool:
    """Whether a delivery cut the record before its times, which stand at its end: `at` is when it was delivered."""
    return event.truncated and event.stage_at is None and event.dialect == "audit"


def _may_be_one_record(event: AuditEvent, other: AuditEvent) -> bool:
    """Whether all that a cut record still says is what the other says too, at about that time."""
    said, other_said = (
        (each.audit_id, each.stage, each.code, each.source_ips, each.user_agent) for each in (event, other)
    )
    return bool(event.audit_id) and said == other_said and abs(event.at - other.at) <= _DELIVERED_WITHIN


def _richness(bodies: _Bodies) -> int:
    return (bodies[0] is not None) + 2 * (bodies[1] is not None)


def in_order(entries: Iterable[A | Sighting]) -> list[A | Sighting]:
    """The entries of one object, first stored first."""
    placed = sorted(((_place(entry), entry) for entry in entries), key=lambda pair: (pair[0].at, pair[0].id))
    numbered = sorted((pair for pair in placed if pair[0].version is not None), key=lambda pair: pair[0].key)
    places = _with_late_sightings(numbered)
    times = sorted(place.at for place in places)
    slots: list[list[A | Sighting]] = [[] for _ in range(len(numbered) + 1)]
    for place, entry in placed:
        if place.version is None:
            slots[_slot(place, places, bisect_right(times, place.at))].append(entry)
    ordered = list(slots[0])
    for (_, entry), following in zip(numbered, slots[1:], strict=True):
        ordered += [entry, *following]
    return ordered


def _with_late_sightings(numbered: Sequence[tuple[_Place, A | Sighting]]) -> list[_Place]:
    """The places of what has versions, in their order. A last snapshot without managedFields was taken at any time
    since the latest that stands in it: nothing but a version shows that a write came after it."""
    places: list[_Place] = []
    until, seen_later = datetime.max.replace(tzinfo=UTC), False
    for place, entry in reversed(numbered):
        if isinstance(entry, Sighting):
            if not seen_later and b'"managedFields"' not in entry.snapshot.body:
                place = replace(place, at=max(place.at, until))
            seen_later = True
        until = min(until, place.at)
        places.append(place)
    return places[::-1]


def _slot(place: _Place, numbered: Sequence[_Place], by_time: int) -> int:
    """How many numbered entries come before one without a version.

    A delete lies at the end of the life of what it deleted: the clocks of two servers must not put it elsewhere.
    """
    if not (place.ends_a_life and place.uid):
        return by_time
    own = [index for index, other in enumerate(numbered) if other.uid == place.uid]
    if own:
        later = (index for index in range(own[-1] + 1, len(numbered)) if numbered[index].uid not in ("", place.uid))
        return min(max(by_time, own[-1] + 1), next(later, len(numbered)))
    inside = numbered[by_time - 1].uid if by_time else ""
    return next(index for index, other in enumerate(numbered) if other.uid == inside) if inside else by_time


def _place(entry: Answered | Sighting) -> _Place:
    if isinstance(entry, Sighting):
        snapshot = entry.snapshot
        at = snapshot.at + _WHOLE_SECOND if snapshot.at else datetime.max.replace(tzinfo=UTC)
        where = f"{snapshot.origin.source}:{snapshot.origin.offset}"
        return _Place(version_number(snapshot.resource_version), 4, at, where, snapshot.uid, False)
    event, meta = entry.event, entry.head.meta
    uid = meta.uid or event.uid or (entry.head.details.uid if entry.head.details else "")
    version, rank = _version(event, meta)
    ends = event.verb in ("delete", "deletecollection") and version is None
    return _Place(version, rank, event.at, event.id, uid, ends)


def _version(event: AuditEvent, stored: Meta) -> tuple[int | None, int]:
    """The version that a request led to, else the one it was sent on, and its rank among those of one version: what
    made the version comes before writes that changed nothing, before what was sent on it, and before its delete."""
    led_to, sent_on = version_number(stored.resourceVersion), version_number(event.object_version)
    if (event.code is not None and event.code >= 300) or event.verb == "deletecollection":
        return None, 0
    if event.verb == "delete":
        return (led_to, 3) if stored.uid else (None, 0)
    if led_to is not None and stored.deletionTimestamp and not stored.finalizers:
        return led_to, 5  # the last finalizer went, which gives no new version
    if led_to is not None and not event.dry_run:
        return led_to, 1 if led_to == sent_on else 0
    return (sent_on, 2) if sent_on is not None else (None, 0)


def version_number(version: str | None) -> int | None:
    """A resourceVersion as the number by which versions are ordered; None where it is none."""
    return int(version) if version and version.isascii() and version.isdigit() and len(version) < 20 else None
