"""What a write asks for: its patch type, what an object is after it, and which fields it names."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from auditor.model.resource import Json, JsonObject, Path

PatchType: TypeAlias = Literal["json-patch", "merge", "strategic", "apply", "put", "create", "delete", "unknown"]


@dataclass(frozen=True, slots=True)
class Patched:
    """An object after a write."""

    document: JsonObject | None
    """None: it is gone."""
    complete: bool
    """Whether that is all of it. False where the state before was not known, or the patch does not fit it."""


@dataclass(frozen=True, slots=True)
class Named:
    """The paths that a request names: values that it gives, wholes that it replaces, removals."""

    paths: frozenset[Path] = field(default_factory=frozenset)

    def covers(self, path: Path) -> bool:
        """Whether the request names the field: itself or a whole around it."""
        return any(path[: len(named)] == named for named in self.paths)


def classify(
    verb: str,
    request: Json,
    field_manager: str,
    force: bool,
    uri: str,
    code: int | None,
    group: str = "",
    kind: str = "",
    before: JsonObject | None = None,
    after: JsonObject | None = None,
) -> PatchType:
    """The patch type of a write. The records never hold a Content-Type: the shape of the request tells.

    Where a merge and a strategic merge patch would read differently, the state before and after decide; without
    them, the client's habits (`kubectl label` merges, all else of kubectl and Argo CD is strategic for built-ins).
    """
    return "unknown"


def apply(
    document: JsonObject | None,
    request: Json,
    patch_type: PatchType,
    group: str,
    kind: str,
    subresource: str = "",
    field_manager: str = "",
    force: bool = False,
) -> Patched:
    """The object after a write that the API server accepted. `document` None: the state before is not known."""
    return Patched(document, False)


def named(
    request: Json,
    patch_type: PatchType,
    before: JsonObject | None,
    group: str,
    kind: str,
    subresource: str = "",
    field_manager: str = "",
) -> Named:
    """The fields that a request names. `before` gives positions their keys, and whole bodies what they leave out."""
    return Named()
