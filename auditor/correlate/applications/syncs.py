"""Every sync of an Application, once: joined from its history, its operation state, Events, logs and requests.

Argo CD keeps only the last operation, and in its history only full, successful ones. The patches of its controller
in the audit log have them all, second by second.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from auditor.correlate.applications.courses import Course, Identify, Step, asks_for
from auditor.correlate.applications.documents import canonical, parse_sources, revisions
from auditor.correlate.identity.argo_statements import Statements, argo_user, evidence_of, is_server
from auditor.model.application import ApplicationState, AppSource, SyncRecord, SyncResource
from auditor.model.change import Actor, AppKey, Evidence
from auditor.model.facts import ArgoEvent, AuditEvent
from auditor.model.resource import Json, JsonObject
from auditor.objects.document import child, items, maps, text
from auditor.objects.timestamps import instant

Origin = Literal["automated", "manual", "self-heal", "unknown"]
Extent = Literal["full", "selective", "unknown"]

_DONE = frozenset({"Succeeded", "Failed", "Error"})
_SECOND = timedelta(seconds=1)
_STARTS_WITHIN = timedelta(seconds=10)
"""From a request to the start of its operation, where the controller is not busy."""

_AUTOMATED = re.compile(r"Initiated automated sync to '([^']*)'")
_ASKED = re.compile(r"initiated (partial )?sync (?:to (?P<target>.*?)(?: \((?P<sha>[^)]*)\))?|(?P<local>locally))\Z")
_ROLLBACK = re.compile(r"initiated rollback to (\d+)")
_COMPLETED = re.compile(
    r"(?P<partial>Partial s|S)ync operation to (?P<revision>\S*) ?(?P<end>succeeded|failed: ?(?P<why>.*))", re.S
)


@dataclass
class _Draft:
    """One operation while its records are gathered."""

    started_at: datetime
    written_start: str = ""
    operation: str = ""
    finished_at: datetime | None = None
    phase: str = ""
    revisions: tuple[str, ...] = ()
    sources: tuple[AppSource, ...] = ()
    origin: Origin = "unknown"
    extent: Extent = "unknown"
    initiated_by: str = ""
    requested_by: Actor | None = None
    target: str = ""
    local: bool = False
    dry_run: bool = False
    rollback_to: int | None = None
    retries: int = 0
    message: str = ""
    resources: tuple[SyncResource, ...] = ()
    selected: tuple[tuple[str, str, str], ...] = ()
    evidence: list[Evidence] = field(default_factory=list)
    told_start: bool = False
    told_end: bool = False

    def cite(self, evidence: Evidence) -> None:
        if evidence not in self.evidence:
            self.evidence.append(evidence)


def syncs(course: Course, statements: Statements, identify: Identify) -> tuple[SyncRecord, ...]:
    """The operations of one Application, oldest first."""
    drafts = _from_states(course, identify)
    for entry, evidence in _history(course):
        _add_history(entry, evidence, drafts)
    for statement in _once(statements.about(course.key)):
        _add_statement(statement, drafts)
    drafts.sort(key=_start)
    return tuple(_record(course.key, draft) for draft in drafts)


def _start(draft: _Draft) -> datetime:
    return draft.started_at


def _from_states(course: Course, identify: Identify) -> list[_Draft]:
    """The operations that the states show while they run and when they end."""
    drafts: list[_Draft] = []
    request: AuditEvent | None = None
    for step in course.steps:
        if step.event is not None and _asks(step):
            request = step.event
        state = child(child(step.state.document, "status"), "operationState")
        if not state or (step.before and child(child(step.before.document, "status"), "operationState") == state):
            continue
        draft = drafts[-1] if drafts and _continues(drafts[-1], state) else None
        if draft is None:
            started = instant(state.get("startedAt"))
            if started is None:
                continue
            draft = _Draft(_exact(started, step), text(state, "startedAt"), canonical(child(state, "operation")))
            drafts.append(draft)
            if request is not None:
                draft.requested_by = identify(request)
                draft.cite(Evidence("audit", request.audit_id, request.origin, request.id))
                request = None
        _update(draft, state, step)
    return drafts


def _asks(step: Step) -> bool:
    operation = child(step.state.document, "operation")
    brought = bool(operation) and (step.before is None or child(step.before.document, "operation") != operation)
    return brought and step.event is not None and asks_for(step.event, step.before, ("operation",))


def _continues(draft: _Draft, state: JsonObject) -> bool:
    """Whether an operation state is a later one of the same operation. Two may begin within one second."""
    same = draft.written_start == text(state, "startedAt") and draft.operation == canonical(child(state, "operation"))
    return same and not (draft.phase in _DONE and text(state, "phase") not in _DONE)


def _exact(written: datetime, step: Step) -> datetime:
    """A whole second that Argo CD wrote, as the time of the request that stored it, where that fits."""
    at = step.event.at if step.event is not None else None
    return at if at is not None and written <= at <= written + 2 * _SECOND else written


def _update(draft: _Draft, state: JsonObject, step: Step) -> None:
    operation, result = child(state, "operation"), child(state, "syncResult")
    sync, initiator = child(operation, "sync"), child(operation, "initiatedBy")
    draft.phase = text(state, "phase")
    finished = instant(state.get("finishedAt")) if draft.phase in _DONE else None
    draft.finished_at = _exact(finished, step) if finished else None
    draft.message = text(state, "message") or draft.message
    draft.retries = _whole(state.get("retryCount"))
    draft.revisions = revisions(result) or revisions(sync) or draft.revisions
    draft.sources = parse_sources(sync) or parse_sources(result) or draft.sources
    draft.selected = tuple(
        (text(each, "group"), text(each, "kind"), text(each, "name")) for each in maps(sync, "resources")
    )
    draft.extent = "selective" if draft.selected else "full"
    draft.initiated_by = text(initiator, "username")
    draft.origin = "manual" if initiator.get("automated") is not True else "automated"
    if draft.origin == "automated" and _whole(sync.get("autoHealAttemptsCount") or sync.get("selfHealAttemptsCount")):
        draft.origin = "self-heal"
    draft.local = draft.local or bool(items(sync, "manifests"))
    draft.dry_run = sync.get("dryRun") is True
    draft.rollback_to = draft.rollback_to if draft.rollback_to is not None else _rolled_back(step, sync, draft)
    draft.resources = tuple(_resource(each) for each in maps(result, "resources")) or draft.resources
    draft.cite(step.state.evidence)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _resource(entry: JsonObject) -> SyncResource:
    return SyncResource(*(text(entry, key) for key in ("group", "kind", "namespace", "name", "status", "message")))


def _rolled_back(step: Step, sync: JsonObject, draft: _Draft) -> int | None:
    """The history entry that a manual operation goes back to: a rollback applies an older entry's own source."""
    if draft.origin != "manual" or "apply" not in child(sync, "syncStrategy") or not draft.sources:
        return None
    document = (step.before or step.state).document
    entries = list(maps(child(document, "status"), "history"))
    if not entries or revisions(entries[-1]) == draft.revisions:
        return None
    older = [entry for entry in entries[:-1] if revisions(entry) == draft.revisions]
    return next((_whole(entry.get("id")) for entry in reversed(older) if parse_sources(entry) == draft.sources), None)


