"""The story of one object: its requests in order, each told as a write against the state that the one before left."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

from auditor.correlate.writes import admission, foresight, settlement
from auditor.correlate.writes.attribution import Account, Ask, account
from auditor.correlate.writes.doubts import Doubts
from auditor.correlate.writes.drafts import (
    Marks,
    Senses,
    cause_of,
    draft,
    evidence_of,
    is_refused,
    item_of,
    last_applied,
    last_applied_in,
    names_only_status,
    stored_replicas,
    was_read_from_server,
)
from auditor.correlate.writes.overlap import holds
from auditor.correlate.writes.ownership_evidence import Missing, Witness
from auditor.correlate.writes.sequence import FINAL_STAGES, Entry, Request, Sighting
from auditor.correlate.writes.state import GONE, NOTHING_KNOWN, Before, State, marks, metadata, of_object
from auditor.model.case import LiveState
from auditor.model.change import Cause, Evidence, FieldChange, Outcome, Write
from auditor.model.facts import AuditEvent, ObjectSnapshot
from auditor.model.resource import ABSENT, Json, JsonObject, ObjectId, Path
from auditor.objects import kinds, leaves, patch
from auditor.objects.defaults import with_filled_lists
from auditor.objects.document import object_in
from auditor.objects.versions import as_served

_WRITING = ("create", "update", "patch", "delete", "deletecollection")
"""Verbs that store something. Others are in the records where they open a door, as a read in another's name does."""
_STORED = ("", "scale", "resize")
"""Sub-resources that are written to their object."""
_OPERATIONS: dict[str, Literal["create", "delete"]] = {
    "create": "create",
    "delete": "delete",
    "deletecollection": "delete",
}
_COUNTED = ("argoproj.io/AppProject", "argoproj.io/ApplicationSet")
"""Custom kinds whose every write stands in their stories. Of an Application they leave reports out."""
_REPORTED = ("status", "approval", "finalize")
"""Sub-resources by which controllers say how an object fares."""


