"""Which fields a request names: values that it gives, wholes that it replaces, and what it removes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from auditor.model.resource import ABSENT, UNKNOWN, Json, JsonObject, Leaf, ListItem, Path, leaf
from auditor.objects import server_side
from auditor.objects.json_patch import DoesNotFitError, get, steps
from auditor.objects.merge_patch import DELETE_FROM, PATCH, RETAIN_KEYS, SET_ORDER, position
from auditor.objects.paths import from_pointer, item_segment, lookup, same_segment, split_pointer
from auditor.objects.schema import Node, root
from auditor.objects.versions import common_path


@dataclass(frozen=True, slots=True)
class Whole:
    """One thing that a request sets, replaces or removes as a whole: a leaf, mostly."""

    path: Path
    given: Leaf
    """What it gives there; absent for a removal."""
    alone: bool = False
    """The path itself and nothing below it: what others put there is not removed."""


@dataclass(frozen=True, slots=True)
class Named:
    """The fields that a request names."""

    wholes: tuple[Whole, ...] = ()
    before: JsonObject | None = None
    complete: bool = True
    """Whether `before` is all of the object. Whole bodies name only what an incomplete state holds."""
    whole_body: bool = False

    def covers(self, path: Path) -> bool:
        """Whether the request names the field at this path: its value, a whole that it replaces, or a removal."""
        return any(self._covers(whole, path) for whole in self.wholes)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The named things, in the order of the request."""
        return tuple(whole.path for whole in self.wholes)

    def given(self, path: Path) -> Leaf:
        """The value that the request itself gives at a path that it names; unknown where it gives none there."""
        for whole in reversed(self.wholes):
            if len(whole.path) <= len(path) and all(map(same_segment, whole.path, path)):
                below = path[len(whole.path) :]
                return lookup(whole.given.value, below) if below and whole.given.known else whole.given
        return UNKNOWN

    def _covers(self, whole: Whole, path: Path) -> bool:
        shared = min(len(whole.path), len(path))
        if not all(map(same_segment, whole.path[:shared], path[:shared])):
            return False
        held = self.before is not None and lookup(self.before, path).state != "absent"
        if self.whole_body and not self.complete and not held:
            return False
        if len(path) < len(whole.path):
            return True
        if whole.alone:
            return len(path) == len(whole.path)
        below = path[len(whole.path) :]
        if not below and whole.path:
            return True
        return held or (whole.given.state == "value" and lookup(whole.given.value, below).state != "absent")


def by_json_patch(request: list[Json], before: JsonObject | None, group: str, kind: str) -> Iterator[Whole]:
    """The operations' targets. Without the state before, positions in lists cannot be told: the list is named."""
    if before is None:
        for entry in request:
            if isinstance(entry, dict) and entry.get("op") != "test":
                yield from _blind(entry, group, kind)
        return
    try:
        for step in steps(before, request):
            if step.operation == "test" or not isinstance(step.before, dict) or not isinstance(step.after, dict):
                continue
            if step.operation in ("remove", "move"):
                left = step.source if step.operation == "move" else step.path
                yield Whole(from_pointer(step.before, left, group, kind), ABSENT)
            into_list = isinstance(_holder(step.before, step.path), list)
            if step.operation == "replace" or (step.operation != "remove" and not into_list):
                yield _target(step.before, step.after, step.path, group, kind)
            if step.operation != "remove":
                yield _target(step.after, step.after, _settled(step.path, step.after), group, kind)
    except DoesNotFitError:
        yield from by_json_patch(request, None, group, kind)


def _blind(entry: JsonObject, group: str, kind: str) -> Iterator[Whole]:
    for key in ("path", "from") if entry.get("op") == "move" else ("path",):
        pointer = str(entry.get(key, ""))
        target = _out_of_lists(from_pointer(None, pointer, group, kind), root(group, kind))
        gives = key == "path" and entry.get("op") in ("add", "replace")
        given = leaf(entry.get("value")) if gives else ABSENT
        yield Whole(target, given if len(target) == len(split_pointer(pointer)) else UNKNOWN)


def _out_of_lists(target: Path, node: Node) -> Path:
    """A target up to the list of which it is an item, and up to any list of a kind whose lists are not known."""
    for place, segment in enumerate(target):
        a_position = isinstance(segment, str) and (segment == "-" or segment.isdigit()) and node.shape == "any"
        if a_position or (isinstance(segment, int) and place == len(target) - 1):
            return target[:place]
        node = node.below((segment,))
    return target


def _target(document: JsonObject, after: JsonObject, pointer: str, group: str, kind: str) -> Whole:
    path = from_pointer(document, pointer, group, kind)
    *parents, last = path or ("",)
    if len(path) > 1 and isinstance(parents[-1], ListItem) and any(last == key for key, _ in parents[-1].keys):
        path = tuple(parents)  # another key makes it another item
    return Whole(path, lookup(after, path))


def _holder(document: Json, pointer: str) -> Json:
    """What holds the target of a pointer; None where the document has no such thing."""
    try:
        return get(document, pointer.rpartition("/")[0])
    except DoesNotFitError:
        return None


