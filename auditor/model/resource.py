"""What a Kubernetes object is called, and the values its fields hold."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # decoders that follow annotations cannot resolve a recursive alias
"""A decoded JSON value. Treated as read-only everywhere: a function that changes one copies it first."""

JsonObject: TypeAlias = dict[str, Json]


@dataclass(frozen=True, slots=True, order=True)
class ObjectId:
    """The identity of an object. Two clusters under one Argo CD may hold objects that agree in all but `cluster`."""

    cluster: str
    group: str
    """API group, "" for core."""
    kind: str
    """As manifests have it (`Deployment`); the plural resource name where the records never name the kind."""
    namespace: str
    """"" for a cluster-scoped object."""
    name: str

    @property
    def group_kind(self) -> str:
        """`apps/Deployment`, `/ConfigMap` for core."""
        return f"{self.group}/{self.kind}"

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name}"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One side of a field change: a value as the record has it, a known absence, or not known."""

    state: Literal["value", "absent", "unknown"]
    value: Json = None

    @property
    def known(self) -> bool:
        """Whether the records say what it was, a value or an absence."""
        return self.state != "unknown"


ABSENT = Leaf("absent")
UNKNOWN = Leaf("unknown")


def leaf(value: Json) -> Leaf:
    """A known value as a leaf."""
    return Leaf("value", value)


@dataclass(frozen=True, slots=True)
class ListItem:
    """A path segment that picks one item of a list by its merge keys: `[name=app]`, `[port=53,protocol=UDP]`."""

    keys: tuple[tuple[str, str], ...]
    """Pairs of key and value, the value in its shortest JSON-free text (`80`, `app`)."""


Segment: TypeAlias = str | int | ListItem
"""A map key, a position in a list (only inside an atomic list or a request), or a keyed list item."""

Path: TypeAlias = tuple[Segment, ...]
