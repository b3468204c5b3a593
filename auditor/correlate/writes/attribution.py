"""Whose field: which of the leaves that differ after a write are the actor's, and who did the others.

A leaf is the actor's if its value differs and the request names it: its path, a whole that it replaces, or a removal.
Any other difference is admission, a default, an allocation, or a write that is missing from the records.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from auditor.correlate.writes.admission import Admission
from auditor.correlate.writes.overlap import holds
from auditor.correlate.writes.state import LAST_APPLIED, Before, State, annotations, labels
from auditor.model.change import FieldChange, SideEffect
from auditor.model.resource import ABSENT, Json, JsonObject, Leaf, ListItem, ObjectId, Path
from auditor.objects import fields as field_rules
from auditor.objects import leaves, patch, paths
from auditor.objects.bare_items import is_bare, stood_for
from auditor.objects.defaults import filled_by, is_defaultable
from auditor.objects.json_patch import rewound

NOT_RECORDED = "not recorded"

_TRACKING = (
    "argocd.argoproj.io/tracking-id",
    "argocd.argoproj.io/installation-id",
)
_TOLD = (LAST_APPLIED, "kubernetes.io/change-cause", *_TRACKING)
"""Annotations that are no fields and whose change is worth a line."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What a request asks for."""

    object: ObjectId
    body: Json
    """The request's body; None where the record does not hold it."""
    type: patch.PatchType
    subresource: str
    field_manager: str
    annotations: Mapping[str, str]
    """Of the audit event: what webhooks did."""
    instance_label: str
    or_merge: bool = False
    """It is read as a strategic merge patch, and may have been a JSON merge patch."""
    may_give_up: bool = False
    """It is applied server-side, and may leave out what its manager applied before: no record tells."""

    @property
    def whole(self) -> bool:
        """Whether the body is all that the client wants of the object, so that what it leaves out is removed."""
        return self.type in ("put", "apply") and self.subresource != "scale"

    def as_merge(self) -> "Ask":
        """The same request, read as a JSON merge patch."""
        return replace(self, type="merge", or_merge=False)

    def on(self, document: JsonObject | None, complete: bool) -> patch.Patched:
        """The object after the request, applied to this state; `complete`: whether that is all of the object."""
        group, kind = self.object.group, self.object.kind
        return patch.apply(document, self.body, self.type, group, kind, self.subresource, self.field_manager, complete)

    def names(self, document: JsonObject | None, complete: bool) -> patch.Named:
        """The fields that the request names, where the object was this."""
        group, kind = self.object.group, self.object.kind
        return patch.named(self.body, self.type, document, group, kind, self.subresource, self.field_manager, complete)


