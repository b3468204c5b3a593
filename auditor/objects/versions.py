"""One shape for kinds that are read and written in several API versions."""

from auditor.model.resource import Json, JsonObject


def common_version(document: JsonObject, group: str, kind: str) -> JsonObject:
    """The object in the version that the schema describes; itself where it is in that version already."""
    if kind == "HorizontalPodAutoscaler" and document.get("apiVersion") == "autoscaling/v1":
        return _autoscaling_v2(document)
    return document


def _autoscaling_v2(document: JsonObject) -> JsonObject:
    """autoscaling/v1 knows one metric, the average CPU utilization; v2 has a list of them."""
    spec = document.get("spec")
    if not isinstance(spec, dict):
        return document
    later: JsonObject = {key: value for key, value in spec.items() if key != "targetCPUUtilizationPercentage"}
    percentage = spec.get("targetCPUUtilizationPercentage")
    if percentage is not None:
        target: Json = {"type": "Utilization", "averageUtilization": percentage}
        later["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    return document | {"apiVersion": "autoscaling/v2", "spec": later}
