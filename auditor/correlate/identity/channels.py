"""By what a request was sent: the closed list of channels, told from user agent, field manager, patch type and body.

All four are what the client says of itself, so a channel is a description and never decides who somebody is. What a
real kubectl sends was measured command by command (kubectl 1.32; see docs/actors.md).
"""

import re
from functools import lru_cache

from auditor.model.facts import AuditEvent
from auditor.model.resource import Json, JsonObject
from auditor.objects.document import value_in

KUBECTL_WORDS: tuple[str, ...] = (
    "annotate",
    "apply",
    "attach",
    "auth",
    "autoscale",
    "certificate",
    "cordon",
    "create",
    "debug",
    "delete",
    "diff",
    "drain",
    "edit",
    "exec",
    "expose",
    "label",
    "patch",
    "port-forward",
    "replace",
    "rollout",
    "run",
    "scale",
    "set",
    "taint",
    "uncordon",
)
"""The sub-commands of kubectl that write or open a door."""

ARGOCD = "Argo CD UI or CLI"
KUBECTL = "kubectl"
"""kubectl, where the record does not tell the sub-command (no field manager and no body)."""

CHANNELS: tuple[str, ...] = (
    *(f"kubectl {word}" for word in KUBECTL_WORDS),
    KUBECTL,
    ARGOCD,
    "helm",
    "terraform",
    "console",
    "API client",
    "unknown",
)

_CLIENTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("kubectl", r"(kubectl|oc)([-_.]?v?\d[\w.]*|[-_]\w*(amd64|arm64))?(\.exe)?/"),
        ("argocd-server", r"argocd-server/"),
        ("argocd", r"argocd(\.exe)?/"),
        ("helm", r"[Hh]elm(\.exe)?/"),
        ("terraform", r"(HashiCorp/[\d.]+ )?(Terraform|OpenTofu)/|(terraform|tofu|terraform-provider-\w+)(_v[\d.]+)?/"),
        ("console", r"Mozilla/|(?i:k9s|(open)?lens|headlamp|octant|freelens|kubernetes-dashboard|dashboard)/"),
        ("console", r"(?i:google-?cloud-?console|cloud console)"),
        ("tool", r"(curl|Wget|flux|pulumi\S*|kustomize|kapp|skaffold|kluctl|helmfile|ansible\S*)(\.exe)?/"),
    )
)

_SUBRESOURCES = {
    "attach": "attach",
    "ephemeralcontainers": "debug",
    "eviction": "drain",
    "exec": "exec",
    "portforward": "port-forward",
    "approval": "certificate",
    "token": "create",
}

_BY_VERB = {"create": "create", "update": "replace", "delete": "delete", "deletecollection": "delete"}

_REVIEWS = ("authorization.k8s.io", "authentication.k8s.io")


@lru_cache(maxsize=4096)
def client(user_agent: str) -> str:
    """What kind of program a user agent claims to be: kubectl, helm, terraform, argocd (the command),
    argocd-server, console, tool (another command-line program), other; "" for none."""
    if not user_agent:
        return ""
    return next((name for name, pattern in _CLIENTS if pattern.match(user_agent)), "other")


def channel(event: AuditEvent, patch_type: str) -> str:
    """The channel of a request, one of `CHANNELS`. `patch_type` is `Write.patch_type`."""
    program = client(event.user_agent)
    if program == "kubectl" or _is_renamed_kubectl(event, program):
        word = _kubectl_word(event, patch_type)
        return f"kubectl {word}" if word else KUBECTL
    if program == "argocd" or (program == "argocd-server" and _is_machine(event.user)):
        return ARGOCD
    if program in ("helm", "terraform", "console"):
        return program
    return "API client" if program else "unknown"


def _is_renamed_kubectl(event: AuditEvent, program: str) -> bool:
    """A kubectl under another name says so by its field manager and its build, which a library has not."""
    stamped = re.search(r" kubernetes/[0-9a-f]{7}", event.user_agent) is not None
    return program in ("", "other") and event.field_manager.startswith("kubectl-") and (stamped or not program)


def _is_machine(user: str) -> bool:
    return user.startswith("system:serviceaccount:") or "argocd" in user.lower()


def _kubectl_word(event: AuditEvent, patch_type: str) -> str:
    """The sub-command, "" where the record does not tell."""
    return (
        _word_of_manager(event)
        or _word_of_place(event)
        or (_word_of_patch(event, patch_type) if event.verb == "patch" else _word_of_verb(event))
    )


def _word_of_manager(event: AuditEvent) -> str:
    """kubectl names itself `kubectl-WORD`, and `kubectl` for server-side apply. `diff` sends what apply would as a
    dry run, and without asking for validation."""
    manager = event.field_manager
    if manager == "kubectl-client-side-apply" and event.dry_run and "fieldValidation=" not in event.request_uri:
        return "diff"
    if manager in ("kubectl", "kubectl-client-side-apply", "kubectl-last-applied", "oc-client-side-apply"):
        return "apply"
    word = re.sub(r"^(kubectl|oc)-", "", manager)
    return word if word != manager and word in KUBECTL_WORDS else ""


