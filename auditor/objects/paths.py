"""Paths to fields: as people write them, as JSON Pointers, and what a document has at their end.

Text form: dots between map keys, a key that holds dots in quotes, list items by their merge keys in brackets
(`spec.ports[port=53,protocol=UDP].targetPort`), positions in brackets only where no key tells items apart (`args[0]`).
"""

import json
import re
from collections.abc import Iterator

from auditor.model.resource import ABSENT, UNKNOWN, Json, JsonObject, Leaf, ListItem, Path, Segment, leaf
from auditor.objects import schema

_PLAIN_KEY = re.compile(r"""[^.\[\]"\s\\]+""")
_PLAIN_VALUE = re.compile(r"""[^\[\]",\s\\]+""")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_POSITION = re.compile(r"[0-9]{1,9}")
_INDEX = re.compile(r"-?[0-9]{1,9}")


def text(path: Path) -> str:
    """The path as people write it. `parse` reads it back."""
    parts: list[str] = []
    for segment in path:
        if isinstance(segment, int):
            parts.append(f"[{segment}]")
        elif isinstance(segment, ListItem):
            parts.append(f"[{','.join(f'{key}={_shown(value)}' for key, value in segment.keys)}]")
        elif _PLAIN_KEY.fullmatch(segment):
            parts.append(f".{segment}" if parts else segment)
        else:
            parts.append(f"[{_quoted(segment)}]")
    return "".join(parts)


def _shown(value: str) -> str:
    return value if _PLAIN_VALUE.fullmatch(value) else _quoted(value)


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def parse(text: str) -> Path:
    """The inverse of `text`. Raises ValueError for text that is no path."""
    segments: list[Segment] = []
    place = 0
    while place < len(text):
        if text[place] == "[":
            segment, place = _bracket(text, place + 1)
            segments.append(segment)
            continue
        if text[place] == "." and segments:
            place += 1
        key = _PLAIN_KEY.match(text, place)
        if key is None:
            raise ValueError(f"no path: {text!r} at {place}")
        segments.append(key[0])
        place = key.end()
    return tuple(segments)


def _bracket(text: str, place: int) -> tuple[Segment, int]:
    """The segment between brackets that begins at `place`, and the place after its closing bracket."""
    quoted = _QUOTED.match(text, place)
    position = _POSITION.match(text, place)
    if quoted and text[quoted.end() :].startswith("]"):
        return json.loads(quoted[0]), quoted.end() + 1
    if position and text[position.end() :].startswith("]"):
        return int(position[0]), position.end() + 1
    keys: list[tuple[str, str]] = []
    while True:
        name, equals, _ = text[place:].partition("=")
        place += len(name) + 1
        value = _QUOTED.match(text, place) or _PLAIN_VALUE.match(text, place)
        if not equals or value is None:
            raise ValueError(f"no path: {text!r} at {place}")
        keys.append((name, json.loads(value[0]) if value[0].startswith('"') else value[0]))
        place = value.end() + 1
        if text[value.end() : place] == "]":
            return ListItem(tuple(keys)), place
        if text[value.end() : place] != ",":
            raise ValueError(f"no path: {text!r} at {place}")


def key_text(value: Json) -> str:
    """A merge key's value as a `ListItem` holds it: `80`, `app`, `true`."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def matches(item: Json, segment: ListItem) -> bool:
    """Whether a list item is the one that the segment names; a key that it leaves out has the server's default."""
    return isinstance(item, dict) and all(
        key_text(item.get(key, schema.KEY_DEFAULTS.get(key))) == value for key, value in segment.keys
    )


def same_segment(one: Segment, other: Segment) -> bool:
    """Whether two segments pick the same thing; an item named by fewer keys is the one named by more."""
    if isinstance(one, ListItem) and isinstance(other, ListItem):
        return set(one.keys) <= set(other.keys) or set(other.keys) <= set(one.keys)
    return one == other


def lookup(document: Json, path: Path) -> Leaf:
    """What the document has at the path: a value, absent, or unknown where several items answer to the same keys."""
    for segment in path:
        if isinstance(segment, str):
            if not isinstance(document, dict) or segment not in document:
                return ABSENT
            document = document[segment]
        elif isinstance(segment, int):
            if not isinstance(document, list) or segment >= len(document):
                return ABSENT
            document = document[segment]
        else:
            found = [item for item in _items(document) if matches(item, segment)]
            if len(found) != 1:
                return UNKNOWN if found else ABSENT
            document = found[0]
    return leaf(document)


def _items(value: Json) -> Iterator[Json]:
    yield from value if isinstance(value, list) else ()


def pointer(path: Path, document: Json) -> str | None:
    """The path as a JSON Pointer into this document; None where a keyed item is not in it or not the only one."""
    steps: list[str] = []
    for segment in path:
        if isinstance(segment, ListItem):
            places = [place for place, item in enumerate(_items(document)) if matches(item, segment)]
            if len(places) != 1 or not isinstance(document, list):
                return None
            segment = places[0]
        steps.append(str(segment).replace("~", "~0").replace("/", "~1"))
        document = _step(document, segment)
    return "".join(f"/{step}" for step in steps)


def _step(document: Json, segment: str | int) -> Json:
    if isinstance(document, dict):
        return document.get(str(segment))
    if isinstance(document, list) and isinstance(segment, int) and -len(document) <= segment < len(document):
        return document[segment]
    return None


def from_pointer(document: JsonObject | None, pointer: str, group: str, kind: str) -> Path:
    """A JSON Pointer as a path: positions in this document become merge keys, and an atomic list ends the path.

    A position that cannot be looked up, as there is no such item or no document, stays a number; `-` ends the path.
    """
    node = schema.root(group, kind)
    here: Json = document
    segments: list[Segment] = []
    for step in split_pointer(pointer):
        if not _is_list(here, node):
            segments.append(step)
            here, node = _step(here, step), node.child(step)
            continue
        keys = node.keys_for(here if isinstance(here, list) else [])
        if not keys or not _INDEX.fullmatch(step):
            break
        item = _step(here, int(step))
        segments.append(item_segment(item, keys) if isinstance(item, dict) else int(step))
        here, node = item, node.items
    return tuple(segments)


def _is_list(value: Json, node: "schema.Node") -> bool:
    return isinstance(value, list) or (value is None and node.shape == "list")


def split_pointer(pointer: str) -> list[str]:
    """The unescaped steps of a JSON Pointer (RFC 6901)."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def item_segment(item: JsonObject, keys: tuple[str, ...]) -> ListItem:
    """The segment that names this item by these keys."""
    return ListItem(tuple((key, key_text(item.get(key, schema.KEY_DEFAULTS.get(key)))) for key in keys))
