"""Which objects a request means: the target of a change is not always the resource that the request names."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from auditor.correlate.bodies import Bodies
from auditor.model.facts import AuditEvent
from auditor.model.resource import ObjectId
from auditor.objects import kinds

KindNames = Mapping[tuple[str, str, str], str]
"""By (cluster, group, resource), the kind as bodies in the records call it."""

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
class Target:
    """One object that a request means, and its place among several."""

    object: ObjectId
    position: int | None
    """Of the item in the response's list, for a deletecollection; None otherwise."""


def is_of_an_object(event: AuditEvent) -> bool:
    """Whether a request is about a stored object that people or controllers shape: no review, no Event."""
    return event.resource not in _NEVER_STORED and not (
        event.resource == "events" and event.api_group in ("", "events.k8s.io")
    )


def kind_names(events: Iterable[AuditEvent]) -> dict[tuple[str, str, str], str]:
    """The kinds of resources that are not built in, from the bodies that name them."""
    names: dict[tuple[str, str, str], str] = {}
    for event in events:
        key = (event.cluster, event.api_group, event.resource)
        if key in names or event.subresource or kinds.kind_of(event.api_group, event.resource):
            continue
        bodies = Bodies(event)
        if bodies.answers_with_object and bodies.head.kind:
            names[key] = bodies.head.kind
        elif isinstance(request := bodies.request, dict) and event.verb in ("create", "update"):
            kind = request.get("kind")
            if isinstance(kind, str) and kind:
                names[key] = kind
    return names


def targets(event: AuditEvent, names: KindNames) -> tuple[Target, ...]:
    """The objects of a request: the parent for a sub-resource, each one that the record names for a deletecollection.

    A deletecollection of which the record names none has one target without a name.
    """
    if event.verb == "deletecollection" and not event.name:
        items = tuple(_items(event, names))
        if items:
            return items
    return (Target(_object(event, names, event.namespace, event.name), None),)


def _items(event: AuditEvent, names: KindNames) -> Iterator[Target]:
    response = Bodies(event).response or {}
    items = response.get("items")
    for position, item in enumerate(items if isinstance(items, list) else []):
        metadata = item.get("metadata") if isinstance(item, dict) else None
        if isinstance(metadata, dict) and isinstance(name := metadata.get("name"), str):
            namespace = metadata.get("namespace")
            place = namespace if isinstance(namespace, str) else event.namespace
            yield Target(_object(event, names, place, name), position)


def _object(event: AuditEvent, names: KindNames, namespace: str, name: str) -> ObjectId:
    known = kinds.kind_of(event.api_group, event.resource)
    kind = known or names.get((event.cluster, event.api_group, event.resource)) or event.resource
    group = kinds.canonical_group(event.api_group, kind)
    cluster_wide = kinds.is_namespaced(group, kind) is False
    return ObjectId(event.cluster, group, kind, "" if cluster_wide else namespace, name)