def _word_of_place(event: AuditEvent) -> str:
    if event.subresource == "scale" and not event.field_manager:
        return "scale"
    if event.verb == "create" and event.api_group in _REVIEWS and event.resource.endswith("reviews"):
        return "auth"
    return _SUBRESOURCES.get(event.subresource, "")


def _word_of_verb(event: AuditEvent) -> str:
    if event.verb == "get":
        return ""
    body = value_in(event.request)
    if event.verb == "create" and _has_last_applied(body):
        return "apply"
    if not event.field_manager and event.request_uri:
        if event.verb == "create" and event.resource == "pods":
            return "debug"
        if event.verb in ("create", "update") and event.api_group == "rbac.authorization.k8s.io":
            return "auth"
        if event.verb == "update" and event.resource == "nodes":
            return "cordon" if _at(body, "spec", "unschedulable") else "uncordon"
    return _BY_VERB.get(event.verb, "")


def _word_of_patch(event: AuditEvent, patch_type: str) -> str:
    """For a patch whose field manager names no sub-command: left out, or chosen by the caller."""
    body = value_in(event.request)
    if patch_type == "apply" or _has_last_applied(body):
        return "apply"
    return _word_of_body(event, body) or _word_of_shape(event, body)


def _word_of_body(event: AuditEvent, body: Json) -> str:
    """Sub-commands that always send the same thing."""
    if _is_rollout(event, body):
        return "rollout"
    if not isinstance(body, dict):
        return ""
    if event.resource == "nodes" and _paths(body) == {("spec", "unschedulable")}:
        return "cordon" if _at(body, "spec", "unschedulable") else "uncordon"
    if event.resource == "nodes" and _paths(body) == {("spec", "taints")}:
        return "taint"
    return next((word for key, word in _METADATA_WORDS if _under_metadata(body, key)), "")


_METADATA_WORDS = (("labels", "label"), ("annotations", "annotate"))


def _word_of_shape(event: AuditEvent, body: Json) -> str:
    """What is left: `edit` asks the server for strict validation, `set` sends the order of containers, and both
    send maps; anything else that a person typed is `patch`."""
    if body is None:
        return "rollout" if _may_only_be_undo(event) else ""
    if not event.field_manager and event.request_uri:
        return ""
    if "fieldValidation=" in event.request_uri:
        return "edit"
    if b"$setElementOrder/containers" in (event.request or b""):
        return "set"
    return "patch"


def _may_only_be_undo(event: AuditEvent) -> bool:
    """Of all patches of a workload only `rollout undo` comes without a field manager; told only where the request
    URI, which would hold it, is in the record."""
    return (
        not event.field_manager
        and bool(event.request_uri)
        and event.resource in ("deployments", "daemonsets", "statefulsets")
        and not event.subresource
    )


def _is_rollout(event: AuditEvent, body: Json) -> bool:
    if isinstance(body, list):
        paths = {operation.get("path") for operation in body if isinstance(operation, dict)}
        return not event.field_manager and "/spec/template" in paths
    if not isinstance(body, dict):
        return False
    restarted = _at(body, "spec", "template", "metadata", "annotations")
    if isinstance(restarted, dict) and set(restarted) == {"kubectl.kubernetes.io/restartedAt"}:
        return _paths(body) == {("spec", "template")}
    if _paths(body) == {("spec", "paused")}:
        return True
    template = _at(body, "spec", "template")
    return isinstance(template, dict) and template.get("$patch") == "replace"


def _paths(body: JsonObject) -> set[tuple[str, ...]]:
    """The first two levels of what a patch names, without kubectl's ordering directives."""
    found: set[tuple[str, ...]] = set()
    for key, value in body.items():
        inner = [name for name in value if not name.startswith("$")] if isinstance(value, dict) else []
        found.update((key, name) for name in inner) if inner else found.add((key,))
    return found


def _under_metadata(body: JsonObject, key: str) -> bool:
    """Whether a patch is about labels alone, or annotations alone (with the version that guards it)."""
    inner = {name for name in body if name not in ("apiVersion", "kind")}
    metadata = body.get("metadata")
    return inner == {"metadata"} and isinstance(metadata, dict) and set(metadata) - {"resourceVersion"} == {key}


def _has_last_applied(body: Json) -> bool:
    annotations = _at(body, "metadata", "annotations")
    return isinstance(annotations, dict) and "kubectl.kubernetes.io/last-applied-configuration" in annotations


def _at(body: Json, *keys: str) -> Json:
    for key in keys:
        if not isinstance(body, dict):
            return None
        body = body.get(key)
    return body
