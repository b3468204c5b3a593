"""A difference that no hand made and no sync removes: a default, an injected or a controller-owned field."""

from collections.abc import Iterator, Mapping

from auditor.config import Config
from auditor.detectors import Detector, suggestion
from auditor.detectors.conclusion import conclude, shown
from auditor.model.application import ApplicationState
from auditor.model.case import Case
from auditor.model.change import AppKey, FieldChange, Write
from auditor.model.desired import DesiredState
from auditor.model.finding import Finding
from auditor.model.resource import JsonObject, ObjectId, Path
from auditor.objects import ignore, leaves, paths

_NO_PHANTOMS = suggestion.BY_HAND | {"gitops"}


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """Fields that git declares, that live differently in an object Argo CD calls OutOfSync, and that no hand wrote.

    Nor a sync: what that left is an older value of git's own, and the next one that gets through writes the new one.
    """
    writers = _last_writers(case)
    for key, history in case.applications.items():
        desired = case.desired.get(key)
        state = history.states[-1] if history.states else None
        if history.removed_at or state is None or not isinstance(desired, DesiredState) or desired.confidence != "high":
            continue
        for subject, manifest in _out_of_sync(state, desired):
            for field in _differing(case, subject, manifest):
                writer = writers.get((subject, field.path))
                if writer is not None and writer[1] not in _NO_PHANTOMS and not _ignored(state, subject, field.path):
                    yield _finding(case, key, subject, field, writer)


Writer = tuple[str, str, Write]
"""Name, kind and write of whoever gave a field its value."""


def _last_writers(case: Case) -> Mapping[tuple[ObjectId, Path], Writer]:
    last: dict[tuple[ObjectId, Path], Writer] = {}
    for write in case.writes:
        if write.outcome in ("changed", "no-op"):
            for field in write.fields:
                last[(write.object, field.path)] = (write.actor.name, write.actor.kind, write)
            for side in write.side_effects:
                last[(write.object, side.path)] = (side.by, "admission", write)
    return last


def _out_of_sync(state: ApplicationState, desired: DesiredState) -> Iterator[tuple[ObjectId, JsonObject]]:
    said = {tuple(place) for *place, status in state.resources if status == "OutOfSync"}
    for key, manifest in desired.objects.items():
        if (key.group, key.kind, key.namespace, key.name) in said and state.cluster:
            yield ObjectId(state.cluster, key.group, key.kind, key.namespace, key.name), manifest


def _differing(case: Case, subject: ObjectId, manifest: JsonObject) -> list[FieldChange]:
    live = case.live.get(subject)
    if live is None or live.body is None:
        return []
    found = leaves.differences(manifest, live.body, subject.group, subject.kind)
    return [field for field in found if field.before.state == "value" and field.after.known]


def _ignored(state: ApplicationState, subject: ObjectId, path: Path) -> bool:
    return any(ignore.covers(rule, subject, path) for rule in state.ignore_differences)


def _finding(case: Case, key: AppKey, subject: ObjectId, field: FieldChange, writer: Writer) -> Finding:
    name, kind, write = writer
    path = paths.text(field.path)
    return conclude(
        "phantom-diff",
        "low",
        f"{subject} {path}: git says {shown(field.before)}, the cluster has {shown(field.after)} from {name} "
        f"({kind}), and no hand was in it.",
        "Write the cluster's value in the manifest, take the field out, or leave it out of the comparison.",
        key=(path, name),
        confidence="medium",
        application=key,
        subject=subject,
        path=path,
        actors=(name,),
        values=(field.before.value, field.after.value),
        first_at=write.at,
        snippet=suggestion.block(case, subject, field.path, field.before, field.after),
        evidence=write.evidence,
    )


DETECTOR = Detector("phantom-diff", "a difference that no hand made and no sync removes", detect)
