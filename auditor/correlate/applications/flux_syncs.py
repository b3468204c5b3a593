"""Every reconciliation of a Flux application that the records tell of: from its conditions and its history.

Flux says when it begins (Ready: Unknown) and how it ended (Ready: True or False). Most apply nothing: they look for
drift by a dry run of everything.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from auditor.correlate.applications.courses import Course, Identify, Step
from auditor.correlate.applications.flux_documents import asked_by_hand, attempted, commit_of, condition
from auditor.model.application import ApplicationState, SyncRecord
from auditor.model.change import Actor, Evidence
from auditor.model.facts import AuditEvent
from auditor.model.resource import JsonObject
from auditor.objects.document import child, maps, text
from auditor.objects.timestamps import instant

_SECOND = timedelta(seconds=1)


def flux_syncs(course: Course, identify: Identify) -> tuple[SyncRecord, ...]:
    """The reconciliations of one application, oldest first."""
    told = list(_from_conditions(course, identify))
    told += [each for each in _from_histories(course) if not any(_is_same(each, other) for other in told)]
    return tuple(sorted(told, key=lambda sync: sync.started_at))


def _from_conditions(course: Course, identify: Identify) -> Iterator[SyncRecord]:
    began: datetime | None = None
    asked: AuditEvent | None = None
    for step in course.steps:
        if step.before is None or step.event is None:
            continue
        if asked_by_hand(step.before.document, step.state.document):
            asked = step.event
        ready, earlier = _ready(step.state), _ready(step.before)
        same = ready == earlier and attempted(_status(step.state)) == attempted(_status(step.before))
        if not ready or same:
            continue
        if text(ready, "status") == "Unknown":
            began = began or step.state.at
            continue
        yield _ended(step, ready, began, identify(asked) if asked else None)
        began = asked = None


def _ended(step: Step, ready: JsonObject, began: datetime | None, asked: Actor | None) -> SyncRecord:
    done = text(ready, "status") == "True"
    state = step.state
    # A revision that failed was attempted; what stands in the status as applied is an earlier one.
    revisions = state.revisions if done else _attempted(state)
    sync = _record(state, began or state.at, state.at, "Succeeded" if done else "Failed", revisions, state.evidence)
    if asked is None:
        return replace(sync, message=text(ready, "message"))
    return replace(sync, message=text(ready, "message"), origin="manual", initiated_by=asked.name, requested_by=asked)


def _from_histories(course: Course) -> Iterator[SyncRecord]:
    """What the last entries of the histories tell beyond the conditions."""
    seen: set[tuple[str, str]] = set()
    for step in course.steps:
        for entry in maps(_status(step.state), "history"):
            ended = text(entry, "lastReconciled") or text(entry, "lastDeployed")
            name = (text(entry, "digest"), ended)
            at = instant(ended)
            if at is not None and name not in seen:
                seen.add(name)
                yield _of_entry(step.state, entry, at)


def _of_entry(state: ApplicationState, entry: JsonObject, at: datetime) -> SyncRecord:
    said = (text(entry, "lastReconciledStatus") or text(entry, "status")).casefold()
    done = said in ("reconciliationsucceeded", "success", "deployed", "superseded")
    revision = text(child(entry, "metadata"), "revision")
    revisions = (commit_of(revision),) if revision else ()
    return _record(state, at, at, "Succeeded" if done else "Failed", revisions, state.evidence)


def _record(
    state: ApplicationState, began: datetime, ended: datetime, phase: str, revisions: tuple[str, ...], cited: Evidence
) -> SyncRecord:
    return SyncRecord(
        app=state.key,
        started_at=began,
        finished_at=ended,
        phase=phase,
        revisions=revisions,
        sources=state.sources,
        origin="automated",
        extent="full",
        initiated_by="",
        requested_by=None,
        local_manifests=False,
        dry_run=False,
        rollback_to=None,
        retries=0,
        message="",
        resources=(),
        selected=(),
        evidence=(cited,),
    )


def _is_same(one: SyncRecord, other: SyncRecord) -> bool:
    ended, until = one.finished_at or one.started_at, other.finished_at or other.started_at
    return other.started_at - 2 * _SECOND <= ended <= until + 2 * _SECOND


def _status(state: ApplicationState) -> JsonObject:
    return child(state.document, "status")


def _ready(state: ApplicationState) -> JsonObject:
    return condition(_status(state), "Ready")


def _attempted(state: ApplicationState) -> tuple[str, ...]:
    revision = attempted(_status(state))
    return (commit_of(revision),) if revision and state.key.kind == "Kustomization" else ()
