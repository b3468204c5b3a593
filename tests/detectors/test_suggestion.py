"""Blocks of ignoreDifferences: valid for the version, seen to work, and never for what a hand has set."""

from typing import Any

import pytest
import yaml

from auditor.detectors import suggestion
from auditor.model.case import Case, LiveState
from auditor.model.resource import JsonObject, leaf
from auditor.objects import paths
from tests.detectors.cases import AUTOSCALER, CONTROLLER, PIPELINE, case
from tests.factories import actor, change, field, minute, thing, write

IMAGE = "spec.template.spec.containers[name=app].imagePullPolicy"
CONTAINERS: JsonObject = {
    "spec": {
        "replicas": 3,
        "template": {"spec": {"containers": [{"name": "app", "imagePullPolicy": "Always"}, {"name": "side"}]}},
    }
}


def recorded(*changes: Any, body: JsonObject | None = None, agent: str = "") -> Case:
    live = {thing(): LiveState(thing(), CONTAINERS if body is None else body, minute(9), True)}
    said = [write("w", 0, actor=CONTROLLER, cause="gitops", user_agent=agent, outcome="status")] if agent else []
    return case(*changes, live=live, writes=said)


def block(of: Case, path: str = "spec.replicas", wanted: Any = 1, found: Any = 3) -> Any:
    text = suggestion.block(of, thing(), paths.parse(path), leaf(wanted), leaf(found))
    return yaml.safe_load(text) if text else None


def owned(manager: str, *others: str) -> JsonObject:
    fields = {"f:spec": {"f:replicas": {}}}
    entries = [{"manager": name, "operation": "Update", "fieldsV1": fields} for name in (manager, *others)]
    return {"metadata": {"managedFields": entries}, "spec": {"replicas": 3}}


def test_a_plain_field_has_a_pointer_and_the_option_that_makes_a_sync_respect_it() -> None:
    assert block(recorded()) == {
        "ignoreDifferences": [
            {"group": "apps", "kind": "Deployment", "name": "web", "jsonPointers": ["/spec/replicas"]}
        ],
        "syncPolicy": {"syncOptions": ["RespectIgnoreDifferences=true"]},
    }


def test_a_field_of_a_list_item_has_a_jq_path_that_names_the_item() -> None:
    (rule,) = block(recorded(), IMAGE, "IfNotPresent", "Always")["ignoreDifferences"]
    assert rule["jqPathExpressions"] == ['.spec.template.spec.containers[] | select(.name == "app") | .imagePullPolicy']


@pytest.mark.parametrize(
    "key", ["a.b/c", "with~tilde", 'with"quote', "with space", "with\\backslash", "with: colon", "[0]", "ünï", "on"]
)
def test_awkward_keys_survive_the_way_through_yaml(key: str) -> None:
    body: JsonObject = {"metadata": {"annotations": {key: "3"}}}
    text = suggestion.block(recorded(body=body), thing(), ("metadata", "annotations", key), leaf("1"), leaf("3"))
    assert yaml.safe_load(text)["ignoreDifferences"][0]["jsonPointers"] == [
        "/metadata/annotations/" + key.replace("~", "~0").replace("/", "~1")
    ]


def test_a_controller_that_owns_the_field_alone_is_named() -> None:
    (rule,) = block(recorded(body=owned("rollouts-controller")))["ignoreDifferences"]
    assert rule["managedFieldsManagers"] == ["rollouts-controller"]
    assert "jsonPointers" not in rule


@pytest.mark.parametrize("manager", ["argocd-controller", "kubectl-edit", "helm", "kube-controller-manager"])
def test_a_manager_that_does_more_than_this_is_not_trusted(manager: str) -> None:
    (rule,) = block(recorded(body=owned(manager)))["ignoreDifferences"]
    assert "managedFieldsManagers" not in rule


def test_a_field_of_two_managers_is_named_by_its_path() -> None:
    (rule,) = block(recorded(body=owned("one-controller", "other-controller")))["ignoreDifferences"]
    assert rule["jsonPointers"] == ["/spec/replicas"]


def test_an_old_argocd_gets_only_what_it_knows() -> None:
    old = recorded(body=owned("rollouts-controller"), agent="argocd-application-controller/v2.0.5+abc (linux/amd64)")
    made = block(old)
    assert made["ignoreDifferences"][0]["jsonPointers"] == ["/spec/replicas"]
    assert "syncPolicy" not in made
    listed = recorded(agent="argocd-application-controller/v2.0.5+abc (linux/amd64)")
    assert block(listed, IMAGE, "IfNotPresent", "Always") is None


def test_a_client_that_calls_itself_version_0_tells_no_version() -> None:
    agent = "argocd-application-controller/v0.0.0 (linux/amd64) kubernetes/$Format"
    assert suggestion.controller_version(recorded(agent=agent).writes) is None
    newer = recorded(agent="argocd-application-controller/v3.6.0+unknown (linux/amd64)")
    assert suggestion.controller_version(newer.writes) == (3, 6)


@pytest.mark.parametrize(
    "by", [actor(), actor("kubernetes-admin", "shared-credential"), PIPELINE, actor("?", "unknown")]
)
def test_a_field_that_a_hand_has_set_is_never_offered(by: Any) -> None:
    assert block(recorded(change("c", 1, field(), actor=by))) is None


def test_a_hand_on_what_holds_the_field_counts_too() -> None:
    replaced = change("c", 1, field("spec.template", {}, {"spec": {}}))
    assert block(recorded(replaced), IMAGE, "IfNotPresent", "Always") is None


def test_another_writers_field_is_offered() -> None:
    assert block(recorded(change("c", 1, field(), actor=AUTOSCALER, cause="controller"))) is not None


def test_where_the_values_do_not_differ_nothing_is_printed() -> None:
    assert block(recorded(), wanted=3, found=3) is None


def test_an_object_that_is_not_recorded_is_judged_by_the_field_alone() -> None:
    assert block(case(), IMAGE, "IfNotPresent", "Always") is not None
