from auditor.objects.shaped import shaped


def test_a_manifest_does_not_tell_what_admission_and_allocation_add() -> None:
    assert ("spec", "taints") in shaped({"spec": {}}, "", "Node")
    assert ("metadata", "finalizers") in shaped({}, "", "PersistentVolumeClaim")
    assert shaped({"spec": {"replicas": 1}}, "apps", "Deployment") == ()


def test_a_value_that_the_manifest_gives_is_told_by_it() -> None:
    assert ("spec", "clusterIP") not in shaped({"spec": {"clusterIP": "None"}}, "", "Service")
    assert ("spec", "clusterIP") in shaped({"spec": {}}, "", "Service")


def test_node_ports_are_allocated_where_a_service_has_them() -> None:
    assert ("spec", "ports") in shaped({"spec": {"type": "NodePort"}}, "", "Service")
    assert ("spec", "ports") not in shaped({"spec": {"type": "ClusterIP"}}, "", "Service")
