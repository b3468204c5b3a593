"""What a write asks for: its patch type, what an object is after it, and which fields it names.

The records hold no Content-Type, so the patch type is inferred; what a request to a sub-resource means for its parent
is said by `subresources`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import parse_qs, urlsplit

from auditor.model.resource import Json, JsonObject
from auditor.objects import json_patch, schema, server_side
from auditor.objects import named as naming
from auditor.objects.defaults import dropped_by_server, kept_by_server, with_defaults
from auditor.objects.json_patch import DoesNotFitError
from auditor.objects.kinds import is_built_in
from auditor.objects.leaves import differences, readable, stored_form
from auditor.objects.merge_patch import has_directives, merge, strategic
from auditor.objects.named import Named
from auditor.objects.subresources import on_parent
from auditor.objects.versions import common_version

PatchType: TypeAlias = Literal["json-patch", "merge", "strategic", "apply", "put", "create", "delete", "unknown"]

_BY_VERB: Mapping[str, PatchType] = {
    "create": "create",
    "update": "put",
    "delete": "delete",
    "deletecollection": "delete",
}
_STRATEGIC = frozenset(
    {
        "Helm",
        "argocd-application-controller",
        "argocd-controller",
        "helm",
        "kubectl-client-side-apply",
        "kubectl-edit",
        "kubectl-rollout",
        "kubectl-set",
        "kubectl-taint",
    }
)
"""Field managers, or programs, of clients that send nothing but strategic merge patches for built-in kinds."""
_MERGING = frozenset({"kubectl-label", "kubectl-annotate"})
"""Field managers of commands that send JSON merge patches for built-in kinds too."""


@dataclass(frozen=True, slots=True)
class Patched:
    """An object after a write."""

    document: JsonObject | None
    """None: it is gone, or nothing is known of it."""
    complete: bool
    """Whether that is all of it. False where the state before was not known, or the patch does not fit it."""


def classify(
    verb: str,
    request: Json,
    field_manager: str,
    force: bool,
    uri: str,
    code: int | None,
    group: str = "",
    kind: str = "",
    before: JsonObject | None = None,
    after: JsonObject | None = None,
) -> PatchType:
    """The patch type of a write. The records never hold a Content-Type: the shape of the request tells.

    Where a merge and a strategic merge patch would read differently, the states before and after decide; without
    them, the client's habits (`kubectl label` merges, all else of kubectl and Argo CD is strategic for built-ins).
    """
    if verb != "patch":
        return _BY_VERB.get(verb, "unknown")
    if isinstance(request, list):
        return "json-patch"
    if not isinstance(request, dict):
        return "unknown"
    if has_directives(request):
        return "strategic"
    if _is_apply(request, field_manager, force, uri, code):
        return "apply"
    return _merge_or_strategic(request, field_manager, group, kind, before, after)


def _is_apply(request: JsonObject, field_manager: str, force: bool, uri: str, code: int | None) -> bool:
    """An applied configuration names its object, its kind and its manager; `force` is sent by nothing else."""
    metadata = request.get("metadata")
    if not (isinstance(metadata, dict) and request.get("apiVersion") and request.get("kind")):
        return False
    query = parse_qs(urlsplit(uri).query)
    if force or "force" in query or code == 201:
        return True
    habit = field_manager.startswith("kubectl-") or field_manager in ("Mozilla", "node-fetch")
    return bool(metadata.get("name")) and (not uri or "fieldManager" in query) and not habit


def _merge_or_strategic(
    request: JsonObject,
    field_manager: str,
    group: str,
    kind: str,
    before: JsonObject | None,
    after: JsonObject | None,
) -> Literal["merge", "strategic"]:
    if not is_built_in(group, kind):
        return "merge"
    if before is None or after is None or not _has_lists(request):
        return "merge" if field_manager in _MERGING else "strategic"
    misses = {}
    for guess in ("strategic", "merge"):
        result = apply(before, request, guess, group, kind).document
        misses[guess] = len(differences(result, after, group, kind))
    return "merge" if misses["merge"] < misses["strategic"] else "strategic"


def may_be_merge(request: Json, patch_type: PatchType, sender: str, group: str, kind: str) -> bool:
    """Whether a patch that is taken for a strategic one may be a JSON merge patch as well: nothing in it tells, and
    its client sends either. They differ in what becomes of lists. `sender` is its field manager, else its program."""
    told = has_directives(request) or sender in _STRATEGIC or not is_built_in(group, kind)
    return patch_type == "strategic" and not told and _has_lists(request)


def _has_lists(value: Json) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and any(map(_has_lists, value.values())))


def apply(
    document: JsonObject | None,
    request: Json,
    patch_type: PatchType,
    group: str,
    kind: str,
    subresource: str = "",
    field_manager: str = "",
    complete: bool = True,
) -> Patched:
    """The object after a write that the API server accepted; arguments are left as they are.

    `document` None: the state before is not known, and the result holds what the request alone says. `complete` says
    whether the document is all of the object. The defaults of built-in kinds are filled in; what the server sets at
    random or counts (uid, generation, resourceVersion) stays as it was.
    """
    if not subresource:
        match patch_type:
            case "delete":
                return Patched(None, True)
            case "create":
                return Patched(with_defaults(stored_form(_object(request), group, kind), group, kind), True)
            case "put":
                return Patched(_replaced(document, _object(request), group, kind), True)
    asked, form = on_parent(request, patch_type, subresource)
    try:
        result = _patched(document or {}, asked, form, group, kind, field_manager)
        result = result and common_version(result, group, kind)
    except DoesNotFitError:
        result = None
    if result is None:
        return Patched(document, False)
    known = complete and document is not None and (form != "apply" or server_side.knows_owners(document))
    if not subresource:
        result = _with_status_of(document, stored_form(result, group, kind), group, kind)
        result = dropped_by_server(document, result, group, kind)
    return Patched(with_defaults(result, group, kind) if known else result, known)


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _patched(
    document: JsonObject, request: Json, patch_type: str, group: str, kind: str, manager: str
) -> JsonObject | None:
    """The document after a patch; None for a patch type that is not known."""
    node = schema.root(group, kind)
    if patch_type == "json-patch" and isinstance(request, list):
        return json_patch.apply(document, request)
    if not isinstance(request, dict):
        return None
    match patch_type:
        case "merge":
            return _object(merge(document, request))
        case "strategic":
            return strategic(document, request, node)
        case "apply":
            result = server_side.apply(document, request, node, manager)
            return server_side.after_apply(document, result, request, node, manager)
        case _:
            return None


def _replaced(document: JsonObject | None, body: JsonObject, group: str, kind: str) -> JsonObject:
    """A PUT: the body, with what the API server keeps though a body leaves it out."""
    body = kept_by_server(document or {}, stored_form(body, group, kind), group, kind)
    return _with_status_of(document, with_defaults(body, group, kind), group, kind)


def _with_status_of(document: JsonObject | None, result: JsonObject, group: str, kind: str) -> JsonObject:
    """The API server ignores `status` in a write to the object, but for kinds without that sub-resource."""
    if group == "argoproj.io" and kind in ("Application", "ApplicationSet", "AppProject"):
        return result
    others = {key: value for key, value in result.items() if key != "status"}
    return others | {"status": document["status"]} if document and "status" in document else others


def named(
    request: Json,
    patch_type: PatchType,
    before: JsonObject | None,
    group: str,
    kind: str,
    subresource: str = "",
    field_manager: str = "",
    complete: bool = True,
) -> Named:
    """The fields that a request names. `before` gives positions their keys, and whole bodies what they leave out.

    `complete`: whether `before` is all of the object; whole bodies (PUT, apply) then name only what it holds.
    """
    asked, form = on_parent(request, patch_type, subresource)
    wholes = _wholes(asked, form, before, group, kind, field_manager)
    if (group, kind) == ("", "Secret"):
        wholes, before = naming.stored_under_data(wholes), before and stored_form(before, group, kind)
    if (group, kind) == ("autoscaling", "HorizontalPodAutoscaler"):
        wholes, before = naming.in_common_version(wholes), before and common_version(before, group, kind)
    return Named(tuple(wholes), before, complete and before is not None, form in ("put", "apply"))


def _wholes(
    request: Json, form: str, before: JsonObject | None, group: str, kind: str, manager: str
) -> Iterator[naming.Whole]:
    """What a request names, as its patch type reads it."""
    node = schema.root(group, kind)
    match form, request:
        case "json-patch", list():
            return naming.by_json_patch(request, before, group, kind)
        case "merge", dict():
            return naming.by_merge(request, before)
        case "strategic", dict():
            return naming.by_strategic(request, before, node)
        case "apply", dict():
            return naming.by_apply(request, before, node, manager)
        case "put" | "create", dict():
            return naming.by_body(readable(request, group, kind))
        case "delete", _:
            return naming.by_body({})
        case _:
            return iter(())


__all__ = ["Named", "PatchType", "Patched", "apply", "classify", "may_be_merge", "named"]