@dataclass(frozen=True, slots=True)
class Account:
    """What a write did, by whom."""

    asked: tuple[FieldChange, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    notes: tuple[str, ...] = ()
    known: bool = False
    """Whether the records can tell fields of this write at all."""
    server_owned: bool = False
    """The request names nothing that is a field: status, managedFields, bookkeeping."""
    names_status: bool = False


def account(ask: Ask, before: Before, after: State) -> Account:
    """What a request did to the state before, seen in the state after (which may be only what was asked for)."""
    if ask.body is None:
        return Account()
    found = _Attribution(ask, before, after).account()
    if not ask.or_merge:
        return found
    return _in_common(found, _Attribution(ask.as_merge(), before, after).account())


def _in_common(one: Account, other: Account) -> Account:
    """What holds whichever of two ways a request is read."""
    fields = tuple(each for each in one.fields if each in other.fields)
    asked = tuple(each for each in one.asked if each in other.asked)
    told = bool(fields) or not (one.fields or other.fields)
    return replace(one, asked=asked, fields=fields, known=one.known and other.known and told)


def is_operation(subject: ObjectId, path: Path) -> bool:
    """Whether a path of an Application is an order to Argo CD and no part of what the Application is."""
    if (subject.group, subject.kind) != ("argoproj.io", "Application"):
        return False
    match path:
        case ("operation" | "status", *_):
            return True
        case ("metadata", "annotations", str(key), *_):
            return key.startswith(("argocd.argoproj.io/refresh", "argocd.argoproj.io/hydrate"))
        case _:
            return False


class _Attribution:
    def __init__(self, ask: Ask, before: Before, after: State) -> None:
        self._ask = ask
        self._subject = ask.object
        self._before = before
        self._after = after
        state = before.state
        self._wanted = ask.on(self._positions() or state.body, state.complete).document
        self._named = ask.names(self._positions(), state.complete)
        both_whole = before.state.comparable and after.whole
        self._differing = tuple(self._differences(before.state.body, after.body)) if both_whole else ()

    def account(self) -> Account:
        asked = tuple(self._asked())
        compared = self._before.state.comparable and not self._before.doubtful
        fields = tuple(self._from_difference() if compared else self._from_request())
        return Account(
            asked=asked,
            fields=fields,
            side_effects=tuple(self._side_effects()),
            notes=tuple(self._notes()),
            known=bool(fields) or self._can_tell(),
            server_owned=self._names_no_field(),
            names_status=self._names_status(),
        )

    def _can_tell(self) -> bool:
        """Whether a field would show in the records. A whole body may have added what a state known in parts lacks,
        and a position in a list that is not known may be any item's."""
        state = self._before.state
        if (self._ask.may_give_up and not self._after.whole) or (self._ask.whole and self._before.doubtful):
            return False
        if not self._ask.whole or state.complete:
            return self._positions() is not None or not _names_positions(self._ask)
        subject = self._subject
        given = leaves.leaves(self._ask.body, subject.group, subject.kind) if isinstance(self._ask.body, dict) else ()
        return all(self._before.lookup(path).known or self._is_no_field(path) for path, _ in given)

    def _positions(self) -> JsonObject | None:
        """The document in which a JSON Patch's positions are meant. A state that is known in parts may lack items of
        a list; the state after stands in for it where the patch at most adds behind the last of them."""
        state = self._before.state
        if state.complete or not _names_positions(self._ask):
            return state.body
        return self._rewound

    @cached_property
    def _rewound(self) -> JsonObject | None:
        """The lists before a JSON Patch, from the state after; None where that does not tell."""
        operations, after = self._ask.body, self._after.body
        if self._ask.type != "json-patch" or not isinstance(operations, list) or not self._after.whole or not after:
            return None
        return rewound(after, operations)

    def _value_before(self, path: Path) -> Leaf:
        """What a path had before the write. An item that the request put behind the last one was not there."""
        found = self._before.lookup(path)
        if found.known or self._rewound is None:
            return found
        items = [path[: place + 1] for place, step in enumerate(path) if isinstance(step, ListItem)]
        is_new = any(paths.lookup(self._rewound, item) == ABSENT for item in items)
        return ABSENT if is_new else found

    def _asked(self) -> Iterator[FieldChange]:
        state = self._before.state
        if state.comparable:
            found = self._differences(state.body, self._wanted)
            yield from (each for each in found if self._named.covers(each.path))
            return
        for path in self._candidates(self._wanted):
            yield FieldChange(path, self._before.lookup(path), _asked_for(self._wanted, path))

    def _from_difference(self) -> Iterator[FieldChange]:
        known = self._after.whole or self._after.rebuilt
        after = self._after.body if known else self._wanted
        for each in self._differing or self._differences(self._before.state.body, after):
            if self._is_asked_for(each.path):
                yield each if known else replace(each, after=self._value_after(each.path))

    def _is_asked_for(self, path: Path) -> bool:
        """Whether the request names the field, or makes the bare item that the server filled it into."""
        return self._named.covers(path) or path[:-1] in self._made

    @cached_property
    def _made(self) -> frozenset[Path]:
        """The items of lists that the request adds with nothing but their keys."""
        if not self._before.state.comparable:
            return frozenset()
        found = tuple(self._differences(self._before.state.body, self._wanted))
        told = {each.path for each in stood_for(found, self._subject) if is_bare(each)}
        return frozenset(path for path in told if self._named.covers(path))

    def _from_request(self) -> Iterator[FieldChange]:
        """Where the state before is not known as a whole: what the request names, before it as far as that is known."""
        for path in self._candidates(self._after.body if self._after.whole else self._wanted):
            before = self._value_before(path)
            after = self._value_after(path)
            if not leaves.equal(self._subject.group, self._subject.kind, path, before, after):
                yield FieldChange(path, before, after)

    def _value_after(self, path: Path) -> Leaf:
        """What a path has after the write, as far as the record shows what was stored."""
        if self._after.whole or self._after.rebuilt or self._after.is_uncertain(path):
            return _not_null(self._after.lookup(path))
        if self._wanted is self._before.state.body and self._ask.type == "json-patch":
            return self._named.given(path)  # it cannot be applied to the little that is known
        return _asked_for(self._wanted, path)

    def _candidates(self, after: JsonObject | None) -> Iterator[Path]:
        """Paths that the request may have changed, each once."""
        found: dict[Path, None] = dict.fromkeys(self._changed_in_parts(after))
        if not self._ask.whole:
            found.update(dict.fromkeys(self._given(after)))
            found.update(dict.fromkeys(self._removed(tuple(found))))
        yield from found

    def _changed_in_parts(self, after: JsonObject | None) -> Iterator[Path]:
        """What differs from the parts of the state before that are known."""
        for part in self._before.partial():
            complete = self._before.state.complete and part is self._before.state.body
            named = self._ask.names(part, complete) if self._ask.whole else self._named
            changed = after if self._ask.whole else self._ask.on(part, complete).document
            for each in self._differences(part, changed):
                known = self._before.lookup(each.path).known
                if known and named.covers(each.path) and not self._left_to_server(each):
                    yield each.path

    def _left_to_server(self, each: FieldChange) -> bool:
        """A whole body that leaves out what the server fills in anyway removes nothing."""
        if not self._ask.whole or self._after.whole or not isinstance(self._ask.body, dict):
            return False
        if State(self._ask.body, True).lookup(each.path) != ABSENT:
            return False
        refilled = each.after.state == "value"
        subject = self._subject
        return refilled or is_defaultable(subject.group, subject.kind, each.path, each.before.value)

    def _given(self, after: JsonObject | None) -> Iterator[Path]:
        """Leaves to which the request gives a value."""
        for path, _ in leaves.leaves(after or {}, self._subject.group, self._subject.kind):
            given = self._named.covers(path) and _asked_for(self._wanted, path).state == "value"
            if given and not self._is_no_field(path):
                yield path

    def _removed(self, found: tuple[Path, ...]) -> Iterator[Path]:
        """Paths that the request names and that have no value after it; of a map, the fields that it had or gets."""
        for path in sorted(self._named.paths, key=repr):
            left = _asked_for(self._wanted, path)
            nothing_left = left == ABSENT or left.value == []
            if nothing_left and not self._is_no_field(path) and not any(holds(path, other) for other in found):
                yield from self._below(path)

    def _below(self, path: Path) -> Iterator[Path]:
        """The fields of a map that the request gives, or takes away; the path itself where it is no such map."""
        whole = self._named.given(path).value or self._before.lookup(path).value
        names = [step for step in path if isinstance(step, str)]
        if not isinstance(whole, dict) or len(names) < len(path):
            yield path
            return
        for name in reversed(names):
            whole = {name: whole}
        for each, _ in leaves.leaves(whole, self._subject.group, self._subject.kind):
            if not self._is_no_field(each):
                yield each

    def _side_effects(self) -> Iterator[SideEffect]:
        admission = Admission(self._ask.annotations, self._after.body, self._subject.group, self._subject.kind)
        for each in self._differing:
            if not self._is_asked_for(each.path):
                yield SideEffect(each.path, each.before, each.after, self._author(each, admission))

    def _author(self, each: FieldChange, admission: Admission) -> str:
        value = each.after.value if each.after.state == "value" else each.before.value
        return (
            admission.author(each.path)
            or filled_by(self._subject.group, self._subject.kind, each.path, value)
            or admission.suspect()
            or NOT_RECORDED
        )

    def _notes(self) -> Iterator[str]:
        for key in _TOLD:
            path: Path = ("metadata", "annotations", key)
            yield from self._note(path, key, annotations(self._after.body).get(key))
        if label := self._ask.instance_label:
            yield from self._note(("metadata", "labels", label), label, labels(self._after.body).get(label))

    def _note(self, path: Path, key: str, value: Json) -> Iterator[str]:
        before = self._before.state.lookup(path)
        if not self._named.covers(path) or (before.known and before.value == value):
            return
        if value is None:
            yield f"removed {key}"
        elif key == LAST_APPLIED:
            yield "rewrote last-applied"
        else:
            yield f"set {key} to {value}"

    def _differences(self, before: JsonObject | None, after: JsonObject | None) -> Iterator[FieldChange]:
        subject = self._subject
        for each in leaves.differences(before, after, subject.group, subject.kind, self._ask.instance_label):
            if not is_operation(subject, each.path):
                yield each

    def _names_no_field(self) -> bool:
        paths = self._named.paths
        return bool(paths) and all(map(self._is_no_field, paths))

    def _names_status(self) -> bool:
        return any(path[:1] == ("status",) for path in self._named.paths)

    def _is_no_field(self, path: Path) -> bool:
        return field_rules.never_a_field(path, self._ask.instance_label) or is_operation(self._subject, path)


def _asked_for(wanted: JsonObject | None, path: Path) -> Leaf:
    """The value that a request leaves at a path that it names."""
    return ABSENT if wanted is None else _not_null(State(wanted, True).lookup(path))


def _not_null(found: Leaf) -> Leaf:
    return found if found.state != "value" or found.value is not None else ABSENT


def _names_positions(ask: Ask) -> bool:
    """Whether a JSON Patch names items of lists by their number."""
    operations = ask.body if ask.type == "json-patch" and isinstance(ask.body, list) else []
    places = [each.get(key) for each in operations if isinstance(each, dict) for key in ("path", "from")]
    return any(step == "-" or step.isdigit() for place in places for step in str(place).split("/"))
