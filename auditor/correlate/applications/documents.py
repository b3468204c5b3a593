"""What an Application's document says, as an `ApplicationState`. Kept small by sharing what did not change."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from auditor.config import ArgoCDConfig, ClusterConfig, Config
from auditor.model.application import ApplicationState, AppSource
from auditor.model.change import AppKey, Evidence
from auditor.model.resource import Json, JsonObject
from auditor.objects.document import child, items, maps, text
from auditor.objects.timestamps import instant

_INSTANCE_LABELS = ("app.kubernetes.io/instance", "argocd.argoproj.io/instance")
TRACKING_ID = "argocd.argoproj.io/tracking-id"
SKIP_RECONCILE = "argocd.argoproj.io/skip-reconcile"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
IN_CLUSTER = ("https://kubernetes.default.svc", "in-cluster")
"""How Argo CD calls the cluster in which it runs itself."""

_KINDS = ("helm", "kustomize", "directory", "plugin")


def parse_application(
    document: JsonObject,
    key: AppKey,
    at: datetime,
    evidence: Evidence,
    config: Config,
    home: str,
    previous: ApplicationState | None = None,
) -> ApplicationState:
    """The state that a document shows at `at`. `home` is the cluster in which its Argo CD runs.

    What equals the `previous` state is taken from there: thousands of states then cost what differs between them.
    """
    document = shared(document, previous.document if previous else None)
    if previous is not None and is_compared_again(document, previous.document):
        return _compared_again(previous, document, at, evidence)
    metadata, spec, status = child(document, "metadata"), child(document, "spec"), child(document, "status")
    destination, policy = child(spec, "destination"), child(spec, "syncPolicy")
    annotations = child(metadata, "annotations")
    automated = policy.get("automated")
    on = isinstance(automated, dict) and automated.get("enabled") is not False
    sync = child(status, "sync")
    server, name = text(destination, "server"), text(destination, "name")
    return ApplicationState(
        key=key,
        at=at,
        resource_version=text(metadata, "resourceVersion"),
        project=text(spec, "project"),
        sources=parse_sources(spec),
        destination_server=server,
        destination_name=name,
        destination_namespace=text(destination, "namespace"),
        cluster=destination_cluster(server, name, config, home),
        automated=on,
        self_heal=on and isinstance(automated, dict) and automated.get("selfHeal") is True,
        prune=on and isinstance(automated, dict) and automated.get("prune") is True,
        skip_reconcile=text(annotations, SKIP_RECONCILE) == "true",
        sync_options=tuple(option for option in items(policy, "syncOptions") if isinstance(option, str)),
        ignore_differences=tuple(maps(spec, "ignoreDifferences")),
        labels={label: value for label, value in child(metadata, "labels").items() if isinstance(value, str)},
        tracking_id=text(annotations, TRACKING_ID) or _instance(metadata, key),
        owner_set=_owner_set(metadata),
        sync_status=text(sync, "status"),
        revisions=revisions(sync),
        health=text(child(status, "health"), "status"),
        resources=_resources(status, previous, document),
        conditions=tuple((text(each, "type"), text(each, "message")) for each in maps(status, "conditions")),
        reconciled_at=instant(status.get("reconciledAt")),
        document=document,
        evidence=evidence,
    )


def _instance(metadata: JsonObject, key: AppKey) -> str:
    """The instance label, which marks what Argo CD owns where it tracks by labels, in the form of a tracking-id."""
    labels = child(metadata, "labels")
    name = next((text(labels, label) for label in _INSTANCE_LABELS if text(labels, label)), "")
    return f"{name}:argoproj.io/{key.kind}:{key.namespace}/{key.name}" if name and name != key.name else ""


def is_compared_again(new: JsonObject, old: JsonObject) -> bool:
    """Whether nothing but the time of the last comparison, and the object's version, differs."""
    return (
        _same_parts(new, old, ("metadata", "status"))
        and _same_parts(child(new, "metadata"), child(old, "metadata"), ("resourceVersion", "generation"))
        and _same_parts(child(new, "status"), child(old, "status"), ("reconciledAt",))
    )


def _same_parts(new: JsonObject, old: JsonObject, but: Collection[str]) -> bool:
    return new is old or all(new.get(key) == old.get(key) for key in {*new, *old} if key not in but)


def _compared_again(
    previous: ApplicationState, document: JsonObject, at: datetime, evidence: Evidence
) -> ApplicationState:
    return replace(
        previous,
        at=at,
        resource_version=text(child(document, "metadata"), "resourceVersion"),
        reconciled_at=instant(child(document, "status").get("reconciledAt")),
        document=document,
        evidence=evidence,
    )


