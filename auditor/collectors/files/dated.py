"""Which sources cannot hold records of a time window, told from their names before they are opened.

Exports are laid out by date (`2026/11/30/05/`, `y=2026/m=11/d=30/h=05/`, `dt=2026-11-30`), and a rotated file is named
after the moment at which it was closed. A name decides only where it is clear: a margin of a day is left for zones and
for deliveries that were late, and a name without a date may hold anything.
"""

import re
from datetime import UTC, datetime, timedelta

_CLOSED = re.compile(r"-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)(?:\.\d+)?\.")
"""lumberjack's names, as kube-apiserver rotates: `audit-2026-11-30T05-31-00.000.log`."""
_DATED = (
    re.compile(
        r"\b(?:y|year)=(\d{4})/(?:m|month)=(\d\d?)/(?:d|day)=(\d\d?)(?:/(?:h|hour)=(\d\d?))?(?=/|$)", re.IGNORECASE
    ),
    re.compile(r"(?:^|/)(\d{4})/(\d\d)/(\d\d)(?:/(\d\d))?(?=/|$)"),
    re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?![\d-])()"),
)
_MARGIN = timedelta(days=1)
_LATE = timedelta(hours=1)


def may_hold(name: str, since: datetime | None, until: datetime | None) -> bool:
    """Whether a source of this name may hold records from `since` to `until` (None: without end)."""
    try:
        if closed := _CLOSED.search(name):
            at = datetime.strptime(closed[1], "%Y-%m-%dT%H-%M-%S").replace(tzinfo=UTC)
            return since is None or at + _LATE >= since
        span = _span(name)
        if span is None:
            return True
        first, last = span
        return (since is None or last + _MARGIN >= since) and (until is None or first - _MARGIN <= until)
    except (ValueError, OverflowError):
        return True  # it only looks like a date


def _span(name: str) -> tuple[datetime, datetime] | None:
    """The day or hour that a path is dated by."""
    for pattern in _DATED:
        for found in reversed(list(pattern.finditer(name))):
            year, month, day, hour = (int(part) if part else None for part in found.groups())
            try:
                first = datetime(year or 0, month or 0, day or 0, hour or 0, tzinfo=UTC)
            except ValueError:
                continue
            return first, first + (timedelta(days=1) if hour is None else timedelta(hours=1))
    return None
