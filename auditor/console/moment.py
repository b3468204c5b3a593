"""Times as people write them."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import typer

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_WRITTEN = r"(\d{1,5}) ?(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|w|weeks?)"
_SPAN = re.compile(rf"{_WRITTEN}( ?{_WRITTEN})*")
_DAYS = {"today": 0, "yesterday": 1}
_CLOCK = re.compile(r"\d{1,2}:\d\d(:\d\d)?")


def moment(
    text: str | None,
    end: datetime | None,
    zone: str,
    note: Callable[[str], None] = lambda _: None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> datetime | None:
    """A time in UTC: RFC 3339, a day, a time of today, or a span such as `90m`, `2h30m`, `7d` before `end`.

    A time without an offset is one of `zone`. `today`, `yesterday` and `07:00` are by the `clock`, and `note` is told
    what they became. Raises a usage error for anything else.
    """
    if text is None:
        return None
    if _SPAN.fullmatch(text):
        if end is None:
            raise typer.BadParameter(f"{text} counts back from the end of the records, and there are none.")
        return _within(text, lambda: end - sum((_length(*found) for found in re.findall(_WRITTEN, text)), timedelta()))
    if text in _DAYS or _CLOCK.fullmatch(text):
        local = clock().astimezone(ZoneInfo(zone)).date()
        found = _within(text, lambda: _of_day(text, local, zone))
        note(f"{text} is taken for {found:%Y-%m-%d %H:%M:%S} UTC.")
        return found
    return _within(text, lambda: _placed(datetime.fromisoformat(text), zone))


def _within(text: str, read: Callable[[], datetime]) -> datetime:
    try:
        return read()
    except (ValueError, OverflowError) as error:
        ways = "2026-11-30T07:00Z, 2026-11-30 07:00, 2026-11-30, 07:00 or today, or 2h30m before the records end"
        raise typer.BadParameter(f"{text!r} is no time: write {ways}.") from error


def _length(number: str, unit: str) -> timedelta:
    return timedelta(**{_UNITS[unit[0]]: int(number)})


def _of_day(text: str, today: date, zone: str) -> datetime:
    if text in _DAYS:
        return _placed(datetime.combine(today - timedelta(days=_DAYS[text]), time()), zone)
    return _placed(datetime.combine(today, time.fromisoformat(text.zfill(5))), zone)


def _placed(read: datetime, zone: str) -> datetime:
    return (read if read.tzinfo else read.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)
