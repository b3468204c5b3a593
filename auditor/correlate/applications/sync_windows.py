"""Freezes by a sync window: somebody adds one to an AppProject, and takes it out again.

A deny window denies syncs while it is open. The first allow window denies them at all other times.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from auditor.config import Config
from auditor.correlate.applications.courses import Course, Identify
from auditor.correlate.applications.documents import canonical
from auditor.correlate.applications.freezes import Hand, is_declared, parent_of
from auditor.correlate.applications.requests import argocd_of, document_after, is_stored, sighting
from auditor.correlate.applications.window_schedule import Span, next_span, span_until_open
from auditor.correlate.identity.argo_statements import Statements, who
from auditor.correlate.writes.bodies import Bodies
from auditor.correlate.writes.sequence import Request, Sighting, in_order
from auditor.model.application import ApplicationState, Freeze
from auditor.model.change import AppKey, Evidence
from auditor.model.facts import ArgoSettings, AuditEvent
from auditor.model.resource import JsonObject
from auditor.objects.document import child, items, maps, object_in, text

Project = tuple[str, str, str]
"""Argo CD, namespace, name."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """A request on an AppProject, with the windows before and after it."""

    event: AuditEvent
    before: dict[str, JsonObject]
    after: dict[str, JsonObject]
    tracking_id: str


def window_freezes(
    found: Sequence[Course],
    events: Sequence[AuditEvent],
    settings: Sequence[ArgoSettings],
    statements: Statements,
    config: Config,
    identify: Identify,
) -> Iterator[Freeze]:
    """The freezes by windows that were added within the records. A window that was always there is a policy, as is one
    that came through git, unless git also takes it out."""
    for project, entries in sorted(_entries(events, settings, config).items()):
        own = [course for course in found if course.key.argocd == project[0] and course.steps]
        open_: dict[tuple[str, AppKey], Freeze] = {}
        for edit in _edits(entries):
            actor, further = who(edit.event, "AppProject", statements, identify)
            hand = Hand(actor, (Evidence("audit", edit.event.audit_id, edit.event.origin, edit.event.id), *further))
            for key in [key for key in open_ if key[0] not in edit.after]:
                freeze = open_.pop(key)
                if not is_declared(freeze) or (actor.kind == "gitops" and not _is_over(freeze, edit)):
                    yield _lifted(freeze, edit, hand)
            open_ |= _begun(project, own, edit, hand)
        yield from (freeze for freeze in open_.values() if not is_declared(freeze))


def _entries(
    events: Sequence[AuditEvent], settings: Sequence[ArgoSettings], config: Config
) -> dict[Project, list[Request | Sighting]]:
    entries: dict[Project, list[Request | Sighting]] = defaultdict(list)
    for each in settings:
        if each.kind == "AppProject":
            entries[each.argocd, each.namespace, each.name].append(sighting(each))
    for event in events:
        if event.resource == "appprojects" and is_stored(event):
            entries[argocd_of(event, config), event.namespace, event.name].append(Request(event, Bodies(event)))
    return entries


def _edits(entries: Sequence[Request | Sighting]) -> Iterator[_Edit]:
    document: JsonObject | None = None
    for entry in in_order(entries):
        before = document
        if isinstance(entry, Sighting):
            document = object_in(entry.snapshot.body) or document
            continue
        if entry.event.verb in ("delete", "deletecollection"):
            document = {}
        else:
            document = document_after(entry, document, "AppProject")
        if document is None or (before is None and not _names_windows(entry)):
            continue
        annotations = child(child(document, "metadata"), "annotations")
        tracking = text(annotations, "argocd.argoproj.io/tracking-id")
        yield _Edit(entry.event, _windows(before or {}), _windows(document), tracking)


def _names_windows(request: Request) -> bool:
    """Whether a request itself speaks of windows: without a state before, the others say nothing of them."""
    body = request.bodies.request
    return "syncWindows" in canonical(body)


def _windows(document: JsonObject) -> dict[str, JsonObject]:
    return {canonical(window): window for window in maps(child(document, "spec"), "syncWindows")}


def _begun(project: Project, own: Sequence[Course], edit: _Edit, hand: Hand) -> dict[tuple[str, AppKey], Freeze]:
    """The freezes that an edit begins, by window and application."""
    begun = {}
    for key, window in edit.after.items():
        for course in own if key not in edit.before else ():
            state = _state(course, edit.event)
            if state.project != project[2] or state.waits_for_a_hand or not _matches(window, state):
                continue
            if span := _denied(window, state, edit):
                begun[key, course.key] = Freeze(
                    course.key, "sync-window", span.begins_at, hand.actor, span.ends_at, None, False, "",
                    _described(window, edit, hand), hand.evidence,
                )  # fmt: skip
    return begun


def _denied(window: JsonObject, state: ApplicationState, edit: _Edit) -> Span | None:
    """From when to when a window that was added keeps an application from syncing; None where it does not."""
    schedule, duration, zone = (text(window, name) for name in ("schedule", "duration", "timeZone"))
    if text(window, "kind") == "deny":
        return next_span(schedule, duration, zone, edit.event.at)
    if text(window, "kind") != "allow" or any(_allows(other, state) for other in edit.before.values()):
        return None
    spans = [
        span_until_open(text(other, "schedule"), text(other, "duration"), text(other, "timeZone"), edit.event.at)
        for other in edit.after.values()
        if _allows(other, state)
    ]
    closed = [span for span in spans if span is not None]
    endless = datetime.max.replace(tzinfo=UTC)
    return min(closed, key=lambda span: span.ends_at or endless) if len(closed) == len(spans) else None


def _allows(window: JsonObject, state: ApplicationState) -> bool:
    return text(window, "kind") == "allow" and _matches(window, state)


def _described(window: JsonObject, edit: _Edit, hand: Hand) -> str:
    """Where git declares the window, what it says of itself, where a ticket stands, and whether it lets people sync by
    hand."""
    parent = parent_of(edit.tracking_id) if hand.actor.kind == "gitops" else ""
    by_hand = "manual syncs are allowed" if window.get("manualSync") is True else ""
    return "; ".join(filter(None, (f"in {parent}" if parent else "", text(window, "description"), by_hand)))


def _lifted(freeze: Freeze, edit: _Edit, hand: Hand) -> Freeze:
    """A freeze whose window was taken out, where it had not closed by then."""
    if _is_over(freeze, edit):
        return freeze
    undone = not hand.is_person and not is_declared(freeze)
    return replace(
        freeze,
        ended_at=edit.event.at,
        ended_by=hand.actor,
        undone=undone,
        undone_by=parent_of(edit.tracking_id) if undone and hand.actor.kind == "gitops" else "",
        evidence=(*freeze.evidence, *hand.evidence),
    )


def _is_over(freeze: Freeze, edit: _Edit) -> bool:
    return freeze.ended_at is not None and freeze.ended_at <= edit.event.at


def _state(course: Course, event: AuditEvent) -> ApplicationState:
    earlier = [step.state for step in course.steps if step.state.at <= event.at]
    return earlier[-1] if earlier else course.steps[0].state


def _matches(window: JsonObject, state: ApplicationState) -> bool:
    """Whether a window is on an application: by any of its lists, or by all of them where it says so."""
    given = [
        (patterns, values)
        for patterns, values in (
            (items(window, "applications"), (state.key.name,)),
            (items(window, "namespaces"), (state.destination_namespace,)),
            (items(window, "clusters"), (state.destination_server, state.destination_name)),
        )
        if patterns
    ]
    hits = [
        any(isinstance(pattern, str) and fnmatchcase(value, pattern) for pattern in patterns for value in values)
        for patterns, values in given
    ]
    return bool(hits) and (all(hits) if window.get("andOperator") is True else any(hits))
