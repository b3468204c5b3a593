"""Freezes of single objects under Flux: an annotation tells the controller to leave an object alone.

They stand on the object, not on its Kustomization, and so are found among the changes.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from auditor.correlate.applications.freezes import Hand, in_time_order
from auditor.model.application import ApplicationHistory, Freeze
from auditor.model.change import AppKey, Change, FieldChange
from auditor.model.resource import Leaf, ObjectId

_LEAVES_ALONE = {
    "kustomize.toolkit.fluxcd.io/reconcile": frozenset({"disabled"}),
    "kustomize.toolkit.fluxcd.io/ssa": frozenset({"merge", "ifnotpresent", "ignore"}),
    "helm.toolkit.fluxcd.io/driftDetection": frozenset({"disabled"}),
}


def with_object_freezes(
    histories: Mapping[AppKey, ApplicationHistory], changes: Iterable[Change]
) -> Mapping[AppKey, ApplicationHistory]:
    """The histories, with the freezes that changes of annotations began and ended. Changes come oldest first."""
    found: dict[AppKey, list[Freeze]] = defaultdict(list)
    open_: dict[tuple[ObjectId, str], Freeze] = {}
    for change in changes:
        if change.application is None or not change.application.is_flux:
            continue
        for name, before, after in _annotations(change):
            place = (change.write.object, name)
            if place in open_ and not _leaves_alone(name, after):
                found[open_[place].app].append(_ended(open_.pop(place), change))
            elif _leaves_alone(name, after) and not _leaves_alone(name, before) and change.write.cause != "gitops":
                open_[place] = _begun(change.application, change)
    for freeze in open_.values():
        found[freeze.app].append(freeze)
    return {
        key: replace(history, freezes=in_time_order([*history.freezes, *found[key]])) if key in found else history
        for key, history in histories.items()
    }


def concerns(freeze: Freeze, subject: ObjectId) -> bool:
    """Whether a freeze holds for an object of its application."""
    return freeze.form != "reconcile-disabled" or freeze.description == str(subject)


def _annotations(change: Change) -> list[tuple[str, Leaf, Leaf]]:
    """The annotations of Flux that a change set or took away; a deletion takes away all."""
    if change.write.operation == "delete":
        return [(name, Leaf("unknown"), Leaf("absent")) for name in _LEAVES_ALONE]
    return [(name, each.before, each.after) for each in change.write.fields if (name := _name(each)) in _LEAVES_ALONE]


def _name(field: FieldChange) -> str:
    return str(field.path[2]) if len(field.path) == 3 and field.path[:2] == ("metadata", "annotations") else ""


def _leaves_alone(name: str, value: Leaf) -> bool:
    return isinstance(value.value, str) and value.value.casefold() in _LEAVES_ALONE[name]


def _begun(key: AppKey, change: Change) -> Freeze:
    write = change.write
    return Freeze(
        key, "reconcile-disabled", write.at, write.actor, None, None, False, "", str(write.object), write.evidence
    )


def _ended(freeze: Freeze, change: Change) -> Freeze:
    write = change.write
    undone = not Hand(write.actor, ()).is_person
    evidence = (*freeze.evidence, *write.evidence)
    return replace(freeze, ended_at=write.at, ended_by=write.actor, undone=undone, evidence=evidence)
