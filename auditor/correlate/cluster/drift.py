"""What differs from git now, field by field, and by what: a hand, another controller or a default, or a sync that
did not arrive. A restart is no difference: its annotation says nothing of how the object should be.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from auditor.correlate.cluster.sight import comparable, ignore_rules
from auditor.correlate.episodes.incident import RESTARTED_AT
from auditor.model.application import ApplicationHistory, ApplicationState
from auditor.model.case import Case, LiveState
from auditor.model.change import ActorKind, Change
from auditor.model.desired import DesiredState, ManifestKey
from auditor.model.drift import DriftCause, DriftedField
from auditor.model.resource import ABSENT, UNKNOWN, JsonObject, Leaf, ObjectId, Path, leaf
from auditor.model.verdict import ClusterVerdict, GitVerdict, Verdict
from auditor.objects import ignore, leaves, managed_fields, paths
from auditor.objects.bare_items import BARE, as_leaf, stood_for

LACKING = frozenset({"not-reflected", "not-in-git", "not-declared", "on-branch", "superseded"})
_BY_HAND: frozenset[ActorKind] = frozenset({"person", "shared-credential", "unknown"})
_PRESENT = leaf({})
"""Stands for a whole object."""


def drifted(case: Case) -> tuple[DriftedField, ...]:
    """By application, object and path. What a rule of ignoreDifferences hides counts only where a hand set it."""
    writers = _last_writers(case)
    found = _without_parts({(one.object, one.path): one for one in _standing(case)})
    for key, history in case.applications.items():
        desired = case.desired.get(key)
        state = history.states[-1] if history.states else None
        if history.removed_at is None and state is not None and isinstance(desired, DesiredState):
            for one in _of_application(case, history, state, desired, writers):
                found.setdefault((one.object, one.path), one)
    return tuple(sorted(found.values(), key=_order))


def _without_parts(found: dict[tuple[ObjectId, Path], DriftedField]) -> dict[tuple[ObjectId, Path], DriftedField]:
    """Fields of an object that git lacks as a whole are said with the object."""
    return {place: one for place, one in found.items() if not place[1] or (place[0], ()) not in found}


def _order(one: DriftedField) -> tuple[str, ObjectId, str]:
    return str(one.application or "\uffff"), one.object, paths.text(one.path)


def _standing(case: Case) -> Iterator[DriftedField]:
    """What hands and pipelines left that stands and that git lacks; of several changes of a field, the last."""
    for change in case.changes:
        verdict = case.verdicts.get(change.id)
        if verdict is None or change.write.persisted != "proven":
            continue
        if not verdict.fields:
            if _left(verdict.git, verdict.cluster):
                yield _of_change(change, verdict, verdict.git, (), _PRESENT)
            continue
        write = change.write
        told = stood_for(write.fields, write.object)
        for one, item, judged in zip(write.fields, told, verdict.fields, strict=True):
            field = item if _wanted(case, change, item.path) == BARE else one
            wanted = _wanted(case, change, field.path)
            differs = field.after.state != "absent" or wanted.state != "absent"
            if _left(judged.git, judged.cluster) and field.path[-1:] != (RESTARTED_AT,) and differs:
                yield _of_change(change, verdict, judged.git, field.path, field.after, wanted)


def _left(git: GitVerdict, cluster: ClusterVerdict) -> bool:
    return git.verdict in LACKING and cluster.verdict == "standing"


def _of_change(
    change: Change, verdict: Verdict, git: GitVerdict, path: Path, live: Leaf, wanted: Leaf = ABSENT
) -> DriftedField:
    write = change.write
    if write.operation == "delete":
        wanted, live = _PRESENT, ABSENT
    return DriftedField(
        change.application,
        write.object,
        path,
        wanted,
        live,
        "a pipeline" if write.actor.kind == "ci" else "a hand",
        write.actor.name,
        write.at,
        f"{write.channel}; git: {git.verdict}",
        verdict.next,
        change.id,
    )


def _wanted(case: Case, change: Change, path: Path) -> Leaf:
    """What git has in its place, as far as it was rendered."""
    desired = case.desired.get(change.application) if change.application else None
    subject = change.write.object
    if not isinstance(desired, DesiredState):
        return ABSENT if case.verdicts[change.id].git.verdict == "not-in-git" else UNKNOWN
    manifest = desired.objects.get(ManifestKey(subject.group, subject.kind, subject.namespace, subject.name))
    if manifest is None:
        return ABSENT
    return as_leaf(path, paths.lookup(comparable(manifest, subject), path), subject)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Who gave a field its value last."""

    name: str
    kind: ActorKind
    at: datetime
    how: str
    change: str | None


_Writers = Mapping[tuple[ObjectId, Path], _Writer]


def _last_writers(case: Case) -> _Writers:
    changes = {change.id for change in case.changes}
    last: dict[tuple[ObjectId, Path], _Writer] = {}
    for write in case.writes:
        if write.outcome not in ("changed", "unproven"):
            continue
        ident = write.id if write.id in changes else None
        mine = _Writer(write.actor.name, write.actor.kind, write.at, write.channel, ident)
        for field in write.fields:
            last[(write.object, field.path)] = mine
        for side in write.side_effects:
            last[(write.object, side.path)] = _Writer(side.by, "admission", write.at, "beside what was asked for", None)
        if write.operation != "update":
            last[(write.object, ())] = mine
    return last