def _settled(pointer: str, after: JsonObject) -> str:
    """The pointer with `-`, behind the last item, as that item's position now that it is there."""
    parent, _, last = pointer.rpartition("/")
    items = get(after, parent) if last == "-" else None
    return f"{parent}/{len(items) - 1}" if isinstance(items, list) else pointer


def by_merge(patch: Json, before: Json, path: Path = ()) -> Iterator[Whole]:
    """The leaves of a JSON merge patch; a list is replaced whole, a null removes."""
    if not isinstance(patch, dict):
        yield Whole(path, ABSENT if patch is None else leaf(patch))
        return
    if not patch and path and not isinstance(before, dict):
        yield Whole(path, leaf(patch))
    for key, value in patch.items():
        yield from by_merge(value, before.get(key) if isinstance(before, dict) else None, (*path, key))


def by_strategic(patch: JsonObject, before: Json, node: Node, path: Path = ()) -> Iterator[Whole]:
    """The leaves of a strategic merge patch and what its directives replace or remove."""
    if PATCH in patch:
        yield Whole(path, leaf({key: value for key, value in patch.items() if key != PATCH}))
        return
    old = before if isinstance(before, dict) else {}
    kept = patch.get(RETAIN_KEYS)
    if isinstance(kept, list):
        yield from (Whole((*path, key), ABSENT) for key in sorted(old) if key not in kept)
    if not patch and path and not isinstance(before, dict):
        yield Whole(path, leaf(patch))
    for key, value in patch.items():
        if key == RETAIN_KEYS or key.startswith(SET_ORDER):
            continue
        if key.startswith(DELETE_FROM):
            yield Whole((*path, key[len(DELETE_FROM) :]), ABSENT)
        elif isinstance(value, dict):
            yield from by_strategic(value, old.get(key), node.child(key), (*path, key))
        elif isinstance(value, list) and node.child(key).merge_key:
            yield from _by_items(value, old.get(key), node.child(key), (*path, key))
        else:
            yield Whole((*path, key), ABSENT if value is None else leaf(value))


def _by_items(patch: list[Json], before: Json, node: Node, path: Path) -> Iterator[Whole]:
    items = before if isinstance(before, list) else []
    given = [item for item in patch if isinstance(item, dict) and PATCH not in item]
    if any(isinstance(item, dict) and item.get(PATCH) == "replace" for item in patch):
        yield Whole(path, leaf(list[Json](given)))
        return
    for item in patch:
        if not isinstance(item, dict):
            continue
        old = _item(items, item, node)
        segment = _segment(old or item, items, node)
        if item.get(PATCH) == "delete":
            yield Whole((*path, item_segment(item, node.keys[:1])), ABSENT)
        elif old is None:
            yield Whole((*path, segment), leaf(item))
        else:
            changed = {key: value for key, value in item.items() if key != node.merge_key}
            yield from by_strategic(changed, old, node.items, (*path, segment))


def _item(items: list[Json], wanted: JsonObject, node: Node) -> JsonObject | None:
    place = position(items, node.merge_key or "", wanted)
    found = items[place] if place is not None else None
    return found if isinstance(found, dict) else None


def _segment(item: JsonObject, items: list[Json], node: Node) -> ListItem:
    keys = node.keys_for(items) or node.keys[:1]
    present = tuple(key for key in keys if key in item) or keys
    return item_segment(item, present)


def by_apply(config: JsonObject, before: JsonObject | None, node: Node, manager: str) -> Iterator[Whole]:
    """What an applied configuration gives, and what its manager owned alone and now leaves out."""
    yield from _given(config, node, ())
    if before is not None:
        for path in server_side.given_up(before, config, node, manager):
            yield Whole(_to_list(path), ABSENT, alone=not (isinstance(path[-1], ListItem) or node.below(path).atomic))


def _to_list(path: Path) -> Path:
    """An owned path without the value of a set's item at its end: the field is the set."""
    last = path[-1]
    return path[:-1] if isinstance(last, ListItem) and last.keys[0][0] == "" else path


def _given(value: Json, node: Node, path: Path) -> Iterator[Whole]:
    if isinstance(value, dict) and value and not node.atomic:
        for key, inner in value.items():
            yield from _given(inner, node.child(key), (*path, key))
    elif isinstance(value, list) and node.map_keys:
        for item in value:
            if isinstance(item, dict):
                segment = item_segment(item, node.map_keys)
                yield Whole((*path, segment), leaf(item), alone=True)
                yield from _given(item, node.items, (*path, segment))
    else:
        yield Whole(path, leaf(value))


def by_body(body: Json) -> Iterator[Whole]:
    """A whole object: all that it holds, and the removal of all that it leaves out."""
    yield Whole((), leaf(body))


def in_common_version(wholes: Iterator[Whole]) -> Iterator[Whole]:
    """What a request in another version of the API names, where the common version has it."""
    yield from (replace(whole, path=common_path(whole.path)) for whole in wholes)


def stored_under_data(wholes: Iterator[Whole]) -> Iterator[Whole]:
    """What a request gives under a Secret's `stringData`, where the API server stores it."""
    for whole in wholes:
        if whole.path[:1] == ("stringData",):
            whole = replace(whole, path=("data", *whole.path[1:]))
        yield whole