def destination_cluster(server: str, name: str, config: Config, home: str) -> str:
    """The configured cluster that a destination means, "" where none or more than one claims it."""
    if server == IN_CLUSTER[0] or (not server and name == IN_CLUSTER[1]):
        return home
    wanted = {each.rstrip("/") for each in (server, name) if each}
    claiming = [cluster.name for cluster in config.clusters if wanted & _names(cluster)]
    return claiming[0] if len(claiming) == 1 else ""


def _names(cluster: ClusterConfig) -> set[str]:
    return {server.rstrip("/") for server in cluster.server} | {cluster.name}


def home_cluster(argocd: str, config: Config) -> str:
    """The cluster in which an Argo CD runs; an Argo CD that is not configured has its cluster's name."""
    found: ArgoCDConfig | None = next((each for each in config.argocds if each.name == argocd), None)
    return found.cluster if found else argocd


def parse_sources(holder: Mapping[str, Json]) -> tuple[AppSource, ...]:
    """The sources of a spec, an operation or a history entry: `sources` where there are any, else `source`."""
    several = tuple(_source(each) for each in maps(holder, "sources"))
    if several:
        return several
    single = child(holder, "source")
    if single:
        return (_source(single),)
    hydrator = child(holder, "sourceHydrator")
    return (_hydrated_source(hydrator),) if hydrator else ()


def _hydrated_source(hydrator: JsonObject) -> AppSource:
    """What is synced where the hydrator renders: the manifests that it commits, not the source that it reads."""
    dry, synced = child(hydrator, "drySource"), child(hydrator, "syncSource")
    return AppSource(text(dry, "repoURL"), text(synced, "path"), text(synced, "targetBranch"))


def _source(source: JsonObject) -> AppSource:
    kind = next((kind for kind in _KINDS if child(source, kind)), "auto")
    return AppSource(
        repo_url=text(source, "repoURL"),
        path=text(source, "path"),
        target_revision=text(source, "targetRevision"),
        chart=text(source, "chart"),
        ref=text(source, "ref"),
        kind=kind,  # type: ignore[arg-type]
        options=canonical(child(source, kind)) if kind != "auto" else "{}",
    )


def canonical(value: Json) -> str:
    """JSON text that is the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def revisions(holder: Mapping[str, Json]) -> tuple[str, ...]:
    """The revision or revisions of a sync status, an operation, a sync result or a history entry."""
    several = tuple(each for each in items(holder, "revisions") if isinstance(each, str) and each)
    single = text(holder, "revision")
    return several or ((single,) if single else ())


def last_applied(document: JsonObject) -> JsonObject:
    """The document that kubectl or a client-side apply of a parent application applied last, empty where none says."""
    return _decoded(text(child(child(document, "metadata"), "annotations"), LAST_APPLIED))


@lru_cache(maxsize=512)
def _decoded(annotation: str) -> JsonObject:
    try:
        value = json.loads(annotation) if annotation else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def shared(new: JsonObject, old: JsonObject | None) -> JsonObject:
    """`new` without managedFields, made of the parts of `old` that are equal in it."""
    metadata = new.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        new = new | {"metadata": {key: value for key, value in metadata.items() if key != "managedFields"}}
    return new if old is None else {key: _share(value, old.get(key)) for key, value in new.items()}


def _share(new: Json, old: Json) -> Json:
    if new == old and type(new) is type(old):
        return old
    if isinstance(new, dict):
        if all(isinstance(value, str) for value in new.values()):
            return _flat(tuple(new.items()))
        known = old if isinstance(old, dict) else {}
        return {key: _share(value, known.get(key)) for key, value in new.items()}
    if isinstance(new, list):
        items = old if isinstance(old, list) else []
        return [_share_item(value, items[place : place + 2]) for place, value in enumerate(new)]
    return new


def _share_item(new: Json, old: Sequence[Json]) -> Json:
    """An item of a list; it may have been the next one before, as a full history loses its first entry."""
    return _share(new, old[1] if len(old) > 1 and old[1] == new else next(iter(old), None))


@lru_cache(maxsize=4096)
def _flat(pairs: tuple[tuple[str, Json], ...]) -> JsonObject:
    """A map of texts: what recurs in every sync, as its resources and its source, is one object."""
    return dict(pairs)


def _owner_set(metadata: JsonObject) -> str:
    owners = maps(metadata, "ownerReferences")
    return next((text(owner, "name") for owner in owners if text(owner, "kind") == "ApplicationSet"), "")


def _resources(
    status: JsonObject, previous: ApplicationState | None, document: JsonObject
) -> tuple[tuple[str, str, str, str, str], ...]:
    if previous is not None and child(previous.document, "status").get("resources") is status.get("resources"):
        return previous.resources
    return tuple(
        (text(each, "group"), text(each, "kind"), text(each, "namespace"), text(each, "name"), text(each, "status"))
        for each in maps(status, "resources")
    )
