"""The story of one object: its requests in order, each told as a write against the state that the one before left."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import orjson

from auditor.correlate import admission, settlement
from auditor.correlate.actors import disagreement
from auditor.correlate.attribution import Account, Ask, account
from auditor.correlate.overlap import holds
from auditor.correlate.ownership_evidence import Witness, missing, settle
from auditor.correlate.sequence import FINAL_STAGES, Entry, Request, Sighting
from auditor.correlate.state import (
    GONE,
    LAST_APPLIED,
    NOTHING_KNOWN,
    Before,
    State,
    annotations,
    marks,
    metadata,
    of_object,
)
from auditor.model.case import LiveState
from auditor.model.change import Actor, Cause, Evidence, FieldChange, Outcome, Write
from auditor.model.facts import AuditEvent, ObjectSnapshot
from auditor.model.resource import ABSENT, Json, JsonObject, ObjectId, Path
from auditor.objects import kinds, patch

Identify = Callable[[AuditEvent], Actor]
Channel = Callable[[AuditEvent, str], str]
Desired = Callable[[ObjectId, datetime], JsonObject | None]
"""What git said an object should be at the last synced revision before a moment; None where that is not known."""

_WRITING = ("create", "update", "patch", "delete", "deletecollection")
"""Verbs that store something. Others are in the records where they open a door, as a read in another's name does."""
_STORED = ("", "scale", "resize")
"""Sub-resources that are written to their object."""
_REPORTED = ("status", "approval", "finalize")
"""Sub-resources by which controllers say how an object fares."""

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


@dataclass(slots=True)
class _Pending:
    """A write of which the record does not show yet whether it stored something."""

    place: int
    before: Before
    alone: bool
    """No other write without a body came since the state before."""


