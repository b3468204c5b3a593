"""What the API server puts into objects on its own, so that a default is nobody's change and no drift."""

import re
from typing import Literal

from auditor.model.resource import Json, JsonObject, ListItem, Path
from auditor.objects import schema
from auditor.objects.default_values import COMPLETED, NOTHING, Default, defaults_of
from auditor.objects.fields import SERVER_OWNED
from auditor.objects.kinds import canonical_group, is_built_in
from auditor.objects.leaves import is_empty
from auditor.objects.paths import lookup, matches, text
from auditor.objects.scalars import same
from auditor.objects.schema import Node

_ALLOCATED = re.compile(
    r"""(?x)
    /Service:spec\.(clusterIPs?|ipFamilies|ipFamilyPolicy|healthCheckNodePort|ports\[.*\]\.nodePort)
    | /Pod:spec\.(nodeName|priority|preemptionPolicy|tolerations|serviceAccount(Name)?|enableServiceLinks)
    | /Pod:spec\.volumes\[name=kube-api-access-.*
    | /Pod:spec\.(c|initC)ontainers\[[^]]*\]\.volumeMounts\[mountPath=/var/run/secrets/kubernetes\.io/serviceaccount.*
    | /Pod:spec\.(c|initC)ontainers\[[^]]*\]\.resources\.requests\..*
    | /PersistentVolumeClaim:spec\.(volumeName|storageClassName)
    | /PersistentVolume:spec\.claimRef\..*
    | /PersistentVolume(Claim)?:metadata\.(finalizers|annotations\["(pv|volume(\.beta)?)\.kubernetes\.io.*)
    | /Namespace:(spec\.finalizers|metadata\.labels\["kubernetes\.io/metadata\.name"\])
    | /Node:spec\.(podCIDRs?|providerID|taints)
    | /ServiceAccount:secrets.*
    | batch/Job:(spec\.selector.*|(spec\.template\.)?metadata\.labels(\[".*/)?\.?(controller-uid|job-name)("\])?)
    | certificates\.k8s\.io/CertificateSigningRequest:spec\.(uid|username|groups|extra.*)
    """
)
"""`group/Kind:path` of what the API server or its own admission plug-ins allocate."""


def filled_by(
    group: str, kind: str, path: Path, value: Json, document: JsonObject | None = None
) -> Literal["default", "allocation"] | None:
    """Whether the API server itself would have put this value there: a default, an allocation (`clusterIP`).

    With the `document` that holds the field, a default that depends on its neighbours (`imagePullPolicy`) is exact;
    without it, any value that the field could get by itself counts.
    """
    if not path or not is_built_in(group, kind):
        return None
    if _ALLOCATED.fullmatch(f"{canonical_group(group, kind)}/{kind}:{text(path)}"):
        return "allocation"
    for place in range(len(path) - 1, -1, -1):
        node, key = schema.at(group, kind, path[:place]), path[place]
        default = defaults_of(node.element, kind).get(key, NOTHING) if isinstance(key, str) else NOTHING
        if node.shape == "struct" and default is not NOTHING:
            owner = lookup(document, path[:place]).value if document is not None else None
            if _is_default(default, path[place:], value, owner, schema.at(group, kind, path)):  # type: ignore[arg-type]
                return "default"
    return None


def _is_default(default: Default, path: Path, value: Json, owner: Json, node: Node) -> bool:
    """Whether a default of `owner`, whose key begins the path, has the value at the path's end."""
    if callable(default):
        if not isinstance(owner, dict):
            return True
        given = default({key: other for key, other in owner.items() if key != path[0]})
        if given is NOTHING:
            return False
        default = given  # type: ignore[assignment]
    expected = lookup(default, path[1:])  # type: ignore[arg-type]
    return expected.state == "value" and same(node.element if node.shape == "scalar" else "?", expected.value, value)


def is_defaultable(group: str, kind: str, path: Path, value: Json, document: JsonObject | None = None) -> bool:
    """Whether the API server itself would have put this value there."""
    return filled_by(group, kind, path, value, document) is not None


def with_defaults(document: JsonObject, group: str, kind: str) -> JsonObject:
    """The object with the defaults that the API server adds; a copy, the argument is left as it is."""
    if not is_built_in(group, kind):
        return document
    filled = _filled(document, schema.root(group, kind), kind)
    return filled if isinstance(filled, dict) else document


