"""Leaves of objects, and which of them differ between two states by value, not by spelling."""

import base64
from collections.abc import Iterator
from typing import Final

from auditor.model.change import FieldChange
from auditor.model.resource import ABSENT, Json, JsonObject, Leaf, ListItem, Path, leaf
from auditor.objects import schema
from auditor.objects.fields import never_a_field
from auditor.objects.paths import item_segment
from auditor.objects.scalars import same
from auditor.objects.schema import Node
from auditor.objects.versions import common_version


class _Missing:
    """Where one side has nothing at all; a JSON null says the same."""


_MISSING: Final = _Missing()
_Side = Json | _Missing


def differences(
    before: JsonObject | None, after: JsonObject | None, group: str, kind: str, instance_label: str = ""
) -> tuple[FieldChange, ...]:
    """The fields whose values differ, in the order of the documents' sorted keys; values as the documents have them.

    None stands for an object that is not there: all leaves of the other side are then absent on this one. What is
    never a field (status, server-owned metadata, bookkeeping) is left out.
    """
    node = schema.root(group, kind)
    one = _Missing() if before is None else readable(before, group, kind)
    other = _Missing() if after is None else readable(after, group, kind)
    return tuple(change for change in _walk(node, one, other, (), instance_label))


def leaves(document: JsonObject, group: str, kind: str) -> tuple[tuple[Path, Json], ...]:
    """The fields of one object with their values, in the order of its sorted keys."""
    return tuple((change.path, change.after.value) for change in differences(None, document, group, kind))


def equal(group: str, kind: str, path: Path, one: Leaf, other: Leaf) -> bool:
    """Whether two sides of one field are the same to the API server. What is unknown equals nothing."""
    if not (one.known and other.known):
        return False
    if path and isinstance(path[-1], ListItem) and one.state != other.state:
        return False  # an item is there even where nothing but its key is
    node = schema.at(group, kind, path)
    return not any(_walk(node, _side(one), _side(other), path, "", within=True))


def _side(side: Leaf) -> _Side:
    return side.value if side.state == "value" else _MISSING


def readable(document: JsonObject, group: str, kind: str) -> JsonObject:
    """The document in the version that its kind is compared in, a Secret's `stringData` folded into `data`."""
    return stored_form(common_version(document, group, kind), group, kind)


def stored_form(document: JsonObject, group: str, kind: str) -> JsonObject:
    """The object as the API server stores it: of a Secret, `stringData` folded into `data`."""
    if (group, kind) == ("", "Secret") and isinstance(document.get("stringData"), dict):
        return fold_string_data(document)
    return document


def fold_string_data(secret: JsonObject) -> JsonObject:
    """A Secret as the API server stores it: `stringData` overrides `data`, in base64; redacted values stay as is."""
    plain, data = secret.get("stringData"), secret.get("data")
    folded = dict(data) if isinstance(data, dict) else {}
    for key, value in (plain if isinstance(plain, dict) else {}).items():
        redacted = not isinstance(value, str) or value.startswith("[redacted")
        folded[key] = value if redacted else base64.b64encode(str(value).encode()).decode()
    return {key: value for key, value in secret.items() if key != "stringData"} | {"data": folded}


def _walk(
    node: Node, before: _Side, after: _Side, path: Path, instance_label: str, within: bool = False
) -> Iterator[FieldChange]:
    """The leaves that differ below `path`. `within`: what is never a field counts too."""
    if before is after or before == after or (is_empty(node, before) and is_empty(node, after)):
        return
    if not within and never_a_field(path, instance_label):
        return
    if (isinstance(before, dict) and _open(after)) or (isinstance(after, dict) and _open(before)):
        yield from _walk_map(node, before, after, path, instance_label, within)
    elif node.shape == "list" or isinstance(before, list) or isinstance(after, list):
        yield from _walk_list(node, before, after, path, instance_label, within)
    elif not same(node.element if node.shape == "scalar" else "?", _json(before), _json(after)):
        yield FieldChange(path, _shown(before), _shown(after))


def _open(other: _Side) -> bool:
    """Whether one side being a map, the other can be walked beside it."""
    return isinstance(other, dict | _Missing) or other is None


def _json(side: _Side) -> Json:
    return None if isinstance(side, _Missing) else side


def _shown(side: _Side) -> Leaf:
    return ABSENT if side is None or isinstance(side, _Missing) else leaf(side)


def _walk_map(
    node: Node, before: _Side, after: _Side, path: Path, instance_label: str, within: bool
) -> Iterator[FieldChange]:
    one, other = (side if isinstance(side, dict) else {} for side in (before, after))
    if not one and not other:
        yield FieldChange(path, _shown(before), _shown(after))
        return
    for key in sorted(one.keys() | other.keys()):
        left, right = one.get(key, _MISSING), other.get(key, _MISSING)
        if left != right:
            yield from _walk(node.child(key), left, right, (*path, key), instance_label, within)


def _walk_list(
    node: Node, before: _Side, after: _Side, path: Path, instance_label: str, within: bool
) -> Iterator[FieldChange]:
    one, other = (side if isinstance(side, list) else [] for side in (before, after))
    keys = node.keys_for(one, other)
    if keys:
        yield from _walk_items(node, one, other, keys, path, instance_label, within)
    elif not _same_list(node, before, after):
        yield FieldChange(path, _shown(before), _shown(after))


def _walk_items(
    node: Node,
    before: list[Json],
    after: list[Json],
    keys: tuple[str, ...],
    path: Path,
    instance_label: str,
    within: bool,
) -> Iterator[FieldChange]:
    sides = [{item_segment(item, keys): item for item in items if isinstance(item, dict)} for items in (before, after)]
    for segment in dict.fromkeys([*sides[0], *sides[1]]):
        pair: list[_Side] = [_MISSING, _MISSING]
        for place, items in enumerate(sides):
            if segment in items:
                pair[place] = {key: value for key, value in items[segment].items() if key not in keys}
        found = list(_walk(node.items, pair[0], pair[1], (*path, segment), instance_label, within))
        if not found and (segment in sides[0]) != (segment in sides[1]):
            found = [FieldChange((*path, segment), _shown(pair[0]), _shown(pair[1]))]  # an item that is all key
        yield from found


def _same_list(node: Node, before: _Side, after: _Side) -> bool:
    """Whether two atomic lists hold the same by value; a set in any order."""
    if not isinstance(before, list | None) and not isinstance(before, _Missing):
        return False
    one, other = (side if isinstance(side, list) else [] for side in (before, after))
    if isinstance(after, str | int | float | dict) or len(one) != len(other):
        return False
    if node.is_set or node.merge_key == "":
        one, other = sorted(one, key=str), sorted(other, key=str)
    return not any(
        any(_walk(node.items, left, right, (), "", within=True)) for left, right in zip(one, other, strict=True)
    )


def is_empty(node: Node, side: _Side) -> bool:
    """Whether a value says no more than an absent field does.

    A null, an empty list and an empty map always do; `{}` and a zero do where the field is no pointer, as the API
    server then drops or adds it on its own (`resources: {}`, `hostNetwork: false`); `emptyDir: {}` says something.
    """
    if side is None or isinstance(side, _Missing) or side == []:
        return True
    if node.shape == "map":
        return side == {}
    if node.pointer or node.shape == "any":
        return False
    if isinstance(side, dict):
        return node.shape == "struct" and all(is_empty(node.child(key), value) for key, value in side.items())
    return side in ("", 0, False) and node.shape == "scalar" and node.element in "sibfy"
