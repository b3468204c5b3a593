"""What was told of an object before, taken again where all that it was told from is as it was.

A story is told from the requests on its object, the snapshots of it, the rules by which senders are known, and what git
said when the story asked: nothing else enters it. Equal inputs therefore give an equal story, and most objects have
nothing new from one run to the next. Whom Argo CD names behind its server may become known later: an object that its
server wrote to is told anew each time.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Protocol

import msgspec
import zstandard

from auditor.correlate.identity.argo_statements import is_server
from auditor.correlate.writes.drafts import Senses
from auditor.correlate.writes.sequence import Sighting
from auditor.model.case import LiveState
from auditor.model.change import Actor, Evidence, FieldChange, Write
from auditor.model.facts import AuditEvent
from auditor.model.resource import JsonObject, ObjectId


@dataclass(frozen=True, slots=True)
class ObjectHistory:
    """All that the records say of one object."""

    object: ObjectId
    writes: tuple[Write, ...]
    """In the API server's order."""
    live: LiveState


class Shelf(Protocol):
    """Where stories are kept from one run to the next, the last of each object."""

    def find(self, subject: str, inputs: str) -> bytes | None:
        """What was kept of an object, where it was told from these inputs."""
        ...

    def keep(self, subject: str, inputs: str, told: bytes) -> None:
        """Keep this in place of what was kept of the object."""
        ...


Asked = tuple[tuple[datetime, str], ...]
"""The moments for which a story asked git, and the digests of the answers."""

Tell = Callable[[Senses], ObjectHistory]

_UNENCODABLE = (msgspec.MsgspecError, OverflowError, RecursionError, TypeError, ValueError)
_packer = zstandard.ZstdCompressor(3)
_opener = zstandard.ZstdDecompressor()
_decoder = msgspec.msgpack.Decoder(tuple[Asked, ObjectHistory])


class Recall:
    """Gives stories again, and keeps those that had to be told."""

    def __init__(self, shelf: Shelf, rules: str) -> None:
        """`rules` are all settings that a story depends on, and the program that tells it."""
        self._shelf = shelf
        self._rules = rules
        self._shared: dict[Any, Any] = {}

    def inputs(self, subject: ObjectId, requests: Iterable[str], sightings: Iterable[Sighting], senses: Senses) -> str:
        """A digest of what the story of an object is told from. `requests` name the requests on it."""
        known = (self._rules, subject, senses.instance_label, senses.since, sorted(requests))
        digest = hashlib.sha256(repr(known).encode())
        for sighting in sightings:
            digest.update(repr(sighting.snapshot).encode())
        return digest.hexdigest()

    def history(self, subject: ObjectId, inputs: str, senses: Senses, tell: Tell) -> ObjectHistory:
        """The story of an object; `tell` tells it where it is not known."""
        asked, before = self._kept(subject, inputs)
        if before is not None and all(_digest(senses.desired(subject, at)) == answer for at, answer in asked):
            return self._sharing(before)
        heard = _Heard(senses)
        told = tell(replace(senses, identify=heard.identify, desired=heard.desired))
        if heard.settled:
            self._keep(subject, inputs, tuple(heard.asked), told)
        return told

    def _kept(self, subject: ObjectId, inputs: str) -> tuple[Asked, ObjectHistory | None]:
        """What was told of the object from these inputs; nothing where that is not there or damaged."""
        kept = self._shelf.find(_key(subject), inputs)
        try:
            return _decoder.decode(_opener.decompress(kept)) if kept is not None else ((), None)
        except (msgspec.DecodeError, zstandard.ZstdError, UnicodeDecodeError):
            return (), None

    def _keep(self, subject: ObjectId, inputs: str, asked: Asked, told: ObjectHistory) -> None:
        try:
            encoded = msgspec.msgpack.encode((asked, told))
        except _UNENCODABLE:
            return
        self._shelf.keep(_key(subject), inputs, _packer.compress(encoded))

    def _sharing(self, history: ObjectHistory) -> ObjectHistory:
        """The history with one object for what is equal: writes of one controller differ in little."""
        for write in history.writes:
            for get, put in _RECURRING:
                value = get(write)
                put(write, self._shared.setdefault(value, value))
            for each in write.fields:
                _put_path(each, self._shared.setdefault(each.path, each.path))
            if write.asked == write.fields:
                _put_asked(write, write.fields)
            for evidence in write.evidence:
                if evidence.event_id == write.id:
                    _put_event(evidence, write.id)
        return history


def _setter(kind: type, name: str) -> Callable[[Any, Any], None]:
    """Sets a field of a frozen value that was just decoded and that nobody else has seen yet."""
    put: Callable[[Any, Any], None] = getattr(kind, name).__set__
    return put


_RECURRING = tuple(
    (attrgetter(name), _setter(Write, name))
    for name in (
        "object",
        "verb",
        "subresource",
        "outcome",
        "persisted",
        "operation",
        "actor",
        "channel",
        "cause",
        "patch_type",
        "field_manager",
        "user_agent",
        "reason",
        "notes",
        "known_by",
        "admitted_by",
        "marks",
    )
)
"""Fields of writes that recur."""
_put_path = _setter(FieldChange, "path")
_put_asked = _setter(Write, "asked")
_put_event = _setter(Evidence, "event_id")


@dataclass(slots=True)
class _Heard:
    """Listens to what a story asks."""

    senses: Senses
    asked: list[tuple[datetime, str]] = field(default_factory=list)
    settled: bool = True
    """Nobody was named on the word of Argo CD, and nobody may yet be."""

    def identify(self, event: AuditEvent) -> Actor:
        actor = self.senses.identify(event)
        self.settled = self.settled and not is_server(actor) and actor.rule != "argocd-user"
        return actor

    def desired(self, subject: ObjectId, at: datetime) -> JsonObject | None:
        found = self.senses.desired(subject, at)
        self.asked.append((at, _digest(found)))
        return found


def _digest(manifest: JsonObject | None) -> str:
    return hashlib.sha256(repr(manifest).encode()).hexdigest()


def _key(subject: ObjectId) -> str:
    return "/".join((subject.cluster, subject.group, subject.kind, subject.namespace, subject.name))
