"""What the wrapping of an event says of it: when it came, in which stream, how the provider calls the cluster."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeAlias

import msgspec
from msgspec import Raw, Struct

from auditor.collectors.kube_audit.events import as_text, moment

Members: TypeAlias = Mapping[str, Raw]
_EKS_GROUP = re.compile(r"/aws/eks/([^/]+)/cluster")
_AKS_CLUSTER = re.compile(r"/managedclusters/([^/]+)", re.IGNORECASE)


class Delivery(Struct, frozen=True):
    """What the wrapping of an event says of it."""

    at: datetime | None = None
    """When the event was delivered: its own times, where it has any, say more."""
    stream: str = ""
    cluster: str = ""
    """What the provider calls the cluster; "" where the record does not say."""
    cut: bool = False
    """Whether it left out a part of the event."""


def said_by(members: Members, before: Delivery) -> Delivery:
    """What the members of a wrapping say, and of the rest what was said `before` by the wrapping around it."""
    return Delivery(
        _first_time(members) or before.at,
        _first(members, _STREAMS) or before.stream,
        _cluster(members) or before.cluster,
    )


_STREAMS = ("logStreamName", "logStream", "@logStream", "_HOSTNAME", "hostname", "host", "PodName", "pod")
_TIMES = (
    "@timestamp",
    "timestamp",
    "time",
    "ts",
    "TimeGenerated",
    "eventTime",
    "_time",
    "ingestionTime",
    "__REALTIME_TIMESTAMP",
    "receiveTimestamp",
)


def _first(members: Members, names: tuple[str, ...]) -> str:
    for name in names:
        if name in members and (text := string_of(members[name])):
            return text
    return ""


def string_of(raw: Raw) -> str:
    """The text that a member is, "" for any other value."""
    data = bytes(raw)
    return msgspec.json.decode(data, type=str) if data[:1] == b'"' else ""


def _first_time(members: Members) -> datetime | None:
    for name in _TIMES:
        if name in members and (at := time_of(as_text(msgspec.json.decode(members[name])))):
            return at
    return None


def time_of(text: str) -> datetime | None:
    """RFC 3339, or a count of seconds, milliseconds, microseconds or nanoseconds since 1970."""
    digits = text.partition(".")[0]
    if not digits.isdigit():
        return moment(text)
    if not 10 <= len(digits) <= 19:
        return None
    seconds = int(digits) / 10 ** (len(digits) - 10)
    return datetime.fromtimestamp(seconds, UTC)


def _cluster(members: Members) -> str:
    """What CloudWatch's log group or Azure's resource calls the cluster."""
    group = _first(members, ("logGroup", "logGroupName", "@log"))
    if group and (found := _EKS_GROUP.search(group)):
        return found[1]
    resource = _first(members, ("resourceId", "ResourceId", "_ResourceId"))
    found = _AKS_CLUSTER.search(resource) if resource else None
    return found[1] if found else ""
