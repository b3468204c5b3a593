"""A running Argo CD and the objects it manages, through the API server."""

from auditor.collectors.live.collect import COLLECTOR

__all__ = ["COLLECTOR"]
