"""How each Argo CD marks what it owns: by its annotation, by a label, or by both.

`argocd-cm` says so where somebody set it. Else the default counts, which was the label before version 3; which version
it is no record says, and so the marks that objects bear decide.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import orjson

from auditor.correlate.applications.documents import TRACKING_ID
from auditor.model.application import ApplicationHistory
from auditor.model.change import AppKey
from auditor.model.facts import ArgoSettings, AuditEvent, ObjectSnapshot
from auditor.model.resource import Json
from auditor.objects import kinds
from auditor.objects.document import child, text

INSTANCE = "app.kubernetes.io/instance"
LONGEST = 63
"""Characters of a label's value: longer names of applications are cut."""
_ANNOTATED = TRACKING_ID.encode()

_Name = tuple[str, str, str, str]
"""Group, kind, namespace and name of an object."""


@dataclass(frozen=True, slots=True)
class Tracking:
    """How one Argo CD marks what it owns."""

    by_label: bool
    label: str
    """The label that it sets, "" where it sets none."""


def trackings(
    settings: Iterable[ArgoSettings],
    histories: Mapping[AppKey, ApplicationHistory],
    events: Callable[[], Iterable[AuditEvent]],
    objects: Iterable[ObjectSnapshot],
) -> Mapping[str, Tracking]:
    """By Argo CD. `events` is read only where no setting says, until a mark is found that tells."""
    said = {each.argocd: _said(each) for each in settings if each.name == "argocd-cm"}
    found = {argocd: tracking for argocd, (tracking, explicit) in said.items() if explicit}
    silent = sorted({key.argocd for key in histories if not key.is_flux} - set(found))
    for argocd in silent:
        label = said[argocd][0].label or INSTANCE if argocd in said else INSTANCE
        listed = _listed(argocd, histories)
        by_label = bool(listed) and _bear_labels(label, listed, _bodies(events, objects))
        found[argocd] = Tracking(by_label, label if by_label else "")
    return found


def control_namespaces(settings: Iterable[ArgoSettings]) -> Mapping[str, str]:
    """The namespace in which each Argo CD runs, as far as its `argocd-cm` is recorded."""
    return {each.argocd: each.namespace for each in settings if each.name == "argocd-cm" and each.namespace}


def instance_name(key: AppKey, control: str | None) -> tuple[str, ...]:
    """How marks call an application: outside Argo CD's own namespace with its namespace before its name. Both ways
    where it is not known which namespace is Argo CD's own."""
    qualified = f"{key.namespace}_{key.name}"
    if control is None:
        return (key.name, qualified)
    return (key.name,) if key.namespace == control else (qualified,)


def _said(settings: ArgoSettings) -> tuple[Tracking, bool]:
    """What one `argocd-cm` says, and whether it does."""
    try:
        data = child(orjson.loads(settings.body), "data")
    except orjson.JSONDecodeError:
        data = {}
    method = text(data, "application.resourceTrackingMethod")
    label = text(data, "application.instanceLabelKey") or INSTANCE
    return Tracking(method == "label", "" if method == "annotation" else label), bool(method)


def _listed(argocd: str, histories: Mapping[AppKey, ApplicationHistory]) -> Mapping[_Name, set[str]]:
    """The names that the label of each listed object would have."""
    listed: dict[_Name, set[str]] = defaultdict(set)
    for key, history in histories.items():
        if key.argocd == argocd and not key.is_flux:
            names = {name[:LONGEST] for name in instance_name(key, None)}
            for state in history.states[-1:]:
                for group, kind, namespace, name, _ in state.resources:
                    listed[kinds.canonical_group(group, kind), kind, namespace, name] |= names
    return listed


def _bodies(
    events: Callable[[], Iterable[AuditEvent]], objects: Iterable[ObjectSnapshot]
) -> Iterator[tuple[_Name, bytes]]:
    for each in objects:
        yield (each.group, each.kind, each.namespace, each.name), each.body
    for event in events():
        kind = kinds.kind_of(event.api_group, event.resource)
        body = event.response or event.request
        if kind is not None and body is not None and not event.subresource:
            yield (kinds.canonical_group(event.api_group, kind), kind, event.namespace, event.name), body


def _bear_labels(label: str, listed: Mapping[_Name, set[str]], bodies: Iterable[tuple[_Name, bytes]]) -> bool:
    """Whether a listed object bears its application's name in the label, and none of them bears an annotation."""
    labelled, key = False, label.encode()
    for identity, body in bodies:
        if identity not in listed:
            continue
        if _ANNOTATED in body:
            return False
        if not labelled and key in body:
            labelled = _label_in(body, label) in listed[identity]
    return labelled


def _label_in(body: bytes, label: str) -> str:
    try:
        document: Json = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    metadata = child(document, "metadata") if isinstance(document, dict) else {}
    return text(child(metadata, "labels"), label)
