"""What `metadata.managedFields` of a body says of writes: which were stored, what they set, and which are missing.

An entry has a manager, the time of its last write that changed something (whole seconds), and the fields that it owns.
It names no person, and a manager is what the client called itself: what is known by it alone is less sure.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from auditor.correlate.identity.channels import CHANNELS
from auditor.correlate.writes.attribution import is_operation
from auditor.correlate.writes.state import Before, State, marks, metadata
from auditor.model.change import Actor, Evidence, FieldChange, Write
from auditor.model.resource import JsonObject, ListItem, ObjectId, Path, leaf
from auditor.objects import leaves, managed_fields, schema
from auditor.objects.defaults import is_defaultable
from auditor.objects.managed_fields import Owner
from auditor.objects.timestamps import instant

CLOCK = timedelta(seconds=2)
"""By which an entry's time and an event's may differ: entries have whole seconds."""

_NEVER = datetime.min.replace(tzinfo=UTC)

KNOWN_BY = "field manager and time"

_TOOLS = {
    "kubectl": "kubectl apply",
    "kubectl-client-side-apply": "kubectl apply",
    "helm": "helm",
    "Helm": "helm",
    "Terraform": "terraform",
    "HashiCorp": "terraform",
    "Mozilla": "console",
    "node-fetch": "console",
    "k9s": "console",
}
"""Managers under which people's tools write, beside `kubectl-WORD`."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A whole body of the API server, and where it lies."""

    object: ObjectId
    body: JsonObject
    evidence: tuple[Evidence, ...]
    is_answer: bool = False
    """It is the answer to a request that may have set anything, and no sight of the object between two requests."""


def settle(write: Write, witness: Witness, others: Sequence[Write], before: Before) -> Write:
    """An unproven write, seen by the entry of its manager: stored, with what it set; shown to have changed nothing; or
    as it was, where there is no such entry. `others` are the object's writes, this one among them."""
    owner = _entry_of(write, managed_fields.read(witness.body))
    if owner is None or _is_as_created(owner, witness):
        return write
    if owner.at is not None and owner.at < write.at - CLOCK:
        return replace(write, outcome="no-op", notes=(*write.notes, "managedFields show that nothing was stored"))
    if owner.at is not None and owner.at > write.at + CLOCK:
        return write
    fields = fields_of(owner, witness, before) if _is_alone(write, others) and not write.fields_known else ()
    if owner.at is None and not any(field.before.known for field in fields):
        return write
    borne = write.marks or marks(State(witness.body, True))
    proven = replace(write, outcome="changed", persisted="proven", marks=borne)
    return _with_fields(proven, owner, witness, fields) if fields else proven


def _is_as_created(owner: Owner, witness: Witness) -> bool:
    """Whether an entry may be that of the create."""
    created = instant(metadata(witness.body).get("creationTimestamp"))
    return created is not None and owner.at is not None and abs(created - owner.at) <= CLOCK


def _is_alone(write: Write, others: Sequence[Write]) -> bool:
    """Whether the entry of its manager can tell of no other write."""
    stored = (other for other in others if other.outcome in ("changed", "unproven"))
    return sum(_manager(other) == _manager(write) for other in stored) == 1


def _with_fields(write: Write, owner: Owner, witness: Witness, fields: tuple[FieldChange, ...]) -> Write:
    note = f"fields as managedFields have them for {owner.manager}"
    return replace(
        write,
        fields=fields,
        fields_known=True,
        notes=(*write.notes, note),
        evidence=(*write.evidence, *witness.evidence),
    )


class Missing:
    """Finds the writes of people's tools that managedFields tell of and no event does, in one object's bodies."""

    def __init__(self, since: datetime | None) -> None:
        self._since = since
        self._heard: set[tuple[str, ...]] = set()
        self._found: dict[str, Write] = {}

    def found(self) -> list[Write]:
        """The missing writes so far, oldest first."""
        return sorted(self._found.values(), key=lambda write: (write.at, write.id))

    def hear(self, witness: Witness, writes: Sequence[Write], before: Before) -> None:
        """Look at the entries of a body that no earlier body had. `writes` are those of the records up to it."""
        for entry in self._unheard(witness.body):
            for owner in managed_fields.read({"metadata": {"managedFields": [entry]}}):
                write = self._told_by(owner, witness, writes, before)
                if write is not None:
                    self._found[write.id] = write

    def _unheard(self, body: JsonObject) -> Iterator[JsonObject]:
        """Entries of people's tools; most objects have none, and reading one takes time."""
        entries = metadata(body).get("managedFields")
        for entry in entries if self._since is not None and isinstance(entries, list) else ():
            manager = entry.get("manager") if isinstance(entry, dict) else None
            if isinstance(entry, dict) and isinstance(manager, str) and _is_tool(manager):
                told = (manager, *(str(entry.get(key)) for key in ("operation", "subresource", "time")))
                if told not in self._heard:
                    self._heard.add(told)
                    yield entry

    def _told_by(self, owner: Owner, witness: Witness, writes: Sequence[Write], before: Before) -> Write | None:
        channel = channel_of(owner)
        if not channel or owner.at is None or self._since is None or owner.at < self._since:
            return None
        if any(_may_be(owner, write) for write in writes):
            return None
        if _is_as_created(owner, witness):
            return replace(_write(owner, owner.at, channel, witness, ()), operation="create")
        fields = fields_of(owner, witness, before)
        return _write(owner, owner.at, channel, witness, fields) if fields else None


