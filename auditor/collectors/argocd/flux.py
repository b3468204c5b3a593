"""Flux's objects: Kustomizations and HelmReleases are exported like Argo CD's Applications, and read with them.

Their sources (GitRepository …) are kept as settings: what a Kustomization is made of stands in two objects.
"""

KINDS = frozenset({"Kustomization", "HelmRelease"})
GROUPS = ("kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/")
"""Beginnings of the `apiVersion`: kustomize.config.k8s.io has a Kustomization too, which is no object of a cluster."""

SOURCES = frozenset({"GitRepository", "HelmRepository", "HelmChart", "OCIRepository", "Bucket"})
SOURCE_GROUP = "source.toolkit.fluxcd.io/"
