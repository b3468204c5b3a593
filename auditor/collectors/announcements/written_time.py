"""Moments as people write them into a timeline. One without a zone is only known where the source's zone is."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from auditor.objects.timestamps import EARLIEST, LATEST

NO_ZONE = "a time without a zone, and the configuration names none for this source"

CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
ZONE = r"Z|UTC|GMT|[-+]\d\d(?::?\d\d)?|[A-Z][A-Za-z]+/[A-Za-z_+\-/0-9]+|[A-Z]{2,5}"
_WRITTEN = re.compile(rf"(?:(\d{{4}})-(\d\d)-(\d\d)[T ]+)?({CLOCK}) ?({ZONE})?\Z")
_EPOCH = re.compile(r"(\d{9,10})(?:\.(\d{1,9}))?\Z|(\d{12,13})\Z")


def source_zone(name: str) -> tzinfo | None:
    """The zone of an IANA name, None for "" and for one that is not known."""
    if name in {"Z", "UTC", "GMT"}:
        return UTC
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def written_moment(text: str, zone: tzinfo | None, day: date | None = None) -> datetime | str:
    """The moment in UTC, or the reason why it cannot be told. `day` is the date where the text has none."""
    text = text.strip()
    if epoch := _EPOCH.match(text):
        return _from_epoch(epoch)
    match = _WRITTEN.match(text)
    if match is None:
        return f"not a time: {text[:40]!r}"
    year, month, day_of_month, clock, named = match.groups()
    try:
        on = date(int(year), int(month), int(day_of_month)) if year else day
        if on is None:
            return "a time without a date"
        local = datetime.combine(on, _clock(clock))
    except ValueError:
        return f"not a time: {text[:40]!r}"
    return _placed(local, named or "", zone)


def _clock(text: str) -> time:
    hours, minutes, *seconds = text.replace(",", ".").split(":")
    whole, _, fraction = (seconds[0] if seconds else "0").partition(".")
    return time(int(hours), int(minutes), int(whole), int(f"{fraction[:6]:0<6}"))


def _placed(local: datetime, named: str, zone: tzinfo | None) -> datetime | str:
    own = _zone_in(named) if named else zone
    if own is None:
        return f"the zone {named} is not known" if named else NO_ZONE
    if not EARLIEST.year < local.year < LATEST.year:
        return "a time that no clock can have shown"
    first, second = local.replace(tzinfo=own), local.replace(tzinfo=own, fold=1)
    if first.utcoffset() != second.utcoffset():
        return "a time that the clocks of its zone showed twice or never"
    return first.astimezone(UTC)


def _zone_in(named: str) -> tzinfo | None:
    if named[0] not in "+-":
        return source_zone(named) if named in {"Z", "UTC", "GMT"} or "/" in named else None
    digits = f"{named[1:].replace(':', ''):0<4}"
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if named[0] == "-" else offset) if offset < timedelta(hours=24) else None


def _from_epoch(match: re.Match[str]) -> datetime:
    seconds, fraction, milliseconds = match.groups()
    start = datetime(1970, 1, 1, tzinfo=UTC)
    if milliseconds:
        return start + timedelta(milliseconds=int(milliseconds))
    return start + timedelta(seconds=int(seconds), microseconds=int(f"{(fraction or '0')[:6]:0<6}"))
