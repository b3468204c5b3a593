"""What became of a request that was accepted: did it store something, and does the record prove it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Literal

from auditor.correlate.writes.attribution import Account
from auditor.correlate.writes.sequence import Request
from auditor.correlate.writes.state import Before, State, is_deleting, metadata, waits_for_nobody
from auditor.model.change import Outcome, Write
from auditor.model.facts import AuditEvent
from auditor.model.resource import JsonObject, Path
from auditor.objects import leaves, managed_fields
from auditor.objects.timestamps import instant

Persisted = Literal["proven", "unproven"]

_CLOCK = timedelta(seconds=2)
"""managedFields have whole seconds."""


def settle_update(request: Request, account: Account, before: Before, after: State) -> tuple[Outcome, Persisted]:
    """What an accepted update or patch came to."""
    moved = _moved(request, before, after)
    if moved is False:
        return "no-op", "proven"
    if not account.known:
        return ("changed", "proven") if moved else ("unproven", "unproven")
    if account.fields:
        shown = moved or _contradicts_no_op(account, request.event, after)
        return ("changed", "proven") if shown else ("unproven", "unproven")
    if account.server_owned:
        return "status" if account.names_status else "bookkeeping", "proven"
    stored = account.notes or (moved and request.event.verb == "update")
    return "bookkeeping" if stored else "no-op", "proven"


def _contradicts_no_op(account: Account, event: AuditEvent, after: State) -> bool:
    """Whether a field was known to have another value before, and the request cannot have been a dry run."""
    return any(field.before.known for field in account.fields) and (after.whole or shows_dry_run(event))


def shows_dry_run(event: AuditEvent) -> bool:
    """Whether the record would tell a dry run from a real request."""
    if event.verb in ("delete", "deletecollection"):
        return event.request is not None or event.level in ("Request", "RequestResponse")
    return bool(event.request_uri)


def settle_create(event: AuditEvent, stored_version: str) -> tuple[Outcome, Persisted]:
    """A create that was answered 201, or with a version, was stored."""
    return ("changed", "proven") if event.code == 201 or stored_version else ("unproven", "unproven")


def settle_delete(event: AuditEvent, listed: bool) -> tuple[Outcome, Persisted]:
    """A dry-run delete says so in its body only: without one it looks like a delete. `listed`: the answer of a
    deletecollection names the object."""
    proven = listed or (shows_dry_run(event) and not event.truncated and bool(event.name))
    return ("changed", "proven") if proven else ("unproven", "unproven")


def _moved(request: Request, before: Before, after: State) -> bool | None:
    """Whether the object's resourceVersion moved; None where the record does not tell."""
    stored = request.bodies.head.meta.resourceVersion
    if not stored:
        return None
    if after.gone and not before.state.gone:
        return True  # the last finalizer went: what is deleted gets no new version
    if request.event.verb == "update" and request.event.object_version:
        return stored != request.event.object_version
    if before.state.version:
        return stored != before.state.version
    return _written_now(request.event, after)


def _written_now(event: AuditEvent, after: State) -> bool | None:
    """Whether managedFields say that somebody wrote the object at the time of the request."""
    if not after.whole or after.body is None:
        return None
    owners = managed_fields.read(after.body)
    times = [owner.at for owner in owners if owner.at is not None]
    if not times:
        return None
    if max(times) < event.at - _CLOCK:
        return False
    end = (event.stage_at or event.at) + _CLOCK
    created = instant(metadata(after.body).get("creationTimestamp"))
    if created is not None and created >= event.at - _CLOCK:
        return None  # the entries may be those of its create
    mine = (owner for owner in owners if event.field_manager in ("", owner.manager) and owner.subresource == "")
    return True if any(owner.at and event.at - _CLOCK <= owner.at <= end for owner in mine) else None


def confirm(write: Write, body: JsonObject, names: Callable[[Path], bool]) -> Write:
    """An unproven write, seen in a later whole body. `names` tells the paths that a still later request set."""
    told = [field for field in write.fields if field.before.known and field.after.known and not names(field.path)]
    subject = write.object
    state = State(body, True)
    found = [(field, state.lookup(field.path)) for field in told]
    if found and all(leaves.equal(subject.group, subject.kind, f.path, f.after, now) for f, now in found):
        return replace(write, outcome="changed", persisted="proven")
    if found and all(leaves.equal(subject.group, subject.kind, f.path, f.before, now) for f, now in found):
        return replace(write, outcome="no-op", notes=(*write.notes, "a later body shows that nothing was stored"))
    return write


def confirm_unseen(write: Write, before: JsonObject, body: JsonObject, names: Callable[[Path], bool]) -> Write:
    """An unproven write without a body, the only one between two whole bodies of the object."""
    subject = write.object
    differing = leaves.differences(before, body, subject.group, subject.kind)
    if any(not names(each.path) for each in differing):
        return replace(write, outcome="changed", persisted="proven")
    return write if differing else replace(write, outcome="no-op")


def confirm_delete(write: Write, before: State, body: JsonObject) -> Write:
    """An unproven delete, and a later body of an object of that name: another one proves it, the same disproves it."""
    uid = metadata(body).get("uid")
    earlier = metadata(before.body).get("uid")
    if uid is None or earlier is None:
        return write
    if uid != earlier or is_deleting(body):
        return replace(write, outcome="changed", persisted="proven")
    return replace(write, outcome="no-op", notes=(*write.notes, "a later body shows that the object stayed"))


def lets_go(request: Request) -> bool:
    """Whether the answer shows that a deleted object lost its last finalizer. The garbage collector, which takes it
    away, is answered with metadata alone."""
    answer = request.bodies.response if request.head.kind == "PartialObjectMetadata" else None
    return answer is not None and waits_for_nobody(answer)