def _history(course: Course) -> Iterator[tuple[JsonObject, Evidence]]:
    """Each entry that any state's history holds, with the first state that does."""
    seen: set[tuple[int, str]] = set()
    for step in course.steps:
        if step.before is not None and _entries(step.before) is _entries(step.state):
            continue
        for entry in maps(child(step.state.document, "status"), "history"):
            key = (_whole(entry.get("id")), text(entry, "deployedAt"))
            if key not in seen:
                seen.add(key)
                yield entry, step.state.evidence


def _entries(state: ApplicationState) -> Json:
    return child(state.document, "status").get("history")


def _add_history(entry: JsonObject, evidence: Evidence, drafts: list[_Draft]) -> None:
    finished = instant(entry.get("deployedAt"))
    started = instant(entry.get("deployStartedAt")) or finished
    if started is None:
        return
    if any(_is_entry(draft, entry, started) for draft in drafts):
        return
    initiator = child(entry, "initiatedBy")
    automated = initiator.get("automated") is True
    drafts.append(
        _Draft(
            started,
            finished_at=finished,
            phase="Succeeded",
            revisions=revisions(entry),
            sources=parse_sources(entry),
            origin="automated" if automated else "manual" if initiator else "unknown",
            extent="full",
            initiated_by=text(initiator, "username"),
            evidence=[evidence],
        )
    )


def _is_entry(draft: _Draft, entry: JsonObject, started: datetime) -> bool:
    near = abs(draft.started_at.replace(microsecond=0) - started) <= _SECOND
    return near and draft.extent != "selective" and draft.revisions in ((), revisions(entry))


def _once(statements: list[ArgoEvent]) -> Iterator[ArgoEvent]:
    """The statements on operations, each once: the Event rather than the log line that says the same."""
    relevant = [each for each in statements if each.reason in ("OperationStarted", "OperationCompleted")]
    exact = [each for each in relevant if each.medium == "event"]
    retold = {
        (each.message, each.at.replace(microsecond=0) + shift * _SECOND) for each in exact for shift in (-1, 0, 1)
    }
    seen: set[tuple[datetime, str]] = set()
    for each in relevant:
        said = (each.at, each.message)
        if said in seen or (each.medium == "log" and (each.message, each.at.replace(microsecond=0)) in retold):
            continue
        seen.add(said)
        yield each


