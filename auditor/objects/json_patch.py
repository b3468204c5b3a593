"""JSON Patch (RFC 6902) as the API server applies it (evanphx/json-patch v4)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from auditor.model.resource import Json, JsonObject
from auditor.objects.paths import split_pointer

_COPY_LIMIT = 3 << 20
"""Bytes that all `copy` operations of one patch may add, as in the API server."""


class DoesNotFitError(ValueError):
    """The patch cannot be applied to this document: it is not the one that the API server had."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation and the document before and after it."""

    operation: str
    path: str
    source: str
    """`from` of a move or copy, else ""."""
    before: Json
    after: Json


def steps(document: Json, patch: list[Json]) -> Iterator[Step]:
    """The operations one by one. Raises DoesNotFitError at the first that cannot be applied."""
    copied = 0
    for entry in patch:
        if not isinstance(entry, dict):
            raise DoesNotFitError("an operation is no object")
        name, path, source = (entry.get(key, "") for key in ("op", "path", "from"))
        if not isinstance(name, str) or not isinstance(path, str) or not isinstance(source, str):
            raise DoesNotFitError("op, path and from are texts")
        if name == "copy":
            copied += len(json.dumps(get(document, source)))
            if copied > _COPY_LIMIT:
                raise DoesNotFitError("the copies are too large")
        after = _apply(document, name, path, source, entry.get("value"))
        yield Step(name, path, source, document, after)
        document = after


def apply(document: JsonObject, patch: list[Json]) -> JsonObject:
    """The document after all operations; the argument is left as it is."""
    result: Json = document
    for step in steps(document, patch):
        result = step.after
    if not isinstance(result, dict):
        raise DoesNotFitError("the patch replaces the document by what is no object")
    return result


def rewound(document: JsonObject, patch: list[Json]) -> JsonObject | None:
    """A document in which the positions of a patch are meant, from the document after it. None where an operation
    may have moved the items of a list by more than a new last one.

    Its lists have the items that they had before; what was replaced in them, or added to a map, has its new value.
    """
    found: Json = document
    try:
        for entry in reversed(patch):
            if not isinstance(entry, dict):
                return None
            name, path = entry.get("op"), str(entry.get("path", ""))
            if name == "test":
                found = _put(found, split_pointer(path), entry.get("value"), insert=False)
            elif name != "replace":
                found = _undone(found, str(name), path)
    except DoesNotFitError:
        return None
    return found if isinstance(found, dict) else None


def _undone(document: Json, name: str, path: str) -> Json:
    """The document before an `add` or a `remove`, as far as its lists go."""
    parent, _, last = path.rpartition("/")
    holder = get(document, parent)
    if isinstance(holder, list) and (name, last) == ("add", "-"):
        return _remove(document, split_pointer(f"{parent}/{len(holder) - 1}"))
    if isinstance(holder, dict) and name == "remove":
        return _put(document, split_pointer(path), None, insert=True)
    if isinstance(holder, dict) and name == "add":
        return document
    raise DoesNotFitError("the items of a list have moved")


def _apply(document: Json, name: str, path: str, source: str, value: Json) -> Json:
    match name:
        case "test":
            if not _equal(get(document, path), value):
                raise DoesNotFitError(f"test of {path} fails")
            return document
        case "add":
            return _put(document, split_pointer(path), value, insert=True)
        case "replace":
            return _put(document, split_pointer(path), value, insert=False)
        case "remove":
            return _remove(document, split_pointer(path))
        case "move":
            moved = get(document, source)
            return _put(_remove(document, split_pointer(source)), split_pointer(path), moved, insert=True)
        case "copy":
            return _put(document, split_pointer(path), get(document, source), insert=True)
        case _:
            raise DoesNotFitError(f"no operation: {name!r}")


def _equal(one: Json, other: Json) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def get(document: Json, pointer: str) -> Json:
    """The value at a pointer. A key that a map does not have is null, as the API server takes it."""
    for step in split_pointer(pointer):
        match document:
            case dict():
                document = document.get(step)
            case list():
                document = document[_position(document, step)]
            case _:
                raise DoesNotFitError(f"nothing at {pointer}")
    return document


def _position(items: list[Json], step: str, room: int = 0) -> int:
    """A position; negative ones count from the end, `room` is 1 where one behind the last is allowed."""
    try:
        place = int(step)
    except ValueError:
        raise DoesNotFitError(f"no position: {step!r}") from None
    size = len(items) + room
    if not -size <= place < size:
        raise DoesNotFitError(f"no item {step}")
    return place + size if place < 0 else place


def _put(document: Json, steps: list[str], value: Json, insert: bool) -> Json:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    match document:
        case dict():
            if rest and step not in document:
                raise DoesNotFitError(f"nothing at {step!r}")
            return document | {step: _put(document[step], rest, value, insert) if rest else value}
        case list() if rest or not insert:
            place = _position(document, step)
            inner = _put(document[place], rest, value, insert)
            return [*document[:place], inner, *document[place + 1 :]]
        case list():
            place = len(document) if step == "-" else _position(document, step, room=1)
            return [*document[:place], value, *document[place:]]
        case _:
            raise DoesNotFitError(f"nothing at {step!r}")


def _remove(document: Json, steps: list[str]) -> Json:
    if not steps:
        raise DoesNotFitError("a document cannot be removed from itself")
    step, rest = steps[0], steps[1:]
    match document:
        case dict():
            if step not in document:
                raise DoesNotFitError(f"nothing at {step!r}")
            if rest:
                return document | {step: _remove(document[step], rest)}
            return {key: value for key, value in document.items() if key != step}
        case list():
            place = _position(document, step)
            inner = [_remove(document[place], rest)] if rest else []
            return [*document[:place], *inner, *document[place + 1 :]]
        case _:
            raise DoesNotFitError(f"nothing at {step!r}")
