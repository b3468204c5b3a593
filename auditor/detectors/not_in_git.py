"""A value that somebody set and that the tracked branch does not have: what that means for it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, evidence_of, is_nobodys, is_restart, shown, times, who
from auditor.model.case import Case
from auditor.model.change import Change, FieldChange, Write
from auditor.model.finding import Finding, Severity
from auditor.model.resource import Leaf, Path
from auditor.model.verdict import ClusterVerdict, GitVerdict, Verdict
from auditor.objects import paths

LACKING = frozenset({"not-reflected", "not-in-git", "not-declared", "on-branch", "superseded"})


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each field (or whole object) that git lacks; the last of several like changes decides.

    A field of an object that is in no git, set back to what it was, owes git nothing.
    """
    open_ends: dict[tuple[object, ...], list[tuple[Change, Verdict, int | None]]] = defaultdict(list)
    for change in case.changes:
        verdict = case.verdicts.get(change.id)
        if verdict is None or change.write.persisted == "unproven" or is_nobodys(change):
            continue
        for position in _lacking(verdict):
            if position is not None and is_restart(change.write.fields[position]):
                continue
            path = None if position is None else change.write.fields[position].path
            open_ends[(change.application, change.write.object, path)].append((change, verdict, position))
    for seen in open_ends.values():
        if not _set_back(seen):
            yield _finding(seen)


def _lacking(verdict: Verdict) -> list[int | None]:
    if not verdict.fields:
        return [None] if verdict.git.verdict in LACKING else []
    return [number for number, field in enumerate(verdict.fields) if field.git.verdict in LACKING]


def _set_back(seen: Sequence[tuple[Change, Verdict, int | None]]) -> bool:
    """Whether the last of the changes left the value that the first one found, git having no such object."""
    (first, _, before), (last, verdict, after) = seen[0], seen[-1]
    if before is None or after is None or verdict.git.verdict != "not-in-git":
        return False
    found, left = first.write.fields[before].before, last.write.fields[after].after
    return len(seen) > 1 and found.known and found == left


def _finding(seen: Sequence[tuple[Change, Verdict, int | None]]) -> Finding:
    change, verdict, position = seen[-1]
    verdict = _of_field(verdict, position)
    write = change.write
    field = None if position is None else write.fields[position]
    git, cluster = (
        (verdict.git, verdict.cluster)
        if position is None
        else (verdict.fields[position].git, verdict.fields[position].cluster)
    )
    standing = cluster.verdict in ("standing", "unknown")
    return conclude(
        "not-in-git",
        _severity(verdict, standing),
        f"{_subject(change, field.path if field else None, field.after if field else None)} "
        f"({who(change)}, {_how_often(seen)}) is not what git says: {git.verdict}. "
        f"{_fate(write, verdict, cluster, field)}",
        _remedy(change, verdict, git, standing),
        key=(seen[0][0].id, position),
        confidence="high" if git.confidence == "high" else "low",
        application=change.application,
        subject=write.object,
        path=paths.text(field.path) if field else None,
        actors=(each.write.actor.name for each, _, _ in seen),
        values=(field.after.value,) if field and field.after.state == "value" else (),
        first_at=seen[0][0].write.at,
        last_at=write.at,
        count=len(seen),
        changes=(each.id for each, _, _ in seen),
        evidence=evidence_of(each for each, _, _ in seen),
    )


def _of_field(verdict: Verdict, position: int | None) -> Verdict:
    """The verdict with what happens to the field itself, where that is not what happens to the whole change."""
    field = None if position is None else verdict.fields[position]
    if field is None or field.prospect is None:
        return verdict
    return replace(verdict, prospect=field.prospect, next=field.next)


def _how_often(seen: Sequence[tuple[Change, Verdict, int | None]]) -> str:
    """`twice` where one hand did the same thing each time; else the finding tells of the last change only."""
    acts = {
        (who(change), change.write.operation, None if place is None else repr(change.write.fields[place].after))
        for change, _, place in seen
    }
    return times(len(seen)) if len(acts) == 1 else f"the last of {len(seen)} changes"


def _subject(change: Change, path: Path | None, after: Leaf | None) -> str:
    write = change.write
    if path is None or after is None:
        return f"{write.object}, {write.operation}d" if write.operation != "update" else f"{write.object}, changed"
    return f"{write.object} {paths.text(path)} = {shown(after)}"


def _fate(write: Write, verdict: Verdict, cluster: ClusterVerdict, field: FieldChange | None) -> str:
    """Which of the three: will be reverted, was reverted, or cannot be seen."""
    if cluster.verdict not in ("standing", "unknown"):
        by = f" by {cluster.by}" if cluster.by else ""
        return f"{_undone(write, cluster, field)} already ({cluster.verdict}{by})."
    if verdict.prospect == "invisible" and verdict.fields and verdict.git.verdict != "not-in-git":
        return "Argo CD cannot see it, so no sync will undo it."
    return verdict.next


def _undone(write: Write, cluster: ClusterVerdict, field: FieldChange | None) -> str:
    """Of what was taken away, `gone` would say the opposite."""
    if write.operation == "delete":
        return "The object is there again"
    removed = field is not None and field.after.state == "absent" and cluster.verdict != "deleted"
    return "The field is set again" if removed else "It is gone from the cluster"


def _severity(verdict: Verdict, standing: bool) -> Severity:
    if not standing:
        return "low"
    if verdict.prospect in ("undone-at-next-sync", "undone-at-next-revision", "undone-at-manual-sync"):
        return "high"
    return "medium"


def _remedy(change: Change, verdict: Verdict, git: GitVerdict, standing: bool) -> str:
    if not standing:
        return "If the change is still wanted, commit it; else nothing is owed."
    if git.verdict == "on-branch":
        return f"Merge branch {git.branch}, which has the value."
    if change.application is None:
        return _remedy_without_owner(change)
    if verdict.prospect == "invisible":
        return "Declare the field in git with this value, or remove it from the object by hand: Argo CD does neither."
    if verdict.prospect == "kept" and change.write.cause == "bypass":
        return "Commit the value to the tracked branch, or take the override out: a hand on the object does not hold."
    if verdict.prospect == "kept":
        return "Commit the value to the tracked branch, or put the old value back: no sync does either."
    return "Commit the value to the tracked branch before the next sync, or put the old value back."


def _remedy_without_owner(change: Change) -> str:
    """No sync touches the object, and a Secret's values belong into no repository."""
    if change.write.object.kind == "Secret":
        return "Let an application bring it, sealed or from a secret store and never in plain text, or delete it."
    if change.write.operation == "update":
        return "Declare the object in git under an application, or put the old value back by hand."
    if change.write.operation == "delete":
        return "If the object is still wanted, declare it in git under an application."
    return "Declare the object in git under an application, or delete it."


DETECTOR = Detector("not-in-git", "a value that was set by hand is not in the tracked branch", detect)
