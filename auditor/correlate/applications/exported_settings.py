"""Exported settings as states of the objects that they are: an AppProject, an ApplicationSet, `argocd-cm`.

`kubectl get -o yaml` gives an object as it is stored, and its version says between which requests it was so. What the
`argocd` command line and `argocd admin export` give has no apiVersion or no uid, and is no such state.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from auditor.config import Config
from auditor.correlate.writes.histories import shown
from auditor.correlate.writes.object_index import Objects
from auditor.correlate.writes.sequence import version_number
from auditor.model.facts import ArgoSettings, ObjectSnapshot
from auditor.model.resource import JsonObject
from auditor.objects.document import child, items, object_in, text
from auditor.objects.timestamps import latest_moment


def exported_settings(
    settings: Iterable[ArgoSettings], objects: Objects, config: Config, as_of: datetime | None
) -> Iterator[ObjectSnapshot]:
    """The exports up to `as_of` of those `objects`, on which there are requests.

    Only managedFields say when an object was so. Without them, as kubectl leaves them out, an export is of a time
    before the end of the records only where a request up to then met its version or a later one.
    """
    clusters = {argocd.name: argocd.cluster for argocd in config.argocds}
    told = frozenset(objects)
    for each in settings:
        snapshot = _snapshot(each, clusters.get(each.argocd, ""))
        if snapshot is not None and shown(snapshot) in told and (as_of is None or _was(snapshot, as_of, objects)):
            yield snapshot


def _snapshot(settings: ArgoSettings, cluster: str) -> ObjectSnapshot | None:
    document = object_in(settings.body) or {}
    metadata, api = child(document, "metadata"), text(document, "apiVersion")
    if not (cluster and api and text(metadata, "uid") and version_number(settings.resource_version)):
        return None
    group, _, version = api.rpartition("/")
    return ObjectSnapshot(
        cluster=cluster,
        group=group,
        version=version,
        kind=settings.kind,
        namespace=settings.namespace,
        name=settings.name,
        uid=text(metadata, "uid"),
        resource_version=settings.resource_version,
        at=_changed_at(document),
        body=settings.body,
        origin=settings.origin,
    )


def _changed_at(document: JsonObject) -> datetime | None:
    return latest_moment(document) if items(child(document, "metadata"), "managedFields") else None


def _was(snapshot: ObjectSnapshot, as_of: datetime, objects: Objects) -> bool:
    """Whether the object was so by a moment, up to which the requests on it are known."""
    if snapshot.at is not None:
        return snapshot.at <= as_of
    met = (
        version
        for request in objects.requests(shown(snapshot))
        for version in (request.head.meta.resourceVersion, request.event.object_version)
    )
    exported = version_number(snapshot.resource_version) or 0
    return any((version_number(version) or 0) >= exported for version in met)
