from typing import Any

import orjson
import pytest

from auditor.correlate.cluster.sight import argocd_sees, ignore_rules
from auditor.model.change import AppKey, FieldChange
from auditor.model.desired import Undeterminable
from auditor.model.facts import ArgoSettings
from auditor.model.resource import UNKNOWN, Json, JsonObject
from auditor.objects import paths
from auditor.objects.leaves import differences
from tests.factories import ORIGIN, app_state, change, field, thing
from tests.scenario import config_map, deployment

IMAGE = "spec.template.spec.containers[name=app].image"
LEVEL = "spec.template.spec.containers[name=app].env[name=LEVEL].value"


def sees(path: str, before: Json, after: Json, rules: list[JsonObject] | None = None, **write: Any) -> bool | None:
    return argocd_sees(change("c", 1, field(path, before, after), **write), deployment(), rules or [])


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [(IMAGE, "registry.acme.example/app:1.0.0", "app:2"), ("spec.replicas", 3, 5), (LEVEL, "info", ...)],
)
def test_a_value_that_the_manifest_declares_is_seen(path: str, before: Json, after: Json) -> None:
    assert sees(path, before, after) is True


@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("spec.paused", True),
        ("metadata.labels.owner", "alice"),
        ("spec.template.spec.containers[name=app].env[name=TRACE].value", "on"),
        ("spec.template.spec.containers[name=debug].image", "busybox"),
        ("spec.template.spec.nodeSelector.disk", "ssd"),
    ],
)
def test_what_is_added_beside_the_manifest_is_not_seen(path: str, after: Json) -> None:
    assert sees(path, ..., after) is False


