"""One shape for kinds that are read and written in several API versions."""

from auditor.model.resource import Json, JsonObject, Path

V1_TARGET = "targetCPUUtilizationPercentage"


def common_version(document: JsonObject, group: str, kind: str) -> JsonObject:
    """The object in the version that the schema describes; itself where it is in that version already."""
    return _autoscaling_v2(document) if (group, kind) == ("autoscaling", "HorizontalPodAutoscaler") else document


def _autoscaling_v2(document: JsonObject) -> JsonObject:
    """autoscaling/v1 knows one metric, the average CPU utilization; v2 has a list of them.

    A document in v2 has v1's field too after a patch that was written in v1.
    """
    spec = document.get("spec")
    if not isinstance(spec, dict) or V1_TARGET not in spec:
        return document
    later: JsonObject = {key: value for key, value in spec.items() if key != V1_TARGET}
    if spec[V1_TARGET] is not None:
        target: Json = {"type": "Utilization", "averageUtilization": spec[V1_TARGET]}
        later["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    return document | {"apiVersion": "autoscaling/v2", "spec": later}


_UNKNOWN_TO = {"v1": ("metrics", "behavior"), "v2": (V1_TARGET,)}
"""What a version of autoscaling has not: the API server drops it from a request."""


def as_served(request: Json, version: str, group: str, kind: str) -> Json:
    """A request without what the API version that it was sent to has not; `version` as in `v2`, "" for not known."""
    unknown = _UNKNOWN_TO.get(version, ()) if (group, kind) == ("autoscaling", "HorizontalPodAutoscaler") else ()
    spec = request.get("spec") if isinstance(request, dict) else None
    if not unknown or not isinstance(request, dict) or not isinstance(spec, dict):
        return request
    return request | {"spec": {key: value for key, value in spec.items() if key not in unknown}}


def common_path(path: Path) -> Path:
    """A path in another version's shape as a path in the common one."""
    return ("spec", "metrics") if path == ("spec", V1_TARGET) else path
