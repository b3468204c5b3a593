import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.resource import Json
from auditor.objects import json_patch, patch
from auditor.objects.json_patch import rewound
from auditor.objects.patch import Patched, PatchType

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
URI = "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager="


@pytest.mark.parametrize(
    ("verb", "request_body", "manager", "force", "uri", "code", "expected"),
    [
        ("create", DEPLOYMENT, "", False, "", 201, "create"),
        ("update", DEPLOYMENT, "", False, "", 200, "put"),
        ("delete", None, "", False, "", 200, "delete"),
        ("deletecollection", None, "", False, "", 200, "delete"),
        ("get", None, "", False, "", 101, "unknown"),
        ("patch", None, "kubectl-edit", False, URI + "kubectl-edit", 200, "unknown"),
        ("patch", [], "", False, "", 200, "json-patch"),
        ("patch", {"spec": {"replicas": 3}}, "", False, "", 200, "strategic"),
        ("patch", {"metadata": {"labels": {"a": "b"}}}, "kubectl-label", False, URI + "kubectl-label", 200, "merge"),
        ("patch", {"spec": {"$setElementOrder/x": []}}, "kubectl-label", False, "", 200, "strategic"),
        ("patch", DEPLOYMENT, "kubectl", True, URI + "kubectl&force=true", 200, "apply"),
        ("patch", DEPLOYMENT, "kubectl", False, URI + "kubectl&force=false", 200, "apply"),
        ("patch", DEPLOYMENT, "flux", False, URI + "flux", 201, "apply"),
        ("patch", DEPLOYMENT, "kubectl-patch", False, URI + "kubectl-patch", 200, "strategic"),
        ("patch", DEPLOYMENT, "", False, "", 200, "apply"),
    ],
)
def test_the_patch_type_is_told_by_the_shape(
    verb: str, request_body: Any, manager: str, force: bool, uri: str, code: int, expected: str
) -> None:
    assert patch.classify(verb, request_body, manager, force, uri, code, "apps", "Deployment") == expected


def test_kinds_that_are_not_built_in_have_no_strategic_merge() -> None:
    assert patch.classify("patch", {"spec": {"a": [1]}}, "x", False, "", 200, "acme.example", "Widget") == "merge"


@pytest.mark.parametrize("real", ["merge", "strategic"])
def test_the_answer_decides_between_merge_and_strategic(real: PatchType) -> None:
    pod = {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}
    before = {"spec": {"template": {"spec": pod}}}
    request = {"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "z"}]}}}}
    after = patch.apply(before, request, real, "apps", "Deployment").document
    found = patch.classify("patch", request, "", False, "", 200, "apps", "Deployment", before, after)
    assert found == real


def test_without_a_state_before_only_the_request_is_known() -> None:
    result = patch.apply(None, {"spec": {"replicas": 3}}, "strategic", "apps", "Deployment")
    assert result == Patched({"spec": {"replicas": 3}}, False)


def test_a_patch_that_does_not_fit_leaves_the_state_and_says_so() -> None:
    before = {"spec": {"replicas": 1}}
    stale = [{"op": "test", "path": "/spec/replicas", "value": 2}]
    assert patch.apply(before, stale, "json-patch", "apps", "Deployment") == Patched(before, False)
    assert patch.apply(before, {"spec": 1}, "unknown", "apps", "Deployment") == Patched(before, False)


def test_a_removed_field_comes_back_with_its_default() -> None:
    result = patch.apply({"spec": {"replicas": 5}}, {"spec": {"replicas": None}}, "merge", "apps", "Deployment")
    assert result.document is not None
    assert result.document["spec"]["replicas"] == 1


@pytest.mark.parametrize(
    ("body", "patch_type", "replicas"),
    [
        ({"spec": {"replicas": 3}}, "strategic", 3),
        ({"kind": "Scale", "spec": {"replicas": 4}}, "put", 4),
        ({"kind": "Scale", "spec": {}}, "put", 0),
        ([{"op": "replace", "path": "/spec/replicas", "value": 5}], "json-patch", 5),
        ({"metadata": {}}, "merge", 1),
    ],
)
def test_a_scale_writes_replicas_of_its_parent(body: Any, patch_type: PatchType, replicas: int) -> None:
    before = {"kind": "Deployment", "spec": {"replicas": 1, "paused": True}}
    result = patch.apply(before, body, patch_type, "apps", "Deployment", "scale").document
    assert result is not None
    assert (result["spec"]["replicas"], result["spec"]["paused"]) == (replicas, True)
    named = patch.named(body, patch_type, before, "apps", "Deployment", "scale")
    assert named.covers(("spec", "replicas")) == (replicas != 1)
    assert not named.covers(("spec", "paused"))


def test_a_debug_container_is_added_to_its_pod() -> None:
    before = {"spec": {"containers": [{"name": "web"}]}}
    body = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "busybox"}], "nodeName": "other"}}
    put = patch.apply(before, body, "put", "", "Pod", "ephemeralcontainers").document
    assert put is not None
    assert put["spec"]["ephemeralContainers"][0]["name"] == "debug"
    assert "nodeName" not in put["spec"]