def _of_application(
    case: Case, history: ApplicationHistory, state: ApplicationState, desired: DesiredState, writers: _Writers
) -> Iterator[DriftedField]:
    rules = ignore_rules(state, (each for each in case.settings if each.argocd == history.key.argocd))
    for key, manifest in desired.objects.items():
        subject = ObjectId(state.cluster, key.group, key.kind, key.namespace, key.name)
        live = case.live.get(subject)
        if not state.cluster or live is None:
            continue
        unsure = _undetermined(desired, key, manifest)
        for path, wanted, found in _differing(subject, manifest, live):
            if path in unsure:
                continue
            one = _explained(history, state, subject, (path, wanted, found), live, writers)
            hidden = any(ignore.covers(rule, subject, path) for rule in rules)
            if not hidden or one.cause in ("a hand", "a pipeline"):
                yield one


def _undetermined(desired: DesiredState, key: ManifestKey, manifest: JsonObject) -> frozenset[Path]:
    """Fields that come out otherwise at each render: git does not say what they should be."""
    again = desired.second.get(key)
    found = leaves.differences(manifest, again, key.group, key.kind) if again is not None else ()
    return frozenset(field.path for field in found)


def _differing(subject: ObjectId, manifest: JsonObject, live: LiveState) -> Iterator[tuple[Path, Leaf, Leaf]]:
    """Fields that git declares and that live otherwise. What a partly known object does not show is no difference."""
    if live.body is None:
        yield (), _PRESENT, ABSENT
        return
    for field in leaves.differences(comparable(manifest, subject), live.body, subject.group, subject.kind):
        if field.before.state == "value" and field.after.known and (live.complete or field.after.state == "value"):
            yield field.path, field.before, field.after


def _explained(
    history: ApplicationHistory,
    state: ApplicationState,
    subject: ObjectId,
    difference: tuple[Path, Leaf, Leaf],
    live: LiveState,
    writers: _Writers,
) -> DriftedField:
    path, wanted, found = difference
    cause, writer, because = _cause(history, state, subject, path, live, writers)
    return DriftedField(
        history.key,
        subject,
        path,
        wanted,
        found,
        cause,
        writer.name if writer else "",
        writer.at if writer else None,
        because,
        _next(state, cause),
        writer.change if writer and cause in ("a hand", "a pipeline") else None,
    )


def _cause(
    history: ApplicationHistory,
    state: ApplicationState,
    subject: ObjectId,
    path: Path,
    live: LiveState,
    writers: _Writers,
) -> tuple[DriftCause, _Writer | None, str]:
    writer = next((found for end in range(len(path), -1, -1) if (found := writers.get((subject, path[:end])))), None)
    if writer is None:
        return _by_ownership(history, path, live)
    if writer.kind == "gitops" and _says_synced(state, subject):
        return "another controller or a default", writer, "Argo CD applied it past git and says Synced"
    if writer.kind == "gitops":
        return (
            "an unfinished sync",
            writer,
            _unfinished(history) or "the last sync wrote another value than git has now",
        )
    if writer.kind == "ci":
        return "a pipeline", writer, writer.how
    if writer.kind in _BY_HAND:
        return "a hand", writer, writer.how
    return "another controller or a default", writer, f"written by {writer.kind}: {writer.name}"


def _says_synced(state: ApplicationState, subject: ObjectId) -> bool:
    """Whether Argo CD finds no difference where git has one: its own source then differs from the tracked branch."""
    place = (subject.group, subject.kind, subject.namespace, subject.name)
    return any(tuple(where) == place and said == "Synced" for *where, said in state.resources)


def _by_ownership(history: ApplicationHistory, path: Path, live: LiveState) -> tuple[DriftCause, _Writer | None, str]:
    """Nobody wrote it in the records: managedFields tell the manager, and never a person."""
    owners = managed_fields.owners(live.body, path) if live.body is not None else ()
    unfinished = _unfinished(history)
    if not owners:
        if unfinished:
            return "an unfinished sync", None, unfinished
        return "not told", None, "no write of it is in the records, and no managedFields name its manager"
    latest = owners[0]
    said = f"managedFields name the manager {latest.manager}"
    writer = _Writer(latest.manager, "unknown", latest.at, said, None) if latest.at else None
    if latest.manager.startswith("argocd"):
        return "an unfinished sync", writer, unfinished or said
    if latest.manager.startswith(("kubectl", "helm", "Mozilla")):
        return "a hand", writer, f"{said}, which a person or a pipeline may have been"
    return "another controller or a default", writer, said


def _unfinished(history: ApplicationHistory) -> str:
    """What is left undone by the last sync; "" where it succeeded in full or no record tells."""
    tried = [sync for sync in history.syncs if not sync.dry_run]
    last = tried[-1] if tried else None
    if last is None or (last.phase == "Succeeded" and last.extent != "selective"):
        return ""
    revision = next((each[:9] for each in last.revisions if each), "a revision that is not recorded")
    if last.phase == "Succeeded":
        return f"the last sync, to {revision}, took chosen objects only" if last.origin == "manual" else ""
    return f"the last sync, to {revision}, is {last.phase or 'not recorded to its end'}"


def _next(state: ApplicationState, cause: DriftCause) -> str:
    if state.waits_for_a_hand:
        return "It waits for a sync that somebody starts by hand."
    if cause == "another controller or a default":
        return "A sync writes git's value, and its writer may write its own again."
    if cause == "an unfinished sync":
        return "The next sync tries again to apply what git says."
    if not state.automated:
        return f"The next sync that the ApplicationSet {state.rolled_out_by} starts applies what git says."
    if state.self_heal:
        return "The next sync applies what git says."
    return "The next automated sync applies what git says, as soon as the branch moves."