class Story:
    """Takes the entries of one object in the API server's order."""

    def __init__(self, subject: ObjectId, senses: Senses) -> None:
        self._subject = subject
        self._senses = senses
        self._state: State = NOTHING_KNOWN
        self._unread: AuditEvent | None = None
        """Its response is a later whole body than the state, decoded when somebody asks."""
        self._seen_whole = False
        """The state is a body of the API server, and nothing was rebuilt on it."""
        self._blurred = False
        """A write without a body came since anything was known."""
        self._at = datetime.min.replace(tzinfo=UTC)
        self._writes: list[Write] = []
        self._pending: list[_Pending] = []
        self._missing: dict[str, Write] = {}
        """Writes without an event, known by ownership."""

    def writes(self) -> tuple[Write, ...]:
        """The writes so far, those too that only managedFields tell of."""
        self._current()
        told = list(self._writes)
        for write in sorted(self._missing.values(), key=lambda write: (write.at, write.id)):
            told.insert(sum(other.at <= write.at for other in told), write)
        return tuple(replace(write, position=place) for place, write in enumerate(told))

    def live(self) -> LiveState:
        """What the object was after the last entry."""
        state = self._current()
        return LiveState(self._subject, state.body, self._at, state.whole and not state.uncertain)

    def take(self, entry: Entry) -> None:
        """Tell the next entry."""
        if isinstance(entry, Sighting):
            self._sight(entry.snapshot)
            return
        event = entry.event
        if event.verb not in _WRITING or event.subresource not in (*_STORED, *_REPORTED):
            self._access(entry)
        elif event.stage not in FINAL_STAGES and event.stage != "Panic":
            return
        elif _is_refused(event) or event.dry_run:
            self._unstored(entry)
        elif event.subresource in _REPORTED:
            self._report(entry)
        elif event.verb in ("delete", "deletecollection"):
            self._delete(entry)
        elif event.verb == "create" or event.code == 201:
            self._create(entry)
        else:
            self._update(entry)

    def _sight(self, snapshot: ObjectSnapshot) -> None:
        body = _json_object(snapshot.body)
        if body is None:
            return
        before = self._stand_in(self._current(), self._senses.desired(self._subject, snapshot.at or self._at), None)
        evidence = Evidence("object", f"{self._subject}@{snapshot.resource_version}", snapshot.origin)
        witness = Witness(self._subject, body, (evidence,))
        self._see(body, snapshot.at or self._at, witness)
        self._hear(witness, before)

    def _hear(self, witness: Witness, before: Before) -> None:
        """What managedFields of a body tell of writes that are not in the records."""
        if self._senses.since is None:
            return
        told = [*self._writes, *self._missing.values()]
        for write in missing(witness, told, self._senses.since, before):
            self._missing[write.id] = write

    def _access(self, request: Request) -> None:
        """A door that was opened, or tried: nothing of the object changes."""
        if self._cause(request.event) == "out-of-band":
            outcome: Outcome = "refused" if _is_refused(request.event) else "access"
            draft = self._draft(request, "unknown")
            self._add(replace(draft, outcome=outcome, persisted="proven", fields_known=False))

    def _unstored(self, request: Request) -> None:
        """A dry run or a refused request: what it asked for, and nothing else."""
        event = request.event
        outcome: Outcome = "refused" if _is_refused(event) else "dry-run"
        if event.subresource in _REPORTED:
            if self._cause(event) == "out-of-band":
                self._add(replace(self._draft(request, "unknown"), outcome=outcome, persisted="proven"))
            return
        ask = self._ask(request, None)
        asked: tuple[FieldChange, ...] = ()
        if event.verb in ("update", "patch"):
            before = Before(self._current())
            asked = account(
                ask, before, State(ask.on(before.state.body, before.state.comparable).document, False)
            ).asked
        self._add(replace(self._draft(request, ask.type), outcome=outcome, persisted="proven", asked=asked))

    def _report(self, request: Request) -> None:
        """A write to `status`: a controller's says how the object fares, a person's steers a rollout."""
        if self._cause(request.event) == "out-of-band":
            self._add(replace(self._draft(request, "unknown"), outcome="access", persisted="proven"))
        if request.bodies.answers_with_object:
            self._see_later(request.event)
        elif (sent := self._read_before(request)) is not None:
            self._see(sent, request.event.at)
            self._state = replace(self._state, version="")

    def _read_before(self, request: Request) -> JsonObject | None:
        """The object that a controller sends back with its status is the whole object as it had read it."""
        sent = request.bodies.request
        if request.event.verb != "update" or not isinstance(sent, dict) or not _was_read_from_server(sent):
            return None
        return sent if kinds.is_built_in(self._subject.group, self._subject.kind) else None

    def _create(self, request: Request) -> None:
        event, bodies = request.event, request.bodies
        stored = bodies.response if bodies.answers_with_object else None
        ask = self._ask(request, stored)
        outcome, persisted = settlement.settle_create(event, bodies.head.meta.resourceVersion)
        self._confirm_deletes()
        if stored is not None:
            self._set(of_object(stored), event.at, whole=True)
        else:
            self._set(self._declared(request, ask), event.at)
        self._blurred = False
        draft = self._draft(request, ask.type)
        known = stored is not None or isinstance(bodies.request, dict)
        written = replace(draft, operation="create", outcome=outcome, persisted=persisted, fields_known=known)
        borne = marks(self._state, self._senses.instance_label)
        self._add(replace(written, marks=borne, last_applied=_last_applied(bodies.request)))

    def _declared(self, request: Request, ask: Ask) -> State:
        """A new object of which the record holds the manifest, not what became of it."""
        if not isinstance(ask.body, dict):
            return NOTHING_KNOWN
        rebuilt = _has_known_defaults(self._subject) and not admission.names(ask.annotations)
        return State(ask.on({}, True).document, False, request.bodies.head.meta.resourceVersion, rebuilt)

    def _delete(self, request: Request) -> None:
        event, bodies = request.event, request.bodies
        item = _item(bodies.response, request.item)
        if item is not None:
            self._see(item, event.at)
        before = self._current()
        outcome, persisted = settlement.settle_delete(event) if item is None else ("changed", "proven")
        left = bodies.response if bodies.answers_with_object else None
        after = of_object(left) if left is not None and event.verb == "delete" else GONE
        if left is not None and not _is_kept(left):
            after = GONE
        notes: tuple[str, ...] = ()
        if before.deleting:
            outcome = "no-op" if after.body is not None else "bookkeeping"
            notes = ("completes a delete that was accepted before",) if after.body is None else ()
        draft = self._draft(request, "delete")
        written = replace(draft, operation="delete", outcome=outcome, persisted=persisted, notes=notes)
        self._add(replace(written, fields_known=True))
        if outcome == "unproven":
            self._pend(Before(before))
            self._set(NOTHING_KNOWN, event.at)
        elif outcome != "no-op":
            self._set(after, event.at, whole=after.body is not None)

    def _update(self, request: Request) -> None:
        event, bodies = request.event, request.bodies
        stored = bodies.response if bodies.answers_with_object else None
        ask = self._ask(request, stored)
        draft = self._draft(request, ask.type)
        before = self._before(request, draft.cause, stored)
        after = self._after(request, ask, before.state, stored)
        found = account(ask, before, after)
        outcome, persisted = settlement.settle_update(request, found, before, after)
        if outcome == "status" and draft.cause == "out-of-band":
            outcome = "access"
        if stored is not None:
            self._confirm(Witness(self._subject, stored, draft.evidence), lambda path: _names(found, path))
        written = replace(draft, outcome=outcome, persisted=persisted, asked=found.asked, fields_known=found.known)
        written = replace(written, notes=found.notes, last_applied=_last_applied(ask.body))
        if outcome in ("changed", "unproven", "bookkeeping"):
            written = replace(written, side_effects=found.side_effects)
        if outcome in ("changed", "unproven"):
            written = replace(written, fields=found.fields)
        if outcome != "status" or draft.cause == "out-of-band":
            self._add(written)
            if outcome == "unproven":
                self._pend(before)
        self._settle_state(event, written, before.state, after)
        if stored is not None and self._writes:
            self._hear(Witness(self._subject, stored, draft.evidence), before)

    def _settle_state(self, event: AuditEvent, written: Write, before: State, after: State) -> None:
        """The state that a write leaves, as far as the record shows that it stored anything."""
        if after.whole and after is not before:
            self._set(after, event.at, whole=event.subresource != "scale")
        elif written.outcome == "no-op":
            return
        elif not written.fields_known:
            self._set(NOTHING_KNOWN, event.at)
            self._blurred = True
        elif written.outcome == "unproven":
            touched = tuple(field.path for field in written.fields)
            self._set(replace(before, version="", uncertain=(*before.uncertain, *touched)), event.at)
        else:
            removed = tuple(field.path for field in written.fields if field.after == ABSENT)
            self._set(replace(after, removed=(*before.removed, *removed)), event.at)

    def _before(self, request: Request, cause: Cause, stored: JsonObject | None) -> Before:
        state = self._current()
        if state.comparable:
            return Before(state, doubtful=self._missed_a_write(request, state, stored))
        applied = _last_applied_in(stored, request.bodies.request)
        desired = self._senses.desired(self._subject, request.event.at) if cause == "out-of-band" else None
        return self._stand_in(state, desired, applied)

    def _stand_in(self, state: State, desired: JsonObject | None, applied: JsonObject | None) -> Before:
        """A state with what stands in for it where it is not known; nothing does after a write without a body."""
        if state.comparable or self._blurred:
            return Before(state)
        instead = (state.last_applied or applied, desired)
        return Before(state, tuple(each for each in instead if each is not None))

    def _missed_a_write(self, request: Request, before: State, stored: JsonObject | None) -> bool:
        """Whether `generation`, which counts writes to the spec, shows one that is not in the records."""
        if stored is None or not self._seen_whole or not kinds.is_built_in(self._subject.group, self._subject.kind):
            return False
        if before.version and request.event.object_version == before.version:
            return False
        now = State(stored, True).generation
        return now is not None and before.generation is not None and now - before.generation > 1

    def _after(self, request: Request, ask: Ask, before: State, stored: JsonObject | None) -> State:
        if stored is not None:
            return of_object(stored)
        version = request.bodies.head.meta.resourceVersion
        if request.event.subresource == "scale":
            ask = replace(ask, body=_replicas(request) or ask.body)
        if ask.body is None:
            return NOTHING_KNOWN
        result = ask.on(before.body, before.comparable).document
        whole = before.comparable and request.event.subresource == "scale"
        if ask.type == "put" and isinstance(ask.body, dict) and _was_read_from_server(ask.body):
            whole = True
        return State(result or {}, whole, version, before.rebuilt and not admission.names(ask.annotations))

    def _ask(self, request: Request, stored: JsonObject | None) -> Ask:
        event = request.event
        state = self._current()
        body = request.bodies.request
        kind = patch.classify(
            event.verb,
            body,
            event.field_manager,
            event.force,
            event.request_uri,
            event.code,
            self._subject.group,
            self._subject.kind,
            state.body if state.comparable else None,
            stored,
        )
        manager = event.field_manager
        label = self._senses.instance_label
        return Ask(self._subject, body, kind, event.subresource, manager, event.annotations, label)

    def _current(self) -> State:
        if self._unread is not None:
            event, earlier = self._unread, self._state
            self._unread = None
            body = _json_object(event.response)
            if body is not None:
                self._state = of_object(body)
                self._hear(Witness(self._subject, body, _evidence(event)), Before(earlier))
        return self._state

    def _see_later(self, event: AuditEvent) -> None:
        """A whole body of the API server between two writes; decoded now only where a write waits for it."""
        if self._pending and (seen := _json_object(event.response)) is not None:
            self._see(seen, event.at, Witness(self._subject, seen, _evidence(event)))
            return
        self._unread, self._at, self._seen_whole, self._blurred = event, event.at, True, False

    def _see(self, body: JsonObject, at: datetime, witness: Witness | None = None) -> None:
        self._confirm(witness or Witness(self._subject, body, ()), lambda path: False)
        self._set(of_object(body), at, whole=True)
        self._blurred = False

    def _set(self, state: State, at: datetime, whole: bool = False) -> None:
        self._state, self._unread, self._at, self._seen_whole = state, None, at, whole
        self._blurred = self._blurred and not state.whole

    def _pend(self, before: Before) -> None:
        for other in self._pending:
            other.alone = False
        self._pending.append(_Pending(len(self._writes) - 1, before, not self._pending))

    def _confirm(self, witness: Witness, names: Callable[[Path], bool]) -> None:
        """A whole body settles what the writes that wait for one did. `names`: what a still later request set."""
        for each in self._pending:
            self._writes[each.place] = self._confirmed(self._writes[each.place], each, witness, names)
        self._pending.clear()

    def _confirmed(self, write: Write, each: _Pending, witness: Witness, names: Callable[[Path], bool]) -> Write:
        if write.operation == "delete":
            return settlement.confirm_delete(write, each.before.state, witness.body)
        settled = settle(write, witness, self._writes, each.before)
        if settled is not write:
            return settled
        if write.fields_known:
            return settlement.confirm(write, witness.body, names)
        earlier = each.before.state
        if each.alone and earlier.comparable and earlier.body is not None:
            return settlement.confirm_unseen(write, earlier.body, witness.body, names)
        return write

    def _confirm_deletes(self) -> None:
        """A create that was accepted shows that the deletes before it were real."""
        for each in self._pending:
            write = self._writes[each.place]
            if write.operation == "delete":
                self._writes[each.place] = replace(write, outcome="changed", persisted="proven")
        self._pending.clear()

    def _add(self, write: Write) -> None:
        self._writes.append(write)

    def _cause(self, event: AuditEvent) -> Cause:
        return cause_of(self._senses.identify(event), self._senses.channel(event, "unknown"))

    def _draft(self, request: Request, patch_type: str) -> Write:
        """A write with all that the event alone tells."""
        event = request.event
        actor = self._senses.identify(event)
        channel = self._senses.channel(event, patch_type)
        body = request.bodies.request
        return Write(
            id=_id(request, self._subject),
            at=event.at,
            object=self._subject,
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
            evidence=_evidence(event),
            disagreement=disagreement(event, actor, _initiated_by(body)) or "",
            admitted_by=admission.names(event.annotations),
            marks=marks(self._current(), self._senses.instance_label),
        )


