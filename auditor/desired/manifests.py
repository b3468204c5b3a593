"""YAML and JSON text as the manifests it declares."""

import re
from collections.abc import Iterable, Iterator

import orjson

from auditor.collectors.files.bounded_yaml import MalformedYamlError, load
from auditor.model.desired import ManifestKey
from auditor.model.resource import Json, JsonObject
from auditor.objects.kinds import group_of, is_namespaced

_MARKER = re.compile(rb"^---(?=[ \t\r\n]|\Z)", re.M)
_DIRECTIVE = re.compile(rb"^(?:%YAML[^\n]*\n)", re.M)
_MAX_DOCUMENTS = 20_000


def manifests(text: bytes) -> list[JsonObject]:
    """All objects of a YAML or JSON stream, those of lists one by one. Raises MalformedYamlError.

    What names no kind is no manifest and left out, as Argo CD does with files that only look like one.
    """
    return [manifest for document in documents(text) for manifest in _flat(document)]


def documents(text: bytes) -> Iterator[Json]:
    """The documents of a stream that hold something."""
    if text.lstrip()[:1] in (b"{", b"["):
        try:
            yield orjson.loads(text)
            return
        except orjson.JSONDecodeError:
            pass  # a YAML flow mapping, or several JSON documents with markers between them
    parts = _MARKER.split(text)
    if len(parts) > _MAX_DOCUMENTS:
        raise MalformedYamlError(f"more than {_MAX_DOCUMENTS} documents")
    for part in parts:
        if part.strip():
            document = load(_DIRECTIVE.sub(b"", part))
            if document is not None:
                yield document


def _flat(document: Json) -> Iterator[JsonObject]:
    if not isinstance(document, dict) or not document.get("kind") or not document.get("apiVersion"):
        return
    items = document.get("items")
    if isinstance(items, list) and str(document["kind"]).endswith("List"):
        for item in items:
            yield from _flat(item)
    else:
        yield document


def keyed(found: Iterable[JsonObject], namespace: str) -> dict[ManifestKey, JsonObject]:
    """Manifests by what they are called; `namespace` is the destination's, for those that name none. Where two have
    one name the last one counts, as it does in the cluster."""
    return {key: manifest for manifest in found if (key := key_of(manifest, namespace)) is not None}


def key_of(manifest: JsonObject, namespace: str) -> ManifestKey | None:
    """What a manifest is called; None where it has no name (generateName)."""
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str):
        return None
    group, kind = group_of(str(manifest["apiVersion"])), str(manifest["kind"])
    own = metadata.get("namespace")
    place = own if isinstance(own, str) and own else namespace
    return ManifestKey(group, kind, "" if is_namespaced(group, kind) is False else place, name)
