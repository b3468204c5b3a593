"""Requests on the objects of a GitOps tool: whose they are, and what they make of a document."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from auditor.config import Config
from auditor.correlate.writes.sequence import Request, Sighting
from auditor.model.facts import ApplicationSnapshot, ArgoSettings, AuditEvent, ObjectSnapshot
from auditor.model.resource import JsonObject
from auditor.objects import patch

GROUP = "argoproj.io"


@dataclass(frozen=True, slots=True)
class OwnRequests:
    """The requests on the objects of GitOps tools themselves, each once."""

    of_applications: Iterable[Iterable[AuditEvent]]
    """Those on applications, one application at a time: their bodies are most of a log, and are held no longer than
    it takes to read them."""
    edits: Sequence[AuditEvent]
    """Those on applications that are more than a controller's report."""
    others: Sequence[AuditEvent]
    """On projects, sets and sources, and on the controllers."""


def is_stored(event: AuditEvent) -> bool:
    """Whether a request on a named object was answered with success, and was no dry run."""
    return bool(event.name) and not event.dry_run and event.code is not None and event.code < 300


def argocd_of(event: AuditEvent, config: Config) -> str:
    """The Argo CD that a request on its objects belongs to: the one in the cluster, by namespace where there are
    several; its cluster's name where none is configured."""
    here = [argocd for argocd in config.argocds if argocd.cluster == event.cluster]
    fitting = here if len(here) == 1 else [argocd for argocd in here if argocd.namespace == event.namespace]
    return fitting[0].name if fitting else event.cluster


def document_after(
    request: Request, document: JsonObject | None, kind: str = "Application", group: str = GROUP
) -> JsonObject | None:
    """An object after a request: the response, else the request applied to the document before it."""
    response, event = request.bodies.response, request.event
    if response is not None and request.bodies.answers_with_object and event.subresource in ("", "status"):
        return response
    body = request.bodies.request
    if body is None:
        return document
    if event.verb in ("create", "update"):
        return body if isinstance(body, dict) else document
    form = patch.classify(
        event.verb, body, event.field_manager, event.force, event.request_uri, event.code, group, kind, document
    )
    patched = patch.apply(document, body, form, group, kind, "", event.field_manager, event.force)
    return patched.document or document


def sighting(exported: ApplicationSnapshot | ArgoSettings, group: str = GROUP, at: datetime | None = None) -> Sighting:
    """An exported document in its place among the requests on it. `at` is when it was so, where that is not in it."""
    return Sighting(
        ObjectSnapshot(
            cluster=exported.argocd,
            group=group,
            version="",
            kind=exported.kind,
            namespace=exported.namespace,
            name=exported.name,
            uid="",
            resource_version=exported.resource_version,
            at=exported.at if isinstance(exported, ApplicationSnapshot) else at,
            body=exported.body,
            origin=exported.origin,
        )
    )