class Story:
    """Takes the entries of one object in the API server's order."""

    def __init__(self, subject: ObjectId, senses: Senses) -> None:
        self._subject = subject
        self._senses = senses
        self._state: State = NOTHING_KNOWN
        self._unread: Request | None = None
        """Its response is a later whole body than the state, decoded when somebody asks."""
        self._seen_whole = False
        """The state is a body of the API server, and nothing was rebuilt on it."""
        self._blurred = False
        """A write without a body came since anything was known."""
        self._at = datetime.min.replace(tzinfo=UTC)
        self._writes: list[Write] = []
        self._borne: Marks = ()
        """The marks of the last write: most bear the same."""
        self._doubts = Doubts(self._writes)
        self._missing = Missing(senses.since)
        self._applied = foresight.Applied(subject)

    def writes(self) -> tuple[Write, ...]:
        """The writes so far, those too that only managedFields tell of."""
        self._current()
        told = list(self._writes)
        for write in self._missing.found():
            told.insert(sum(other.at <= write.at for other in told), write)
        return tuple(
            write if write.position == place else replace(write, position=place) for place, write in enumerate(told)
        )

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
        elif is_refused(event) or event.dry_run:
            self._unstored(entry)
        elif event.subresource in _REPORTED:
            self._report(entry)
        elif event.verb in ("delete", "deletecollection"):
            self._delete(entry)
        elif event.verb == "create" or event.code == 201:
            self._create(entry)
        elif self._only_reports(entry):
            self._report(entry)
        else:
            self._update(entry)

    def _sight(self, snapshot: ObjectSnapshot) -> None:
        body = object_in(snapshot.body)
        if body is None:
            return
        at = snapshot.at or self._at
        before = self._stand_in(self._current(), at, None, ask_git=True)
        evidence = Evidence("object", f"{self._subject}@{snapshot.resource_version}", snapshot.origin)
        witness = Witness(self._subject, body, (evidence,))
        self._see(body, at, witness)
        self._missing.hear(witness, self._writes, before)

    def _access(self, request: Request) -> None:
        """A door that was opened, or tried: nothing of the object changes."""
        if self._cause(request.event) == "out-of-band":
            outcome: Outcome = "refused" if is_refused(request.event) else "access"
            begun = self._draft(request, "unknown")
            self._add(replace(begun, outcome=outcome, persisted="proven", fields_known=False))

    def _unstored(self, request: Request) -> None:
        """A dry run or a refused request: what it asked for, and nothing else."""
        event = request.event
        outcome: Outcome = "refused" if is_refused(event) else "dry-run"
        if event.subresource in _REPORTED:
            if self._cause(event) == "out-of-band":
                self._add(replace(self._draft(request, "unknown"), outcome=outcome, persisted="proven"))
            return
        ask = self._ask(request, None)
        asked: tuple[FieldChange, ...] = ()
        if event.verb in ("update", "patch"):
            state = self._current()
            wanted = ask.on(state.body, state.complete).document
            asked = account(ask, Before(state), State(wanted, False)).asked
        begun = replace(self._draft(request, ask.type), operation=_OPERATIONS.get(event.verb, "update"))
        self._add(replace(begun, outcome=outcome, persisted="proven", asked=asked))

    def _report(self, request: Request) -> None:
        """A write to `status`: a controller's says how the object fares, a person's steers a rollout."""
        if self._cause(request.event) == "out-of-band":
            self._add(replace(self._draft(request, "unknown"), outcome="access", persisted="proven"))
        if request.bodies.answers_with_object:
            self._see_later(request)
        elif (sent := self._read_before(request)) is not None:
            self._see(sent, request.event.at)
            self._state = replace(self._state, version="")

    def _only_reports(self, request: Request) -> bool:
        """Whether a controller's patch stored nothing but `status`, of an object that has no sub-resource for it: most
        writes to Applications are such."""
        known, stored = self._version(), request.head.meta.resourceVersion
        if request.event.verb != "patch" or not known or stored in ("", known) or self._doubts:
            return False
        reports = request.bodies.answers_with_object and names_only_status(request.bodies.request)
        return reports and self._cause(request.event) != "out-of-band"

    def _version(self) -> str:
        """resourceVersion of the last whole body, read or not; "" where it is not known."""
        return self._unread.head.meta.resourceVersion if self._unread else self._state.version

    def _read_before(self, request: Request) -> JsonObject | None:
        """The object that a controller sends back with its status is the whole object as it had read it."""
        sent = request.bodies.request
        if request.event.verb != "update" or not isinstance(sent, dict) or not was_read_from_server(sent):
            return None
        return sent if kinds.is_built_in(self._subject.group, self._subject.kind) else None

    def _create(self, request: Request) -> None:
        event, bodies = request.event, request.bodies
        stored = bodies.response if bodies.answers_with_object else None
        ask = self._ask(request, stored)
        outcome, persisted = settlement.settle_create(event, bodies.head.meta.resourceVersion)
        self._doubts.settle_by_create()
        if stored is not None:
            self._set(of_object(stored), event.at, whole=True)
        else:
            self._set(foresight.of_create(ask, bodies.head.meta.resourceVersion), event.at)
        self._blurred = False
        if ask.type == "apply":
            self._applied.note(ask.field_manager, ask.body)
        begun = self._draft(request, ask.type)
        known = stored is not None or isinstance(bodies.request, dict)
        asked = self._made_of(ask.body) if begun.cause == "out-of-band" else ()
        written = replace(
            begun, operation="create", outcome=outcome, persisted=persisted, fields_known=known, asked=asked
        )
        borne = marks(self._state, self._senses.instance_label)
        self._add(replace(written, marks=borne, last_applied=last_applied(bodies.request)))

    def _made_of(self, body: Json) -> tuple[FieldChange, ...]:
        """What a create asks for, to be compared with what git declares. Of Secrets the record holds no values."""
        group, kind = self._subject.group, self._subject.kind
        if not isinstance(body, dict) or self._subject.group_kind == "/Secret":
            return ()
        return leaves.differences(None, body, group, kind, self._senses.instance_label)

    def _delete(self, request: Request) -> None:
        item = item_of(request.bodies.response, request.item)
        if item is not None:
            self._see(item, request.event.at)
        before = self._current()
        left = _left_by_delete(request)
        outcome, persisted = settlement.settle_delete(request.event, listed=item is not None)
        notes: tuple[str, ...] = ()
        if before.gone and request.bodies.response is None:
            outcome = persisted = "unproven"  # it may have waited for its finalizers since an earlier delete
        if before.deleting:
            outcome = "no-op" if left is not None else "bookkeeping"
            notes = () if left is not None else ("completes a delete that was accepted before",)
        begun = replace(self._draft(request, "delete"), operation="delete", fields_known=True, notes=notes)
        self._add(replace(begun, outcome=outcome, persisted=persisted))
        if before.gone and outcome == "unproven":
            return
        if outcome == "unproven":
            self._doubts.add(Before(before))
            self._set(NOTHING_KNOWN, request.event.at)
        elif outcome != "no-op":
            self._set(GONE if left is None else of_object(left), request.event.at, whole=left is not None)

    def _update(self, request: Request) -> None:
        event, bodies = request.event, request.bodies
        stored = bodies.response if bodies.answers_with_object else None
        if self._current().gone:
            self._set(NOTHING_KNOWN, event.at)
        ask = self._ask(request, stored)
        begun = self._draft(request, ask.type)
        before = self._before(request, begun.cause, stored)
        after = self._after(request, ask, before.state, stored)
        found = account(ask, before, after)
        outcome, persisted = settlement.settle_update(request, found, before, after)
        if outcome == "status" and begun.cause == "out-of-band":
            outcome = "access"
        witness = None if stored is None else Witness(self._subject, stored, begun.evidence, is_answer=True)
        if witness is not None:
            self._doubts.settle(witness, lambda path: _names(found, path))
        if ask.type == "apply":
            self._applied.note(ask.field_manager, ask.body)
        written = replace(
            begun,
            outcome=outcome,
            persisted=persisted,
            last_applied=last_applied(ask.body),
            marks=begun.marks or self._marks_after(after, found),
            **_done(found, outcome),
        )
        if outcome != "status":
            self._add(written)
        if outcome == "unproven":
            self._doubts.add(before)
        self._settle_state(event, written, before.state, after, seen=stored is not None)
        if settlement.lets_go(request):
            self._set(GONE, event.at)
        if witness is not None:
            self._missing.hear(witness, self._writes, before)

    def _marks_after(self, after: State, found: Account) -> tuple[tuple[str, str], ...]:
        """The marks of an object whose state before is not known: those after the write that it did not set itself."""
        borne = marks(after, self._senses.instance_label) if after.whole else ()
        return tuple(mark for mark in borne if not any(mark[0] in note for note in found.notes))

    def _settle_state(self, event: AuditEvent, written: Write, before: State, after: State, seen: bool) -> None:
        """The state that a write leaves, as far as the record shows that it stored anything. `seen`: the API server
        answered with it."""
        if seen:
            self._set(after, event.at, whole=True)
        elif written.outcome == "no-op":
            self._set(after if after.whole else before, event.at)
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
        applied = last_applied_in(stored, request.bodies.request)
        found = self._stand_in(state, request.event.at, applied, ask_git=cause == "out-of-band")
        known = stored or state.body or {}
        set_by_webhooks = admission.touched(known, request.event.annotations, self._subject.group, self._subject.kind)
        return replace(found, not_as_asked=set_by_webhooks) if set_by_webhooks else found

    def _stand_in(self, state: State, at: datetime, applied: JsonObject | None, ask_git: bool) -> Before:
        """A state with what stands in for it where it is not known; nothing does after a write without a body."""
        if state.comparable or self._blurred:
            return Before(state)
        desired = self._senses.desired(self._subject, at) if ask_git else None
        instead = (state.last_applied or applied, desired)
        group, kind = self._subject.group, self._subject.kind
        return Before(state, tuple(with_filled_lists(each, group, kind) for each in instead if each is not None))

    def _missed_a_write(self, request: Request, before: State, stored: JsonObject | None) -> bool:
        """Whether a write is not in the records: `generation` counts those to the spec, and an object that has none is
        sent back on the version that its client had read."""
        counted = kinds.is_built_in(self._subject.group, self._subject.kind) or self._subject.group_kind in _COUNTED
        if stored is None or not self._seen_whole or not counted:
            return False
        if before.version and request.event.object_version == before.version:
            return False
        now = State(stored, True).generation
        if now is None or before.generation is None:
            return bool(before.version and request.event.object_version)
        return now - before.generation > 1

    def _after(self, request: Request, ask: Ask, before: State, stored: JsonObject | None) -> State:
        if stored is not None:
            return of_object(stored)
        version = request.bodies.head.meta.resourceVersion
        if request.event.subresource == "scale":
            ask = replace(ask, body=stored_replicas(request) or ask.body)
        if ask.body is None:
            return NOTHING_KNOWN
        whole = before.comparable and request.event.subresource == "scale"
        if ask.type == "put" and isinstance(ask.body, dict) and was_read_from_server(ask.body):
            whole = True
        return foresight.of_update(ask, before, version, whole)

    def _ask(self, request: Request, stored: JsonObject | None) -> Ask:
        event = request.event
        state = self._current()
        body = as_served(request.bodies.request, event.api_version, self._subject.group, self._subject.kind)
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
        sender = manager or event.user_agent.partition("/")[0]
        or_merge = stored is None and patch.may_be_merge(body, kind, sender, self._subject.group, self._subject.kind)
        may_give_up = kind == "apply" and self._applied.may_give_up(manager, body, state)
        return Ask(
            self._subject, body, kind, event.subresource, manager, event.annotations, label, or_merge, may_give_up
        )

    def _current(self) -> State:
        if self._unread is not None:
            event, earlier = self._unread.event, self._state
            self._unread = None
            body = object_in(event.response)
            if body is not None:
                self._state = of_object(body)
                self._missing.hear(Witness(self._subject, body, evidence_of(event)), self._writes, Before(earlier))
        return self._state

    def _see_later(self, request: Request) -> None:
        """A whole body of the API server between two writes; decoded now only where a write waits for it."""
        event = request.event
        if self._doubts and (seen := object_in(event.response)) is not None:
            self._see(seen, event.at, Witness(self._subject, seen, evidence_of(event)))
            return
        self._unread, self._at, self._seen_whole, self._blurred = request, event.at, True, False

    def _see(self, body: JsonObject, at: datetime, witness: Witness | None = None) -> None:
        self._doubts.settle(witness or Witness(self._subject, body, ()), lambda path: False)
        self._set(of_object(body), at, whole=True)
        self._blurred = False

    def _set(self, state: State, at: datetime, whole: bool = False) -> None:
        self._state, self._unread, self._at, self._seen_whole = state, None, at, whole
        self._blurred = self._blurred and not state.whole

    def _add(self, write: Write) -> None:
        self._writes.append(write)

    def _draft(self, request: Request, patch_type: str) -> Write:
        borne = marks(self._current(), self._senses.instance_label)
        if borne != self._borne:
            self._borne = borne
        return draft(request, self._subject, self._senses, patch_type, self._borne, len(self._writes))

    def _cause(self, event: AuditEvent) -> Cause:
        return cause_of(self._senses.identify(event), self._senses.channel(event, "unknown"))


def _names(found: Account, path: Path) -> bool:
    return any(holds(each.path, path) or holds(path, each.path) for each in found.asked)


def _done(found: Account, outcome: Outcome) -> dict[str, Any]:
    """Of a write what it did, as far as it stored anything."""
    asked = found.fields if found.fields == found.asked else found.asked
    told = {"asked": asked, "fields_known": found.known, "notes": found.notes}
    if outcome in ("changed", "unproven"):
        return told | {"fields": found.fields, "side_effects": found.side_effects}
    return told | {"side_effects": found.side_effects} if outcome == "bookkeeping" else told


def _left_by_delete(request: Request) -> JsonObject | None:
    """The object that stays for its finalizers or a grace period, as the answer to a delete has it; None: it goes."""
    body = request.bodies.response if request.bodies.answers_with_object else None
    if body is None or request.event.verb != "delete" or metadata(body).get("deletionTimestamp") is None:
        return None
    grace = metadata(body).get("deletionGracePeriodSeconds")
    return body if metadata(body).get("finalizers") or grace else None