def _add_statement(statement: ArgoEvent, drafts: list[_Draft]) -> None:
    if match := _ASKED.search(statement.message):
        draft = _asked(statement, drafts)
        draft.target = draft.target or match.group("target") or ""
        draft.local = draft.local or bool(match.group("local"))
        sha = match.group("sha")
        draft.revisions = draft.revisions or ((sha,) if sha else ())
        draft.extent = draft.extent if draft.extent != "unknown" else "selective" if match.group(1) else "full"
    elif match := _ROLLBACK.search(statement.message):
        _asked(statement, drafts).rollback_to = int(match.group(1))
    elif match := _AUTOMATED.match(statement.message):
        _begun(statement, match.group(1), drafts)
    elif match := _COMPLETED.match(statement.message):
        _ended(statement, match, drafts)


def _asked(statement: ArgoEvent, drafts: list[_Draft]) -> _Draft:
    """The operation that a user asked for."""
    fitting = [
        draft
        for draft in drafts
        if not draft.told_start
        and draft.origin in ("manual", "unknown")
        and draft.initiated_by in ("", statement.user)
        and statement.at - 2 * _SECOND <= draft.started_at <= statement.at + _STARTS_WITHIN
    ]
    draft = _nearest(fitting, statement.at) or _new(statement, drafts)
    draft.told_start, draft.origin = True, "manual"
    draft.initiated_by = draft.initiated_by or statement.user
    if draft.requested_by is None or is_server(draft.requested_by):
        account = draft.requested_by.account or draft.requested_by.name if draft.requested_by else ""
        draft.requested_by = argo_user(statement.user, account, statement.medium) if statement.user else None
    draft.cite(evidence_of(statement))
    return draft


def _begun(statement: ArgoEvent, revision: str, drafts: list[_Draft]) -> None:
    fitting = [
        draft
        for draft in drafts
        if not draft.told_start
        and draft.origin != "manual"
        and draft.revisions in ((), (revision,))
        and abs(draft.started_at - statement.at) <= 3 * _SECOND
    ]
    draft = _nearest(fitting, statement.at) or _new(statement, drafts)
    draft.told_start = True
    draft.origin = draft.origin if draft.origin != "unknown" else "automated"
    draft.revisions = draft.revisions or ((revision,) if revision else ())
    draft.cite(evidence_of(statement))


def _ended(statement: ArgoEvent, match: re.Match[str], drafts: list[_Draft]) -> None:
    revision = match.group("revision")
    fitting = [
        draft
        for draft in drafts
        if not draft.told_end
        and (not revision or draft.revisions in ((), (revision,)))
        and draft.started_at - _SECOND <= statement.at
        and (draft.finished_at is None or abs(draft.finished_at - statement.at) <= 3 * _SECOND)
    ]
    draft = _nearest(fitting, statement.at) or _new(statement, drafts)
    draft.told_end = True
    draft.phase = (
        draft.phase if draft.phase in _DONE else "Succeeded" if match.group("end") == "succeeded" else "Failed"
    )
    draft.finished_at = draft.finished_at or statement.at
    draft.message = draft.message or match.group("why") or ""
    draft.revisions = draft.revisions or ((revision,) if revision else ())
    if draft.extent == "unknown":
        draft.extent = "selective" if match.group("partial").startswith("Partial") else "full"
    draft.cite(evidence_of(statement))


def _nearest(drafts: list[_Draft], at: datetime) -> _Draft | None:
    return min(drafts, key=lambda draft: abs((draft.finished_at or draft.started_at) - at), default=None)


def _new(statement: ArgoEvent, drafts: list[_Draft]) -> _Draft:
    draft = _Draft(statement.at)
    drafts.append(draft)
    return draft


def _requester(draft: _Draft) -> Actor | None:
    """Who asked. What an operation says of itself counts where Argo CD's own server wrote it."""
    asked = draft.requested_by
    if asked is not None and is_server(asked) and draft.initiated_by:
        return argo_user(draft.initiated_by, asked.name, "operation")
    return asked


def _record(key: AppKey, draft: _Draft) -> SyncRecord:
    return SyncRecord(
        app=key,
        started_at=draft.started_at,
        finished_at=draft.finished_at,
        phase=draft.phase,
        revisions=draft.revisions,
        sources=draft.sources,
        origin=draft.origin,
        extent=draft.extent,
        initiated_by="" if draft.origin in ("automated", "self-heal") else draft.initiated_by,
        requested_by=_requester(draft),
        local_manifests=draft.local,
        dry_run=draft.dry_run,
        rollback_to=draft.rollback_to,
        retries=draft.retries,
        message=draft.message,
        resources=draft.resources,
        selected=draft.selected,
        evidence=tuple(draft.evidence),
        target=draft.target,
    )
