"""Which leaves are fields of somebody's, and which belong to the API server or are a tool's own bookkeeping."""

from auditor.model.resource import Path

SERVER_OWNED = frozenset(
    {
        "name",
        "namespace",
        "generateName",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "managedFields",
        "clusterName",
    }
)
"""Of `metadata`: identity and what only the API server writes."""

TOOL_ANNOTATIONS = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "kubernetes.io/change-cause",
        "deployment.kubernetes.io/revision",
        "deployment.kubernetes.io/revision-history",
        "deployment.kubernetes.io/desired-replicas",
        "deployment.kubernetes.io/max-replicas",
        "deprecated.daemonset.template.generation",
        "autoscaling.alpha.kubernetes.io/conditions",
        "autoscaling.alpha.kubernetes.io/current-metrics",
    }
)
"""What a tool or a controller writes beside a change."""

GITOPS_ANNOTATIONS = frozenset(
    {
        "argocd.argoproj.io/tracking-id",
        "argocd.argoproj.io/installation-id",
        "argocd.argoproj.io/refresh",
        "argocd.argoproj.io/hydrate",
        "kustomize.toolkit.fluxcd.io/checksum",
        "reconcile.fluxcd.io/requestedAt",
        "objectset.rio.cattle.io/applied",
        "objectset.rio.cattle.io/id",
        "objectset.rio.cattle.io/owner-gvk",
        "objectset.rio.cattle.io/owner-name",
        "objectset.rio.cattle.io/owner-namespace",
    }
)

GITOPS_LABELS = frozenset(
    {
        "kustomize.toolkit.fluxcd.io/name",
        "kustomize.toolkit.fluxcd.io/namespace",
        "helm.toolkit.fluxcd.io/name",
        "helm.toolkit.fluxcd.io/namespace",
        "objectset.rio.cattle.io/hash",
    }
)

_NOTIFIED = "notified.notifications.argoproj.io"


def never_a_field(path: Path, instance_label: str = "") -> bool:
    """Whether a leaf is never anybody's change: status, server-owned metadata, bookkeeping.

    `instance_label` is the label key by which Argo CD tracks, where it tracks by label.
    """
    match path:
        case ("status" | "apiVersion" | "kind", *_):
            return True
        case ("metadata", str(key)) | ("metadata", str(key), *_) if key in SERVER_OWNED:
            return True
        case ("metadata", "annotations", str(key), *_):
            return key in TOOL_ANNOTATIONS or is_bookkeeping(path)
        case ("metadata", "labels", str(key), *_):
            return is_bookkeeping(path, instance_label)
        case _:
            return False


def is_bookkeeping(path: Path, instance_label: str = "") -> bool:
    """Whether a leaf is by what a GitOps tool knows its own: `tracking-id`, Flux's owner labels."""
    match path:
        case ("metadata", "annotations", str(key), *_):
            return key in GITOPS_ANNOTATIONS or key.startswith(_NOTIFIED)
        case ("metadata", "labels", str(key), *_):
            return key in GITOPS_LABELS or (bool(instance_label) and key == instance_label)
        case _:
            return False
