"""What the GitOps controller itself last asked for: the word on git where nothing can render it.

A sync writes what git declares. Where the manifests cannot be rendered here (a chart that is not at hand, a plug-in),
the last value that the controller asked for is what they were at the revision that it had synced.
"""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime

from auditor.model.application import ApplicationHistory
from auditor.model.change import Write
from auditor.model.resource import ABSENT, Leaf, ObjectId, Path

_ASKED = frozenset({"changed", "no-op", "unproven", "bookkeeping"})
_WHOLE = frozenset({"apply", "create", "put"})
"""Kinds of requests that name every field of the manifest."""


class Applied:
    """The controller's writes by object."""

    def __init__(self, writes: Iterable[Write]) -> None:
        self._writes: dict[ObjectId, list[Write]] = {}
        for write in writes:
            if write.cause == "gitops" and write.outcome in _ASKED and write.operation != "delete":
                self._writes.setdefault(write.object, []).append(write)
        for listed in self._writes.values():
            listed.sort(key=lambda write: write.at)

    def value(self, of: ObjectId, path: Path, until: datetime) -> Leaf | None:
        """What the last write until then that speaks of the field asked for; None where none does."""
        listed = self._writes.get(of, [])
        for write in reversed(listed[: bisect_right(listed, until, key=lambda write: write.at)]):
            for field in write.asked:
                if field.path == path and field.after.known:
                    return field.after
            if write.patch_type in _WHOLE and write.asked:
                return ABSENT
        return None


def synced_between(history: ApplicationHistory, since: datetime, until: datetime) -> bool:
    """Whether a sync succeeded in a span: what git declared had then been asked for."""
    return any(
        sync.phase == "Succeeded" and not sync.dry_run and since <= (sync.finished_at or sync.started_at) <= until
        for sync in history.syncs
    )
