"""What the API server's own admission and allocation put into new objects, beside their defaults.

A manifest does not tell it, so of an object that is known by its manifest alone these fields are not known.
"""

from auditor.model.resource import Json, JsonObject, Path
from auditor.objects.paths import lookup

_SHAPED: dict[tuple[str, str], tuple[Path, ...]] = {
    ("", "Node"): (("spec", "taints"), ("spec", "podCIDR"), ("spec", "podCIDRs"), ("spec", "providerID")),
    ("", "PersistentVolume"): (("metadata", "finalizers"), ("spec", "claimRef"), ("spec", "nodeAffinity")),
    ("", "PersistentVolumeClaim"): (("metadata", "finalizers"), ("spec", "storageClassName"), ("spec", "volumeName")),
    ("", "Pod"): (("spec",),),
    ("", "Service"): (
        ("spec", "clusterIP"),
        ("spec", "clusterIPs"),
        ("spec", "ipFamilies"),
        ("spec", "ipFamilyPolicy"),
        ("spec", "healthCheckNodePort"),
    ),
    ("batch", "Job"): (("spec", "selector"), ("spec", "template", "metadata", "labels")),
    ("networking.k8s.io", "Ingress"): (("spec", "ingressClassName"),),
}
"""By group and kind. Only what is there in every cluster, with the plug-ins that are on by default."""


def shaped(document: JsonObject, group: str, kind: str) -> tuple[Path, ...]:
    """The paths of a new object whose values its manifest does not tell."""
    found = tuple(path for path in _SHAPED.get((group, kind), ()) if not _is_scalar(lookup(document, path).value))
    return (*found, ("spec", "ports")) if _has_node_ports(document, group, kind) else found


def _is_scalar(value: Json) -> bool:
    return isinstance(value, str | int | float)


def _has_node_ports(document: JsonObject, group: str, kind: str) -> bool:
    asked = lookup(document, ("spec", "type")).value
    return (group, kind) == ("", "Service") and asked in ("NodePort", "LoadBalancer")
