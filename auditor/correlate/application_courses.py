"""The states of every Application in their order: from exports, and from the bodies of requests on it.

An Application has no status subresource: the controller's bookkeeping are plain patches in the audit log. With their
bodies every operation, freeze and unfreeze is recorded, with its author, beyond what Argo CD itself remembers.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import orjson

from auditor.config import Config
from auditor.correlate.application_documents import home_cluster, parse_application
from auditor.correlate.bodies import Bodies
from auditor.correlate.sequence import Request, Sighting, in_order
from auditor.model.application import ApplicationState
from auditor.model.change import Actor, AppKey, Evidence
from auditor.model.facts import ApplicationSnapshot, AuditEvent, ObjectSnapshot
from auditor.model.resource import JsonObject
from auditor.objects import patch
from auditor.objects.document import child

GROUP = "argoproj.io"

Identify = Callable[[AuditEvent], Actor]


@dataclass(frozen=True, slots=True)
class Step:
    """One state of an Application, the one before it, and the request that made it; None for a snapshot."""

    state: ApplicationState
    before: ApplicationState | None
    event: AuditEvent | None


@dataclass(frozen=True, slots=True)
class Course:
    """All states of one Application in their order, and its end."""

    key: AppKey
    steps: tuple[Step, ...]
    removal: AuditEvent | None


def courses(snapshots: Iterable[ApplicationSnapshot], events: Iterable[AuditEvent], config: Config) -> list[Course]:
    """Each Application's states in their order, by key."""
    seen: dict[AppKey, list[Sighting]] = defaultdict(list)
    asked: dict[AppKey, list[Request]] = defaultdict(list)
    for snapshot in snapshots:
        if snapshot.kind == "Application":
            seen[AppKey(snapshot.argocd, snapshot.namespace, snapshot.name)].append(_sighting(snapshot))
    for event in events:
        if event.api_group == GROUP and event.resource == "applications" and is_stored(event):
            asked[_key(event, seen, config)].append(Request(event, Bodies(event)))
    keys = sorted({*seen, *asked}, key=lambda key: (key.argocd, key.namespace, key.name))
    return [_course(key, [*asked.get(key, ()), *seen.get(key, ())], config) for key in keys]


def is_stored(event: AuditEvent) -> bool:
    """Whether a request on a named object was answered with success, and was no dry run."""
    return bool(event.name) and not event.dry_run and event.code is not None and event.code < 300


def _key(event: AuditEvent, known: Mapping[AppKey, object], config: Config) -> AppKey:
    """The Application of a request: the one that an export of an Argo CD in this cluster has, where just one does."""
    here = [argocd for argocd in config.argocds if argocd.cluster == event.cluster]
    exported = [key for argocd in here if (key := AppKey(argocd.name, event.namespace, event.name)) in known]
    return exported[0] if len(exported) == 1 else AppKey(argocd_of(event, config), event.namespace, event.name)


def argocd_of(event: AuditEvent, config: Config) -> str:
    """The Argo CD that a request on its objects belongs to: the one in the cluster, by namespace where there are
    several; its cluster's name where none is configured."""
    here = [argocd for argocd in config.argocds if argocd.cluster == event.cluster]
    fitting = here if len(here) == 1 else [argocd for argocd in here if argocd.namespace == event.namespace]
    return fitting[0].name if fitting else event.cluster


def _sighting(snapshot: ApplicationSnapshot) -> Sighting:
    return Sighting(
        ObjectSnapshot(
            cluster=snapshot.argocd,
            group=GROUP,
            version="v1alpha1",
            kind=snapshot.kind,
            namespace=snapshot.namespace,
            name=snapshot.name,
            uid="",
            resource_version=snapshot.resource_version,
            at=snapshot.at,
            body=snapshot.body,
            origin=snapshot.origin,
        )
    )


def _course(key: AppKey, entries: Sequence[Request | Sighting], config: Config) -> Course:
    home = home_cluster(key.argocd, config)
    steps: list[Step] = []
    removal: AuditEvent | None = None
    document: JsonObject | None = None
    last: datetime | None = None
    for entry in in_order(entries):
        if isinstance(entry, Request) and entry.event.verb in ("delete", "deletecollection"):
            removal = entry.event
            continue
        document, at, evidence, event = _read(entry, document, last)
        if document is None or at is None:
            continue
        removal = None if event is not None and event.verb == "create" else removal
        before = steps[-1].state if steps else None
        state = parse_application(document, key, at, evidence, config, home, before)
        document, last = state.document, at
        _append(steps, Step(state, before, event))
    return Course(key, tuple(steps), removal)


def _read(
    entry: Request | Sighting, document: JsonObject | None, last: datetime | None
) -> tuple[JsonObject | None, datetime | None, Evidence, AuditEvent | None]:
    if isinstance(entry, Request):
        event = entry.event
        evidence = Evidence("audit", event.audit_id, event.origin, event.id)
        return document_after(entry, document), event.at, evidence, event
    snapshot = entry.snapshot
    evidence = Evidence("application", f"{snapshot.name}@{snapshot.resource_version}", snapshot.origin)
    # An export is no older than its latest time says, and no older than the request after which it comes.
    at = max((each for each in (snapshot.at, last) if each is not None), default=None)
    return object_in(snapshot.body), at, evidence, None


def document_after(request: Request, document: JsonObject | None, kind: str = "Application") -> JsonObject | None:
    """An object of Argo CD after a request: the response, else the request applied to the document before it."""
    response = request.bodies.response
    if response is not None and request.bodies.answers_with_object and not request.event.subresource:
        return response
    body, event = request.bodies.request, request.event
    if body is None:
        return document
    if event.verb in ("create", "update"):
        return body if isinstance(body, dict) else document
    form = patch.classify(
        event.verb, body, event.field_manager, event.force, event.request_uri, event.code, GROUP, kind, document
    )
    patched = patch.apply(document, body, form, GROUP, kind, "", event.field_manager, event.force)
    return patched.document or document


def object_in(body: bytes) -> JsonObject | None:
    """A stored body as a document."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _append(steps: list[Step], step: Step) -> None:
    """Adds a step. Of reconciliations that changed nothing only the first and the last after a change are kept."""
    quiet = [_is_quiet(step), *(_is_quiet(each) for each in steps[-1:-3:-1])]
    if quiet == [True, True, True]:
        first = steps[-2]
        steps[-1] = replace(step, before=first.state)
    else:
        steps.append(step)


def _is_quiet(step: Step) -> bool:
    """Whether nothing but the time of the last reconciliation, and the object's version, differs from before."""
    if step.before is None or step.event is None:
        return False
    return _without_times(step.state) == _without_times(step.before)


def _without_times(state: ApplicationState) -> tuple[object, ...]:
    metadata, status = child(state.document, "metadata"), child(state.document, "status")
    return (
        {key: value for key, value in metadata.items() if key not in ("resourceVersion", "generation")},
        state.document.get("spec"),
        state.document.get("operation"),
        {key: value for key, value in status.items() if key != "reconciledAt"},
    )
