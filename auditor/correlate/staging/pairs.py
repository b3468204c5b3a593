"""Staging drift: every field that differs between two environments now, explained by what happened on both sides.

The two values at the start of the window are the overlay; what has been changed since is told by who or what set the
value that each side has now.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from auditor.config import Config
from auditor.correlate.episodes.incident import RESTARTED_AT
from auditor.correlate.staging.causes import PRESENT, Reason, Records, Side, reasons
from auditor.correlate.staging.environments import Renaming, renaming
from auditor.correlate.staging.pairing import Pairing, pairings
from auditor.model.application import ApplicationHistory, ApplicationState
from auditor.model.case import LiveState
from auditor.model.change import AppKey, Change, FieldChange
from auditor.model.desired import DesiredState, GitReader, Landing, ManifestKey, Undeterminable
from auditor.model.resource import ABSENT, JsonObject, Leaf, ObjectId, Path
from auditor.model.staging import STAGING_WORST_FIRST, StagingCause, StagingDifference, StagingPair
from auditor.model.verdict import Verdict
from auditor.objects import defaults, leaves
from auditor.objects.paths import lookup, text

_GITOPS_OBJECTS = frozenset({"Application", "ApplicationSet", "AppProject"})


def staging_pairs(
    config: Config,
    histories: Mapping[AppKey, ApplicationHistory],
    live: Mapping[ObjectId, LiveState],
    desired: Mapping[AppKey, DesiredState | Undeterminable],
    changes: Iterable[Change],
    verdicts: Mapping[str, Verdict],
    landings: Mapping[AppKey, Sequence[Landing]],
    git: GitReader | None = None,
) -> tuple[StagingPair, ...]:
    """All pairs of environments with their differences. `git` names the commit that brought a value, where given."""
    records = Records(histories, live, desired, _by_object(changes), verdicts, landings, git)
    return tuple(_pair(pairing, records) for pairing in pairings(config, histories))


def _by_object(changes: Iterable[Change]) -> Mapping[ObjectId, Sequence[Change]]:
    found: dict[ObjectId, list[Change]] = defaultdict(list)
    for change in sorted(changes, key=lambda change: (change.write.position, change.write.at, change.id)):
        if change.write.persisted == "proven":
            found[change.write.object].append(change)
    return found


def _pair(pairing: Pairing, records: Records) -> StagingPair:
    ends = [records.histories[key].states for key in (pairing.staging, pairing.production)]
    if not all(ends):
        return StagingPair(pairing.staging, pairing.production, pairing.paired_by, ())
    staging, production = ends[0][-1], ends[1][-1]
    names = renaming(staging, production)
    found = [
        difference
        for here, there in _matched(
            _objects(staging, records), _objects(production, records), names, staging, production
        )
        for difference in _differences(here, there, names, records, (staging, production))
    ]
    return StagingPair(pairing.staging, pairing.production, pairing.paired_by, tuple(sorted(found, key=_order)))


def _order(difference: StagingDifference) -> tuple[int, ObjectId, str]:
    return STAGING_WORST_FIRST.index(difference.causes[0]), difference.object, text(difference.path)


def _objects(state: ApplicationState, records: Records) -> dict[ObjectId, JsonObject]:
    """The objects of an application with their bodies: live ones, else what git declares."""
    declared = records.desired.get(state.key)
    manifests = declared.objects if isinstance(declared, DesiredState) else {}
    named = {_subject(state, key): body for key, body in manifests.items()}
    changed = [subject for subject, changes in records.changes.items() if changes[-1].application == state.key]
    listed = [ObjectId(state.cluster, *resource[:4]) for resource in state.resources] if not manifests else []
    bodies = {each: _body(each, named.get(each), records.live) for each in [*named, *changed, *listed]}
    return {
        each: body
        for each, body in bodies.items()
        if body is not None and not (each.group == "argoproj.io" and each.kind in _GITOPS_OBJECTS)
    }


def _subject(state: ApplicationState, key: ManifestKey) -> ObjectId:
    return ObjectId(state.cluster, key.group, key.kind, key.namespace, key.name)


def _body(subject: ObjectId, declared: JsonObject | None, live: Mapping[ObjectId, LiveState]) -> JsonObject | None:
    state = live.get(subject)
    if state is None:
        return declared
    return state.body if state.complete or state.body is None or declared is None else declared


_Found = tuple[ObjectId, JsonObject] | None


def _matched(
    here: Mapping[ObjectId, JsonObject],
    there: Mapping[ObjectId, JsonObject],
    names: Renaming,
    staging: ApplicationState,
    production: ApplicationState,
) -> Iterator[tuple[_Found, _Found]]:
    """Objects of both sides that stand in one place; one side alone where the other has none."""
    spaces = {staging.destination_namespace: production.destination_namespace}
    unchanged = Renaming(())
    renamed = {names.object(subject, spaces): (subject, body) for subject, body in here.items()}
    kept = {unchanged.object(subject, {}): (subject, body) for subject, body in there.items()}
    for place in sorted(renamed.keys() | kept.keys()):
        yield renamed.get(place), kept.get(place)


def _differences(
    here: _Found,
    there: _Found,
    names: Renaming,
    records: Records,
    states: tuple[ApplicationState, ApplicationState],
) -> Iterator[StagingDifference]:
    if here is not None and there is not None:
        yield from _of_fields(here, there, names, records, states)
    elif there is not None:
        yield _of_whole(_elsewhere(there[0], names.back, states[1], states[0]), there[0], there[0], records, states)
    elif here is not None:
        yield _of_whole(here[0], _elsewhere(here[0], names, states[0], states[1]), here[0], records, states)


def _of_fields(
    here: tuple[ObjectId, JsonObject],
    there: tuple[ObjectId, JsonObject],
    names: Renaming,
    records: Records,
    states: tuple[ApplicationState, ApplicationState],
) -> Iterator[StagingDifference]:
    subject = there[0]
    for found in leaves.differences(names.body(here[1]), there[1], subject.group, subject.kind):
        if found.path[-1] == RESTARTED_AT or _fills_itself(found, here, there):
            continue
        path = _own_path(found.path, here[1], names)
        staging = Side(here[0], path, _own_value(path, found.before, here[1]), states[0], records)
        production = Side(subject, found.path, found.after, states[1], records)
        yield _explained(subject, staging, production)


def _of_whole(
    staging: ObjectId,
    production: ObjectId,
    present: ObjectId,
    records: Records,
    states: tuple[ApplicationState, ApplicationState],
) -> StagingDifference:
    """An object that only one environment has; the other would have it under its own names."""
    return _explained(
        present,
        Side(staging, (), PRESENT if staging == present else ABSENT, states[0], records),
        Side(production, (), PRESENT if production == present else ABSENT, states[1], records),
    )


def _elsewhere(subject: ObjectId, names: Renaming, source: ApplicationState, target: ApplicationState) -> ObjectId:
    place = names.object(subject, {source.destination_namespace: target.destination_namespace})
    return replace(place, cluster=target.cluster, name=names.name(subject.name))


def _fills_itself(found: FieldChange, here: tuple[ObjectId, JsonObject], there: tuple[ObjectId, JsonObject]) -> bool:
    """Whether the API server put there what differs: an allocation, or a default that a manifest leaves out."""
    sides = [(side.value, body) for side, (_, body) in ((found.before, here), (found.after, there)) if side.known]
    group, kind = there[0].group, there[0].kind
    return all(
        defaults.is_defaultable(group, kind, found.path, value, body) for value, body in sides if value is not None
    )


def _own_path(path: Path, body: JsonObject, names: Renaming) -> Path:
    """Production's path as staging's own object has it."""
    own = names.back.path(path)
    return own if lookup(body, own).state == "value" else path


def _own_value(path: Path, renamed: Leaf, body: JsonObject) -> Leaf:
    own = lookup(body, path)
    return own if renamed.state == "value" and own.state == "value" else renamed


def _explained(subject: ObjectId, staging: Side, production: Side) -> StagingDifference:
    told = sorted(reasons(staging, production), key=lambda reason: STAGING_WORST_FIRST.index(reason.cause))
    causes = tuple(dict.fromkeys(reason.cause for reason in told))
    return StagingDifference(
        object=subject,
        path=production.path,
        staging=staging.now,
        production=production.now,
        causes=causes,
        because="; ".join(reason.because for reason in told),
        changes=tuple(dict.fromkeys(each for reason in told for each in reason.changes)),
        commit=next((reason.commit for reason in told if reason.commit), None),
        advice=_advice(told, causes),
    )


def _advice(told: Sequence[Reason], causes: Sequence[StagingCause]) -> str:
    """promote, revert, decide or nothing."""
    if "production-hotfix" in causes and "promotion" in causes:
        return "decide"
    if causes[0] == "unexplained" and all(reason.settled for reason in told if reason.cause == "unexplained"):
        return "nothing"
    return _ADVICE[causes[0]]


_ADVICE: Mapping[StagingCause, str] = {
    "hotfix-not-in-git": "decide",
    "production-hotfix": "promote",
    "staging-change": "revert",
    "unexplained": "decide",
    "promotion": "promote",
    "overlay": "nothing",
}
