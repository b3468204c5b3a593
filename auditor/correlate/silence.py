"""Spans in which an audit log is silent that is never silent otherwise: records that were lost, or never delivered.

A cluster of several API servers has a log stream each. Losing one halves the records and leaves no hole in the whole,
so each stream is looked at alone, and its ends beside those of the others.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from auditor.model.coverage import Gap
from auditor.model.facts import SourceMark

_NOTABLE = timedelta(minutes=10)
"""Shorter silences happen in a small cluster."""
_TALKS = 4
"""How many times longer than its silence a stream must talk: a log that is mostly silent has no gaps."""

Span = tuple[datetime, datetime]


def silences(cluster: str, marks: Iterable[SourceMark]) -> Iterator[Gap]:
    """The gaps in the audit log of one cluster, stream by stream."""
    streams = _streams(marks)
    if not streams:
        return
    first = min(spans[0][0] for spans in streams.values())
    last = max(spans[-1][1] for spans in streams.values())
    for stream, spans in sorted(streams.items()):
        talked = sum((end - begin for begin, end in spans), timedelta())
        edges = [(first, spans[0][0]), (spans[-1][1], last)] if len(streams) > 1 else []
        between = [(earlier[1], later[0]) for earlier, later in pairwise(spans)]
        for begin, end in sorted((*edges, *between)):
            if end - begin >= _NOTABLE and talked >= (end - begin) * _TALKS:
                yield Gap("audit", cluster, begin, end, _said(cluster, stream, begin, end), "")


def _said(cluster: str, stream: str, begin: datetime, end: datetime) -> str:
    whose = f"The stream {stream} of the audit log of {cluster}" if stream else f"The audit log of {cluster}"
    return (
        f"{whose} holds nothing from {begin:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC, and is never silent so long "
        "otherwise: what was changed then may be missing."
    )


def _streams(marks: Iterable[SourceMark]) -> dict[str, list[Span]]:
    """By stream, the spans in which it was not silent, oldest first; rotated files of one stream make one span."""
    told: dict[str, set[Span]] = defaultdict(set)
    for mark in marks:
        for stream, spans in mark.streams.items():
            told[stream].update((_minute(begin), _minute(end)) for begin, end in spans)
    return {stream: _merged(sorted(spans)) for stream, spans in told.items() if spans}


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for begin, end in spans:
        if merged and begin - merged[-1][1] <= timedelta(minutes=5):
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def _minute(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}:00+00:00")