def _has_known_defaults(subject: ObjectId) -> bool:
    """Whether it is known what the API server fills in: the CRDs of Argo CD itself have no defaults."""
    return kinds.is_built_in(subject.group, subject.kind) or (
        subject.group == "argoproj.io" and subject.kind in ("Application", "ApplicationSet", "AppProject")
    )


def _id(request: Request, subject: ObjectId) -> str:
    """The event's id; for one object of several, a digest of both."""
    if request.item is None:
        return request.event.id
    return hashlib.sha256(f"{request.event.id}\0{subject!r}".encode()).hexdigest()


def _evidence(event: AuditEvent) -> tuple[Evidence, ...]:
    return (Evidence("audit", event.audit_id, event.origin, event.id),)


def _is_refused(event: AuditEvent) -> bool:
    """Whether the API server refused or failed the request: an HTTP error, or a non-zero google.rpc code."""
    return event.stage == "Panic" or (event.code is not None and (event.code >= 300 or 0 < event.code < 100))


def _names(found: Account, path: Path) -> bool:
    return any(holds(each.path, path) or holds(path, each.path) for each in found.asked)


def _item(response: JsonObject | None, place: int | None) -> JsonObject | None:
    """The object as it was, for one of several that were deleted."""
    items = response.get("items") if response and place is not None else None
    item = items[place] if isinstance(items, list) and place is not None else None
    return item if isinstance(item, dict) else None