def _filled(value: Json, node: Node, kind: str) -> Json:
    if isinstance(value, list) and node.shape == "list":
        return [_filled(item, node.items, kind) for item in value] if node.element[:1] == ":" else value
    if not isinstance(value, dict) or node.shape not in ("struct", "map"):
        return value
    result = dict(value)
    for key, default in defaults_of(node.element, kind).items() if node.shape == "struct" else ():
        if is_empty(node.child(key), result.get(key)) or result.get(key) == []:
            given = default(result) if callable(default) else default
            if given is not NOTHING:
                result[key] = given  # type: ignore[assignment]
    for key, inner in result.items():
        if isinstance(inner, dict | list):
            result[key] = _filled(inner, node.child(key), kind)
    return COMPLETED[node.element](result) if node.element in COMPLETED else result


def with_filled_lists(document: JsonObject, group: str, kind: str) -> JsonObject:
    """The object as it is, but for lists without merge keys: those with the defaults that the API server adds to
    their items, as such a list is one value."""
    filled = with_defaults(document, group, kind)
    result = _lists_of(document, filled, schema.root(group, kind)) if filled is not document else document
    return result if isinstance(result, dict) else document


def _lists_of(value: Json, filled: Json, node: Node) -> Json:
    if isinstance(value, dict) and isinstance(filled, dict):
        return {key: _lists_of(inner, filled.get(key), node.child(key)) for key, inner in value.items()}
    if isinstance(value, list) and isinstance(filled, list) and len(value) == len(filled):
        if not node.keys_for(value):
            return filled
        return [_lists_of(item, other, node.items) for item, other in zip(value, filled, strict=True)]
    return value


def kept_by_server(before: JsonObject, body: JsonObject, group: str, kind: str) -> JsonObject:
    """A body of a PUT with what the API server keeps of the object before though the body leaves it out."""
    metadata, old = body.get("metadata"), before.get("metadata")
    if isinstance(old, dict):
        owned = {key: old[key] for key in SERVER_OWNED if key in old}
        body = body | {"metadata": (metadata if isinstance(metadata, dict) else {}) | owned}
    if (group, kind) == ("", "Service"):
        return body | {"spec": _kept_service(before.get("spec"), body.get("spec"))}
    if (group, kind) == ("", "PersistentVolumeClaim"):
        return body | {"spec": _kept(before.get("spec"), body.get("spec"), ("volumeName", "storageClassName"))}
    return body


def _kept(old: Json, new: Json, keys: tuple[str, ...]) -> Json:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {key: old[key] for key in keys if key in old and not new.get(key)} | new


def _kept_service(old: Json, new: Json) -> Json:
    """Addresses and node ports stay with a Service that goes on needing them."""
    if not isinstance(old, dict) or not isinstance(new, dict) or new.get("type") == "ExternalName":
        return new
    kept = _kept(old, new, ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"))
    ports, before = new.get("ports"), old.get("ports")
    if isinstance(kept, dict) and isinstance(ports, list) and new.get("type") in ("NodePort", "LoadBalancer"):
        kept["ports"] = [_kept_port(port, before if isinstance(before, list) else []) for port in ports]
    return kept


def _kept_port(port: Json, before: list[Json]) -> Json:
    if not isinstance(port, dict) or port.get("nodePort"):
        return port
    same_port = ListItem((("port", str(port.get("port"))), ("protocol", str(port.get("protocol", "TCP")))))
    old = next((item for item in before if matches(item, same_port)), None)
    return port | {"nodePort": old["nodePort"]} if isinstance(old, dict) and "nodePort" in old else port


def dropped_by_server(before: JsonObject | None, result: JsonObject, group: str, kind: str) -> JsonObject:
    """A patched object without what the API server drops as its new type has no use for it."""
    spec, old = result.get("spec"), (before or {}).get("spec")
    if (group, kind) != ("", "Service") or not isinstance(spec, dict) or not isinstance(old, dict):
        return result
    gone: set[str] = set()
    if spec.get("sessionAffinity") in (None, "", "None"):
        gone.add("sessionAffinityConfig")
    if spec.get("type") in (None, "", "ClusterIP") and old.get("type") in ("NodePort", "LoadBalancer"):
        gone |= {"externalTrafficPolicy", "allocateLoadBalancerNodePorts", "healthCheckNodePort"}
        spec = spec | {"ports": _without_node_ports(spec.get("ports"))}
    return result | {"spec": {key: value for key, value in spec.items() if key not in gone}}


def _without_node_ports(ports: Json) -> Json:
    if not isinstance(ports, list):
        return ports
    return [
        {key: value for key, value in port.items() if key != "nodePort"} if isinstance(port, dict) else port
        for port in ports
    ]
