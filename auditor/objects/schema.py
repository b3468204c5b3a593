"""What the built-in kinds are made of: types of fields, merge keys of lists, what is atomic.

The table `built_in.json` comes from the sources of Kubernetes (see its `origin`). A field is one code:

    s string  i integer  f number  b boolean  q quantity  x integer or string  t time  y base64 bytes  ? anything
    *c  a pointer: its zero value differs from an absent one        {c}  a map        [c]  a list
    :T  a struct of the table        !  atomic for server-side apply        %  patch strategy retainKeys
    ~k  patch strategy merge by the key k (`~` alone: by value)     ^a,b  list-map keys (`^` alone: a set)

Kinds that are not built in have known metadata; all else of them is `?`, its lists atomic.
"""

import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Literal, TypeAlias

from auditor.model.resource import Json, ListItem, Path
from auditor.objects.kinds import canonical_group

Shape: TypeAlias = Literal["struct", "map", "list", "scalar", "any"]

KEY_DEFAULTS: dict[str, Json] = {"protocol": "TCP"}
"""What the API server puts into a list-map key that an item leaves out."""

_MARKS = re.compile(r"(?P<body>.*?)(?P<retain>%?)(?P<atomic>!?)(?P<retain2>%?)(?P<merge>~\w*)?(?P<keys>\^[\w,]*)?")


@dataclass(frozen=True)
class Node:
    """What a field may hold. Nodes are shared and cached by their code."""

    code: str
    shape: Shape
    element: str = ""
    """Struct: the type's name. Map and list: the code of what they hold. Scalar: its letter."""
    pointer: bool = False
    atomic: bool = False
    retain_keys: bool = False
    merge_key: str | None = None
    """Strategic merge: the key, "" for lists that merge by value, None for lists that are replaced."""
    map_keys: tuple[str, ...] = ()
    is_set: bool = False

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """All keys that tell the items of a list apart, the one that people name first; () for an atomic list."""
        first = (self.merge_key,) if self.merge_key else ()
        return first + tuple(key for key in self.map_keys if key not in first)

    @property
    def items(self) -> "Node":
        """What a list or a map holds."""
        return parse(self.element) if self.shape in ("list", "map") else ANY

    def child(self, key: str) -> "Node":
        """What a key of a struct or map holds; ANY for one that the table does not know."""
        if self.shape == "struct":
            return parse(types().get(self.element, {}).get(key, "?"))
        return self.items if self.shape == "map" else ANY

    def below(self, path: Path) -> "Node":
        """What the field at a path below this one may hold; ANY where the table does not know it."""
        node = self
        for segment in path:
            node = node.items if isinstance(segment, int | ListItem) else node.child(segment)
        return node

    def keys_for(self, *lists: list[Json]) -> tuple[str, ...]:
        """The fewest keys that tell the items of each of these lists apart; () where none do: they are then atomic."""
        for keys in dict.fromkeys((self.keys[:1], self.keys)):
            if keys and all(_distinct(items, keys) for items in lists):
                return keys
        return ()


def _distinct(items: list[Json], keys: tuple[str, ...]) -> bool:
    seen: set[tuple[str, ...]] = set()
    for item in items:
        if not isinstance(item, dict):
            return False
        values = tuple(item.get(key, KEY_DEFAULTS.get(key)) for key in keys)
        if any(isinstance(value, dict | list) or value is None for value in values):
            return False
        seen.add(tuple(map(str, values)))
    return len(seen) == len(items)


ANY = Node("?", "any", pointer=True)


@cache
def parse(code: str) -> Node:
    """The node that a code of the table stands for."""
    marks = _MARKS.fullmatch(code)
    if marks is None or code == "?":
        return ANY
    body = marks["body"]
    merge, keys = marks["merge"], marks["keys"]
    pointer = body.startswith("*")
    body = body.lstrip("*")
    shape, element = _shape(body)
    return Node(
        code,
        shape,
        element,
        pointer,
        atomic=bool(marks["atomic"]),
        retain_keys=bool(marks["retain"] or marks["retain2"]),
        merge_key=merge[1:] if merge is not None else None,
        map_keys=tuple(filter(None, keys[1:].split(","))) if keys else (),
        is_set=keys == "^",
    )


def _shape(body: str) -> tuple[Shape, str]:
    match body[:1]:
        case ":":
            return "struct", body[1:]
        case "{":
            return "map", body[1:-1]
        case "[":
            return "list", body[1:-1]
        case "?":
            return "any", ""
        case _:
            return "scalar", body


@cache
def _table() -> dict[str, dict[str, object]]:
    source = resources.files("auditor.objects").joinpath("built_in.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, object]] = json.loads(source)
    return table


@cache
def types() -> dict[str, dict[str, str]]:
    """The structs of the table: field codes by name, by type."""
    listed: dict[str, dict[str, str]] = _table()["types"]  # type: ignore[assignment]
    return listed | {"": {"metadata": ":meta.ObjectMeta", "apiVersion": "s", "kind": "s"}}


@cache
def root(group: str, kind: str) -> Node:
    """What an object of the kind is made of."""
    name = _table()["kinds"].get(f"{canonical_group(group, kind)}/{kind}", "")
    return parse(f":{name}")


def at(group: str, kind: str, path: Path) -> Node:
    """What the field at a path may hold; ANY where the table does not know it."""
    return root(group, kind).below(path)
