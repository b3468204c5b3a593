"""Reading a decoded document without trusting its shape: what is missing, or of another type, reads as empty."""

from collections.abc import Iterator, Mapping, Sequence

from auditor.model.resource import Json, JsonObject


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