@pytest.mark.parametrize("subresource", ["eviction", "token", "binding", "exec"])
def test_what_changes_no_object_changes_none(subresource: str) -> None:
    before = {"spec": {"containers": []}}
    result = patch.apply(before, {"spec": {"x": 1}}, "create", "", "Pod", subresource).document
    assert result is not None
    assert "x" not in result["spec"]
    assert patch.named({"spec": {"x": 1}}, "create", before, "", "Pod", subresource).paths == ()


def test_status_is_not_written_through_the_object_but_for_argo_cds_kinds() -> None:
    before = {"spec": {"a": 1}, "status": {"b": 1}}
    request = {"status": {"b": 2}}
    for group, kind, expected in (("apps", "Deployment", 1), ("argoproj.io", "Application", 2)):
        result = patch.apply(before, request, "merge", group, kind).document
        assert result is not None
        assert result["status"]["b"] == expected
    status = patch.apply(before, request, "merge", "apps", "Deployment", "status").document
    assert status is not None
    assert status["status"]["b"] == 2


def test_a_put_keeps_what_the_server_keeps() -> None:
    before = {
        "metadata": {"name": "web", "uid": "1", "resourceVersion": "7"},
        "spec": {"clusterIP": "10.0.0.1", "type": "NodePort", "ports": [{"port": 80, "nodePort": 31000}]},
    }
    body = {"metadata": {"name": "web"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "targetPort": 8080}]}}
    result = patch.apply(before, body, "put", "", "Service").document
    assert result is not None
    assert result["metadata"]["uid"] == "1"
    assert result["spec"]["clusterIP"] == "10.0.0.1"
    assert result["spec"]["ports"][0]["nodePort"] == 31000


def test_a_copy_bomb_is_not_carried_out() -> None:
    bomb: list[Any] = [{"op": "add", "path": "/data", "value": {"a": "x" * 1000}}]
    bomb += [{"op": "copy", "from": "/data", "path": f"/data/{number}"} for number in range(40)]
    assert patch.apply({}, bomb, "json-patch", "", "ConfigMap") == Patched({}, False)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text("ab$/~", max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.text("ab/~-", max_size=2),
                st.sampled_from(
                    [
                        "spec",
                        "name",
                        "template",
                        "containers",
                        "$patch",
                        "$retainKeys",
                        "$setElementOrder/containers",
                        "op",
                    ]
                ),
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=12,
)


@given(JSON, JSON, st.sampled_from(["json-patch", "merge", "strategic", "apply", "put", "create", "delete", "unknown"]))
def test_no_body_breaks_the_reader_or_is_changed(document: Any, request: Any, patch_type: PatchType) -> None:
    before = document if isinstance(document, dict) else None
    kept = copy.deepcopy((before, request))
    for subresource in ("", "scale", "status", "ephemeralcontainers"):
        patch.apply(before, request, patch_type, "apps", "Deployment", subresource, "me")
        named = patch.named(request, patch_type, before, "apps", "Deployment", subresource, "me")
        named.covers(("spec", "replicas"))
        assert all(isinstance(path, tuple) for path in named.paths)
    patch.classify("patch", request, "me", False, "", 200, "apps", "Deployment", before, before)
    assert (before, request) == kept


@pytest.mark.parametrize(
    ("request_body", "sender", "kind", "expected"),
    [
        ({"spec": {"ports": []}}, "kubectl-patch", "Service", True),
        ({"spec": {"ports": []}}, "", "Service", True),
        ({"spec": {"ports": []}}, "kubectl-edit", "Service", False),
        ({"spec": {"$setElementOrder/ports": [], "ports": []}}, "kubectl-patch", "Service", False),
        ({"spec": {"type": "NodePort"}}, "kubectl-patch", "Service", False),
        ({"spec": {"ports": []}}, "kubectl-patch", "Widget", False),
    ],
)
def test_a_patch_with_lists_may_be_of_either_type_where_nothing_tells(
    request_body: Any, sender: str, kind: str, expected: bool
) -> None:
    assert patch.may_be_merge(request_body, "strategic", sender, "", kind) is expected


def test_a_document_is_wound_back_to_where_a_json_patch_found_its_lists() -> None:
    after = {"image": "app:2", "ports": [80, 9100], "labels": {"tier": "web"}}
    operations = [
        {"op": "test", "path": "/image", "value": "app:1"},
        {"op": "replace", "path": "/image", "value": "app:2"},
        {"op": "add", "path": "/ports/-", "value": 9100},
        {"op": "remove", "path": "/labels/team"},
        {"op": "add", "path": "/labels/tier", "value": "web"},
    ]
    before = rewound(after, operations)
    assert before == {"image": "app:1", "ports": [80], "labels": {"tier": "web", "team": None}}
    assert json_patch.apply(before, operations) == after


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/ports/0"},
        {"op": "add", "path": "/ports/0", "value": 443},
        {"op": "move", "from": "/ports/0", "path": "/ports/-"},
        {"op": "add", "path": "/nowhere/-", "value": 1},
        "no operation",
    ],
)
def test_where_items_of_a_list_may_have_moved_nothing_is_wound_back(operation: Json) -> None:
    assert rewound({"ports": [80, 9100]}, [operation]) is None
