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


@dataclass(slots=True)
class Reads:
    """Reads that were passed over, as the records have them."""

    times: list[bytes] = field(default_factory=list)
    """When each was received."""
    size: int = 0
    """In bytes, with the newline that ends each."""
    requests: int = 0
    """Those of level Request; the others are Metadata."""

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.times)


def doubtful(text: bytes, start: int, end: int, reads: Reads) -> Iterator[tuple[int, int]]:
    """The lines of `text[start:end]` that must be decoded; the certain reads before each are counted in `reads`.

    `start` is the beginning of a line and `end` is after a newline, or the end of the text. Last, when all reads are
    counted, comes an empty line at `end`.
    """
    at = since = start
    while at < end:
        read = _READ(text, at, end)
        if read is not None:
            level, time = read.groups()
            reads.times.append(time)
            reads.requests += level is not None
            at = read.end()
            continue
        stop = text.find(b"\n", at, end) + 1 or end
        reads.size += at - since
        yield at, stop
        at = since = stop
    reads.size += end - since
    yield end, end
