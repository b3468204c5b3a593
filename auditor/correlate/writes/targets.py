"""Which objects a request means: the target of a change is not always the resource that the request names."""

from collections.abc import Iterator
from dataclasses import dataclass

from auditor.correlate.writes.bodies import Bodies
from auditor.model.facts import AuditEvent
from auditor.model.resource import ObjectId
from auditor.objects import kinds

_DEFINITIONS = "customresourcedefinitions"

_NEVER_STORED = frozenset(
    {
        "bindings",
        "tokenreviews",
        "subjectaccessreviews",
        "localsubjectaccessreviews",
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
        "selfsubjectreviews",
        "tokenrequests",
    }
)


@dataclass(frozen=True, slots=True)
class Place:
    """An object as requests address it: by its resource's plural name. Bodies tell which kind that is."""

    cluster: str
    group: str
    resource: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Target:
    """One object that a request means."""

    place: Place
    item: int | None
    """Its position in the response's list, for a deletecollection; None otherwise."""


class KindNames:
    """The kinds of resources that are not built in, learned from the bodies that name them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], str] = {}
        self._supposed: dict[tuple[str, str], str] = {}

    def suppose(self, group: str, kind: str) -> None:
        """There is such a kind: it is meant where no body says otherwise and a resource of its group has its plural."""
        self._supposed.setdefault((group, kinds.plural(kind)), kind)

    @staticmethod
    def needs(event: AuditEvent) -> bool:
        """Whether only the bodies of requests such as this one tell the kind."""
        unknown = kinds.kind_of(event.api_group, event.resource) is None
        return not event.subresource and (unknown or event.resource == _DEFINITIONS)

    def learn(self, event: AuditEvent) -> bool:
        """Read the kind from a body of this event; false where it does not tell it."""
        if event.resource == _DEFINITIONS:
            self._learn_defined(event)
            return False
        key = (event.cluster, event.api_group, event.resource)
        bodies = Bodies(event)
        if bodies.answers_with_object and bodies.head.kind:
            self._known[key] = bodies.head.kind
        elif event.verb in ("create", "update") and isinstance(sent := bodies.request, dict):
            kind = sent.get("kind")
            if isinstance(kind, str) and kind:
                self._known[key] = kind
        return key in self._known

    def _learn_defined(self, event: AuditEvent) -> None:
        """The kind that a CustomResourceDefinition defines."""
        sent = Bodies(event).request
        spec = sent.get("spec") if isinstance(sent, dict) else None
        named = spec.get("names") if isinstance(spec, dict) else None
        if isinstance(spec, dict) and isinstance(named, dict):
            group, resource, kind = spec.get("group"), named.get("plural"), named.get("kind")
            if isinstance(group, str) and isinstance(resource, str) and isinstance(kind, str):
                self._known.setdefault((event.cluster, group, resource), kind)

    def object(self, place: Place) -> ObjectId:
        """The identity of the object at a place; its kind is the resource's name where no record tells it."""
        known = kinds.kind_of(place.group, place.resource)
        kind = known or self._known.get((place.cluster, place.group, place.resource))
        kind = kind or self._supposed.get((place.group, place.resource)) or place.resource
        return ObjectId(place.cluster, place.group, kind, place.namespace, place.name)


def is_of_an_object(event: AuditEvent) -> bool:
    """Whether a request is about a stored object that people or controllers shape: no review, no Event."""
    return event.resource not in _NEVER_STORED and not (
        event.resource == "events" and event.api_group in ("", "events.k8s.io")
    )


def targets(event: AuditEvent) -> tuple[Target, ...]:
    """The objects of a request: the parent for a sub-resource, each one that the record names for a deletecollection.

    A deletecollection of which the record names none has one target without a name.
    """
    if event.verb == "deletecollection" and not event.name:
        items = tuple(_items(event))
        if items:
            return items
    return (Target(place_of(event), None),)


def place_of(event: AuditEvent) -> Place:
    """The one object that a request names."""
    return _place(event, event.namespace, event.name)


def _items(event: AuditEvent) -> Iterator[Target]:
    response = Bodies(event).response or {}
    items = response.get("items")
    for position, item in enumerate(items if isinstance(items, list) else []):
        metadata = item.get("metadata") if isinstance(item, dict) else None
        if isinstance(metadata, dict) and isinstance(name := metadata.get("name"), str):
            namespace = metadata.get("namespace")
            place = namespace if isinstance(namespace, str) else event.namespace
            yield Target(_place(event, place, name), position)


def _place(event: AuditEvent, namespace: str, name: str) -> Place:
    """For a Namespace, and for a kind that has moved to another group, as its manifests have it."""
    kind = kinds.kind_of(event.api_group, event.resource)
    group = kinds.canonical_group(event.api_group, kind) if kind else event.api_group
    cluster_wide = kind is not None and kinds.is_namespaced(group, kind) is False
    return Place(event.cluster, group, event.resource, "" if cluster_wide else namespace, name)
