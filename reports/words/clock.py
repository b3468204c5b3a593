"""Moments in UTC and in the reader's zone. The zone is an argument; the host's is never asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from auditor.errors import RenderError
from reports.words.rich import Span, Text, soft, words

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def stamp(at: datetime) -> str:
    """RFC 3339 in UTC, with milliseconds where the moment has them."""
    moment = at.astimezone(UTC)
    precision = "milliseconds" if moment.microsecond >= 1000 else "seconds"
    return moment.replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def long_date(day: date) -> str:
    """`30 November 2026`."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


@dataclass(frozen=True, slots=True)
class Clock:
    """Writes moments. A date stands beside a time only where it is not `day`."""

    zone: str
    day: date | None
    """The UTC day that the whole report lies in, None where it spans several."""

    @property
    def foreign(self) -> bool:
        """Whether the reader's zone is another than UTC."""
        return self.zone not in ("UTC", "Etc/UTC")

    @property
    def place(self) -> str:
        """`Berlin` for `Europe/Berlin`."""
        return self.zone.rsplit("/", 1)[-1].replace("_", " ")

    def utc(self, at: datetime) -> str:
        """`07:00:34`, or `1 Dec 07:00:34` on another day than the report's."""
        return self._written(at.astimezone(UTC))

    def local(self, at: datetime) -> str:
        """The moment in the reader's zone; as UTC has it where the calendar ends (a zero time in the west)."""
        try:
            return self._written(at.astimezone(_zone(self.zone)))
        except OverflowError:
            return self.utc(at)

    def time(self, at: datetime) -> Span:
        """The moment in UTC."""
        return Span("time", self.utc(at), label=stamp(at))

    def exact(self, at: datetime) -> Span:
        """The moment in UTC with milliseconds, as evidence has it."""
        moment = at.astimezone(UTC)
        return Span("time", f"{self.utc(at)}.{moment.microsecond // 1000:03d}", label=stamp(at))

    def both(self, at: datetime | None) -> Text:
        """The moment in UTC, then in the reader's zone where that is another; a dash for none."""
        if at is None:
            return words("–")
        return words(self.time(at), " " if self.foreign else "", Span("local", self.local(at)) if self.foreign else "")

    def span(self, first: datetime, last: datetime) -> Text:
        """`06:58:04–07:13:02 UTC, 07:58:04–08:13:02 Europe/Berlin (UTC+1)`."""
        text = words(self.time(first), "–", self.time(last), " UTC")
        if not self.foreign:
            return text
        local = f"{self.local(first)}–{self.local(last)} {self.zone} ({self.offsets((first, last))})"
        return words(text, ", ", soft(local))

    def offsets(self, moments: Sequence[datetime]) -> str:
        """`UTC+1`, or `UTC+2, then UTC+1` where summer time ends between the moments."""
        found: list[str] = []
        for moment in moments:
            offset = _offset(moment.astimezone(_zone(self.zone)).utcoffset() or timedelta())
            if offset not in found:
                found.append(offset)
        return ", then ".join(found)

    @property
    def heading(self) -> Text:
        """The head of a column of times."""
        return words("UTC", " " if self.foreign else "", Span("local", self.place) if self.foreign else "")

    def _written(self, moment: datetime) -> str:
        time = f"{moment:%H:%M:%S}"
        if moment.date() == self.day:
            return time
        year = f" {moment.year}" if self.day is None or moment.year != self.day.year else ""
        return f"{moment.day} {MONTHS[moment.month - 1][:3]}{year} {time}"


def clock(zone: str, first: datetime | None, last: datetime | None) -> Clock:
    """A clock for a report on `first` to `last`; RenderError for a zone that nobody knows."""
    _zone(zone)
    days = {moment.astimezone(UTC).date() for moment in (first, last) if moment is not None}
    return Clock(zone, days.pop() if len(days) == 1 else None)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise RenderError(
            f"The time zone {name!r} is not known.", "Give an IANA name such as Europe/Berlin, or UTC."
        ) from error


def _offset(offset: timedelta) -> str:
    minutes = int(offset.total_seconds()) // 60
    sign = "-" if minutes < 0 else "+"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{sign}{hours}" + (f":{rest:02d}" if rest else "")
