"""Server-side apply: what a manager applies is merged, and what it alone owned and now leaves out is removed."""

from collections.abc import Iterator
from dataclasses import replace

from auditor.model.resource import Json, JsonObject, ListItem, Path, Segment
from auditor.objects.managed_fields import Owner, read, write
from auditor.objects.paths import item_segment, key_text, lookup, matches
from auditor.objects.schema import KEY_DEFAULTS, Node


def apply(document: JsonObject, config: JsonObject, node: Node, manager: str) -> JsonObject:
    """The object after the manager applied `config`; the argument is left as it is."""
    removed = given_up(document, config, node, manager)
    kept = _without(document, removed)
    return _merge_map(kept if isinstance(kept, dict) else {}, config, node)


def given_up(document: JsonObject, config: JsonObject, node: Node, manager: str) -> tuple[Path, ...]:
    """What the manager owned alone and `config` leaves out, as managedFields of the object before tell."""
    mine: set[Path] = set()
    kept = set(owned_paths(config, node))
    for owner in read(document):
        if _is_applier(owner, manager):
            mine |= owner.paths
        else:
            kept |= owner.paths
    return tuple(sorted((path for path in mine - kept if not _holds_kept(path, kept)), key=str))


def after_apply(before: JsonObject, result: JsonObject, config: JsonObject, node: Node, manager: str) -> JsonObject:
    """The result with managedFields as they are after the apply, where the object before had them."""
    known = read(before)
    if not known:
        return result
    mine = frozenset(owned_paths(config, node))
    others = [owner for owner in known if not _is_applier(owner, manager)]
    taken = frozenset(path for path in mine if lookup(before, path) != lookup(result, path))
    others = [replace(owner, paths=owner.paths - taken) for owner in others]
    version = config.get("apiVersion")
    entry = Owner(manager, "Apply", None, "", version if isinstance(version, str) else "", mine)
    return write(result, (entry, *others))


def _is_applier(owner: Owner, manager: str) -> bool:
    return owner.manager == manager and owner.operation == "Apply" and not owner.subresource


def _holds_kept(path: Path, kept: set[Path]) -> bool:
    return any(other[: len(path)] == path for other in kept)


def forget_owners(document: JsonObject) -> JsonObject:
    """The object without its managedFields, which a write of which the answer is not recorded has changed."""
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return document
    return document | {"metadata": {key: value for key, value in metadata.items() if key != "managedFields"}}


def knows_owners(document: JsonObject) -> bool:
    """Whether the object says who owns its fields."""
    return bool(read(document))


def owned_paths(config: JsonObject, node: Node) -> Iterator[Path]:
    """The paths that a manager owns by applying `config`, in the form of managedFields."""
    for key, value in config.items():
        if key in ("apiVersion", "kind"):
            continue
        if key == "metadata" and isinstance(value, dict):
            identity = ("name", "namespace", "uid", "resourceVersion", "managedFields", "creationTimestamp")
            value = {inner: below for inner, below in value.items() if inner not in identity}
            yield from _owned(value, node.child(key), (key,), top=True)
        else:
            yield from _owned(value, node.child(key), (key,))


def _owned(value: Json, node: Node, path: Path, top: bool = False) -> Iterator[Path]:
    if isinstance(value, dict) and value and not node.atomic:
        for key, inner in value.items():
            if node.shape == "map":
                yield (*path, key)
            yield from _owned(inner, node.child(key), (*path, key))
    elif isinstance(value, list) and node.map_keys:
        for item in value:
            if isinstance(item, dict):
                segment = item_segment(item, node.map_keys)
                yield (*path, segment)
                yield from _owned(item, node.items, (*path, segment))
    elif isinstance(value, list) and node.is_set:
        yield from ((*path, ListItem((("", key_text(item)),))) for item in value)
    elif not top:
        yield path


def _merge(old: Json, new: Json, node: Node) -> Json:
    if isinstance(old, dict) and isinstance(new, dict) and not node.atomic:
        return _merge_map(old, new, node)
    if isinstance(old, list) and isinstance(new, list) and node.map_keys:
        return _merge_items(old, new, node)
    if isinstance(old, list) and isinstance(new, list) and node.is_set:
        return [*old, *(item for item in new if item not in old)]
    return new


def _merge_map(old: JsonObject, new: JsonObject, node: Node) -> JsonObject:
    result = dict(old)
    for key, value in new.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge(result.get(key), value, node.child(key))
    return result


def _merge_items(old: list[Json], new: list[Json], node: Node) -> list[Json]:
    """Items by all their list-map keys; new ones come last, the applied ones in the applied order."""
    result: dict[str, Json] = {_identity(item, node): item for item in old}
    for item in new:
        result[_identity(item, node)] = _merge(result.get(_identity(item, node)), item, node.items)
    return list(result.values())


def _identity(item: Json, node: Node) -> str:
    if not isinstance(item, dict):
        return key_text(item)
    return str([key_text(item.get(key, KEY_DEFAULTS.get(key))) for key in node.map_keys])


def _without(document: Json, paths: tuple[Path, ...]) -> Json:
    """The document without these paths, and without maps and lists that this leaves empty."""
    for path in paths:
        if lookup_state(document, path):
            document = _cut(document, path)
    return document


def lookup_state(document: Json, path: Path) -> bool:
    """Whether there is something at an owned path, items of sets included."""
    *parents, last = path
    if isinstance(last, ListItem) and last.keys[0][0] == "":
        items = lookup(document, tuple(parents)).value
        return isinstance(items, list) and any(key_text(item) == last.keys[0][1] for item in items)
    return lookup(document, path).state == "value"


def _cut(document: Json, path: Path) -> Json:
    segment, rest = path[0], path[1:]
    if isinstance(document, dict) and isinstance(segment, str) and segment in document:
        inner = _cut(document[segment], rest) if rest else None
        others = {key: value for key, value in document.items() if key != segment}
        return others if inner is None or inner in ({}, []) else document | {segment: inner}
    if isinstance(document, list):
        return [item for item in (_cut_item(item, segment, rest) for item in document) if item is not None]
    return document


def _cut_item(item: Json, segment: Segment, rest: Path) -> Json:
    if isinstance(segment, ListItem) and segment.keys[0][0] == "":
        return None if key_text(item) == segment.keys[0][1] else item
    if not isinstance(segment, ListItem) or not matches(item, segment):
        return item
    return _cut(item, rest) if rest else None
