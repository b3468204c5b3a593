"""Windows that the records do not reach: that nothing is told of one says nothing."""

from collections.abc import Iterable
from datetime import datetime

from auditor.model.facts import RecordKind, SourceMark

_TELLING: tuple[RecordKind, ...] = ("audit", "argocd")
"""Records that tell of changes."""


def outside(
    marks: Iterable[SourceMark], since: datetime | None, until: datetime | None, as_of: datetime | None = None
) -> str:
    """Why records of changes say nothing from `since` to `until`, as of a moment, in a sentence; "" where they may."""
    spans = [
        (mark.first_at, mark.last_at)
        for mark in marks
        if mark.kind in _TELLING and mark.first_at is not None and mark.last_at is not None
    ]
    if not spans:
        return ""
    begin, end = min(first for first, _ in spans), max(last for _, last in spans)
    if since is not None and since > end:
        return f"No audit log and no record of Argo CD reaches this time: the last ends {_shown(end)}."
    last = min((at for at in (until, as_of) if at is not None), default=None)
    if last is not None and last < begin:
        return f"No audit log and no record of Argo CD reaches this time: the first begins {_shown(begin)}."
    return ""


def _shown(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
