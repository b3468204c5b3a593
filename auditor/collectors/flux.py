"""Flux's applications: Kustomizations and HelmReleases are exported like Argo CD's Applications, and read with them."""

KINDS = frozenset({"Kustomization", "HelmRelease"})
GROUPS = ("kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/")
"""Beginnings of the `apiVersion`: kustomize.config.k8s.io has a Kustomization too, which is no object of a cluster."""
