"""Sub-resources: what a write to one asks of the object itself."""

from auditor.model.resource import Json, JsonObject

_PARTS = {
    "ephemeralcontainers": ("spec", "ephemeralContainers"),
    "finalize": ("spec", "finalizers"),
    "resize": ("spec", "containers"),
    "status": ("status",),
    "approval": ("status",),
}
"""The part of the object that a sub-resource writes; it takes the whole object as its body."""


def on_parent(request: Json, patch_type: str, subresource: str) -> tuple[Json, str]:
    """A request to a sub-resource as the patch of its parent that it amounts to, with that patch's type.

    What changes no object (`eviction`, `token`, `binding`, `exec` …) is an empty merge patch.
    """
    if not subresource:
        return request, patch_type
    if subresource == "scale":
        return _scale(request, patch_type)
    part = _PARTS.get(subresource)
    if part is None:
        return {}, "merge"
    if patch_type == "json-patch":
        return _operations(request, "/" + "/".join(part)), patch_type
    if patch_type == "put":
        return _replacing(request, part), "json-patch"
    return {part[0]: request[part[0]]} if isinstance(request, dict) and part[0] in request else {}, patch_type


def _scale(request: Json, patch_type: str) -> tuple[Json, str]:
    """A Scale has one field that counts; its JSON leaves out a zero."""
    if patch_type == "json-patch":
        return _operations(request, "/spec/replicas"), patch_type
    spec = request.get("spec") if isinstance(request, dict) else None
    if isinstance(spec, dict) and "replicas" in spec:
        return {"spec": {"replicas": spec["replicas"]}}, "merge"
    return {"spec": {"replicas": 0}} if patch_type == "put" else {}, "merge"


def _operations(request: Json, prefix: str) -> list[Json]:
    entries = request if isinstance(request, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and str(entry.get("path", "")).startswith(prefix)]


def _replacing(request: Json, part: tuple[str, ...]) -> list[Json]:
    value: Json = request
    for key in part:
        value = value.get(key) if isinstance(value, dict) else None
    operation: JsonObject = {"op": "add", "path": "/" + "/".join(part), "value": value}
    return [operation]
