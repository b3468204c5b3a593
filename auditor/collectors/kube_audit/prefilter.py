"""Reads that are certain without decoding them.

The API server writes the fields of an Event in one order and one spelling, the same since Kubernetes 1.12. A line that
is, from its first byte to its last, what it writes for a read that is no access and impersonates nobody is counted by
its level and its time. Any other line (another order, blanks, escapes in keys, bodies, a wrapping, a sub-resource) is
decoded. So the filter may decode too much, and never too little.

In the pattern, `[^"]*` cannot leave a string and `[^}]*` cannot leave an object unseen: in valid JSON the quote of the
key that must follow is not inside a string, since it would be escaped there.
Nothing that was taken is ever given back (`*+`), as what follows is told by one byte.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_READ = re.compile(
    rb'\{"kind":"Event","apiVersion":"audit\.k8s\.io/v1","level":"(?:Metadata|(Request))","auditID":"[^"]*+",'
    rb'"stage":"[^"]*+","requestURI":"[^"]*+","verb":"(?:get|list|watch)","user":\{[^}]*+\}{1,2}+,'
    rb'"sourceIPs":\[[^\]]*+\],"userAgent":"[^"]*+",(?:"objectRef":\{"resource":"[^"]*+"(?:,"namespace":"[^"]*+")?+'
    rb'(?:,"name":"[^"]*+")?+(?:,"apiGroup":"[^"]*+")?+,"apiVersion":"[^"]*+"\},)?+'
    rb'(?:"responseStatus":\{"metadata":\{\},[^}]*+\},)?+'
    rb'"requestReceivedTimestamp":"(\d{4}-\d\d-\d\dT\d\d:[0-5]\d:\d\d\.\d{6}Z)","stageTimestamp":"[^"]*+"'
    rb'(?:,"annotations":\{[^}]*+\})?+\}\n'
).match
_MINUTE = len("2026-11-30T05:31")


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
    doubtful line comes with an empty one at `end`.
    """
    times: list[bytes] = []
    requests = 0
    at = since = start
    while at < end:
        read = _READ(text, at, end)
        if read is not None:
            level, time = read.groups()
            times.append(time)
            requests += level is not None
            at = read.end()
            continue
        stop = text.find(b"\n", at, end) + 1 or end
        yield at, stop, _reads(times, at - since, requests)
        times, requests = [], 0
        at = since = stop
    yield end, end, _reads(times, end - since, requests)


_NO_READS = Reads()


def _reads(times: list[bytes], size: int, requests: int) -> Reads:
    if not times:
        return _NO_READS
    minutes = {time[:_MINUTE] for time in times}
    return Reads(len(times), size, requests, minutes, min(times), max(times))
