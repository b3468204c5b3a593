"""What an exported object says of Argo CD: an Application, a setting, or one of its Events.

Shapes: `kubectl get -o yaml|json`, `argocd app|proj|appset get -o json` (which leave `kind` out) and
`argocd admin export`.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Literal

import orjson

from auditor.collectors.argocd import flux
from auditor.model.facts import ApplicationSnapshot, ArgoEvent, ArgoSettings, Origin
from auditor.model.resource import JsonObject
from auditor.objects.document import child, text
from auditor.objects.redaction import Redactor
from auditor.objects.timestamps import instant, latest_moment, precision

ExportFact = ApplicationSnapshot | ArgoSettings | ArgoEvent
Component = Literal["server", "controller", "applicationset", "other"]

ARGO_GROUP = "argoproj.io/"
_SETTINGS = frozenset({"AppProject", "ApplicationSet"})
_PART_OF = "app.kubernetes.io/part-of"

_BY_USER = re.compile(
    r"(?P<user>\S.*?) "
    r"(?:initiated|updated|created|deleted|patched|ran action|terminated|refreshed|unset|added|removed)\b",
    re.S,
)
"""What argocd-server does begins with who asked for it: `carol patched resource /Service 'web'`."""

_NOBODY = "Unknown user"
_NANOSECONDS = re.compile(r"\.([0-9a-f]{15,16})\Z")


def kind_of(document: JsonObject) -> str:
    """The kind of an object, told from its spec where the Argo CD command line left it out."""
    kind = document.get("kind")
    if isinstance(kind, str) and kind:
        return kind
    spec = child(document, "spec")
    if "destination" in spec and ("source" in spec or "sources" in spec):
        return "Application"
    if "destinations" in spec or "sourceRepos" in spec:
        return "AppProject"
    return "ApplicationSet" if "generators" in spec and "template" in spec else ""


def read_document(argocd: str, document: JsonObject, origin: Origin, redactor: Redactor) -> ExportFact | None:
    """The fact in an exported object, None for an object of another kind."""
    kind = kind_of(document)
    version = text(document, "apiVersion")
    if kind == "Event":
        return _event(argocd, document, origin, redactor)
    if kind in flux.KINDS and version.startswith(flux.GROUPS):
        return _snapshot(argocd, kind, document, origin, redactor)
    if kind in flux.SOURCES and version.startswith(flux.SOURCE_GROUP):
        return _settings(argocd, kind, document, origin, redactor)
    if version and not version.startswith(ARGO_GROUP) and kind != "ConfigMap":
        return None
    if kind == "Application":
        return _snapshot(argocd, kind, document, origin, redactor)
    if kind in _SETTINGS or (kind == "ConfigMap" and _is_argocd_configuration(document)):
        return _settings(argocd, kind, document, origin, redactor)
    return None


def _snapshot(argocd: str, kind: str, document: JsonObject, origin: Origin, redactor: Redactor) -> ApplicationSnapshot:
    metadata = child(document, "metadata")
    return ApplicationSnapshot(
        argocd=argocd,
        kind=kind,
        namespace=text(metadata, "namespace"),
        name=text(metadata, "name"),
        resource_version=text(metadata, "resourceVersion"),
        at=latest_moment(document),
        body=orjson.dumps(redactor.document(document | {"kind": kind})),
        origin=origin,
    )


def _settings(argocd: str, kind: str, document: JsonObject, origin: Origin, redactor: Redactor) -> ArgoSettings:
    metadata = child(document, "metadata")
    return ArgoSettings(
        argocd=argocd,
        kind=kind,
        namespace=text(metadata, "namespace"),
        name=text(metadata, "name"),
        resource_version=text(metadata, "resourceVersion"),
        body=orjson.dumps(redactor.document(document | {"kind": kind})),
        origin=origin,
    )


def _is_argocd_configuration(document: JsonObject) -> bool:
    metadata = child(document, "metadata")
    labels = child(metadata, "labels")
    return text(metadata, "name").startswith("argocd-") or labels.get(_PART_OF) == "argocd"


def _event(argocd: str, document: JsonObject, origin: Origin, redactor: Redactor) -> ArgoEvent | None:
    """A Kubernetes Event of Argo CD or Flux, in the core or the events.k8s.io form."""
    involved = child(document, "involvedObject") or child(document, "regarding")
    source = child(document, "source") or child(document, "deprecatedSource")
    reporter = (
        text(source, "component") or text(document, "reportingComponent") or text(document, "reportingController")
    )
    component = component_of(reporter)
    if component is None and not text(involved, "apiVersion").startswith((ARGO_GROUP, *flux.GROUPS)):
        return None
    when = _event_time(document)
    if when is None:
        return None
    message = text(document, "message") or text(document, "note")
    return ArgoEvent(
        argocd=argocd,
        at=when[0],
        precision=when[1],
        component=component or "other",
        application=_application(involved),
        user=redactor.text(user_in(message)) if component == "server" else "",
        reason=text(document, "reason"),
        message=redactor.text(message),
        fields=_event_fields(document, involved, redactor),
        medium="event",
        origin=origin,
    )


def component_of(reporter: str) -> Component | None:
    """Which part of Argo CD a reporting component is, None for one that is not of Argo CD."""
    if "applicationset" in reporter:
        return "applicationset"
    if "argocd" not in reporter and "argo-cd" not in reporter:
        return None
    if "server" in reporter and "repo" not in reporter:
        return "server"
    return "controller" if "controller" in reporter else "other"


def user_in(message: str) -> str:
    """Who asked for what a message of argocd-server tells of, "" where it names nobody."""
    match = _BY_USER.match(message)
    user = match.group("user") if match else ""
    return "" if user == _NOBODY else user


def _event_time(document: JsonObject) -> tuple[datetime, float] | None:
    """When the event happened, and how exactly that is known.

    Event recorders name an event after the nanosecond of its first occurrence; that is used where it agrees with
    the whole second that the event itself has.
    """
    exact = text(document, "eventTime")
    if at := instant(exact):
        return at, precision(exact)
    metadata = child(document, "metadata")
    written = (
        text(document, "firstTimestamp")
        or text(document, "deprecatedFirstTimestamp")
        or text(metadata, "creationTimestamp")
    )
    at = instant(written)
    if at is None:
        return None
    named = _nanosecond_in(text(metadata, "name"))
    if named is not None and named.replace(microsecond=0) == at.replace(microsecond=0):
        return named, 1e-6
    return at, precision(written)


def _nanosecond_in(name: str) -> datetime | None:
    match = _NANOSECONDS.search(name)
    if match is None:
        return None
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(match.group(1), 16) // 1000)


def _application(involved: JsonObject) -> str:
    if text(involved, "kind") not in {"Application", *flux.KINDS}:
        return ""
    namespace = text(involved, "namespace")
    return f"{namespace}/{text(involved, 'name')}" if namespace else text(involved, "name")


def _event_fields(document: JsonObject, involved: JsonObject, redactor: Redactor) -> Mapping[str, str]:
    metadata = child(document, "metadata")
    count = document.get("count") or document.get("deprecatedCount") or 1
    last = text(document, "lastTimestamp") or text(document, "deprecatedLastTimestamp")
    fields = {
        **{
            key: redactor.text(value) for key, value in child(metadata, "annotations").items() if isinstance(value, str)
        },
        "event": text(metadata, "name"),
        "kind": text(involved, "kind"),
        "name": text(involved, "name"),
        "namespace": text(involved, "namespace"),
        "resource-version": text(involved, "resourceVersion"),
        "last-at": last if count != 1 else "",
        "count": str(count) if count != 1 else "",
        "type": text(document, "type"),
    }
    return {key: value for key, value in fields.items() if value}