def _is_kept(body: JsonObject) -> bool:
    """Whether a delete's answer shows an object that stays for finalizers or a grace period."""
    grace = metadata(body).get("deletionGracePeriodSeconds")
    return metadata(body).get("deletionTimestamp") is not None and bool(metadata(body).get("finalizers") or grace)


def _replicas(request: Request) -> JsonObject | None:
    """What a Scale in the response says was stored, as a request of the same meaning."""
    answer = request.bodies.response if request.bodies.is_scale else None
    spec = answer.get("spec") if answer else None
    return {"spec": {"replicas": spec.get("replicas", 0)}} if isinstance(spec, dict) else None


def _was_read_from_server(body: JsonObject) -> bool:
    """Whether a client sent back what it had read, defaults and all."""
    return isinstance(metadata(body).get("uid"), str) and isinstance(metadata(body).get("resourceVersion"), str)


def _last_applied(request: Json) -> str:
    text = annotations(request).get(LAST_APPLIED) if isinstance(request, dict) else None
    return text if isinstance(text, str) else ""


def _last_applied_in(stored: JsonObject | None, request: Json) -> JsonObject | None:
    """The configuration that was applied last, where the request itself did not write it."""
    return None if stored is None or _last_applied(request) else State(stored, True).last_applied


def _initiated_by(request: Json) -> str:
    """`operation.initiatedBy.username` of a request on an Application."""
    operation = request.get("operation") if isinstance(request, dict) else None
    by = operation.get("initiatedBy") if isinstance(operation, dict) else None
    name = by.get("username") if isinstance(by, dict) else None
    return name if isinstance(name, str) else ""


def _json_object(body: bytes | None) -> JsonObject | None:
    try:
        value: Json = orjson.loads(body) if body else None
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
