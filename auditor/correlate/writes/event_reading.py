"""One pass over all audit events without bodies: which are about which object, and which are GitOps tools' own."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from auditor.correlate.applications.histories import ApplicationPlace, application_place, is_of_argocd
from auditor.correlate.applications.requests import OwnRequests
from auditor.correlate.applications.unseen_edits import STATUS_WRITERS
from auditor.correlate.identity.channels import channel
from auditor.correlate.records import Records
from auditor.correlate.writes.drafts import Identify, cause_of
from auditor.correlate.writes.object_index import Log, ObjectIndex
from auditor.correlate.writes.sequence import once
from auditor.model.facts import AuditEvent


class StoredLog:
    """The events of a store up to a moment."""

    def __init__(self, records: Records, until: datetime | None) -> None:
        self._records = records
        self._until = until

    def bare(self) -> Iterator[AuditEvent]:
        """All, oldest first, as if their records held no bodies."""
        return self._records.audit_events(until=self._until, bodies=False)

    def whole(self, ids: Sequence[str]) -> Iterator[AuditEvent]:
        """Those of these ids, bodies included."""
        return self._records.audit_events_of(ids)

    def all(self) -> Iterator[AuditEvent]:
        """All, bodies included."""
        return self._records.audit_events(until=self._until)

    def one(self, ident: str) -> AuditEvent | None:
        """One event, bodies included; None where there is none of this id."""
        return next(self.whole([ident]), None)


@dataclass(frozen=True, slots=True)
class Read:
    """What the pass found."""

    index: ObjectIndex
    own: OwnRequests
    by_hand: frozenset[str]
    """Ids of the requests on applications that no tool sent."""


class EventReading:
    """Reads a log."""

    def __init__(self, log: Log, identify: Identify) -> None:
        self._log = log
        self._identify = identify
        self._applications: dict[ApplicationPlace, list[str]] = defaultdict(list)
        self._others: list[str] = []
        self._edits: list[str] = []
        self._by_hand: set[str] = set()

    def read(self) -> Read:
        """All of it, once."""
        index = ObjectIndex(self._log, self._identify, channel)
        for event in self._log.bare():
            index.take(event)
            if is_of_argocd(event):
                self._take_own(event)
        others = once(self._log.whole(self._others))
        applications = (self._log.whole(ids) for ids in self._applications.values())
        own = OwnRequests(applications, tuple(self._log.whole(self._edits)), others)
        return Read(index, own, frozenset(self._by_hand))

    def _take_own(self, event: AuditEvent) -> None:
        place = application_place(event)
        if place is None:
            self._others.append(event.id)
            return
        self._applications[place].append(event.id)
        actor = self._identify(event)
        if actor.rule not in STATUS_WRITERS:
            self._edits.append(event.id)
        if cause_of(actor, channel(event, "unknown")) == "out-of-band":
            self._by_hand.add(event.id)
