"""What an event alone tells of a write: who, when, by what, on what; and what its body says of itself."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from auditor.correlate.identity.actors import disagreement
from auditor.correlate.writes import admission
from auditor.correlate.writes.sequence import Request
from auditor.correlate.writes.state import LAST_APPLIED, State, annotations, metadata
from auditor.model.change import Actor, Cause, Evidence, Write
from auditor.model.facts import AuditEvent
from auditor.model.resource import Json, JsonObject, ObjectId

Identify = Callable[[AuditEvent], Actor]
Channel = Callable[[AuditEvent, str], str]
Desired = Callable[[ObjectId, datetime], JsonObject | None]
"""What git said an object should be at the last synced revision before a moment; None where that is not known."""

Marks = tuple[tuple[str, str], ...]

CAUSES: dict[str, Cause] = {
    "gitops": "gitops",
    "autoscaler": "controller",
    "operator": "controller",
    "admission": "controller",
    "control-plane": "controller",
    "node": "controller",
}


def cause_of(actor: Actor, channel: str) -> Cause:
    """The cause of a write by its actor alone. What went through Argo CD's own API is its user's, whoever that was."""
    return "out-of-band" if channel == "Argo CD UI or CLI" else CAUSES.get(actor.kind, "out-of-band")


@dataclass(frozen=True, slots=True)
class Senses:
    """What a story asks others."""

    identify: Identify
    channel: Channel
    desired: Desired
    instance_label: str
    since: datetime | None = None
    """Begin of the cluster's audit records: an earlier write is not missing from them. None where there are none."""


def draft(
    request: Request, subject: ObjectId, senses: Senses, patch_type: str, marks: Marks, position: int = 0
) -> Write:
    """A write with all that the event alone tells."""
    event = request.event
    actor = senses.identify(event)
    channel = senses.channel(event, patch_type)
    body = request.bodies.request
    return Write(
        id=_id(request, subject),
        at=event.at,
        object=subject,
        verb=event.verb,
        subresource=event.subresource,
        outcome="no-op",
        persisted="unproven",
        operation="update",
        actor=actor,
        channel=channel,
        cause=cause_of(actor, channel),
        patch_type=patch_type,
        field_manager=event.field_manager,
        user_agent=event.user_agent,
        asked=(),
        fields=(),
        side_effects=(),
        notes=(),
        resource_version=request.bodies.head.meta.resourceVersion,
        code=event.code,
        reason=event.reason,
        fields_known=body is not None,
        known_by="event",
        evidence=evidence_of(event),
        disagreement=disagreement(event, actor, _initiated_by(body)) or "",
        admitted_by=admission.names(event.annotations),
        marks=marks,
        position=position,
    )


def _id(request: Request, subject: ObjectId) -> str:
    """The event's id; for one object of several, a digest of both."""
    if request.item is None:
        return request.event.id
    return hashlib.sha256(f"{request.event.id}\0{subject!r}".encode()).hexdigest()


def evidence_of(event: AuditEvent) -> tuple[Evidence, ...]:
    """The pointer to the event."""
    return (Evidence("audit", event.audit_id, event.origin, event.id),)


def is_refused(event: AuditEvent) -> bool:
    """Whether the API server refused or failed the request: an HTTP error, or a non-zero google.rpc code."""
    return event.stage == "Panic" or (event.code is not None and (event.code >= 300 or 0 < event.code < 100))


def item_of(response: JsonObject | None, place: int | None) -> JsonObject | None:
    """The object as it was, for one of several that were deleted."""
    items = response.get("items") if response and place is not None else None
    item = items[place] if isinstance(items, list) and place is not None else None
    return item if isinstance(item, dict) else None


def stored_replicas(request: Request) -> JsonObject | None:
    """What a Scale in the response says was stored, as a request of the same meaning."""
    answer = request.bodies.response if request.bodies.is_scale else None
    spec = answer.get("spec") if answer else None
    return {"spec": {"replicas": spec.get("replicas", 0)}} if isinstance(spec, dict) else None


def was_read_from_server(body: JsonObject) -> bool:
    """Whether a client sent back what it had read, defaults and all."""
    return isinstance(metadata(body).get("uid"), str) and isinstance(metadata(body).get("resourceVersion"), str)


def names_only_status(request: Json) -> bool:
    """Whether a patch names nothing but `status`."""
    if isinstance(request, dict):
        return request.keys() == {"status"}
    operations = request if isinstance(request, list) else []
    places = [each.get("path") if isinstance(each, dict) else None for each in operations]
    return bool(places) and all(isinstance(place, str) and place.startswith("/status/") for place in places)


def last_applied(request: Json) -> str:
    """The last-applied annotation that a request asks to store, "" for none."""
    text = annotations(request).get(LAST_APPLIED) if isinstance(request, dict) else None
    return text if isinstance(text, str) else ""


def last_applied_in(stored: JsonObject | None, request: Json) -> JsonObject | None:
    """The configuration that was applied last, where the request itself did not write it."""
    return None if stored is None or last_applied(request) else State(stored, True).last_applied


def _initiated_by(request: Json) -> str:
    """`operation.initiatedBy.username` of a request on an Application."""
    operation = request.get("operation") if isinstance(request, dict) else None
    by = operation.get("initiatedBy") if isinstance(operation, dict) else None
    name = by.get("username") if isinstance(by, dict) else None
    return name if isinstance(name, str) else ""
