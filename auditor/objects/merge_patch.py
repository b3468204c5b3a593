"""JSON merge patch (RFC 7386) and strategic merge patch, as the API server applies them.

The strategic one follows `strategicpatch/patch.go` of k8s.io/apimachinery: lists of built-in kinds merge by key, and
directives say what else is meant: `$patch`, `$retainKeys`, `$setElementOrder/LIST`, `$deleteFromPrimitiveList/LIST`.
"""

from auditor.model.resource import Json, JsonObject
from auditor.objects.json_patch import DoesNotFitError
from auditor.objects.schema import Node

PATCH = "$patch"
RETAIN_KEYS = "$retainKeys"
SET_ORDER = "$setElementOrder/"
DELETE_FROM = "$deleteFromPrimitiveList/"


def merge(document: Json, patch: Json) -> Json:
    """RFC 7386: maps merge, a null removes, all else replaces."""
    if not isinstance(patch, dict):
        return without_nulls(patch)
    result = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def without_nulls(value: Json) -> Json:
    """The value without the keys whose value is null, at any depth."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def has_directives(value: Json) -> bool:
    """Whether a strategic merge directive stands anywhere in a patch."""
    if isinstance(value, dict):
        return any(key.startswith((PATCH, RETAIN_KEYS, SET_ORDER, DELETE_FROM)) for key in value) or any(
            has_directives(inner) for inner in value.values()
        )
    return isinstance(value, list) and any(has_directives(item) for item in value)


def strategic(document: JsonObject, patch: JsonObject, node: Node) -> JsonObject:
    """A strategic merge. Raises DoesNotFitError where the API server would have refused the patch."""
    match patch.get(PATCH):
        case None:
            pass
        case "replace":
            return _plain({key: value for key, value in patch.items() if key != PATCH})
        case "delete":
            return {}
        case directive:
            raise DoesNotFitError(f"no directive: {directive!r}")
    result = _retained(document, patch)
    for key, value in patch.items():
        if key == RETAIN_KEYS or key.startswith(SET_ORDER):
            continue
        if key.startswith(DELETE_FROM):
            _delete_from(result, key[len(DELETE_FROM) :], value)
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value, node.child(key))
    for key, order in patch.items():
        if key.startswith(SET_ORDER):
            _reorder(result, document, key[len(SET_ORDER) :], order, node)
    return result


def _plain(value: JsonObject) -> JsonObject:
    plain = without_directives(without_nulls(value))
    return plain if isinstance(plain, dict) else {}


def without_directives(value: Json) -> Json:
    """A value that is new to the document: what a directive marks is left out."""
    if isinstance(value, dict):
        return {
            key: without_directives(inner)
            for key, inner in value.items()
            if not key.startswith("$") and not (isinstance(inner, dict) and PATCH in inner)
        }
    if isinstance(value, list):
        return [without_directives(item) for item in value if not (isinstance(item, dict) and PATCH in item)]
    return value


def _retained(document: JsonObject, patch: JsonObject) -> JsonObject:
    kept = patch.get(RETAIN_KEYS)
    if not isinstance(kept, list):
        return dict(document)
    return {key: value for key, value in document.items() if key in kept}


def _delete_from(result: JsonObject, key: str, values: Json) -> None:
    items = result.get(key)
    if isinstance(items, list) and isinstance(values, list):
        result[key] = [item for item in items if item not in values]


def _merged(old: Json, new: Json, node: Node) -> Json:
    if isinstance(old, dict) and isinstance(new, dict):
        return strategic(old, new, node)
    if isinstance(old, list) and isinstance(new, list):
        return _merged_list(old, new, node)
    if isinstance(new, dict) and PATCH in new:
        return strategic({}, new, node)
    return without_directives(without_nulls(new))


def _merged_list(old: list[Json], new: list[Json], node: Node) -> list[Json]:
    if node.merge_key is None:
        return [without_directives(without_nulls(item)) for item in new]
    if node.merge_key == "":
        merged = [*old, *(item for item in new if item not in old)]
        return in_order(list(dict.fromkeys(map(_hashable, merged))), new, old, "")
    return _merged_items(old, new, node, node.merge_key)


def _hashable(item: Json) -> Json:
    if isinstance(item, dict | list):
        raise DoesNotFitError("a list that merges by value holds more than scalars")
    return item


def _merged_items(old: list[Json], new: list[Json], node: Node, key: str) -> list[Json]:
    given: list[Json] = []
    replace = False
    for item in new:
        if not isinstance(item, dict) or (key not in item and item.get(PATCH) != "replace"):
            raise DoesNotFitError(f"a list item without its merge key {key}")
        if item.get(PATCH) == "delete":
            old = [other for other in old if key_of(other, key) != item[key]]
        elif item.get(PATCH) == "replace":
            replace = True
        else:
            given.append(item)
    if replace:
        return [without_directives(without_nulls(item)) for item in given]
    merged = list(old)
    for item in given:
        place = position(merged, key, item)
        if place is None:
            merged.append(without_directives(without_nulls(item)))
        else:
            merged[place] = _merged(merged[place], item, node.items)
    return in_order(merged, given, old, key)


def key_of(item: Json, key: str) -> Json:
    """What tells a list item apart: the value of its key, or itself where the list merges by value."""
    if key:
        return item.get(key) if isinstance(item, dict) else None
    return item


def position(items: list[Json], key: str, wanted: Json) -> int | None:
    """The first item with the same merge key: the one that the API server merges into."""
    return next((place for place, item in enumerate(items) if key_of(item, key) == key_of(wanted, key)), None)


def _reorder(result: JsonObject, document: JsonObject, key: str, order: Json, node: Node) -> None:
    items, before = result.get(key), document.get(key)
    merge_key = node.child(key).merge_key
    if isinstance(items, list) and isinstance(order, list) and merge_key is not None:
        result[key] = in_order(items, order, before if isinstance(before, list) else [], merge_key)


def in_order(items: list[Json], order: list[Json], before: list[Json], key: str) -> list[Json]:
    """The items that `order` has, in its order, and the others in their old one, set between them by that."""
    ranks = {_rank(key_of(item, key)): rank for rank, item in reversed(list(enumerate(order)))}
    places = {_rank(key_of(item, key)): place for place, item in reversed(list(enumerate(before)))}
    named = [item for item in items if _rank(key_of(item, key)) in ranks]
    others = [item for item in items if _rank(key_of(item, key)) not in ranks]
    named.sort(key=lambda item: ranks[_rank(key_of(item, key))])
    others.sort(key=lambda item: places.get(_rank(key_of(item, key)), len(before)))
    result: list[Json] = []
    while named and others:
        left, right = (places.get(_rank(key_of(items[0], key))) for items in (others, named))
        first = others if left is not None and right is not None and left < right else named
        result.append(first.pop(0))
    return result + named + others


def _rank(value: Json) -> str:
    return str(value)
