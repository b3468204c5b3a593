"""Reading a decoded document without trusting its shape: what is missing, or of another type, reads as empty."""

from collections.abc import Iterator, Mapping, Sequence

import orjson

from auditor.model.resource import Json, JsonObject


def value_in(body: bytes | str | None) -> Json:
    """The value that is written as JSON; None where nothing is, or what no machine holds."""
    if body is None:
        return None
    try:
        value: Json = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return value


def object_in(body: bytes | str | None) -> JsonObject | None:
    """The object that is written as JSON; None for anything else."""
    value = value_in(body)
    return value if isinstance(value, dict) else None


def child(document: Mapping[str, Json], key: str) -> JsonObject:
    """A map inside a map, empty where there is none."""
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def text(document: Mapping[str, Json], key: str) -> str:
    """A text inside a map, "" where there is none."""
    value = document.get(key)
    return value if isinstance(value, str) else ""


def items(document: Mapping[str, Json], key: str) -> Sequence[Json]:
    """A list inside a map, empty where there is none."""
    value = document.get(key)
    return value if isinstance(value, list) else []


def maps(document: Mapping[str, Json], key: str) -> Iterator[JsonObject]:
    """The maps of a list inside a map."""
    return (each for each in items(document, key) if isinstance(each, dict))
