"""Argo CD and Flux from exported documents, Events and logs."""

from auditor.collectors.argocd.collect import COLLECTOR

__all__ = ["COLLECTOR"]
