"""What a running Argo CD says of itself: Applications, AppProjects, ApplicationSets, `argocd-cm` and Events."""

from collections.abc import Iterator
from dataclasses import dataclass

from auditor.collectors import Reading
from auditor.collectors.argocd.exports import ExportFact, kind_of, read_document
from auditor.collectors.live.connection import Connection, RequestError
from auditor.collectors.live.lists import Page, Resource, pages, single
from auditor.collectors.live.source import LiveSource, Look, Part, read_parts
from auditor.config import ArgoCDConfig
from auditor.model.facts import Batch, Origin, SourceMark
from auditor.model.resource import JsonObject
from auditor.objects.document import child, text

_FORBIDDEN = 403


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One kind of record."""

    resource: Resource
    kind: str
    form: str
    """The format that its mark names."""
    unknown: str
    """What nobody can tell without it."""
    everywhere: bool = False
    """Whether other namespaces than Argo CD's own may hold some."""
    only: str = ""
    """The one object that is read, "" for all."""


_RECORDS = (
    _Wanted(
        Resource("argoproj.io", "v1alpha1", "applications"),
        "Application",
        "applications",
        "what Argo CD deploys, its syncs and freezes, and which objects it manages",
        everywhere=True,
    ),
    _Wanted(
        Resource("argoproj.io", "v1alpha1", "appprojects"),
        "AppProject",
        "settings",
        "whether a sync window froze an application",
    ),
    _Wanted(
        Resource("argoproj.io", "v1alpha1", "applicationsets"),
        "ApplicationSet",
        "settings",
        "whether a set undid a freeze",
        everywhere=True,
    ),
    _Wanted(
        Resource("", "v1", "configmaps"),
        "ConfigMap",
        "settings",
        "how Argo CD tracks its objects, and which differences it ignores everywhere",
        only="argocd-cm",
    ),
)
_EVENTS = _Wanted(
    Resource("", "v1", "events"),
    "Event",
    "events",
    "who used Argo CD's UI and command line, and what it did in the last hour",
)


def read_argocd(
    reading: Reading, argocd: ArgoCDConfig, connection: Connection, look: Look, alone: bool
) -> Iterator[Batch]:
    """All that an Argo CD has and says now; `look` sees each of its objects.

    `alone` is whether no other Argo CD runs in its cluster: else its own namespace alone is known to be its.
    """
    namespaces = {argocd.namespace}

    def see(document: JsonObject) -> None:
        if kind_of(document) == "Application":
            namespaces.add(text(child(document, "metadata"), "namespace"))
        look(document)

    for wanted in _RECORDS:
        source = _source(reading, argocd, connection, wanted, see)
        part = Part(_pages(connection, source, wanted, argocd.namespace, alone), wanted.unknown)
        yield from read_parts(source, (part,))
    # The Events of an Application are in its own namespace.
    parts = [
        Part(pages(connection, _EVENTS.resource, namespace), f"{_EVENTS.unknown} to applications in {namespace}")
        for namespace in sorted(namespaces)
    ]
    yield from read_parts(_source(reading, argocd, connection, _EVENTS, see), parts)


def _source(reading: Reading, argocd: ArgoCDConfig, connection: Connection, wanted: _Wanted, look: Look) -> LiveSource:
    name = f"{connection.name}/{wanted.only or wanted.resource}"
    begin = SourceMark("argocd", argocd.name, name, "", wanted.form)
    earlier = next((mark for mark in reading.known("argocd", argocd.name) if mark.source == name), None)

    def read(document: JsonObject, origin: Origin) -> ExportFact | None:
        return read_document(argocd.name, document, origin, reading.redactor)

    return LiveSource(begin, earlier, wanted.resource.api_version, wanted.kind, read, look)


def _pages(connection: Connection, source: LiveSource, wanted: _Wanted, namespace: str, alone: bool) -> Iterator[Page]:
    """The objects of all namespaces where they may be in any and that is permitted, else those of Argo CD's own."""
    resource = wanted.resource
    if wanted.only:
        yield single(connection, resource, namespace, wanted.only)
    elif not (wanted.everywhere and alone):
        yield from pages(connection, resource, namespace)
    else:
        try:
            yield from pages(connection, resource)
        except RequestError as error:
            if error.code != _FORBIDDEN:
                raise
            yield from pages(connection, resource, namespace)
            elsewhere = f"whether there are {resource} elsewhere is unknown"
            source.skip(f"{error.message} Only the namespace {namespace} was read: {elsewhere}.")
