from typing import Any

import pytest

from auditor.objects import patch
from auditor.objects.patch import PatchType
from auditor.objects.paths import parse

POD = {
    "containers": [
        {"name": "web", "image": "web:1", "env": [{"name": "A", "value": "1"}], "ports": [{"containerPort": 80}]},
        {"name": "log", "image": "log:1", "imagePullPolicy": "Always"},
    ],
    "volumes": [{"name": "v", "emptyDir": {}}],
}
BEFORE = {"metadata": {"labels": {"a": "1"}}, "spec": {"replicas": 3, "template": {"spec": POD}}}


def covered(request: Any, patch_type: PatchType, *written: str, **more: Any) -> list[bool]:
    arguments = {"before": BEFORE, "group": "apps", "kind": "Deployment"} | more
    named = patch.named(request, patch_type, **arguments)
    return [named.covers(parse(path)) for path in written]


def pod(**parts: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": parts}}}


CONTAINERS = "spec.template.spec.containers"


def test_a_patch_names_its_leaves_and_nothing_beside_them() -> None:
    request = pod(containers=[{"name": "web", "image": "web:2"}])
    assert covered(
        request,
        "strategic",
        f"{CONTAINERS}[name=web].image",
        f"{CONTAINERS}[name=web].imagePullPolicy",
        f"{CONTAINERS}[name=log].image",
        "spec.replicas",
    ) == [True, False, False, False]


def test_a_merge_patch_replaces_lists_and_so_names_what_it_leaves_out() -> None:
    request = pod(containers=[{"name": "web", "image": "web:2"}])
    assert covered(
        request,
        "merge",
        f"{CONTAINERS}[name=web].image",
        f"{CONTAINERS}[name=log].image",
        f"{CONTAINERS}[name=web].imagePullPolicy",  # neither there before nor given: the server's default
    ) == [True, True, False]


def test_a_default_of_an_added_item_is_not_named() -> None:
    request = pod(containers=[{"name": "new", "image": "new:1"}])
    assert covered(
        request, "strategic", f"{CONTAINERS}[name=new].image", f"{CONTAINERS}[name=new].terminationMessagePath"
    ) == [True, False]


def test_an_item_that_is_all_key_is_named() -> None:
    request = pod(imagePullSecrets=[{"name": "registry"}])
    assert covered(request, "strategic", "spec.template.spec.imagePullSecrets[name=registry]") == [True]


@pytest.mark.parametrize(
    ("request_body", "path"),
    [
        ({"metadata": {"labels": None}}, "metadata.labels.a"),
        (pod(containers=[{"name": "log", "$patch": "delete"}]), f"{CONTAINERS}[name=log].image"),
        (pod(containers=[{"$patch": "replace"}, {"name": "web", "image": "x"}]), f"{CONTAINERS}[name=log].image"),
        (pod(volumes=[{"name": "v", "$retainKeys": ["name"]}]), "spec.template.spec.volumes[name=v].emptyDir"),
        ({"metadata": {"labels": {"$patch": "replace", "b": "2"}}}, "metadata.labels.a"),
        ({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x"]}}, "metadata.finalizers"),
    ],
)
def test_removals_are_named(request_body: Any, path: str) -> None:
    assert covered(request_body, "strategic", path) == [True]


def test_an_order_alone_names_nothing() -> None:
    request = pod(**{"$setElementOrder/containers": [{"name": "log"}, {"name": "web"}]})
    assert covered(request, "strategic", f"{CONTAINERS}[name=log].image", CONTAINERS) == [False, False]


def test_positions_of_a_json_patch_mean_the_items_of_that_moment() -> None:
    request = [
        {"op": "remove", "path": "/spec/template/spec/containers/0"},
        {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "log:2"},
        {"op": "test", "path": "/spec/replicas", "value": 3},
    ]
    assert covered(
        request,
        "json-patch",
        f"{CONTAINERS}[name=web].env[name=A].value",
        f"{CONTAINERS}[name=log].image",
        f"{CONTAINERS}[name=log].imagePullPolicy",
        "spec.replicas",
    ) == [True, True, False, False]


def test_an_appended_item_is_named_by_its_own_key() -> None:
    request = [{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "B", "value": "2"}}]
    assert covered(
        request, "json-patch", f"{CONTAINERS}[name=web].env[name=B].value", f"{CONTAINERS}[name=web].env[name=A].value"
    ) == [True, False]


def test_a_position_before_the_first_does_not_name_the_item_that_it_pushes_on() -> None:
    request = [{"op": "add", "path": "/spec/template/spec/containers/0", "value": {"name": "first", "image": "x"}}]
    assert covered(request, "json-patch", f"{CONTAINERS}[name=first].image", f"{CONTAINERS}[name=web].image") == [
        True,
        False,
    ]


def test_a_negative_position_counts_from_the_end() -> None:
    request = [{"op": "replace", "path": "/spec/template/spec/containers/-1/image", "value": "x"}]
    assert covered(request, "json-patch", f"{CONTAINERS}[name=log].image", f"{CONTAINERS}[name=web].image") == [
        True,
        False,
    ]


def test_another_key_makes_it_another_item() -> None:
    request = [{"op": "replace", "path": "/spec/template/spec/containers/1/name", "value": "other"}]
    assert covered(request, "json-patch", f"{CONTAINERS}[name=log].image", f"{CONTAINERS}[name=other].image") == [
        True,
        True,
    ]


def test_a_whole_body_names_what_it_has_and_what_it_leaves_out() -> None:
    body = {"spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}}}
    paths = (f"{CONTAINERS}[name=web].image", f"{CONTAINERS}[name=log].image", "metadata.labels.a", "spec.paused")
    assert covered(body, "put", *paths) == [True, True, True, False]


def test_a_whole_body_names_only_what_an_incomplete_state_holds() -> None:
    body = {"spec": {"replicas": 5, "paused": True}}
    assert covered(body, "put", "spec.replicas", "spec.paused", complete=False) == [True, False]


def test_a_created_object_names_what_it_was_given() -> None:
    assert covered({"data": {"A": "1"}}, "create", "data.A", "data.B", before=None, group="", kind="ConfigMap") == [
        True,
        False,
    ]


def test_a_delete_names_everything_that_was_there() -> None:
    assert covered(None, "delete", "spec.replicas", "spec.paused") == [True, False]


def test_an_apply_names_what_its_manager_gives_and_gives_up() -> None:
    mine = {"f:spec": {"f:replicas": {}, "f:paused": {}, "f:minReadySeconds": {}}}
    theirs = {"f:spec": {"f:paused": {}}}
    managed = [
        {"manager": "flux", "operation": "Apply", "fieldsV1": mine},
        {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": theirs},
    ]
    before = {"metadata": {"managedFields": managed}, "spec": {"replicas": 3, "paused": True, "minReadySeconds": 5}}
    config = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 4}}
    paths = ("spec.replicas", "spec.minReadySeconds", "spec.paused")
    assert covered(config, "apply", *paths, before=before, field_manager="flux") == [True, True, False]
    assert covered(config, "apply", *paths, before=before, field_manager="other") == [True, False, False]


def test_string_data_is_named_where_it_is_stored() -> None:
    for patch_type in ("merge", "put", "create"):
        body = {"stringData": {"password": "x"}}
        before = {"data": {"password": "b25l"}}
        assert covered(body, patch_type, "data.password", before=before, group="", kind="Secret") == [True]


def test_a_target_of_the_old_autoscaler_is_a_metric() -> None:
    before = {"apiVersion": "autoscaling/v1", "spec": {"targetCPUUtilizationPercentage": 70}}
    request = {"spec": {"targetCPUUtilizationPercentage": 80}}
    more = {"before": before, "group": "autoscaling", "kind": "HorizontalPodAutoscaler"}
    assert covered(request, "merge", "spec.metrics", "spec.minReplicas", **more) == [True, False]
