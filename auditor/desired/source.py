"""Which source of an Application is rendered, from where, and how: what Argo CD decides before it renders."""

import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import orjson

from auditor.desired.blobs import Contents
from auditor.desired.manifests import documents
from auditor.desired.trees import Files
from auditor.model.application import ApplicationState, AppSource
from auditor.model.resource import Json, JsonObject

Renderer: TypeAlias = Literal["directory", "kustomize", "helm", "plugin"]

KUSTOMIZATION_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_SCP = re.compile(r"(?:[^@/]+@)?([^:/]+):(?!//)(.+)")
_URL = re.compile(r"[a-z+]+://(?:[^@/]*@)?([^/:]+)(?::\d+)?/(.*)", re.I)


@dataclass(frozen=True, slots=True)
class Destination:
    """What rendering takes from the Application beside its sources."""

    application: str
    namespace: str
    cluster: str


@dataclass(frozen=True, slots=True)
class Effective:
    """A source as it is rendered at one revision: overrides in the repository merged in, the renderer decided."""

    source: AppSource
    path: str
    renderer: Renderer
    options: JsonObject


def destination(state: ApplicationState) -> Destination:
    """Where the application's objects go."""
    return Destination(state.key.name, state.destination_namespace, state.cluster)


def same_repository(one: str, other: str) -> bool:
    """Whether two URLs name one repository: by https or ssh, with or without `.git`."""
    return one == other or _location(one) == _location(other)


def _location(url: str) -> tuple[str, str]:
    host, path = location(url)
    return host, path.lower()


def location(url: str) -> tuple[str, str]:
    """(host, path) of a URL of git; the path as it is written, without `.git`. A path on this machine has no host."""
    found = _URL.match(url) or _SCP.fullmatch(url)
    host, path = (found[1], found[2]) if found else ("", url)
    return host.lower(), path.strip("/").removesuffix(".git")


def normal_path(path: str) -> str | None:
    """A path below the root of the repository without `.`, `..` and doubled slashes; None where it leads outside."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def join(folder: str, relative: str) -> str | None:
    """A path relative to a folder of the repository, or to its root where it begins with a slash."""
    return normal_path(relative if relative.startswith("/") else f"{folder}/{relative}")


def effective(source: AppSource, application: str, tree: Files, blobs: Contents) -> Effective | str | None:
    """The source as it is rendered from this tree, or the sentence why it cannot be; None where the repository has
    no such folder."""
    path = normal_path(source.path)
    if path is None:
        return f"the path {source.path} leads out of the repository"
    if path and not tree.has_folder(path):
        return None
    options = orjson.loads(source.options)
    blocks: JsonObject = {} if source.kind == "auto" else {source.kind: options}
    preset: JsonObject = options if source.kind == "auto" else {}
    for name in (".argocd-source.yaml", f".argocd-source-{application}.yaml"):
        entry = tree.get(f"{path}/{name}".lstrip("/"))
        if entry is not None:
            override = blobs.fact("source", entry.blob, f"{path}/{name}", _first_object)
            merged = _merged(blocks, override)
            blocks = merged if isinstance(merged, dict) else blocks
    explicit: list[Renderer] = [kind for kind in _RENDERERS if blocks.get(kind) is not None]
    renderer = explicit[0] if len(explicit) == 1 else detected(tree, path)
    if renderer == "directory" and preset and _has_kustomization_below(tree, path):
        return "a folder below it has a kustomization of its own"
    block = blocks.get(renderer) or preset.get(renderer)
    return Effective(replace(source, path=path), path, renderer, block if isinstance(block, dict) else {})


_RENDERERS: tuple[Renderer, ...] = ("directory", "kustomize", "helm", "plugin")


def detected(tree: Files, path: str) -> Renderer:
    """What Argo CD takes a folder for when the Application does not say."""
    prefix = f"{path}/" if path else ""
    if tree.get(f"{prefix}Chart.yaml") is not None:
        return "helm"
    if any(tree.get(prefix + name) is not None for name in KUSTOMIZATION_NAMES):
        return "kustomize"
    return "directory"


def _has_kustomization_below(tree: Files, path: str) -> bool:
    return any(name.rpartition("/")[2] in KUSTOMIZATION_NAMES for name, _ in tree.under(path))


def deciding_files(path: str, application: str) -> tuple[str, ...]:
    """The files that decide how a folder is rendered, whether or not they are there."""
    prefix = f"{path}/" if path else ""
    names = (".argocd-source.yaml", f".argocd-source-{application}.yaml", "Chart.yaml", *KUSTOMIZATION_NAMES)
    return tuple(prefix + name for name in names)


def _first_object(content: bytes) -> JsonObject:
    first = next(documents(content), None)
    return first if isinstance(first, dict) else {}


def _merged(base: Json, patch: Json) -> Json:
    """A JSON merge patch (RFC 7386): maps are merged, null removes, lists are replaced whole."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged
