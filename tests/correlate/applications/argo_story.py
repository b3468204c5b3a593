"""An Argo CD that writes its own records: each act gives the audit events, Events and states that a real one does."""

import copy
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson

from auditor.config import ArgoCDConfig, ClusterConfig, Config
from auditor.correlate.applications.bypass import Bypass, Bypasses
from auditor.correlate.applications.histories import histories, own_requests
from auditor.correlate.identity.actors import identify
from auditor.correlate.identity.argo_statements import Statements
from auditor.model.application import ApplicationHistory
from auditor.model.change import AppKey
from auditor.model.facts import ApplicationSnapshot, ArgoEvent, ArgoSettings, AuditEvent
from auditor.model.resource import ObjectId
from tests.factories import KUBECTL, ORIGIN, audit_event, minute

SERVER = "system:serviceaccount:argocd:argocd-server"
CONTROLLER = "system:serviceaccount:argocd:argocd-application-controller"
APPLICATION_SETS = "system:serviceaccount:argocd:argocd-applicationset-controller"
CONFIG = Config(
    Path("."),
    clusters=(ClusterConfig("prod", server=("https://kubernetes.default.svc",)),),
    argocds=(ArgoCDConfig("argocd", "prod"),),
)
REPOSITORY = "http://git.acme.example/deploy.git"


def source(**given: Any) -> dict[str, Any]:
    return {"repoURL": REPOSITORY, "path": "apps/web", "targetRevision": "main", **given}


class Story:
    """One Application, `web` in `argocd`, and everything that is recorded of it."""

    def __init__(self, automated: dict[str, Any] | None = None, **spec: Any) -> None:
        self.key = AppKey("argocd", "argocd", "web")
        self.version = 100
        self.events: list[AuditEvent] = []
        self.said: list[ArgoEvent] = []
        self.snapshots: list[ApplicationSnapshot] = []
        self.settings: list[ArgoSettings] = []
        policy = {} if automated is None else {"automated": automated}
        self.document: dict[str, Any] = {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": "web", "namespace": "argocd", "uid": "u1", "resourceVersion": "100"},
            "spec": {
                "project": "default",
                "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop-prod"},
                "source": source(),
                "syncPolicy": policy,
            }
            | spec,
            "status": {"sync": {"status": "Synced", "revision": "c1"}},
        }

    def created(self, at: float, user: str = "alice@acme.example") -> "Story":
        return self._write(at, user, "create", copy.deepcopy(self.document), code=201)

    def patched(self, at: float, user: str, change: dict[str, Any], **given: Any) -> "Story":
        """A merge patch."""
        self.document = merged(self.document, change)
        return self._write(at, user, "patch", change, **given)

    def edited(self, at: float, user: str, change: dict[str, Any]) -> "Story":
        """An update of the spec through Argo CD's API, by one of its users."""
        self.document = merged(self.document, change)
        self._write(at, SERVER, "update", copy.deepcopy(self.document), user_agent="argocd-server/v0.0.0")
        return self.tells(at + 0.0003, user, f"{user} updated application spec", "ResourceUpdated")

    def synced(self, at: float, revision: str = "c1", by: str = "", said: str = "", **sync: Any) -> "Story":
        """A whole operation: asked for, running, and done six seconds later, with its history entry."""
        spec = self.document["spec"]
        wanted = {"revision": revision, "source": copy.deepcopy(spec["source"])} | sync
        initiator = {"username": by} if by else {"automated": True}
        operation = {
            "sync": {key: value for key, value in wanted.items() if value is not None},
            "initiatedBy": initiator,
        }
        self.document = self.document | {"operation": operation}
        asker = SERVER if by else CONTROLLER
        self._write(at, asker, "update", copy.deepcopy(self.document))
        if said:
            self.tells(at + 0.0002, by, f"{by} {said}", "OperationStarted")
        started = {"operation": operation, "phase": "Running", "startedAt": stamp(at + 0.01)}
        self._status(at + 0.01, {"operationState": started})
        done = started | {
            "phase": "Succeeded",
            "finishedAt": stamp(at + 0.1),
            "syncResult": {"revision": revision, "resources": [resource()]},
        }
        del self.document["operation"]
        return self._status(at + 0.1, {"operationState": done})

    def compared(self, at: float, revision: str, status: str = "Synced") -> "Story":
        return self._status(at, {"sync": {"status": status, "revision": revision}, "reconciledAt": stamp(at)})

    def tells(self, at: float, user: str, message: str, reason: str, component: str = "server") -> "Story":
        event = ArgoEvent(
            "argocd", minute(at), 1e-6, component, "argocd/web", user, reason, message, {"event": f"web.{at}"}, "event",
            ORIGIN,
        )  # fmt: skip
        self.said.append(event)
        return self

    def exported(self, at: float | None) -> "Story":
        """An export; `at` None: nothing in it says when."""
        body = orjson.dumps(self.document)
        version = str(self.version)
        self.snapshots.append(
            ApplicationSnapshot(
                "argocd", "Application", "argocd", "web", version, None if at is None else minute(at), body, ORIGIN
            )
        )
        return self

    def _histories(self) -> Mapping[AppKey, ApplicationHistory]:
        own = own_requests(self.events)
        return histories(self.snapshots, own, self.said, self.settings, CONFIG, identify)

    def history(self) -> ApplicationHistory:
        return self._histories()[self.key]

    def bypass(self, at: float, name: str = "web") -> Bypass | None:
        """Of a write of the controller on a Deployment of the application."""
        known = self._histories()
        return self._bypasses(known).of(self.key, ObjectId("prod", "apps", "Deployment", "shop-prod", name), minute(at))

    def _bypasses(self, known: Any) -> Bypasses:
        whole = {event.id: event for event in self.events}
        return Bypasses(known, self.events, whole.get, Statements(self.said), identify, CONFIG)

    def _status(self, at: float, status: dict[str, Any]) -> "Story":
        self.document = merged(self.document, {"status": status})
        return self._write(at, CONTROLLER, "patch", {"status": status})

    def _write(self, at: float, user: str, verb: str, request: Any, **given: Any) -> "Story":
        self.version += 1
        self.document = merged(self.document, {"metadata": {"resourceVersion": str(self.version)}})
        self.events.append(application_event(at, user, verb, request, copy.deepcopy(self.document), **given))
        return self


def application_event(at: float, user: str, verb: str, request: Any, response: Any, **given: Any) -> AuditEvent:
    fields: dict[str, Any] = {
        "id": f"{verb}-{at}",
        "audit_id": f"{verb}-{at}",
        "verb": verb,
        "at": minute(at),
        "stage_at": minute(at) + timedelta(milliseconds=5),
        "user": user,
        "user_agent": f"{user.rpartition(':')[2]}/v0.0.0" if user.startswith("system:") else KUBECTL,
        "request_uri": "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/web",
        "api_group": "argoproj.io",
        "api_version": "v1alpha1",
        "resource": "applications",
        "namespace": "argocd",
        "name": "web",
        "request": orjson.dumps(request),
        "response": orjson.dumps(response),
    }
    return audit_event(**(fields | given))


def resource(name: str = "web") -> dict[str, str]:
    return {"group": "apps", "kind": "Deployment", "namespace": "shop-prod", "name": name, "status": "Synced"}


def stamp(at: float) -> str:
    return minute(at).replace(microsecond=0).isoformat().replace("+00:00", "Z")


def merged(document: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """A JSON merge patch."""
    result = dict(document)
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            old = result.get(key)
            result[key] = merged(old if isinstance(old, dict) else {}, value)
        else:
            result[key] = value
    return result
