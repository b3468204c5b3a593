"""The pulls of the GitOps controller on one field, read from the writes themselves, no-op writes included."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from auditor.model.change import FieldChange, SideEffect, Write
from auditor.model.resource import UNKNOWN, Leaf, ObjectId, Path
from auditor.objects import leaves

LONGEST_GAP = timedelta(minutes=20)
"""Argo CD's self-heal backs off to 5 minutes; longer pauses between two pulls end a loop."""

ROUNDS = 3
"""So many pulls of the same value, each undone, make a loop; fewer are a dispute."""

NOT_A_PARTY = frozenset({"person", "shared-credential", "gitops"})
"""Who never is the other writer of a loop: a hand that tries again is an out-of-band change each time."""


@dataclass(frozen=True, slots=True)
class Pull:
    """The controller asked for `wanted` where it found `found`, and `other` is why it must ask again."""

    at: datetime
    write: Write
    wanted: Leaf
    found: Leaf
    other: str
    other_kind: str
    other_write: Write | None


@dataclass(frozen=True, slots=True)
class Loop:
    """One run of pulls of one value on one field."""

    object: ObjectId
    path: Path
    pulls: tuple[Pull, ...]

    @property
    def gaps(self) -> list[float]:
        """Seconds between one pull and the next."""
        return [(later.at - earlier.at).total_seconds() for earlier, later in pairwise(self.pulls)]


def loops(writes: Iterable[Write]) -> Iterator[Loop]:
    """All loops in writes that are ordered by time, one for each object, field and run of pulls."""
    by_object: dict[ObjectId, list[Write]] = defaultdict(list)
    for write in writes:
        if write.outcome in ("changed", "no-op", "unproven") and write.fields_known:
            by_object[write.object].append(write)
    for subject, history in by_object.items():
        for path in _pulled(history):
            yield from _runs(subject, path, [*_pulls(subject, path, history)])


def _pulled(history: Sequence[Write]) -> list[Path]:
    """Paths that the controller asked to be changed often enough to matter."""
    asked: dict[Path, int] = defaultdict(int)
    for write in history:
        if write.actor.kind == "gitops":
            for field in write.asked:
                asked[field.path] += 1
    return [path for path, count in asked.items() if count >= ROUNDS]


def _field(fields: Sequence[FieldChange], path: Path) -> FieldChange | None:
    return next((field for field in fields if field.path == path), None)


def _side(write: Write, path: Path) -> SideEffect | None:
    return next((side for side in write.side_effects if side.path == path), None)


def _pulls(subject: ObjectId, path: Path, history: Sequence[Write]) -> Iterator[Pull]:
    """Each pull with the writer that made it needed: the last one before it that left another value.

    The first pull of an object's life has no such writer and is no pull.
    """
    other: _Party | None = None
    asked: Leaf | None = None
    for write in history:
        field = _field(write.asked, path)
        if write.actor.kind != "gitops":
            if _field(write.fields, path) is not None:
                other = (write.actor.name, write.actor.kind, write)
            continue
        if field is None or not field.after.known or write.operation != "update":
            continue
        if field.before.known and not leaves.equal(subject.group, subject.kind, path, field.before, field.after):
            unmoved = write.outcome == "no-op" or _side(write, path) is not None
            party = _admission(write, path) if unmoved else other
            if party is not None:
                yield Pull(write.at, write, field.after, field.before, *party)
            other = other if unmoved else None
        elif _asks_again(write, field.after, asked):
            yield Pull(write.at, write, field.after, UNKNOWN, *(other or _unseen(write)))
            other = None
        asked = field.after


_Party = tuple[str, str, Write | None]
"""Name and kind of the other writer, and its write where it has one of its own."""


def _asks_again(write: Write, wanted: Leaf, asked: Leaf | None) -> bool:
    """Whether the controller sends what it sent last, and the record has no answer that shows why.

    Its patch holds only what it found different, so the value was not kept. An apply holds everything and says nothing.
    """
    return not write.resource_version and write.patch_type in ("merge", "strategic") and wanted == asked


def _unseen(write: Write) -> _Party:
    return (", ".join(write.admitted_by) or "a writer that is not recorded", "admission", None)


def _admission(write: Write, path: Path) -> _Party:
    side = _side(write, path)
    if side is not None and side.by:
        return side.by, "admission", None
    return ", ".join(write.admitted_by) or "admission (webhook not recorded)", "admission", None


def _runs(subject: ObjectId, path: Path, pulls: Sequence[Pull]) -> Iterator[Loop]:
    run: list[Pull] = []
    for pull in pulls:
        if pull.other_kind in NOT_A_PARTY:
            continue
        if run and (pull.wanted != run[-1].wanted or pull.at - run[-1].at > LONGEST_GAP):
            if len(run) >= ROUNDS:
                yield Loop(subject, path, tuple(run))
            run = []
        run.append(pull)
    if len(run) >= ROUNDS:
        yield Loop(subject, path, tuple(run))
