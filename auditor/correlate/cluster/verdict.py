"""What became of a change in the cluster: the first later write that left another value decides."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from auditor.correlate.writes.attribution import NOT_RECORDED
from auditor.correlate.writes.overlap import holds, same_place
from auditor.model.case import LiveState
from auditor.model.change import Change, FieldChange, SideEffect, Write
from auditor.model.resource import ABSENT, UNKNOWN, Json, Leaf, Path, leaf
from auditor.model.verdict import CLUSTER_WORST_FIRST, ClusterVerdict, ClusterWord
from auditor.objects import leaves, paths

GitValue = Callable[[Path], Leaf]
"""The normalised value that git had at the time of the change; UNKNOWN where it cannot be computed."""

Pressed = Callable[[Write], str]
"""Who asked for the sync that a write of the GitOps controller belongs to, as a clause; "" where nobody is recorded."""

STANDING = ClusterVerdict("standing")
_BY_NOBODY = ClusterVerdict("unknown", "the value changed later, by a write that the records do not hold")
_UNTOLD = "may have changed it: the record does not hold what it wrote"
_REMOVED = ClusterVerdict("unknown", "the object is gone, and no record says who removed it")
_FINALIZERS: Path = ("metadata", "finalizers")
_REMADE = ClusterVerdict("unknown", "the object is there, and no record says who made it again")


def judge_cluster(
    change: Change,
    later: Iterable[Write],
    git_value: GitValue,
    as_of: datetime,
    live: LiveState | None = None,
    pressed: Pressed = lambda write: "",
    sweeps: Iterable[Write] = (),
) -> tuple[ClusterVerdict, tuple[ClusterVerdict, ...]]:
    """The verdict of the change as a whole, and one for each of its fields in their order.

    `later` are all writes on the same object, before this one too, in any order; those after `as_of` do not count.
    `live` is what the cluster last had: it settles what a later write without a body may have done, and nothing else.
    `sweeps` are deletes that may have taken the object away without naming it: of its namespace, of a collection.
    """
    after = _after(change.write, later, as_of)
    live = live if live is not None and live.at <= as_of else None
    swept = _swept(change.write, after, live, _until(sweeps, as_of))
    fields = tuple(_Trial(change.write, field, git_value, live, pressed).judge(after) for field in change.write.fields)
    if fields:
        fields = tuple(_doubted(each, swept) for each in fields)
        return min(fields, key=lambda each: CLUSTER_WORST_FIRST.index(each.verdict)), fields
    return _doubted(_whole(change.write, after, live, pressed), swept), ()


def _swept(write: Write, after: Sequence[Write], live: LiveState | None, sweeps: Iterable[Write]) -> Write | None:
    """The first delete of more than the object since anything showed it to be there."""
    seen = [write.at, *(other.at for other in after if other.outcome == "changed" and other.operation != "delete")]
    if live is not None and live.complete and live.body is not None:
        seen.append(live.at)
    later = [sweep for sweep in sweeps if sweep.operation == "delete" and sweep.at > max(seen)]
    return min(later, key=lambda sweep: sweep.at, default=None) if write.operation != "delete" else None


def _doubted(verdict: ClusterVerdict, swept: Write | None) -> ClusterVerdict:
    if swept is None or verdict.verdict != "standing":
        return verdict
    what = "its namespace" if swept.object.name else "objects of its kind"
    return _perhaps(swept, f"deleted {what}, and no record says whether this went too")


def _after(write: Write, others: Iterable[Write], as_of: datetime) -> Sequence[Write]:
    """The later writes that stored something or may have, in the API server's order."""
    stored = _until(others, as_of)
    return sorted((other for other in stored if other.position > write.position), key=lambda other: other.position)


def _until(others: Iterable[Write], as_of: datetime) -> Iterator[Write]:
    return (other for other in others if other.outcome in ("changed", "unproven") and other.at <= as_of)


def _whole(write: Write, after: Sequence[Write], live: LiveState | None, pressed: Pressed) -> ClusterVerdict:
    match write.operation:
        case "create":
            return _created(after, live, pressed)
        case "delete":
            return _deleted(after, live, pressed)
        case _:
            return _gone_first(after, pressed) or ClusterVerdict(
                "unknown", "the record does not hold what the write changed"
            )


def _gone_first(after: Sequence[Write], pressed: Pressed) -> ClusterVerdict | None:
    """Of a value that is not known: that the object went away, where no write before may have left another value."""
    first = next(iter(after), None)
    return _by(first, "deleted", pressed) if first is not None and _removes(first) else None


def _created(after: Sequence[Write], live: LiveState | None, pressed: Pressed) -> ClusterVerdict:
    gone = next((other for other in after if other.operation == "delete"), None)
    if gone is None:
        missing = live is not None and live.body is None
        return _REMOVED if missing else STANDING
    if gone.outcome == "unproven" and not (live is not None and live.body is None):
        return STANDING if live is not None and live.complete else _perhaps(gone, "may have deleted the object")
    return _by(gone, "reverted-by-gitops" if is_gitops(gone) else "deleted", pressed)


def _deleted(after: Sequence[Write], live: LiveState | None, pressed: Pressed) -> ClusterVerdict:
    made = next((other for other in after if other.operation == "create"), None)
    if made is not None:
        return _by(made, "reverted-by-gitops" if is_gitops(made) else "reverted", pressed)
    there = live is not None and live.body is not None and live.complete
    return _REMADE if there or any(map(_is_on_what_was_made_again, after)) else STANDING


def _is_on_what_was_made_again(update: Write) -> bool:
    """Whether an update after a delete shows that the object is back: what waits for its end loses its finalizers."""
    return update.outcome == "changed" and any(field.path[:2] != _FINALIZERS for field in update.fields)


class _Trial:
    """One field of a change before the writes that came after it."""

    def __init__(
        self, write: Write, field: FieldChange, git_value: GitValue, live: LiveState | None, pressed: Pressed
    ) -> None:
        self._write = write
        self._field = field
        self._git_value = git_value
        self._live = live
        self._pressed = pressed

    def judge(self, after: Sequence[Write]) -> ClusterVerdict:
        if not self._field.after.known:
            return self._of_unknown_value(after)
        doubt: Write | None = None
        for other in after:
            if doubt is not None and other.outcome != "changed":
                continue  # it can raise another doubt and decide nothing: of a log without answers there are thousands
            if self._had_gone_before(other):
                return _perhaps(doubt, _UNTOLD) if doubt is not None else _BY_NOBODY
            if _removes(other):
                return _by(other, "deleted", self._pressed)
            left = left_by(other, self._field.path)
            if left is None:
                doubt = doubt or (None if other.fields_known and other.operation == "update" else other)
            elif not self._same(left, self._field.after):
                if other.outcome == "changed":
                    return self._altered(other, left)
                doubt = doubt or other
        return self._at_the_end(doubt)

    def _had_gone_before(self, other: Write) -> bool:
        """Whether a later write found another value: one before it had left that, which the records do not show."""
        found = (each.before for each in other.fields if same_place(each.path, self._field.path) and each.before.known)
        return any(not self._same(before, self._field.after) for before in found)

    def _of_unknown_value(self, after: Sequence[Write]) -> ClusterVerdict:
        return _gone_first(after, self._pressed) or ClusterVerdict(
            "unknown", "the record does not hold the value after the change"
        )

    def _altered(self, other: Write, left: Leaf) -> ClusterVerdict:
        """`other` is the first write that left another value."""
        if _is_unrecorded(other, self._field.path):
            return replace(_BY_NOBODY, at=other.at)
        gitops = is_gitops(other)
        if self._same(left, self._field.before):
            return _by(other, "reverted-by-gitops" if gitops else "reverted", self._pressed)
        if gitops and self._same(left, self._git_value(self._field.path)):
            return _by(other, "reverted-by-gitops", self._pressed)
        if not left.known or not (self._field.before.known or gitops):
            reason = f"{by(other)} left another value, and the record does not hold which was there before the change"
            return ClusterVerdict("unknown", reason, other.at, by(other) or None, other.id)
        return _by(other, "overwritten", self._pressed)

    def _at_the_end(self, doubt: Write | None) -> ClusterVerdict:
        """No write is known to have left another value. What the cluster last had has the last word."""
        if self._live is not None and self._live.complete and self._live.at >= self._write.at:
            last = lookup(self._live, self._field.path)
            if self._same(last, self._field.after):
                return STANDING
            if doubt is None:
                return ClusterVerdict("unknown", "the object has another value now, and no record says who set it")
        return STANDING if doubt is None else _perhaps(doubt, _UNTOLD)

    def _same(self, one: Leaf, other: Leaf) -> bool:
        subject = self._write.object
        return leaves.equal(subject.group, subject.kind, self._field.path, one, other)


def left_by(write: Write, path: Path) -> Leaf | None:
    """The value at `path` after a write; None where the write, as far as is known, did not touch it."""
    touched: list[FieldChange | SideEffect] = [*write.fields, *write.side_effects]
    exact = (each.after for each in touched if same_place(each.path, path))
    return next(exact, None) or next(_from_relatives(touched, path), None)


def _from_relatives(touched: Iterable[FieldChange | SideEffect], path: Path) -> Iterator[Leaf]:
    """What a change of an ancestor or a descendant says of `path`."""
    for each in touched:
        if holds(each.path, path):
            rest = path[len(each.path) :]
            yield paths.lookup(each.after.value, rest) if each.after.state == "value" else each.after
        elif holds(path, each.path):
            yield _wrapped(each.after, each.path[len(path) :])


def _wrapped(inner: Leaf, rest: Path) -> Leaf:
    """A value of which only one thing inside is known, for comparison with others."""
    if inner.state != "value" or not all(isinstance(segment, str) for segment in rest):
        return UNKNOWN
    value: Json = inner.value
    for segment in reversed(rest):
        value = {str(segment): value}
    return leaf(value)


def lookup(live: LiveState, path: Path) -> Leaf:
    """What the object last had at `path`; UNKNOWN where only parts of it are known."""
    if live.body is None:
        return ABSENT
    found = paths.lookup(live.body, path)
    return found if found.state == "value" or live.complete else UNKNOWN


def is_gitops(write: Write) -> bool:
    """Whether the GitOps controller sent it, from the tracked branch or not."""
    return write.actor.kind == "gitops" or write.cause in ("gitops", "bypass")


def by(write: Write) -> str:
    """The audit user of a write, where its name was joined from another record too."""
    return write.actor.account or write.actor.name


def _removes(write: Write) -> bool:
    return write.operation == "delete" and write.outcome == "changed"


def _is_unrecorded(write: Write, path: Path) -> bool:
    return any(effect.by == NOT_RECORDED and effect.path == path for effect in write.side_effects) and not any(
        field.path == path for field in write.fields
    )


def _by(write: Write, verdict: ClusterWord, pressed: Pressed) -> ClusterVerdict:
    reason = pressed(write) if is_gitops(write) else ""
    return ClusterVerdict(verdict, reason, write.at, by(write) or None, write.id)


def _perhaps(write: Write, doing: str) -> ClusterVerdict:
    return ClusterVerdict("unknown", f"{by(write) or 'a client'} {doing}", write.at, None, write.id)
