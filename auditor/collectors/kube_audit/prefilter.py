"""Reads that are certain without decoding them.

The API server writes the fields of an Event in one order and one spelling. A line that begins exactly so, with a verb
that reads and a URI that names no access, and that mentions neither a second verb nor an impersonated user, is a read:
it is counted by its level and time. Any other line (other order, spacing, escapes, wrapping, bodies) is decoded. So
the filter may decode too much, and never too little.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_READ = re.compile(
    rb'\{"kind":"Event","apiVersion":"audit\.k8s\.io/v1","level":"(?:Metadata|(Request))","auditID":"[^"\\\n]*",'
    rb'"stage":"[A-Za-z]+","requestURI":"[^"\n]*","verb":"(?:get|list|watch)","user":\{'
).match
_ACCESS = re.compile(rb"/(?:exec|attach|portforward|proxy|ephemeralcontainers|eviction|token)\b").search
_VERB = b'"verb"'
_IMPERSONATED = b"impersonatedUser"
_RECEIVED = b'"requestReceivedTimestamp":"'
_STAMP = len("2026-11-30T05:31:11.047167Z")
_MINUTE = len("2026-11-30T05:31")
_ODD_ESCAPE = re.compile(rb"\\u00(?!26|3[cCeE])")


@dataclass(slots=True)
class Reads:
    """Reads that were passed over: how many they are, and their times as the records have them."""

    count: int = 0
    size: int = 0
    """In bytes, with the newline that ends each."""
    requests: int = 0
    """Those of level Request; the others are Metadata."""
    minutes: set[bytes] = field(default_factory=set)
    first: bytes = b""
    last: bytes = b""


def doubtful(text: bytes, start: int, end: int) -> Iterator[tuple[int, int, Reads]]:
    """The lines of `text[start:end]` that must be decoded, each with the certain reads before it.

    `start` is the beginning of a line and `end` is after a newline, or the end of the text. What follows the last
    doubtful line comes as an empty one at `end`.
    """
    find = text.find
    reads = Reads()
    times: list[bytes] = []
    at = start
    wary = _ODD_ESCAPE.search(text, start, end) is not None or find(_IMPERSONATED, start, end) >= 0
    while at < end:
        stop = find(b"\n", at, end) + 1 or end
        head = None if wary else _READ(text, at, stop)
        if head is None or not (stamp := _certain(text, at, head.end(), stop)):
            yield at, stop, _with_times(reads, times)
            reads, times = Reads(), []
        else:
            reads.count += 1
            reads.size += stop - at
            if head[1]:
                reads.requests += 1
            times.append(stamp)
        at = stop
    yield end, end, _with_times(reads, times)


def _certain(text: bytes, start: int, head: int, stop: int) -> bytes:
    """When the read was received; b"" where the line may be more than a read."""
    find = text.find
    if find(_VERB, head, stop) >= 0 or _ACCESS(text, start, head):
        return b""
    at = find(_RECEIVED, head, stop) + len(_RECEIVED)
    stamp = text[at : at + _STAMP]
    if at < len(_RECEIVED) or stamp[-1:] != b"Z" or text[stop - 2 : stop] != b"}\n":
        return b""
    return stamp


def _with_times(reads: Reads, times: list[bytes]) -> Reads:
    if times:
        reads.first, reads.last = min(times), max(times)
        reads.minutes = {stamp[:_MINUTE] for stamp in times}
    return reads
