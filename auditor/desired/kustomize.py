"""Kustomize: which files a kustomization reads, and building it."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import yaml

from auditor.desired.bases import Bases, mount
from auditor.desired.blobs import Contents
from auditor.desired.history import SYMLINK
from auditor.desired.manifests import documents
from auditor.desired.reads import Reads
from auditor.desired.source import KUSTOMIZATION_NAMES, Effective, deciding_files, join
from auditor.desired.tools import RenderFailedError, Tools, run
from auditor.desired.trees import Files
from auditor.model.resource import Json, JsonObject

_REMOTE = re.compile(r"(?:[a-z+]+://|git@|git::|(?:github|gitlab|bitbucket)\.(?:com|org)[/:])|\?ref=|\.git(?:[/?]|\Z)")
_FOLLOWED = ("resources", "bases", "components", "crds", "transformers", "generators", "validators", "configurations")
_PATCH_LISTS = ("patches", "patchesJson6902", "replacements")
_GENERATORS = ("configMapGenerator", "secretGenerator")
_ALONE = ("openapi",)
_MAX_FOLDERS = 500


def kustomize_reads(effective: Effective, application: str, tree: Files, blobs: Contents, bases: Bases) -> Reads:
    """The kustomization and all that it leads to. Raises UnreadableError."""
    following = _Following(tree, blobs, bases)
    following.folder(effective.path)
    if not following.kustomizations:
        following.problem = following.problem or f"there is no kustomization in {effective.path} at that revision"
    options = effective.options
    for component in _texts(options.get("components")):
        following.reference(effective.path, component, remote=False)
    for patch in _dicts(options.get("patches")):
        following.file(effective.path, patch.get("path"))
    links = (*deciding_files(effective.path, application), *sorted(following.links))
    remotes = tuple(sorted(following.remotes.items()))
    return Reads(paths=tuple(sorted(following.paths)), links=links, problem=following.problem, remotes=remotes)


class _Following:
    """Collects what a kustomization leads to."""

    def __init__(self, tree: Files, blobs: Contents, bases: Bases) -> None:
        self.paths: set[str] = set()
        self.links: set[str] = set()
        self.kustomizations: set[str] = set()
        self.remotes: dict[str, str] = {}
        self.problem = ""
        self._bases = bases
        self._tree = tree
        self._blobs = blobs

    def folder(self, folder: str) -> None:
        """The kustomization of a folder."""
        if folder in self.kustomizations or len(self.kustomizations) >= _MAX_FOLDERS:
            return
        candidates = [f"{folder}/{name}".lstrip("/") for name in KUSTOMIZATION_NAMES]
        self.links.update(candidates)
        for path in candidates:
            entry = self._tree.get(path)
            if entry is None:
                continue
            self.kustomizations.add(folder)
            self.paths.add(path)
            for kind, text in self._blobs.fact("kustomization", entry.blob, path, kustomization_links):
                self._follow(folder, kind, text)

    def _follow(self, folder: str, kind: str, text: str) -> None:
        if kind == "problem":
            self.problem = self.problem or text
        elif kind == "reference":
            self.reference(folder, text)
        else:
            self.file(folder, text)

    def reference(self, folder: str, text: str, *, remote: bool = True) -> None:
        """A file or another kustomization. `remote`: it may lie in another repository."""
        path = _inside(folder, text)
        if path is not None and self._tree.get(path) is not None:
            self.file(folder, text)
        elif path is not None and self._tree.has_folder(path):
            self.links.add(path)
            self.folder(path)
        elif _REMOTE.search(text):
            self._remote(text, remote)
        elif path is None:
            self.problem = self.problem or f"{text} leads out of the repository"
        else:
            self.links.update((path, *(f"{path}/{name}" for name in KUSTOMIZATION_NAMES)))
            self.problem = self.problem or f"{path} is not there at that revision"

    def _remote(self, text: str, allowed: bool) -> None:
        """A base in another repository."""
        base, problem = self._bases.resolve(text) if allowed else ("", f"the Application adds a remote base, {text}")
        if not problem and not self._tree.has_folder(base):
            problem = f"it has a remote base, {text}, and no such folder is there at that ref"
        if problem:
            self.problem = self.problem or problem
            return
        self.remotes[text] = base
        self.links.add(base)
        self.folder(base)

    def file(self, folder: str, text: Json) -> None:
        """A file that is read, whether or not it is there."""
        if not isinstance(text, str):
            return
        path = _inside(folder, text)
        if path is None:
            self.problem = self.problem or f"{text} leads out of the repository"
            return
        entry = self._tree.get(path)
        if entry is not None and entry.mode == SYMLINK:
            self.problem = self.problem or f"{path} is a symbolic link"
        self.paths.add(path)
        # A file may turn into a folder with a kustomization, or come into being.
        self.links.update([path] if entry is None else [])


def _inside(folder: str, text: str) -> str | None:
    """The path in the same repository; None where it leads out of it."""
    path = None if text.startswith("/") else join(folder, text)
    return path if path is not None and mount(path) == mount(folder) else None


def kustomization_links(content: bytes) -> list[tuple[str, str]]:
    """What a kustomization leads to, as (`reference`, text), (`file`, text) or (`problem`, sentence)."""
    first = next(documents(content), None)
    return list(_links(first)) if isinstance(first, dict) else []


def _links(document: JsonObject) -> Iterator[tuple[str, str]]:
    for key in _FOLLOWED:
        for text in _texts(document.get(key)):
            # Inline YAML stands where a path could: transformers, generators and validators allow it.
            if "\n" not in text:
                yield "reference", text
    for text in _texts(document.get("patchesStrategicMerge")):
        if "\n" not in text:
            yield "file", text
    for key in _PATCH_LISTS:
        yield from (("file", path) for item in _dicts(document.get(key)) if isinstance(path := item.get("path"), str))
    for key in _GENERATORS:
        for item in _dicts(document.get(key)):
            yield from (("file", text.rpartition("=")[2]) for text in _texts(item.get("files")))
            yield from (("file", text) for text in (*_texts(item.get("envs")), *_texts([item.get("env")])))
    for key in _ALONE:
        alone = document.get(key)
        if isinstance(alone, dict) and isinstance(path := alone.get("path"), str):
            yield "file", path
    if document.get("helmCharts") or document.get("helmChartInflationGenerator"):
        yield "problem", "its kustomization inflates a Helm chart, which needs programs to be run"


def _texts(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _dicts(value: Json) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def build(
    tools: Tools, root: Path, effective: Effective, unrestricted: bool, remotes: Mapping[str, str] | None = None
) -> bytes:
    """The built manifests as YAML. Raises RenderFailedError. `root` holds the exported files, those of remote bases
    in the folders that `remotes` says."""
    command = tools.kustomize_build()
    if command is None:
        raise LookupError("kustomize")
    folder = root / effective.path
    if remotes:
        for file in sorted(found for name in KUSTOMIZATION_NAMES for found in root.rglob(name)):
            _localise(file, root, remotes)
    if effective.options:
        apply_options(folder, effective.options)
    restrictor = "LoadRestrictionsNone" if unrestricted else "LoadRestrictionsRootOnly"
    return run([*command, str(folder), f"--load-restrictor={restrictor}"], root)


def _localise(file: Path, root: Path, remotes: Mapping[str, str]) -> None:
    """Let an exported kustomization name the local copies of its remote bases. It is changed as text, and only where
    a list is certain to name them: reading and writing YAML could change a value beside them."""
    content = file.read_bytes()
    named = [text for kind, text in kustomization_links(content) if kind == "reference" and text in remotes]
    for text in sorted(set(named)):
        local = os.path.relpath(root / remotes[text], file.parent)
        item = re.compile(rb"(?m)^(\s*-\s+)([\"']?)" + re.escape(text.encode()) + rb"\2(?=\s*(?:\s#.*)?$)")
        content, count = item.subn(lambda found, local=local: found[1] + local.encode(), content)  # type: ignore[misc]
        if count != named.count(text):
            raise RenderFailedError(f"its remote base {text} cannot be told from other text in the kustomization")
    file.write_bytes(content)


def apply_options(folder: Path, options: JsonObject) -> None:
    """Write what the Application sets into the exported kustomization, as `kustomize edit` would."""
    file = next(folder / name for name in KUSTOMIZATION_NAMES if (folder / name).is_file())
    first = next(documents(file.read_bytes()), None)
    document: JsonObject = first if isinstance(first, dict) else {}
    for key, edit in _EDITS.items():
        value = options.get(key)
        if value:
            edit(document, value, options)
    file.write_text(yaml.safe_dump(document, sort_keys=False))


def _set(key: str) -> "Callable[[JsonObject, Json, JsonObject], None]":
    def edit(document: JsonObject, value: Json, options: JsonObject) -> None:
        document[key] = value

    return edit


def _append(key: str) -> "Callable[[JsonObject, Json, JsonObject], None]":
    def edit(document: JsonObject, value: Json, options: JsonObject) -> None:
        present = document.get(key)
        document[key] = [*(present if isinstance(present, list) else []), *(value if isinstance(value, list) else [])]

    return edit


def _labels(document: JsonObject, value: Json, options: JsonObject) -> None:
    if options.get("labelWithoutSelector") is True:
        item: JsonObject = {"pairs": value, "includeSelectors": False}
        item["includeTemplates"] = options.get("labelIncludeTemplates") is True
        _append("labels")(document, [item], options)
    else:
        _merge("commonLabels")(document, value, options)


def _merge(key: str) -> "Callable[[JsonObject, Json, JsonObject], None]":
    def edit(document: JsonObject, value: Json, options: JsonObject) -> None:
        present = document.get(key)
        document[key] = {**(present if isinstance(present, dict) else {}), **(value if isinstance(value, dict) else {})}

    return edit


def _images(document: JsonObject, value: Json, options: JsonObject) -> None:
    """`name=new/name:tag`, `name:tag`, `name@sha256:...` in place of an entry of the same name."""
    given = [image for text in _texts(value) if (image := _image(text)) is not None]
    names = {image["name"] for image in given}
    kept: list[Json] = [item for item in _dicts(document.get("images")) if item.get("name") not in names]
    document["images"] = [*kept, *given]


def _image(text: str) -> JsonObject | None:
    name, equals, new = text.partition("=")
    target = new if equals else name
    image: JsonObject = {}
    if "@" in target:
        target, _, digest = target.partition("@")
        image["digest"] = digest
    elif ":" in target.rpartition("/")[2]:
        target, _, tag = target.rpartition(":")
        image["newTag"] = tag
    image["name"] = name if equals else target
    if equals and target:
        image["newName"] = target
    return image if image["name"] else None


def _replicas(document: JsonObject, value: Json, options: JsonObject) -> None:
    given = _dicts(value)
    names = {item.get("name") for item in given}
    kept: list[Json] = [item for item in _dicts(document.get("replicas")) if item.get("name") not in names]
    numbered: list[Json] = [{**item, "count": int(str(item.get("count", 0)))} for item in given]
    document["replicas"] = [*kept, *numbered]


_EDITS: "dict[str, Callable[[JsonObject, Json, JsonObject], None]]" = {
    "namePrefix": _set("namePrefix"),
    "nameSuffix": _set("nameSuffix"),
    "namespace": _set("namespace"),
    "images": _images,
    "replicas": _replicas,
    "commonLabels": _labels,
    "commonAnnotations": _merge("commonAnnotations"),
    "patches": _append("patches"),
    "components": _append("components"),
}
