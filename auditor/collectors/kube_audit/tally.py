"""What was in a source, counted: every event of every stage, and every byte.

The meanings are those of `auditor sources`: `events` are all stages; a write is counted once, at its last stage, as
successful, as a dry run, as failed, or (without a response code) as none of them; `reads` are the events of all
other verbs. `account` gives each byte one kind, so that its values add up to the bytes read.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from auditor.collectors.kube_audit.events import FINAL, Event
from auditor.model.facts import SourceMark

Spans: TypeAlias = tuple[tuple[str, str], ...]
"""First and last minute (`2026-11-30T07:00`, UTC) of each span, in order."""
Kind: TypeAlias = Literal["event", "read", "foreign", "skipped", "wrapping"]
_UNNAMED = "(none)"
_GKE = "(gke)"
_QUIET_MINUTES = 5
"""An API server writes several events a minute; a longer silence in its stream ends a span."""
_SPANS = 500
"""Spans kept of one stream; beyond that the shortest silences are bridged."""


@dataclass(slots=True)
class Tally:
    """Totals of one source and cluster. Everything in it adds up: `add` of two parts is the tally of both."""

    events: int = 0
    successful_writes: int = 0
    dry_runs: int = 0
    failed_writes: int = 0
    reads: int = 0
    foreign: int = 0
    undecodable: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    writers: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    account: Counter[str] = field(default_factory=Counter)
    formats: dict[str, None] = field(default_factory=dict)
    """In the order of their first record."""
    streams: dict[str, Spans] = field(default_factory=dict)
    """By stream, the spans in which it was never silent for more than five minutes."""

    @property
    def bytes(self) -> int:
        """All bytes that were accounted for."""
        return self.account.total()

    def event(self, event: Event, dry_run: bool) -> None:
        """Count an event, without its bytes and time."""
        self.events += 1
        self.levels[_GKE if event.dialect == "gke" else event.level or _UNNAMED] += 1
        if not event.is_write:
            self.reads += bool(event.verb)
        elif event.stage in FINAL and (code := event.code) is not None:
            if code >= 300:
                self.failed_writes += 1
            elif dry_run:
                self.dry_runs += 1
            else:
                self.successful_writes += 1
                self.writers[event.username or _UNNAMED] += 1

    def seen(self, first: datetime, last: datetime, stream: str, minutes: set[str]) -> None:
        """Events of `stream` were received from `first` to `last`, in these minutes."""
        self.first_at = first if self.first_at is None or first < self.first_at else self.first_at
        self.last_at = last if self.last_at is None or last > self.last_at else self.last_at
        self.streams[stream] = merged(self.streams.get(stream, ()), tuple((minute, minute) for minute in minutes))

    def add(self, other: "Tally") -> None:
        """Count what `other` counted too."""
        for name in ("events", "successful_writes", "dry_runs", "failed_writes", "reads", "foreign", "undecodable"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("writers", "levels", "account"):
            getattr(self, name).update(getattr(other, name))
        self.formats |= other.formats
        for stream, spans in other.streams.items():
            self.streams[stream] = merged(self.streams.get(stream, ()), spans)
        self.first_at = min(filter(None, (self.first_at, other.first_at)), default=None)
        self.last_at = max(filter(None, (self.last_at, other.last_at)), default=None)

    def copy(self) -> "Tally":
        """A tally that counts on by itself."""
        twin = Tally()
        twin.add(self)
        return twin


def encode(tally: Tally) -> str:
    """A tally as text that `decode` reads back."""
    return msgspec.json.encode(tally, order="deterministic").decode()


def decode(text: str) -> Tally:
    """The tally that `encode` wrote."""
    return msgspec.json.decode(text, type=Tally, dec_hook=lambda kind, value: kind(value))


def merged(spans: Spans, more: Spans) -> Spans:
    """Both together, joined where no more than five minutes of silence lie between."""
    found: list[tuple[str, str]] = []
    for first, last in sorted((*spans, *more)):
        if found and _apart(found[-1][1], first) <= _QUIET_MINUTES:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    while len(found) > _SPANS:
        at = min(range(len(found) - 1), key=lambda index: _apart(found[index][1], found[index + 1][0]))
        found[at : at + 2] = [(found[at][0], found[at + 1][1])]
    return tuple(found)


def _apart(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds() / 60


def of_mark(mark: SourceMark) -> Tally:
    """What a mark says was counted."""
    return Tally(
        mark.events,
        mark.successful_writes,
        mark.dry_runs,
        mark.failed_writes,
        mark.reads,
        mark.foreign,
        mark.undecodable,
        mark.first_at,
        mark.last_at,
        Counter(mark.writers),
        Counter(mark.levels),
        Counter(mark.account),
        dict.fromkeys(filter(None, mark.format.split("+"))),
        dict(mark.streams),
    )


def mark_of(tally: Tally, cluster: str, source: str, position: Mapping[str, str], complete: bool) -> SourceMark:
    """A mark with what was counted."""
    return SourceMark(
        "audit",
        cluster,
        source,
        "",
        "+".join(tally.formats),
        tally.bytes,
        tally.events,
        tally.successful_writes,
        tally.dry_runs,
        tally.failed_writes,
        tally.reads,
        tally.foreign,
        tally.undecodable,
        dict(sorted(tally.writers.items())),
        dict(sorted(tally.levels.items())),
        dict(sorted(tally.account.items())),
        dict(sorted(tally.streams.items())),
        tally.first_at,
        tally.last_at,
        position,
        complete,
    )
