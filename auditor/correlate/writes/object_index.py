"""Which requests are about which object. All events are read once without their bodies, then each object's alone with
them: the bodies of a day do not fit into memory, names and ids do.

Most requests in an audit log are controllers' on objects that no person and no GitOps tool ever touches: those are
left out before anything is rebuilt.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from auditor.correlate.writes.drafts import Channel, Identify, cause_of
from auditor.correlate.writes.packed import Packed, pack
from auditor.correlate.writes.sequence import once, once_by
from auditor.correlate.writes.targets import KindNames, Place, is_of_an_object, place_of, targets
from auditor.model.facts import AuditEvent
from auditor.model.resource import ObjectId

_OPEN = 8_000_000
"""Bytes of bodies of one object that wait for their turn as they are; those of an object with more are packed."""


class Log(Protocol):
    """The audit events, read as often as they are asked for."""

    def bare(self) -> Iterable[AuditEvent]:
        """All, oldest first, as if their records held no bodies."""
        ...

    def whole(self, ids: Sequence[str]) -> Iterable[AuditEvent]:
        """Those of these ids, bodies included."""
        ...


class HeldLog:
    """Events that are in memory anyway."""

    def __init__(self, events: Iterable[AuditEvent]) -> None:
        self._events = {event.id: event for event in events}

    def bare(self) -> Iterator[AuditEvent]:
        """All, without their bodies."""
        return (event.with_bodies(None, None) for event in self._events.values())

    def whole(self, ids: Sequence[str]) -> Iterator[AuditEvent]:
        """Those of these ids."""
        return (self._events[each] for each in ids if each in self._events)


@dataclass(slots=True)
class _Requests:
    """What the index keeps of the requests on one place."""

    ids: list[str] = field(default_factory=list)
    listed: list[tuple[str, int | None]] = field(default_factory=list)
    """The deletecollections that name the object, and where in the response's list."""
    first_at: datetime | None = None
    by_others: bool = False
    """Somebody else than a controller sent one."""

    def add(self, at: datetime, by_others: bool) -> None:
        self.first_at = at if self.first_at is None else min(self.first_at, at)
        self.by_others = self.by_others or by_others


class Objects:
    """The objects that are to be told, and their requests."""

    def __init__(self, log: Log, places: Mapping[ObjectId, Sequence[_Requests]]) -> None:
        self._log = log
        self._places = dict(places)
        self.begins: dict[str, datetime] = {}
        """By cluster, the time of the first request on any of them."""
        for subject, found in places.items():
            times = [each.first_at for each in found if each.first_at is not None]
            known = self.begins.get(subject.cluster)
            self.begins[subject.cluster] = min([*times, known] if known else times)

    def __iter__(self) -> Iterator[ObjectId]:
        return iter(self._places)

    def requests(self, subject: ObjectId) -> list[Packed]:
        """The requests on one object, each once, in no particular order."""
        return [each for found in self._places.get(subject, ()) for each in self._of_place(found)]

    def names(self, subject: ObjectId) -> Iterator[str]:
        """What tells the requests on one object from all others."""
        for found in self._places.get(subject, ()):
            yield from found.ids
            yield from (f"{ident} {item}" for ident, item in found.listed)

    def drop(self, subject: ObjectId) -> None:
        """Forget the requests on an object that was told."""
        self._places.pop(subject, None)

    def _of_place(self, found: _Requests) -> list[Packed]:
        items = dict(found.listed)
        read, told = 0, []
        for event in self._log.whole([*found.ids, *items]):
            read += len(event.request or b"") + len(event.response or b"")
            told.append(pack(event, items.get(event.id), keep_open=read <= _OPEN))
        return once_by(told, lambda each: each.event, Packed.bodies)


class ObjectIndex:
    """Takes all events without their bodies, and tells which objects they are about."""

    def __init__(self, log: Log, identify: Identify, channel: Channel) -> None:
        self._log = log
        self._identify = identify
        self._channel = channel
        self._places: dict[Place, _Requests] = defaultdict(_Requests)
        self._collections: dict[str, list[str]] = defaultdict(list)
        self._telling: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        self._names = KindNames()

    def take(self, event: AuditEvent) -> None:
        """The next event."""
        if not is_of_an_object(event):
            return
        if KindNames.needs(event) and event.level != "Metadata":
            self._telling[event.cluster, event.api_group, event.resource].append(event.id)
        if event.verb == "deletecollection":
            self._collections[event.audit_id].append(event.id)
            return
        found = self._places[place_of(event)]
        found.ids.append(event.id)
        found.add(event.at, self._is_by_others(event))

    def suppose(self, listed: Iterable[tuple[str, str]]) -> None:
        """Groups and kinds that other records name, for requests whose bodies do not."""
        for group, kind in sorted(listed):
            self._names.suppose(group, kind)

    def objects(
        self,
        managed: Callable[[ObjectId], bool] = lambda subject: True,
        passed_over: Collection[str] = frozenset(),
    ) -> Objects:
        """The objects that somebody else than a controller wrote, or that are managed.

        The requests `passed_over` are left out of the stories of objects that are addressed in one way only.
        """
        self._learn_kinds()
        self._list_collected()
        wanted: dict[ObjectId, list[_Requests]] = {}
        for place, found in self._places.items():
            subject = self._names.object(place)
            if found.by_others or managed(subject):
                wanted.setdefault(subject, []).append(found)
        self._places = defaultdict(_Requests)
        for places in wanted.values() if passed_over else ():
            if len(places) == 1 and not places[0].listed:
                places[0].ids = [ident for ident in places[0].ids if ident not in passed_over]
        return Objects(self._log, wanted)

    def _learn_kinds(self) -> None:
        """Read bodies of kinds that are not built in until one names the kind."""
        for ids in self._telling.values():
            for each in ids:
                if any(self._names.learn(event) for event in self._log.whole([each])):
                    break

    def _list_collected(self) -> None:
        """Of two tellings of one deletecollection the one that names its objects, as no object of its own shows that
        they are one."""
        for ids in self._collections.values():
            for event in once(self._log.whole(ids)):
                for target in targets(event):
                    self._places[target.place].listed.append((event.id, target.item))
                    self._places[target.place].add(event.at, self._is_by_others(event))

    def _is_by_others(self, event: AuditEvent) -> bool:
        return cause_of(self._identify(event), self._channel(event, "unknown")) != "controller"
