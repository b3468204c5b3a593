"""`metadata.managedFields`: which manager wrote a field, when, and by what operation (format FieldsV1)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from auditor.model.resource import Json, JsonObject, ListItem, Path, Segment
from auditor.objects.paths import key_text, same_segment
from auditor.objects.timestamps import in_utc

OwnedPath: TypeAlias = Path
"""A path as FieldsV1 has it: list items by all their list-map keys, items of sets by their value (`ListItem` with the
key "")."""


@dataclass(frozen=True, slots=True)
class Owner:
    """One entry of managedFields."""

    manager: str
    operation: str
    """Apply or Update."""
    at: datetime | None
    """Of its last write; None where the entry has no time."""
    subresource: str
    api_version: str
    paths: frozenset[OwnedPath]
    """Leaves, and maps and items that it owns as such."""

    def owns(self, path: Path) -> bool:
        """Whether it owns the field, or a whole that contains it (an atomic list or map)."""
        return any(_covers(owned, path) for owned in self.paths)


def read(document: JsonObject) -> tuple[Owner, ...]:
    """All owners that the object's managedFields name, in their order. Entries that cannot be read are left out."""
    metadata = document.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, dict) else None
    return tuple(_owner(entry) for entry in (entries if isinstance(entries, list) else []) if isinstance(entry, dict))


def owners(document: JsonObject, path: Path) -> tuple[Owner, ...]:
    """The owners of one field, the latest writer first."""
    found = [owner for owner in read(document) if owner.owns(path)]
    return tuple(sorted(found, key=lambda owner: owner.at.timestamp() if owner.at else 0.0, reverse=True))


def _owner(entry: JsonObject) -> Owner:
    def text(key: str) -> str:
        value = entry.get(key)
        return value if isinstance(value, str) else ""

    return Owner(
        text("manager"),
        text("operation"),
        _moment(text("time")),
        text("subresource"),
        text("apiVersion"),
        frozenset(_paths(entry.get("fieldsV1"), ())),
    )


def _moment(value: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return in_utc(moment) if moment.tzinfo else None


def _paths(fields: Json, prefix: Path) -> Iterator[Path]:
    """The owned paths: `.` stands for the thing itself, and so does a key with nothing below it."""
    if not isinstance(fields, dict):
        return
    for key, below in fields.items():
        if key == ".":
            yield prefix
            continue
        segment = _segment(key)
        if segment is None:
            continue
        if below == {}:
            yield (*prefix, segment)
        yield from _paths(below, (*prefix, segment))


def _segment(key: str) -> Segment | None:
    """`f:name` a field, `k:{...}` an item by its keys, `v:...` an item of a set, `i:n` a position."""
    mark, _, rest = key.partition(":")
    try:
        match mark:
            case "f":
                return rest
            case "i":
                return int(rest)
            case "v":
                return ListItem((("", key_text(json.loads(rest))),))
            case "k":
                keys = json.loads(rest)
                return ListItem(tuple((name, key_text(value)) for name, value in keys.items()))
    except (ValueError, AttributeError, RecursionError):
        return None
    return None


def _covers(owned: Path, path: Path) -> bool:
    """Whether an owned path is this path or a whole around it. An owned map does not own what others put into it."""
    if len(owned) > len(path):
        return False
    return all(same_segment(mine, theirs) for mine, theirs in zip(owned, path, strict=False)) and (
        len(owned) == len(path) or isinstance(path[len(owned)], int)
    )


def write(document: JsonObject, owned: tuple[Owner, ...]) -> JsonObject:
    """The object with these owners as its managedFields; a copy."""
    metadata = document.get("metadata")
    entries: list[Json] = [_entry(owner) for owner in owned if owner.paths]
    others = metadata if isinstance(metadata, dict) else {}
    return document | {"metadata": others | {"managedFields": entries}}


def _entry(owner: Owner) -> JsonObject:
    entry: JsonObject = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": owner.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": _fields(owner.paths),
    }
    if owner.at:
        entry["time"] = owner.at.isoformat().replace("+00:00", "Z")
    if owner.subresource:
        entry["subresource"] = owner.subresource
    return entry


def _fields(paths: frozenset[OwnedPath]) -> JsonObject:
    fields: JsonObject = {}
    for path in sorted(paths, key=str):
        here = fields
        for segment in path:
            below = here.setdefault(_key(segment), {})
            here = below if isinstance(below, dict) else {}
        if any(len(other) > len(path) and other[: len(path)] == path for other in paths):
            here["."] = {}
    return fields


def _key(segment: Segment) -> str:
    if isinstance(segment, str):
        return f"f:{segment}"
    if isinstance(segment, int):
        return f"i:{segment}"
    if segment.keys[0][0] == "":
        return f"v:{json.dumps(segment.keys[0][1])}"
    return f"k:{json.dumps({key: _scalar(key, value) for key, value in segment.keys}, separators=(',', ':'))}"


def _scalar(key: str, value: str) -> Json:
    """List-map keys are texts, but for the ports."""
    return int(value) if key.lower().endswith("port") and value.isdigit() else value
