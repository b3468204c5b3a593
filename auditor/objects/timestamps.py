"""Moments as Kubernetes and Argo CD write them: RFC 3339 with a zone, whole seconds up to nanoseconds."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from auditor.model.resource import Json

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,12}))?([Zz]|[-+]\d\d:?\d\d)\Z")

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(3000, 1, 1, tzinfo=UTC)
"""Between these lies every moment that a record can mean. Beyond them are Go's zero time and made-up ones, from which
nothing could be subtracted."""

_PAST = frozenset(
    {
        "creationTimestamp",
        "time",
        "reconciledAt",
        "observedAt",
        "startedAt",
        "finishedAt",
        "deployStartedAt",
        "deployedAt",
        "startTime",
        "completionTime",
        "lastTransitionTime",
        "lastUpdateTime",
        "lastProbeTime",
        "lastHeartbeatTime",
        "lastScaleTime",
        "lastScheduleTime",
        "lastSuccessfulTime",
        "firstReconciled",
        "lastReconciled",
        "firstDeployed",
        "lastDeployed",
    }
)
"""Keys of metadata and status that only ever hold what has been. Others may lie ahead: deletionTimestamp, notAfter."""

_SPECIFIED = frozenset({"source", "sources", "comparedTo", "annotations", "labels", "fieldsV1", "spec"})
"""Below these stands what people wrote, whatever it is called."""


def instant(text: object) -> datetime | None:
    """The moment in UTC, None for what is no RFC 3339 time with a zone. Digits beyond microseconds are dropped."""
    match = _MOMENT.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    day, clock, fraction, zone = match.groups()
    offset = "+00:00" if zone in "Zz" else zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
    try:
        return in_utc(datetime.fromisoformat(f"{day}T{clock}.{(fraction or '0')[:6]:0<6}{offset}"))
    except ValueError:
        return None


def in_utc(at: datetime) -> datetime | None:
    """A moment with a zone, in UTC; None for one that no clock can have shown."""
    return at.astimezone(UTC) if EARLIEST <= at < LATEST else None


def precision(text: str) -> float:
    """Seconds by which the act may lie after the moment that `text` says: what its last digit is worth."""
    match = _MOMENT.match(text)
    fraction = match.group(3) if match else None
    return float(10.0 ** -min(len(fraction), 6)) if fraction else 1.0


def latest_moment(document: Json) -> datetime | None:
    """The latest time that an object's metadata or status holds: it was read no earlier than that."""
    if not isinstance(document, dict):
        return None
    own = (document.get("metadata"), document.get("status"))
    return max((at for part in own for at in _moments(part)), default=None)


def _moments(value: Json) -> Iterator[datetime]:
    pending: list[Json] = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            for key, child in node.items():
                if key in _PAST and (at := instant(child)) is not None:
                    yield at
                elif key not in _SPECIFIED:
                    pending.append(child)
