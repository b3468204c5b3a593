"""What a Flux Kustomization or HelmRelease says, as an `ApplicationState`.

Flux has no word for Synced: a Kustomization is so while it is Ready at the revision that it attempted last.
"""

from collections.abc import Iterator
from datetime import datetime

from auditor.config import Config
from auditor.correlate.applications.documents import IN_CLUSTER, destination_cluster, shared
from auditor.correlate.applications.flux_sources import FluxSources
from auditor.model.application import ApplicationState
from auditor.model.change import AppKey, Evidence
from auditor.model.resource import JsonObject
from auditor.objects.document import child, maps, text
from auditor.objects.timestamps import instant

GROUPS = {"kustomize.toolkit.fluxcd.io": "Kustomization", "helm.toolkit.fluxcd.io": "HelmRelease"}
"""API groups by whose requests these objects are changed, and the kind in each."""
REQUESTED_AT = "reconcile.fluxcd.io/requestedAt"
PARENT = ("kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace")
"""Labels that name the Kustomization which applied an object."""


def parse_flux(
    document: JsonObject,
    key: AppKey,
    at: datetime,
    evidence: Evidence,
    config: Config,
    home: str,
    sources: FluxSources,
    previous: ApplicationState | None = None,
) -> ApplicationState:
    """The state that a document shows at `at`. `home` is the cluster in which Flux runs."""
    document = shared(document, previous.document if previous else None)
    metadata, spec, status = child(document, "metadata"), child(document, "spec"), child(document, "status")
    on = spec.get("suspend") is not True
    remote = text(child(child(spec, "kubeConfig"), "secretRef"), "name") if child(spec, "kubeConfig") else ""
    server = "" if child(spec, "kubeConfig") else IN_CLUSTER[0]
    made_of = sources.of(key, spec, at)
    return ApplicationState(
        key=key,
        at=at,
        resource_version=text(metadata, "resourceVersion"),
        project="",
        sources=made_of,
        destination_server=server,
        destination_name=remote,
        destination_namespace=_namespace(key, spec),
        cluster=destination_cluster(server, remote, config, home),
        automated=on,
        self_heal=on and (key.kind == "Kustomization" or _corrects_drift(spec)),
        prune=on and spec.get("prune") is True,
        skip_reconcile=False,
        sync_options=(),
        ignore_differences=(),
        labels={label: value for label, value in child(metadata, "labels").items() if isinstance(value, str)},
        tracking_id="",
        owner_set="",
        sync_status=_sync_status(status),
        revisions=_revisions(key, status, is_chart=any(source.chart for source in made_of)),
        health=text(condition(status, "Healthy"), "status"),
        resources=tuple(_inventory(status)),
        conditions=tuple((text(each, "type"), text(each, "message")) for each in maps(status, "conditions")),
        reconciled_at=_reconciled_at(status),
        document=document,
        evidence=evidence,
    )


def condition(status: JsonObject, name: str) -> JsonObject:
    """A condition of a status, empty where it has none of the name."""
    return next((each for each in maps(status, "conditions") if text(each, "type") == name), {})


def commit_of(revision: str) -> str:
    """The commit in a revision as Flux writes it: `main@sha1:4507…`, `sha1:4507…`, before version 2 `main/4507…`."""
    name, at, digest = revision.rpartition("@")
    if at or digest.startswith(("sha1:", "sha256:")):
        return digest.rpartition(":")[2]
    return name or revision.rpartition("/")[2]


def attempted(status: JsonObject) -> str:
    """The revision that was attempted last, as Flux writes it."""
    return text(status, "lastAttemptedRevision") or text(status, "lastAppliedRevision")


def _namespace(key: AppKey, spec: JsonObject) -> str:
    return text(spec, "targetNamespace") or (key.namespace if key.kind == "HelmRelease" else "")


def _corrects_drift(spec: JsonObject) -> bool:
    return text(child(spec, "driftDetection"), "mode") == "enabled"


def _sync_status(status: JsonObject) -> str:
    ready = text(condition(status, "Ready"), "status")
    applied = text(status, "lastAppliedRevision")
    if text(condition(status, "Drifted"), "status") == "True" or (applied and applied != attempted(status)):
        return "OutOfSync"
    return {"True": "Synced", "False": "OutOfSync"}.get(ready, "Unknown") if ready else ""


def _revisions(key: AppKey, status: JsonObject, is_chart: bool) -> tuple[str, ...]:
    """The applied revision. Of a chart that lies in git Flux records a version, which is no commit."""
    if key.kind == "Kustomization":
        applied = text(status, "lastAppliedRevision")
        return (commit_of(applied),) if applied else ()
    if not is_chart:
        return ()
    latest = next(maps(status, "history"), {})
    version = text(latest, "chartVersion") or text(status, "lastAppliedRevision")
    return (version,) if version else ()


def _inventory(status: JsonObject) -> Iterator[tuple[str, str, str, str, str]]:
    """`namespace_name_group_Kind`; a colon in the name of a role stands as two underscores."""
    for entry in maps(child(status, "inventory"), "entries"):
        namespace, _, rest = text(entry, "id").partition("_")
        parts = rest.rsplit("_", 2)
        if len(parts) == 3:
            name, group, kind = parts
            yield (group, kind, namespace, name.replace("__", ":"), "")


def _reconciled_at(status: JsonObject) -> datetime | None:
    """When it was last seen through: Flux marks Ready anew in each reconciliation."""
    latest = [instant(each.get("lastReconciled")) for each in maps(status, "history")]
    ready = instant(condition(status, "Ready").get("lastTransitionTime"))
    return max((each for each in (*latest, ready) if each is not None), default=None)


def asked_by_hand(before: JsonObject, after: JsonObject) -> bool:
    """Whether somebody asked for a reconciliation between two documents (`flux reconcile`)."""
    return _requested(after) != "" and _requested(after) != _requested(before)


def _requested(document: JsonObject) -> str:
    return text(child(child(document, "metadata"), "annotations"), REQUESTED_AT)