def test_a_port_that_is_taken_out_is_seen_where_the_manifest_has_its_number_only() -> None:
    manifest = deployment()
    port = "spec.template.spec.containers[name=app].ports[containerPort={}].protocol"
    manifest["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 8080}]
    taken = [change("c", 1, field(port.format(number), "TCP", ...)) for number in (8080, 9090)]
    assert [argocd_sees(one, manifest, []) for one in taken] == [True, False]


def test_a_change_to_what_the_manifest_says_shows_no_difference() -> None:
    assert sees("spec.replicas", 5, 3) is False


def test_an_object_that_was_made_with_other_values_than_the_manifest_has_is_seen() -> None:
    made = change("c", 1, operation="create", asked=differences(None, deployment(replicas=9), "apps", "Deployment"))
    assert argocd_sees(made, deployment()) is True
    assert argocd_sees(made, deployment(replicas=9)) is None
    hidden: JsonObject = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    assert argocd_sees(made, deployment(), [hidden]) is None


def test_an_addition_that_an_apply_wrote_into_last_applied_is_seen() -> None:
    applied = orjson.dumps(deployment(paused=True)).decode()
    assert sees("spec.paused", ..., True, last_applied=applied) is True
    assert sees("spec.paused", ..., True, last_applied="{") is False


KUSTOMIZATION = AppKey("flux", "flux-system", "shop", "Kustomization")
RELEASE = AppKey("flux", "flux-system", "shop", "HelmRelease")


def test_whether_flux_sees_what_is_added_beside_its_manifest_depends_on_the_client() -> None:
    assert sees("spec.paused", ..., True, application=KUSTOMIZATION) is None
    assert sees("spec.replicas", 3, 5, application=KUSTOMIZATION) is True
    assert sees("spec.replicas", 5, 3, application=KUSTOMIZATION) is False
    assert sees("spec.paused", True, ..., application=KUSTOMIZATION) is False


def test_a_helm_release_compares_only_where_it_is_told_to() -> None:
    assert sees("spec.replicas", 3, 5, application=RELEASE) is None
    assert sees("spec.paused", ..., True, application=RELEASE) is None


def test_objects_of_flux_are_seen_where_its_manifests_have_them() -> None:
    gone = change("c", 1, operation="delete", application=KUSTOMIZATION)
    assert argocd_sees(gone, deployment()) is True
    assert argocd_sees(gone, None) is False
    assert argocd_sees(gone, Undeterminable("no clone")) is None
    assert argocd_sees(change("c", 1, operation="create", application=KUSTOMIZATION), None) is None


def test_a_change_of_an_object_that_nobody_owns_is_not_seen() -> None:
    made = change("c", 1, application=None, operation="create")
    assert argocd_sees(made, None) is False


def test_a_deleted_object_is_seen_where_the_manifests_have_it() -> None:
    gone = change("c", 1, operation="delete")
    assert argocd_sees(gone, deployment()) is True
    assert argocd_sees(gone, None) is False
    assert argocd_sees(gone, Undeterminable("no renderer")) is True


def test_an_extra_object_under_the_applications_mark_is_seen() -> None:
    assert argocd_sees(change("c", 1, operation="create"), None) is True
    assert argocd_sees(change("c", 1, operation="create"), deployment()) is None


def test_a_removed_tracking_id_is_seen_as_a_missing_object() -> None:
    removed = change("c", 1, notes=("removed argocd.argoproj.io/tracking-id",))
    assert argocd_sees(removed, deployment()) is True


def test_what_is_not_known_is_not_told() -> None:
    assert argocd_sees(change("c", 1, field("spec.replicas", 3, 5)), Undeterminable("no clone")) is None
    assert argocd_sees(change("c", 1, fields_known=False), deployment()) is None
    blind = change("c", 1, FieldChange(paths.parse("spec.replicas"), UNKNOWN, UNKNOWN))
    assert argocd_sees(blind, deployment()) is None


@pytest.mark.parametrize(
    "rule",
    [
        {"jsonPointers": ["/spec/template/spec/containers/0/image"]},
        {"jsonPointers": ["/spec/template"]},
        {"jqPathExpressions": [".spec.template.spec.containers[].image"]},
        {"jqPathExpressions": ['.spec.template.spec.containers[] | select(.name == "app") | .image']},
        {"managedFieldsManagers": ["kubectl-patch"]},
    ],
)
def test_a_rule_that_covers_the_field_hides_it(rule: JsonObject) -> None:
    full: JsonObject = {"group": "apps", "kind": "Deployment", **rule}
    assert sees(IMAGE, "registry.acme.example/app:1.0.0", "app:2", [full]) is False


def test_a_rule_for_something_else_hides_nothing() -> None:
    for rule in ({"group": "apps", "kind": "StatefulSet"}, {"group": "apps", "kind": "Deployment", "name": "api"}):
        assert sees("spec.replicas", 3, 5, [{**rule, "jsonPointers": ["/spec/replicas"]}]) is True


def test_an_expression_that_is_not_understood_leaves_it_open() -> None:
    rule: JsonObject = {"group": "apps", "kind": "Deployment", "jqPathExpressions": [".spec | to_entries[].value"]}
    assert sees("spec.replicas", 3, 5, [rule]) is None
    assert sees("spec.paused", ..., True, [rule]) is False


def test_a_secret_compares_with_its_plain_text() -> None:
    manifest: JsonObject = {"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "a"}}
    secret = thing("db", "Secret", group="")
    assert argocd_sees(change("c", 1, field("data.password", "YQ==", "Yg=="), object=secret), manifest) is True
    assert argocd_sees(change("c", 1, field("data.password", "Yg==", "YQ=="), object=secret), manifest) is False


def settings(**data: str) -> ArgoSettings:
    body = config_map("argocd-cm", "argocd", **{key.replace("__", "."): text for key, text in data.items()})
    return ArgoSettings("argocd", "ConfigMap", "argocd", "argocd-cm", "1", orjson.dumps(body), ORIGIN)


def test_rules_of_the_settings_apply_to_all_applications() -> None:
    own: JsonObject = {"group": "", "kind": "ConfigMap", "jsonPointers": ["/data"]}
    state = app_state(1, ignore_differences=(own,))
    prefix = "resource__customizations__ignoreDifferences__"
    data = {
        f"{prefix}apps_Deployment": "jsonPointers:\n- /spec/replicas\n",
        f"{prefix}all": "managedFieldsManagers: [kube-controller-manager]",
        f"{prefix}Secret": "jsonPointers: [/data]",
        "resource__customizations": "apps/StatefulSet:\n  ignoreDifferences: |\n    jsonPointers: [/spec/replicas]\n",
        "timeout__reconciliation": "30s",
    }
    rules = ignore_rules(state, [settings(**data)])
    assert own in rules
    assert {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]} in rules
    assert {"group": "apps", "kind": "StatefulSet", "jsonPointers": ["/spec/replicas"]} in rules
    assert {"group": "*", "kind": "*", "managedFieldsManagers": ["kube-controller-manager"]} in rules
    assert {"group": "", "kind": "Secret", "jsonPointers": ["/data"]} in rules


def test_settings_that_are_no_rules_set_nothing() -> None:
    prefix = "resource__customizations__ignoreDifferences__"
    for text in ("[", "- a", "just text", "a: &a [*a]"):
        assert ignore_rules(app_state(1), [settings(**{f"{prefix}apps_Deployment": text})]) in (
            (),
            ({"group": "apps", "kind": "Deployment"},),
        )
