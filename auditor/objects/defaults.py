"""What the API server puts into objects on its own, so that a default is nobody's change and no drift."""

from typing import Literal

from auditor.model.resource import Json, JsonObject, Path


def filled_by(group: str, kind: str, path: Path, value: Json) -> Literal["default", "allocation"] | None:
    """Whether the API server itself would have put this value there: a default, an allocation (`clusterIP`)."""
    return None


def is_defaultable(group: str, kind: str, path: Path, value: Json) -> bool:
    """Whether the API server itself would have put this value there."""
    return filled_by(group, kind, path, value) is not None


def with_defaults(document: JsonObject, group: str, kind: str) -> JsonObject:
    """The object with the defaults that the API server adds; a copy, the argument is left as it is."""
    return document
