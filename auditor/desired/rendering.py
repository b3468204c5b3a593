"""Manifests of one source at one revision, made at most once for each distinct content."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

from auditor.collectors.files.bounded_yaml import MalformedYamlError
from auditor.desired import helm, kustomize
from auditor.desired.blobs import Contents, UnreadableError
from auditor.desired.export import export
from auditor.desired.history import Entry
from auditor.desired.manifests import manifests
from auditor.desired.pack import Pack
from auditor.desired.plain import file_manifests
from auditor.desired.scratch import scratch
from auditor.desired.source import Destination, Effective
from auditor.desired.tools import RenderFailedError, Tools
from auditor.model.resource import JsonObject
from auditor.objects.redaction import Redactor

_Make: TypeAlias = Callable[[], tuple[list[JsonObject], list[JsonObject]]]
"""Renders once, and a second time where that may come out otherwise."""

READING = 2
"""How YAML is read here: to be raised where values come out otherwise, as renders are kept for one reading alone."""
_REMEMBERED = 8192
_DATED = "its templates make dated values"
_ASKING = "its templates ask the cluster, which is not asked here"


@dataclass(frozen=True, slots=True)
class Rendered:
    """What one content declares."""

    content: str
    manifests: Sequence[JsonObject]
    second: Sequence[JsonObject] = ()
    """All manifests of a second render, where it came out otherwise."""
    when: Literal["now", "before"] = "before"
    reason: str = ""
    """Why it may not be what Argo CD rendered, "" where nothing speaks against it."""


@dataclass(slots=True)
class Counts:
    """How often was rendered, and for how many contents."""

    contents: int = 0
    renders: int = 0


class Renderer:
    """Renders, with a cache on disk and one in memory. Raises UnreadableError with a reason for a reader."""

    def __init__(
        self, tools: Tools, pack: Pack, redactor: Redactor, versions: Mapping[str, str], unrestricted: bool
    ) -> None:
        self._tools = tools
        self._pack = pack
        self._redactor = redactor
        self._versions = versions
        self._unrestricted = unrestricted
        self._memory: OrderedDict[bytes, Rendered | str] = OrderedDict()
        # Hashes of secrets compare only under one key: manifests that hold some are kept for this key alone.
        probe: JsonObject = {"apiVersion": "v1", "kind": "Secret", "data": {"fingerprint": "YXVkaXRvcg=="}}
        self._fingerprint = hashlib.sha256(orjson.dumps(redactor.document(probe))).hexdigest()[:16]
        self.counts = Counts()

    def plain(self, files: Sequence[tuple[str, Entry]], blobs: Contents) -> Rendered:
        """The manifests of a directory, file by file."""
        parts = [
            self._once(
                _key("plain", entry.blob, path.endswith(".jsonnet"), entry.mode[:3]), self._file(path, entry, blobs)
            )
            for path, entry in files
        ]
        content = hashlib.sha256("".join(part.content for part in parts).encode()).hexdigest()
        when: Literal["now", "before"] = "now" if any(part.when == "now" for part in parts) else "before"
        return Rendered(content, [manifest for part in parts for manifest in part.manifests], when=when)

    def _file(self, path: str, entry: Entry, blobs: Contents) -> _Make:
        return lambda: (file_manifests(path, entry, blobs), [])

    def kustomize(
        self,
        effective: Effective,
        files: Sequence[tuple[str, Entry]],
        blobs: Contents,
        remotes: Mapping[str, str],
    ) -> Rendered:
        """What `kustomize build` makes of a folder; `remotes` are folders of its remote bases."""
        further = [sorted(remotes.items())] if remotes else []
        key = _key("kustomize", effective.path, effective.options, self._unrestricted, _listed(files), *further)

        def build(root: Path) -> bytes:
            return kustomize.build(self._tools, root, effective, self._unrestricted, remotes)

        return self._once(key, lambda: (self._run(files, blobs, build, "Kustomize"), []))

    def helm(
        self,
        effective: Effective,
        files: Sequence[tuple[str, Entry]],
        blobs: Contents,
        destination: Destination,
        refs: Mapping[str, str],
        uses: Mapping[str, bool],
    ) -> Rendered:
        """What `helm template` makes of a chart; twice where its templates make random values."""
        version = self._versions.get(destination.cluster, "")
        place = (destination.application, destination.namespace, version)
        key = _key("helm", effective.path, effective.options, sorted(refs.items()), place, _listed(files))

        def template(root: Path) -> bytes:
            return helm.template(self._tools, root, effective, destination, refs, version)

        def render() -> tuple[list[JsonObject], list[JsonObject]]:
            first = self._run(files, blobs, template, "Helm")
            return first, self._run(files, blobs, template, "Helm") if uses["random"] else []

        reasons = [text for use, text in (("dated", _DATED), ("lookup", _ASKING)) if uses[use]]
        found = self._once(key, render)
        return Rendered(found.content, found.manifests, found.second, found.when, " and ".join(reasons))

    def _run(
        self, files: Sequence[tuple[str, Entry]], blobs: Contents, program: Callable[[Path], bytes], name: str
    ) -> list[JsonObject]:
        try:
            with scratch() as folder:
                root = Path(folder).resolve()
                export(files, blobs, root)
                self.counts.renders += 1
                return manifests(program(root))
        except LookupError as error:
            raise UnreadableError(f"{name} is not rendered: this machine has no {error.args[0]}") from error
        except (RenderFailedError, MalformedYamlError) as error:
            raise UnreadableError(f"{name} does not render it: {error}") from error
        except OSError as error:
            raise UnreadableError(f"{name} is not rendered: {error.strerror}") from error

    def _once(self, key: bytes, make: _Make) -> Rendered:
        found = self._memory.get(key)
        if found is None:
            found = self._kept(key) or self._made(key, make)
            self._memory[key] = found
            if len(self._memory) > _REMEMBERED:
                self._memory.popitem(last=False)
        else:
            self._memory.move_to_end(key)
        if isinstance(found, str):
            raise UnreadableError(found)
        return found

    def _kept(self, key: bytes) -> Rendered | None:
        kept: Any = self._pack.get(key)
        if not isinstance(kept, dict) or kept.get("secrets", "") not in ("", self._fingerprint):
            return None
        self.counts.contents += 1
        return Rendered(key.hex(), kept["manifests"], kept.get("second", []))

    def _made(self, key: bytes, make: _Make) -> Rendered | str:
        self.counts.contents += 1
        try:
            first, second = make()
        except UnreadableError as error:
            # Not kept on disk: with another program, or a fuller clone, it may render.
            return str(error)
        redacted = [self._redactor.document(manifest) for manifest in first]
        again = [self._redactor.document(manifest) for manifest in second] if second != first else []
        document: dict[str, Any] = {"manifests": redacted}
        if again:
            document["second"] = again
        if redacted != first:
            document["secrets"] = self._fingerprint
        self._pack.put(key, document)
        return Rendered(key.hex(), redacted, again, "now")


def _listed(files: Sequence[tuple[str, Entry]]) -> list[tuple[str, str, str]]:
    return [(path, entry.mode, entry.blob) for path, entry in files]


def _key(*parts: Any) -> bytes:
    return hashlib.sha256(orjson.dumps((READING, *parts), option=orjson.OPT_SORT_KEYS)).digest()
