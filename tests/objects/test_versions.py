from auditor.objects.versions import as_served

HPA = ("autoscaling", "HorizontalPodAutoscaler")


def test_a_version_drops_the_fields_that_it_has_not() -> None:
    request = {"spec": {"metrics": None, "targetCPUUtilizationPercentage": 45, "maxReplicas": 5}}
    assert as_served(request, "v1", *HPA) == {"spec": {"targetCPUUtilizationPercentage": 45, "maxReplicas": 5}}
    assert as_served(request, "v2", *HPA) == {"spec": {"metrics": None, "maxReplicas": 5}}


def test_other_kinds_versions_and_shapes_are_left_as_they_are() -> None:
    request = {"spec": {"metrics": None}}
    assert as_served(request, "", *HPA) is request
    assert as_served(request, "v1", "apps", "Deployment") is request
    assert as_served([{"op": "test"}], "v1", *HPA) == [{"op": "test"}]
