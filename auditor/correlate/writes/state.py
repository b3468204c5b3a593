"""The state of an object as the records allow to rebuild it, and what each source of it is worth."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from auditor.correlate.writes.overlap import holds, may_overlap
from auditor.model.resource import ABSENT, UNKNOWN, JsonObject, Leaf, Path
from auditor.objects import paths
from auditor.objects.document import object_in

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True)
class State:
    """What an object was between two writes.

    A whole state is a body that the API server gave: what it lacks is absent. Any other holds what requests and
    annotations say; what it lacks is unknown.
    """

    body: JsonObject | None
    """None: the object is not there."""
    whole: bool
    version: str = ""
    """resourceVersion, "" where it is not known."""
    rebuilt: bool = False
    """Not a body of the server, but all requests since the object's creation are in it: what it lacks is absent."""
    removed: tuple[Path, ...] = ()
    """Paths that are known to be absent, though not all of the object is known."""
    uncertain: tuple[Path, ...] = ()
    """Paths of which the record does not show what was stored: a request's that may have been a dry run, or what
    admission may have set."""

    def __post_init__(self) -> None:
        """Each path once: requests bring the same ones thousands of times, and each write asks for all of them."""
        for name in ("removed", "uncertain"):
            given = getattr(self, name)
            if len(given) > 1:
                object.__setattr__(self, name, tuple(dict.fromkeys(given)))

    @property
    def gone(self) -> bool:
        """Whether the object is known not to be there."""
        return self.body is None

    @property
    def deleting(self) -> bool:
        """Whether a delete was accepted, and finalizers or a grace period keep the object."""
        return self.body is not None and is_deleting(self.body)

    @property
    def complete(self) -> bool:
        """Whether nothing of the object is missing from it."""
        return self.comparable or (self.rebuilt and not self.uncertain)

    @property
    def comparable(self) -> bool:
        """Whether all that differs from it was done since."""
        return self.whole and not self.uncertain and self.body is not None

    def lookup(self, path: Path) -> Leaf:
        """The value at `path`: absent only where the state is whole."""
        if self.is_uncertain(path):
            return UNKNOWN
        if self.body is None:
            return ABSENT
        if not (self.whole or self.rebuilt) and _is_by_position(path):
            return UNKNOWN
        found = paths.lookup(self.body, path)
        if found.state == "value" or self.whole or self.rebuilt:
            return found
        return ABSENT if any(holds(each, path) for each in self.removed) else UNKNOWN

    def is_uncertain(self, path: Path) -> bool:
        """Whether the value at `path`, or a part of it, may be another than the body has."""
        return any(may_overlap(each, path) for each in self.uncertain)

    @property
    def last_applied(self) -> JsonObject | None:
        """The configuration in its last-applied annotation."""
        text = annotations(self.body).get(LAST_APPLIED)
        return object_in(text) if isinstance(text, str) else None

    @cached_property
    def generation(self) -> int | None:
        """metadata.generation of a whole state."""
        value = metadata(self.body).get("generation") if self.whole else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None


NOTHING_KNOWN = State({}, False)


GONE = State(None, True)


def of_object(body: JsonObject) -> State:
    """The state that a body of the API server shows; gone, where nothing keeps a deleted object any more."""
    return GONE if waits_for_nobody(body) else State(body, True, version(body))


@dataclass(frozen=True, slots=True)
class Before:
    """The state before a write, with what stands in for it where the records hold no body: in order of trust."""

    state: State
    instead: tuple[JsonObject, ...] = ()
    """Last-applied, then the desired state at the last synced revision."""
    not_as_asked: tuple[Path, ...] = ()
    """What webhooks set whatever is asked for: nothing that was asked for stands in for it."""
    doubtful: bool = False
    """A write that is not in the records came in between: to the spec, or to anything of an object without one."""

    def lookup(self, path: Path) -> Leaf:
        """The value at `path`, from the first source that has it."""
        if self.doubtful and (path[:1] == ("spec",) or self.state.generation is None):
            return UNKNOWN
        found = self.state.lookup(path)
        if found.known:
            return found
        return next(self._instead(path), UNKNOWN)

    def partial(self) -> Iterator[JsonObject]:
        """The bodies that hold parts of the state, the most trusted first."""
        if self.state.body and not self.state.comparable:
            yield self.state.body
        yield from self.instead

    def _instead(self, path: Path) -> Iterator[Leaf]:
        untold = _is_by_position(path) or any(may_overlap(each, path) for each in self.not_as_asked)
        for body in () if untold else self.instead:
            found = paths.lookup(body, path)
            if found.state == "value":
                yield found


def _is_by_position(path: Path) -> bool:
    """Whether a path counts the items of a list, which tells nothing where some may be missing."""
    return any(isinstance(segment, int) for segment in path)


def metadata(body: JsonObject | None) -> JsonObject:
    """`metadata`, empty where there is none."""
    found = body.get("metadata") if body else None
    return found if isinstance(found, dict) else {}


def annotations(body: JsonObject | None) -> JsonObject:
    """`metadata.annotations`, empty where there are none."""
    found = metadata(body).get("annotations")
    return found if isinstance(found, dict) else {}


def labels(body: JsonObject | None) -> JsonObject:
    """`metadata.labels`, empty where there are none."""
    found = metadata(body).get("labels")
    return found if isinstance(found, dict) else {}


def version(body: JsonObject) -> str:
    """`metadata.resourceVersion`, "" where there is none."""
    found = metadata(body).get("resourceVersion")
    return found if isinstance(found, str) else ""


def is_deleting(body: JsonObject) -> bool:
    """Whether the API server has accepted a delete and waits for finalizers or a grace period."""
    return metadata(body).get("deletionTimestamp") is not None


def waits_for_nobody(body: JsonObject) -> bool:
    """Whether a deleted object has no finalizer left: it goes away with this write."""
    grace = metadata(body).get("deletionGracePeriodSeconds")
    return is_deleting(body) and not metadata(body).get("finalizers") and grace in (None, 0)


_MARKS = (
    "argocd.argoproj.io/tracking-id",
    "argocd.argoproj.io/installation-id",
    "app.kubernetes.io/instance",
    "argocd.argoproj.io/instance",
    "kustomize.toolkit.fluxcd.io/name",
    "kustomize.toolkit.fluxcd.io/namespace",
    "helm.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/namespace",
)


def marks(state: State, instance_label: str = "") -> tuple[tuple[str, str], ...]:
    """The annotations and labels by which a GitOps tool knows the object as its own."""
    bearing = {**annotations(state.body), **labels(state.body)}
    wanted = dict.fromkeys((*_MARKS, instance_label))
    return tuple((key, value) for key in wanted if isinstance(value := bearing.get(key), str))