def fields_of(owner: Owner, witness: Witness, before: Before) -> tuple[FieldChange, ...]:
    """The fields that an owner set, as far as they differ from the state before."""
    found = list(_differing(owner, witness, before))
    told = [each for each in found if not _is_filled_in(each, witness.object)] or found
    alone = [each for each in found if each not in told and not _is_in_item_of(each.path, told)]
    return tuple(each for each in found if each in told or each in alone)


def _differing(owner: Owner, witness: Witness, before: Before) -> Iterator[FieldChange]:
    subject = witness.object
    for path, value in leaves.leaves(witness.body, subject.group, subject.kind):
        earlier = before.lookup(path)
        owned = _owns(owner, path, subject) and not is_operation(subject, path)
        if owned and not leaves.equal(subject.group, subject.kind, path, earlier, leaf(value)):
            yield FieldChange(path, earlier, leaf(value))


def _owns(owner: Owner, path: Path, subject: ObjectId) -> bool:
    """Whether the manager owns the field, or a map around it that is owned as a whole."""
    wholes = (path[:length] for length in range(1, len(path)))
    return owner.owns(path) or any(
        whole in owner.paths and schema.at(subject.group, subject.kind, whole).atomic for whole in wholes
    )


def _is_filled_in(each: FieldChange, subject: ObjectId) -> bool:
    """Whether the API server would have put the value there: an entry owns the defaults beside what was sent."""
    added = each.before.state != "value"
    return added and is_defaultable(subject.group, subject.kind, each.path, each.after.value)


def _is_in_item_of(path: Path, told: Sequence[FieldChange]) -> bool:
    """Whether a default is explained by another field of the same list item, or stands in no list item at all."""
    items = [place for place, segment in enumerate(path) if isinstance(segment, ListItem)]
    return not items or any(each.path[: items[-1] + 1] == path[: items[-1] + 1] for each in told)


def channel_of(owner: Owner) -> str:
    """The channel of a manager that is a person's tool, "" for any other."""
    if owner.subresource:
        return "kubectl scale" if (owner.subresource, owner.manager) == ("scale", "kubectl") else ""
    word = f"kubectl {owner.manager.removeprefix('kubectl-')}"
    if owner.manager.startswith("kubectl-") and word in CHANNELS:
        return word
    return _TOOLS.get(owner.manager, "")


def _is_tool(manager: str) -> bool:
    return manager.startswith("kubectl") or manager in _TOOLS


def _entry_of(write: Write, owners: Iterable[Owner]) -> Owner | None:
    mine = [
        owner
        for owner in owners
        if owner.manager == _manager(write)
        and owner.subresource == write.subresource
        and (owner.at is not None or owner.subresource == "scale")
    ]
    return max(mine, key=lambda owner: (owner.at or _NEVER, owner.operation), default=None)


def _manager(write: Write) -> str:
    """The manager of a write: what it asked for, else the first word of its user agent."""
    return write.field_manager or write.user_agent.partition("/")[0][:128]


def _may_be(owner: Owner, write: Write) -> bool:
    """Whether an entry may be that of a write in the records.

    Where these hold no request URI, as Google's, a kubectl whose manager they do not say may have used any of its own.
    """
    near = owner.at is not None and write.at - CLOCK <= owner.at <= write.at + CLOCK
    manager = _manager(write)
    unsaid = not write.field_manager and manager == "kubectl" and owner.manager.startswith("kubectl-")
    return near and (unsaid or manager in ("", owner.manager))


def _write(owner: Owner, at: datetime, channel: str, witness: Witness, fields: tuple[FieldChange, ...]) -> Write:
    place = witness.evidence[0].ref if witness.evidence else str(witness.object)
    return Write(
        id=_id(witness.object, owner),
        at=at,
        object=witness.object,
        verb="",
        subresource=owner.subresource,
        outcome="changed",
        persisted="proven",
        operation="update",
        actor=Actor("", "unknown", known_by=KNOWN_BY),
        channel=channel,
        cause="out-of-band",
        patch_type="unknown",
        field_manager=owner.manager,
        user_agent="",
        asked=(),
        fields=fields,
        side_effects=(),
        notes=(f"no event of this write is in the records; managedFields of {place} tell of it",),
        resource_version="",
        code=None,
        reason="",
        fields_known=True,
        known_by="ownership",
        evidence=witness.evidence,
        marks=marks(State(witness.body, True)),
    )


def _id(subject: ObjectId, owner: Owner) -> str:
    """An id that is the same in every body that has the entry."""
    said = repr((subject, owner.manager, owner.operation, owner.subresource, owner.at))
    return hashlib.sha256(said.encode()).hexdigest()
