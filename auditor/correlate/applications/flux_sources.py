"""What Flux's applications are made of: the source that a Kustomization or HelmRelease refers to, at a moment."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from auditor.config import Config
from auditor.correlate.applications.documents import canonical
from auditor.correlate.applications.requests import argocd_of, document_after, is_stored, sighting
from auditor.correlate.writes.bodies import Bodies
from auditor.correlate.writes.sequence import Request, Sighting, in_order
from auditor.model.application import ApplicationState, AppSource
from auditor.model.change import AppKey, Evidence
from auditor.model.facts import ArgoSettings, AuditEvent
from auditor.model.resource import JsonObject
from auditor.objects import kinds
from auditor.objects.document import child, items, maps, object_in, text
from auditor.objects.timestamps import latest_moment

GROUP = "source.toolkit.fluxcd.io"
_KINDS = frozenset({"GitRepository", "HelmRepository", "HelmChart", "OCIRepository", "Bucket"})
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_RECURSIVE = canonical({"directory": {"recurse": True}})
"""Without a kustomization in the folder Flux makes one of all manifests below it."""

Documents = Callable[[JsonObject], JsonObject | None]
"""The source that a reference means, None where the records do not hold it."""

Name = tuple[str, str, str, str]
"""Argo CD in the configuration, kind, namespace, name."""


@dataclass(frozen=True, slots=True)
class Edition:
    """A source as it was from a moment on, and the request that made it so."""

    at: datetime
    document: JsonObject
    evidence: Evidence
    event: AuditEvent | None


class FluxSources:
    """Answers what a reference means, from exported sources and the requests on them."""

    def __init__(self, settings: Iterable[ArgoSettings], events: Iterable[AuditEvent], config: Config) -> None:
        entries: dict[Name, list[Request | Sighting]] = defaultdict(list)
        for each in settings:
            if each.kind in _KINDS:
                entries[each.argocd, each.kind, each.namespace, each.name].append(_exported(each))
        for event in events:
            kind = kinds.kind_of(GROUP, event.resource) if event.api_group == GROUP else None
            if kind in _KINDS and is_stored(event) and not event.subresource:
                name = (argocd_of(event, config), kind, event.namespace, event.name)
                entries[name].append(Request(event, Bodies(event)))
        self._editions = {name: list(_editions(name[1], each)) for name, each in entries.items()}

    def of(self, key: AppKey, spec: JsonObject, at: datetime) -> tuple[AppSource, ...]:
        """The source of an application with this spec; one that cannot be rendered says why."""
        return (_source(key, spec, lambda reference: self._document(key, reference, at)),)

    def editions(self, key: AppKey, spec: JsonObject) -> Sequence[Edition]:
        """All that the source of an application with this spec ever was, oldest first."""
        return self._editions.get(_name(key, _reference(spec)), ())

    def _document(self, key: AppKey, reference: JsonObject, at: datetime) -> JsonObject | None:
        """The source at a moment: the last edition not after it, else the first one there is."""
        editions = self._editions.get(_name(key, reference), [])
        place = bisect_right(editions, at, key=lambda edition: edition.at) - 1
        return editions[max(place, 0)].document if editions else None


def declared_sources(state: ApplicationState, spec: JsonObject) -> tuple[AppSource, ...]:
    """The sources that a manifest of an application with this spec declares, () where it refers to another source than
    the application did in a state: what that holds is then not at hand."""
    own = child(state.document, "spec")
    if not state.sources or _reference(own) != _reference(spec):
        return ()
    known = state.sources[0]
    held: JsonObject = {"spec": {"url": known.repo_url, "ref": {"name": known.target_revision}}}
    return (_source(state.key, spec, lambda reference: held if known.repo_url else None),)


def _reference(spec: JsonObject) -> JsonObject:
    """Where a spec refers to its source."""
    chart = child(child(spec, "chart"), "spec")
    return child(spec, "sourceRef") or child(chart, "sourceRef") or child(spec, "chartRef")


def _source(key: AppKey, spec: JsonObject, document: Documents) -> AppSource:
    return _kustomization(spec, document) if key.kind == "Kustomization" else _release(key, spec, document)


def _kustomization(spec: JsonObject, document: Documents) -> AppSource:
    problem = next(_beyond_kustomize(spec), "")
    options = _options(spec)
    return _in_git(
        child(spec, "sourceRef"),
        document(child(spec, "sourceRef")),
        _folder(text(spec, "path")),
        "kustomize" if options else "auto",
        canonical(options) if options else _RECURSIVE,
        problem,
    )


def _release(key: AppKey, spec: JsonObject, document: Documents) -> AppSource:
    chart = child(child(spec, "chart"), "spec")
    reference = child(chart, "sourceRef")
    name = text(spec, "releaseName") or "-".join(filter(None, (text(spec, "targetNamespace"), key.name)))
    options: JsonObject = {"releaseName": name}
    if values := child(spec, "values"):
        options["valuesObject"] = values
    if files := items(chart, "valuesFiles"):
        options["valueFiles"] = list(files)
    problem, found = next(_beyond_helm(spec), ""), document(reference)
    if text(reference, "kind") == "GitRepository":
        return _in_git(reference, found, _folder(text(chart, "chart")), "helm", canonical(options), problem)
    if text(reference, "kind") != "HelmRepository":
        problem = f"its chart comes from {_called(reference or child(spec, 'chartRef'))}, which is not read here"
    elif found is None:
        problem = f"the records do not hold {_called(reference)}, from which its chart comes"
    url = text(child(found or {}, "spec"), "url")
    version = text(chart, "version") or "*"
    return AppSource(url, "", version, text(chart, "chart"), "", "helm", canonical(options), problem)


def _in_git(
    reference: JsonObject, document: JsonObject | None, path: str, kind: str, options: str, problem: str
) -> AppSource:
    spec = child(document or {}, "spec")
    if text(reference, "kind") != "GitRepository":
        problem = f"its manifests come from {_called(reference)}, not from git"
    elif document is None:
        problem = f"the records do not hold {_called(reference)}, which it is made from"
    elif items(spec, "include"):
        problem = f"{_called(reference)} includes other repositories"
    target = _target(child(spec, "ref")) if document is not None else ""
    return AppSource(text(spec, "url"), path, target, "", "", kind, options, problem)  # type: ignore[arg-type]


def _editions(kind: str, entries: Sequence[Request | Sighting]) -> Iterator[Edition]:
    """The editions of one source. An export that comes first was so before as well."""
    document: JsonObject | None = None
    last = _BEGINNING
    for entry in in_order(entries):
        event = entry.event if isinstance(entry, Request) else None
        if isinstance(entry, Sighting):
            found, seen = object_in(entry.snapshot.body), entry.snapshot
            evidence = Evidence("object", f"{seen.name}@{seen.resource_version}", seen.origin)
            last = max(last, seen.at or last) if document is not None else last
        elif entry.event.verb in ("delete", "deletecollection"):
            continue
        else:
            found, last = document_after(entry, document, kind, GROUP), entry.event.at
            evidence = Evidence("audit", entry.event.audit_id, entry.event.origin, entry.event.id)
        if found is not None and (document is None or found.get("spec") != document.get("spec")):
            yield Edition(last, found, evidence, event)
        document = found or document


def _exported(settings: ArgoSettings) -> Sighting:
    """An export of a source: it is no older than the latest time that stands in it."""
    return sighting(settings, GROUP, latest_moment(object_in(settings.body) or {}))


def _name(key: AppKey, reference: JsonObject) -> Name:
    return (key.argocd, text(reference, "kind"), text(reference, "namespace") or key.namespace, text(reference, "name"))


def _called(reference: JsonObject) -> str:
    return f"{text(reference, 'kind') or 'a source'} {text(reference, 'name')}".strip()


def _folder(path: str) -> str:
    """`./apps/web` as an Application would have it; "." for the root."""
    return path.removeprefix("./").strip("/") or "."


def _target(ref: JsonObject) -> str:
    """What is followed. Flux takes the most exact one that is given; without any it follows `master`."""
    for key in ("commit", "name", "semver", "tag", "branch"):
        if named := text(ref, key):
            return named
    return "master"


def _options(spec: JsonObject) -> JsonObject:
    """What a Kustomization adds to the kustomization in its folder, as Argo CD's `kustomize` block has it."""
    images = [_image(each) for each in maps(spec, "images")]
    given: JsonObject = {
        "namespace": text(spec, "targetNamespace"),
        "namePrefix": text(spec, "namePrefix"),
        "nameSuffix": text(spec, "nameSuffix"),
        "components": list(items(spec, "components")),
        "patches": list(items(spec, "patches")),
        "images": [*images],
    }
    if common := child(child(spec, "commonMetadata"), "labels"):
        given |= {"commonLabels": common, "labelWithoutSelector": True}
    return {key: value for key, value in given.items() if value}


def _image(entry: JsonObject) -> str:
    """`name=new:tag` as `kustomize edit set image` takes it."""
    name, digest = text(entry, "name"), text(entry, "digest")
    tag = f"@{digest}" if digest else f":{text(entry, 'newTag')}" if text(entry, "newTag") else ""
    return f"{name}={text(entry, 'newName') or name}{tag}"


def _beyond_kustomize(spec: JsonObject) -> Iterator[str]:
    """What kustomize alone does not render."""
    if any(child(spec, "postBuild").values()):
        yield "its postBuild puts values into what kustomize renders"
    if child(child(spec, "commonMetadata"), "annotations"):
        yield "its commonMetadata adds annotations to what kustomize renders"
    if items(spec, "patchesStrategicMerge") or items(spec, "patchesJson6902"):
        yield "it has patches of an API that Flux no longer serves"


def _beyond_helm(spec: JsonObject) -> Iterator[str]:
    """What helm alone does not render."""
    if items(spec, "postRenderers"):
        yield "its postRenderers change what helm renders"
    for reference in maps(spec, "valuesFrom"):
        yield f"it takes values from {_called(reference)} in the cluster"
