"""What a scan finds, gathered into batches: facts, skipped places and tallies, by cluster."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from auditor.collectors.kube_audit.delivery import Delivery
from auditor.collectors.kube_audit.events import Event, moment
from auditor.collectors.kube_audit.facts import audit_event, is_dry_run, query_of
from auditor.collectors.kube_audit.keeping import Keep, keep
from auditor.collectors.kube_audit.places import Found
from auditor.collectors.kube_audit.prefilter import Reads
from auditor.collectors.kube_audit.tally import Tally
from auditor.model.facts import AuditEvent, Origin, Skipped
from auditor.objects.redaction import Redactor

_MINUTE = len("2026-11-30T05:31")
_PLACES = 1000
"""Places of one batch; further ones are counted in the last."""
_BETWEEN = len("\r\n")
_NOWHERE = Delivery()


@dataclass(frozen=True, slots=True)
class Clusters:
    """Which cluster a record of one source belongs to."""

    candidates: tuple[str, ...]
    """The clusters whose configuration lists the source."""
    others: Collection[str] = ()
    """All other clusters of the configuration."""

    def of(self, named: str) -> str:
        """By what the provider calls it; "" where that cannot be told."""
        alike = [name for name in (*self.candidates, *self.others) if name.casefold() == named.casefold()]
        if named and alike:
            return alike[0]
        return self.candidates[0] if len(self.candidates) == 1 else ""


@dataclass(slots=True)
class _Times:
    """When the events of one cluster and stream were received, until they go into the tally."""

    minutes: set[str] = field(default_factory=set)
    first: datetime | None = None
    last: datetime | None = None

    def see(self, at: datetime, minute: str) -> None:
        self.minutes.add(minute)
        if self.first is None or at < self.first:
            self.first = at
        if self.last is None or at > self.last:
            self.last = at


class Gathering:
    """A Sink that makes facts. `floors` are the offsets below which a cluster's events are known already."""

    def __init__(self, source: str, clusters: Clusters, redactor: Redactor, floors: dict[str, int]) -> None:
        self.tallies: dict[str, Tally] = {}
        self.facts: dict[str, list[AuditEvent]] = {}
        self.skipped: list[Skipped] = []
        self._source = source
        self._clusters = clusters
        self._home = clusters.candidates[0]
        self._redactor = redactor
        self.floors = floors
        self._times: dict[tuple[str, str], _Times] = {}
        self._uncounted = 0
        self._hashed = ((-1, 0), "")

    def event(self, event: Event, offset: int, record: bytes) -> None:
        """A plain event that is a record by itself."""
        tally = self._told(event, _NOWHERE, offset, offset, record)
        if tally is not None:
            tally.formats.setdefault("jsonl")
            tally.account["event" if event.is_write else "read"] += len(record)

    def found(self, found: Found, offset: int, record: bytes) -> None:
        """An event inside a record, or something that is none."""
        start, length = offset + found.start, found.end - found.start
        if found.event is None:
            self._foreign(start, 0 if found.shared else length, found.reason)
            return
        own = record[found.start : found.end]
        tally = self._told(found.event, found.delivery, offset, start, own)
        if tally is not None:
            tally.formats.setdefault(found.format)
            kind = "event" if found.event.is_write else "read"
            tally.account[kind] += 0 if found.shared else length

    def reads(self, reads: Reads) -> None:
        """Reads that were counted without decoding."""
        tally = self._tally(self._home)
        tally.account["read" if self._alone else "foreign"] += reads.size - reads.count
        tally.account["wrapping"] += reads.count
        if not self._alone:
            tally.foreign += reads.count
            return
        tally.events += reads.count
        tally.reads += reads.count
        tally.formats.setdefault("jsonl")
        if reads.requests:
            tally.levels["Request"] += reads.requests
        if reads.count > reads.requests:
            tally.levels["Metadata"] += reads.count - reads.requests
        times = self._of(self._home, "")
        minutes = {time[:_MINUTE] for time in reads.times}
        times.minutes.update(minute.decode() for minute in minutes)
        for stamp in (min(reads.times), max(reads.times)):
            if at := moment(stamp.decode()):
                times.see(at, stamp[:_MINUTE].decode())

    def undecodable(self, offset: int, length: int, reason: str) -> None:
        """Bytes that are no record."""
        tally = self._tally(self._home)
        tally.undecodable += 1
        tally.account["skipped"] += length
        self._place(offset, length, reason)

    def wrapping(self, length: int) -> None:
        """Bytes between records."""
        if length > 0:
            self._tally(self._home).account["wrapping"] += length

    def damaged(self, offset: int, reason: str) -> None:
        """The stream stopped at `offset` before its end."""
        self._place(offset, 0, reason)

    def take(self) -> tuple[dict[str, Sequence[AuditEvent]], tuple[Skipped, ...]]:
        """The facts since the last call, by cluster, and the skipped places."""
        facts: dict[str, Sequence[AuditEvent]] = dict(self.facts)
        skipped = tuple(self.skipped)
        self.facts, self.skipped, self._uncounted = {}, [], 0
        self.settle()
        return facts, skipped

    def settle(self) -> None:
        """Bring the tallies up to date with the times of all events."""
        for (cluster, stream), times in self._times.items():
            if times.first is not None and times.last is not None:
                self._tally(cluster).seen(times.first, times.last, stream, times.minutes)
        self._times = {}

    def _told(self, event: Event, delivery: Delivery, floor: int, offset: int, record: bytes) -> Tally | None:
        """Count an event and keep its fact; None where it belongs to no cluster, or was counted before."""
        cluster = self._clusters.of(delivery.cluster) if delivery.cluster or not self._alone else self._home
        if not cluster:
            self._of_no_cluster(offset, len(record), delivery.cluster)
            return None
        if floor < self.floors.get(cluster, 0):
            return None
        query = query_of(event.uri)
        dry_run = is_dry_run(event, query)
        tally = self._tally(cluster)
        tally.event(event, dry_run)
        at = self._time(event, delivery, cluster)
        kept = keep(event, dry_run)
        if kept is Keep.NOTHING:
            return tally
        if at is None:
            self._place(offset, len(record), "an event without any time")
            return tally
        origin = Origin(self._source, offset, len(record), self._digest(offset, record))
        fact = audit_event(event, at, cluster, query, dry_run, kept, delivery, origin, self._redactor)
        self.facts.setdefault(cluster, []).append(fact)
        return tally

    def _digest(self, offset: int, record: bytes) -> str:
        """Hashed once for all events that share a record: an answer of Loki is one record with thousands."""
        place = (offset, len(record))
        if self._hashed[0] != place:
            self._hashed = (place, sha256(record).hexdigest())
        return self._hashed[1]

    @property
    def _alone(self) -> bool:
        return len(self._clusters.candidates) == 1

    def _time(self, event: Event, delivery: Delivery, cluster: str) -> datetime | None:
        """When the event was, noted for the tally; the time of delivery stands in where the event has none."""
        at = event.at
        if at is not None:
            self._of(cluster, delivery.stream).see(at, at.isoformat()[:_MINUTE])
        return at or delivery.at

    def _of(self, cluster: str, stream: str) -> _Times:
        times = self._times.get((cluster, stream))
        if times is None:
            times = self._times[cluster, stream] = _Times()
        return times

    def _tally(self, cluster: str) -> Tally:
        tally = self.tallies.get(cluster)
        if tally is None:
            tally = self.tallies[cluster] = Tally()
        return tally

    def _of_no_cluster(self, offset: int, length: int, named: str) -> None:
        """An event of a file that several clusters list: of another one, or of one of these, which is a loss."""
        if named:
            self._foreign(offset, length, f"of {named}, which is no cluster of the configuration")
        else:
            self.undecodable(offset, length, f"of {' or '.join(self._clusters.candidates)}: give each its own files")

    def _foreign(self, offset: int, length: int, reason: str) -> None:
        tally = self._tally(self._home)
        tally.foreign += 1
        tally.account["foreign"] += length
        self._place(offset, length, reason)

    def _place(self, offset: int, length: int, reason: str) -> None:
        """Note a skipped place; one that follows another of the same reason is one with it."""
        last = self.skipped[-1] if self.skipped else None
        if last and last.reason == reason and offset - (last.offset + last.length) <= _BETWEEN:
            self.skipped.pop()
            offset, length = last.offset, offset + length - last.offset
        elif last and len(self.skipped) >= _PLACES:
            self.skipped.pop()
            offset, length, reason = last.offset, offset + length - last.offset, "several places in this span"
        self.skipped.append(Skipped("audit", self._home, self._source, offset, length, reason))
