import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.resource import ABSENT, UNKNOWN, leaf
from auditor.objects.leaves import differences, equal, leaves
from auditor.objects.paths import parse, text
from tests.objects.test_patch_cases import cases


def deployment(**pod: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": pod}}}


def shown(before: Any, after: Any, group: str = "apps", kind: str = "Deployment") -> dict[str, tuple[Any, Any]]:
    """By path: both values, None for absent."""
    return {
        text(change.path): (change.before.value, change.after.value)
        for change in differences(before, after, group, kind)
    }


def test_only_leaves_whose_value_differs_are_changes() -> None:
    before = deployment(containers=[{"name": "a", "image": "x:1", "resources": {"limits": {"cpu": "1000m"}}}])
    after = deployment(containers=[{"name": "a", "image": "x:2", "resources": {"limits": {"cpu": 1}}}])
    assert shown(before, after) == {"spec.template.spec.containers[name=a].image": ("x:1", "x:2")}


def test_the_order_of_keyed_items_is_no_change() -> None:
    before = deployment(containers=[{"name": "a", "image": "x"}, {"name": "b", "image": "y"}])
    after = deployment(containers=[{"name": "b", "image": "y"}, {"name": "a", "image": "x"}])
    assert shown(before, after) == {}


def test_an_added_item_expands_to_its_leaves_without_the_key() -> None:
    before = deployment(containers=[{"name": "a", "image": "x"}])
    after = deployment(containers=[{"name": "a", "image": "x"}, {"name": "b", "image": "y", "tty": True}])
    assert shown(before, after) == {
        "spec.template.spec.containers[name=b].image": (None, "y"),
        "spec.template.spec.containers[name=b].tty": (None, True),
    }


def test_an_item_that_is_all_key_is_an_empty_leaf() -> None:
    after = deployment(imagePullSecrets=[{"name": "registry"}])
    assert shown(deployment(), after) == {"spec.template.spec.imagePullSecrets[name=registry]": (None, {})}


def test_an_empty_struct_that_says_something_is_a_leaf() -> None:
    before = deployment(volumes=[])
    after = deployment(volumes=[{"name": "scratch", "emptyDir": {}}])
    assert shown(before, after) == {"spec.template.spec.volumes[name=scratch].emptyDir": (None, {})}


@pytest.mark.parametrize(
    "nothing",
    [
        {"nodeSelector": {}},
        {"volumes": []},
        {"volumes": None},
        {"hostNetwork": False},
        {"containers": []},
        {"serviceAccountName": ""},
    ],
)
def test_what_says_no_more_than_nothing_is_no_change(nothing: dict[str, Any]) -> None:
    assert shown(deployment(), deployment(**nothing)) == {}


def test_empty_resources_are_no_change_and_a_zero_pointer_is_one() -> None:
    with_resources = deployment(containers=[{"name": "a", "resources": {}, "env": [{"name": "E", "value": ""}]}])
    assert shown(deployment(containers=[{"name": "a", "env": [{"name": "E"}]}]), with_resources) == {}
    assert shown({"spec": {}}, {"spec": {"replicas": 0}}) == {"spec.replicas": (None, 0)}


def test_atomic_lists_are_compared_and_shown_whole() -> None:
    before, after = ({"spec": {"parts": parts}} for parts in ([{"n": 1}], [{"n": 2}]))
    assert shown(before, after, "acme.example", "Widget") == {"spec.parts": ([{"n": 1}], [{"n": 2}])}


def test_a_set_has_no_order() -> None:
    before, after = ({"metadata": {"finalizers": each}} for each in (["a", "b"], ["b", "a"]))
    assert shown(before, after) == {}


def test_items_with_one_key_twice_make_their_list_atomic() -> None:
    before = deployment(containers=[{"name": "a", "env": [{"name": "E", "value": "1"}]}])
    after = deployment(containers=[{"name": "a", "env": [{"name": "E", "value": "1"}, {"name": "E", "value": "2"}]}])
    assert list(shown(before, after)) == ["spec.template.spec.containers[name=a].env"]


def test_all_keys_are_shown_where_the_first_is_not_unique() -> None:
    before = {"spec": {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "targetPort": 1}]}}
    after = {"spec": {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "targetPort": 2}]}}
    assert shown(before, after, "", "Service") == {"spec.ports[port=53,protocol=TCP].targetPort": (1, 2)}


def test_string_data_is_data() -> None:
    stored = {"data": {"password": "b25l", "user": "YQ=="}}
    written = {"data": {"user": "YQ=="}, "stringData": {"password": "one"}}
    assert shown(stored, written, "", "Secret") == {}
    assert shown(stored, {"stringData": {"password": "two"}} | stored, "", "Secret") == {
        "data.password": ("b25l", "dHdv")
    }


def test_an_autoscaler_is_one_in_both_versions() -> None:
    spec = {"maxReplicas": 5, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}
    target = {"type": "Utilization", "averageUtilization": 70}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    old = {"apiVersion": "autoscaling/v1", "spec": spec | {"targetCPUUtilizationPercentage": 70}}
    new = {"apiVersion": "autoscaling/v2", "spec": spec | {"metrics": metrics}}
    assert shown(old, new, "autoscaling", "HorizontalPodAutoscaler") == {}


def test_what_is_never_a_field_never_differs() -> None:
    before = {"metadata": {"name": "a", "resourceVersion": "1", "annotations": {"keep": "1"}}, "status": {"x": 1}}
    after = {
        "metadata": {
            "name": "a",
            "resourceVersion": "2",
            "managedFields": [{}],
            "annotations": {
                "keep": "1",
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
                "argocd.argoproj.io/tracking-id": "a:b/c:d/e",
                "deployment.kubernetes.io/revision": "3",
            },
            "labels": {"app.kubernetes.io/instance": "shop"},
        },
        "status": {"x": 2},
    }
    assert shown(before, after) == {'metadata.labels["app.kubernetes.io/instance"]': (None, "shop")}
    assert differences(before, after, "apps", "Deployment", "app.kubernetes.io/instance") == ()


def test_a_created_object_has_its_leaves_and_a_deleted_one_had_them() -> None:
    body = {"data": {"A": "1"}, "metadata": {"name": "x"}}
    assert shown(None, body, "", "ConfigMap") == {"data.A": (None, "1")}
    assert shown(body, None, "", "ConfigMap") == {"data.A": ("1", None)}
    assert leaves(body, "", "ConfigMap") == ((("data", "A"), "1"),)


def test_sides_are_equal_by_value_and_unknown_equals_nothing() -> None:
    cpu = parse("spec.template.spec.containers[name=a].resources.limits.cpu")
    assert equal("apps", "Deployment", cpu, leaf("1"), leaf("1000m"))
    assert not equal("apps", "Deployment", cpu, leaf("1"), ABSENT)
    assert not equal("apps", "Deployment", cpu, UNKNOWN, UNKNOWN)
    assert equal("apps", "Deployment", parse("spec.template.spec.volumes"), ABSENT, leaf([]))


@given(st.sampled_from(cases()), st.sampled_from(cases()))
def test_differences_mirror_and_change_nothing(one: dict[str, Any], other: dict[str, Any]) -> None:
    group, kind = one["group"], one["kind"]
    before, after = one["before"], other["after"]
    kept = json.dumps([before, after])
    there, back = differences(before, after, group, kind), differences(after, before, group, kind)
    assert {(c.path, str(c.before), str(c.after)) for c in there} == {
        (c.path, str(c.after), str(c.before)) for c in back
    }
    assert differences(before, copy.deepcopy(before), group, kind) == ()
    assert json.dumps([before, after]) == kept
