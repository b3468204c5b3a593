"""When a sync window holds: a cron schedule at which it opens, and how long it then stays open."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MINUTE = timedelta(minutes=1)
_SOON = timedelta(hours=1)
"""A window that somebody adds for an incident opens at once or within this; what opens later is a routine."""
_FAR = timedelta(days=8)
"""Spans that follow on each other for longer than this are taken as one without an end."""
_LONGEST = timedelta(days=31)

_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = {
    name: str(number) for first, names in ((0, _WEEKDAYS), (1, _MONTHS)) for number, name in enumerate(names, first)
}
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?\Z")
_PART = re.compile(r"(?:\*|(\d+)(?:-(\d+))?)(?:/(\d+))?\Z")


@dataclass(frozen=True, slots=True)
class Span:
    """A span in which a window is open. `ends_at` None: it does not close by itself."""

    begins_at: datetime
    ends_at: datetime | None


def next_span(schedule: str, duration: str, zone: str, at: datetime) -> Span | None:
    """The span in which a window that was added at `at` holds, None where it opens only later.

    A schedule that cannot be read is taken to hold from the start: somebody added the window.
    """
    fields, length = _fields(schedule), _length(duration)
    place = _zone(zone)
    if fields is None or length is None or place is None:
        return Span(at, None)
    minute = at.replace(second=0, microsecond=0)
    opened = _opening(fields, place, minute, length)
    if opened is None:
        return None
    return Span(max(opened, at), _closing(fields, place, opened, length))


def span_until_open(schedule: str, duration: str, zone: str, at: datetime) -> Span | None:
    """The span from `at` until a window opens, without an end where that is far off; None where it is open.

    A schedule that cannot be read is taken as open: nothing then shows that it denied anything.
    """
    fields, length, place = _fields(schedule), _length(duration), _zone(zone)
    if fields is None or length is None or place is None:
        return None
    minute = at.replace(second=0, microsecond=0)
    if any(_opens(fields, (minute - back * _MINUTE).astimezone(place)) for back in range(-(-length // _MINUTE))):
        return None
    ahead = (minute + count * _MINUTE for count in range(1, _FAR // _MINUTE + 1))
    return Span(at, next((moment for moment in ahead if _opens(fields, moment.astimezone(place))), None))


_Fields = tuple[frozenset[int], ...]


def _opening(fields: _Fields, zone: tzinfo, minute: datetime, length: timedelta) -> datetime | None:
    """The last opening whose span still holds at `minute`, else the next one soon after it."""
    back = 0
    while back * _MINUTE < length:
        if _opens(fields, (minute - back * _MINUTE).astimezone(zone)):
            return minute - back * _MINUTE
        back += 1
    ahead = (minute + count * _MINUTE for count in range(1, _SOON // _MINUTE + 1))
    return next((moment for moment in ahead if _opens(fields, moment.astimezone(zone))), None)


def _closing(fields: _Fields, zone: tzinfo, opened: datetime, length: timedelta) -> datetime | None:
    end, moment = opened + length, opened + _MINUTE
    while moment <= end:
        if _opens(fields, moment.astimezone(zone)):
            end = moment + length
        if end - opened > _FAR:
            return None
        moment += _MINUTE
    return end


def _opens(fields: _Fields, local: datetime) -> bool:
    minutes, hours, days, months, weekdays = fields
    if local.minute not in minutes or local.hour not in hours or local.month not in months:
        return False
    on_day, on_weekday = local.day in days, local.isoweekday() % 7 in weekdays
    # As cron has it: where both are restricted, either will do.
    both = len(days) < 31 and len(weekdays) < 7
    return on_day or on_weekday if both else on_day and on_weekday


@lru_cache(maxsize=256)
def _fields(schedule: str) -> _Fields | None:
    parts = schedule.lower().split()
    if len(parts) != 5:
        return None
    found = [_field(part, low, high) for part, (low, high) in zip(parts, _RANGES, strict=True)]
    if any(not field for field in found):
        return None
    weekdays = frozenset(day % 7 for day in found[4])
    return (*found[:4], weekdays)


def _field(text: str, low: int, high: int) -> frozenset[int]:
    """The values of one field, empty where it cannot be read."""
    values: set[int] = set()
    for part in text.split(","):
        for name, number in _NAMES.items():
            part = part.replace(name, number)
        match = _PART.match(part)
        if match is None:
            return frozenset()
        first, last, step = match.groups()
        begin = low if first is None else int(first)
        end = high if first is None or (last is None and step) else int(last or first)
        if not low <= begin <= end <= high or step == "0":
            return frozenset()
        values.update(range(begin, end + 1, int(step or 1)))
    return frozenset(values)


def _length(duration: str) -> timedelta | None:
    match = _DURATION.match(duration)
    if match is None or not duration:
        return None
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return min(timedelta(hours=hours, minutes=minutes, seconds=seconds), _LONGEST)


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
