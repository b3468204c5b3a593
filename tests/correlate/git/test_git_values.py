"""Where a value may stand in a repository, and how it may be written."""

from pathlib import Path

import pytest

from auditor.desired.tools import Tools
from tests.correlate.git.git_story import (
    CONFIG,
    IMAGE,
    REPLICAS,
    Story,
    deployment,
    needs_helm,
    needs_kustomize,
    source,
)
from tests.factories import SHOP, change, field, minute, thing

WEB = "apps/web/web.yaml"
CPU = "spec.template.spec.containers[name=web].resources.limits.cpu"
ENV = "spec.template.spec.containers[name=web].env[name=POOL].value"
ARGS = "spec.template.spec.containers[name=web].args"


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """An empty repository."""
    return Story(tmp_path)


def begin(story: Story, files: dict[str, str]) -> None:
    story.repo.commit("start", 0, files)
    story.seen("start", 1)


def test_a_quantity_written_in_another_way_is_the_same_value(story: Story) -> None:
    begin(story, {WEB: deployment(extra="resources:\n  limits:\n    cpu: 500m")})
    story.repo.commit("fix", 70, {WEB: deployment(extra='resources:\n  limits:\n    cpu: "1"')})
    assert story.named(story.judge(CPU, "500m", "1000m")) == ("reflected", "fix", "fix")


def test_a_comment_only_commit_is_not_the_fix(story: Story) -> None:
    begin(story, {WEB: deployment("web:2")})
    story.repo.commit("comment", 70, {WEB: "# web\n" + deployment("web:2")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("already", "start", "start")


def test_the_order_of_a_keyed_list_is_no_value(story: Story) -> None:
    one, two = "  - name: POOL\n    value: '5'\n", "  - name: LEVEL\n    value: info\n"
    begin(story, {WEB: deployment(extra="env:\n" + one + two)})
    story.repo.commit("sorted", 70, {WEB: deployment(extra="env:\n" + two + one)})
    assert story.named(story.judge(ENV, "9", "5")) == ("already", "start", "start")


def test_the_order_of_a_plain_list_is_a_value(story: Story) -> None:
    begin(story, {WEB: deployment(extra="args: [a, b]")})
    story.repo.commit("turned", 70, {WEB: deployment(extra="args: [b, a]")})
    assert story.named(story.judge(ARGS, ["a", "b"], ["b", "a"])) == ("reflected", "turned", "turned")


def test_a_field_that_git_never_had_is_not_declared(story: Story) -> None:
    begin(story, {WEB: deployment()})
    verdict = story.judge(ENV, ..., "50")
    assert (verdict.verdict, verdict.commit) == ("not-declared", None)


def test_a_field_that_git_dropped_after_the_change_is_not_declared_and_the_commit_is_named(story: Story) -> None:
    begin(story, {WEB: deployment(extra="env:\n  - name: POOL\n    value: '5'")})
    story.repo.commit("dropped", 70, {WEB: deployment()})
    assert story.named(story.judge(ENV, "5", "50")) == ("not-declared", "dropped", "dropped")


def test_a_removed_field_that_git_drops_later_is_reflected(story: Story) -> None:
    begin(story, {WEB: deployment(extra="env:\n  - name: POOL\n    value: '5'")})
    story.repo.commit("dropped", 70, {WEB: deployment()})
    assert story.named(story.judge(ENV, "5", ...)) == ("reflected", "dropped", "dropped")


def test_a_removed_field_that_git_never_declared_is_already_gone(story: Story) -> None:
    begin(story, {WEB: deployment()})
    verdict = story.judge(ENV, "5", ...)
    assert (verdict.verdict, verdict.commit) == ("already", None)


def test_a_removed_field_that_git_still_has_is_not_reflected(story: Story) -> None:
    begin(story, {WEB: deployment(extra="env:\n  - name: POOL\n    value: '5'")})
    assert story.judge(ENV, "5", ...).verdict == "not-reflected"


def test_a_port_of_which_git_says_the_number_only_is_judged_as_a_port(story: Story) -> None:
    port = "spec.template.spec.containers[name=web].ports[containerPort=8080]"
    begin(story, {WEB: deployment(extra="ports:\n  - containerPort: 8080")})
    standing = story.judge(f"{port}.protocol", "TCP", ...)
    assert (standing.verdict, standing.says) == ("not-reflected", "the item")
    assert story.named(story.judge(f"{port}.protocol", ..., "TCP")) == ("already", "start", "start")
    story.repo.commit("closed", 70, {WEB: deployment()})
    assert story.named(story.judge(f"{port}.protocol", "TCP", ...)) == ("reflected", "closed", "closed")
    story.repo.commit("opened", 80, {WEB: deployment(extra="ports:\n  - containerPort: 8080")})
    assert story.named(story.judge(f"{port}.protocol", ..., "TCP")) == ("reflected", "opened", "opened")


def test_an_item_that_is_all_key_is_reflected_once_git_has_it(story: Story) -> None:
    secret = "spec.template.spec.imagePullSecrets[name=registry]"
    begin(story, {WEB: deployment()})
    assert story.judge(secret, ..., {}).verdict == "not-declared"
    story.repo.commit("pull", 70, {WEB: deployment() + "      imagePullSecrets:\n        - name: registry\n"})
    assert story.named(story.judge(secret, ..., {})) == ("reflected", "pull", "pull")


def test_an_absent_list_is_an_empty_list(story: Story) -> None:
    begin(story, {WEB: deployment()})
    assert story.judge(ARGS, ["a"], []).verdict == "already"


def test_an_unknown_value_is_unknown(story: Story) -> None:
    begin(story, {WEB: deployment()})
    made = change("metadata-level", 60, fields_known=False)
    whole, fields = story.judge_change(made, minute(600))
    assert (whole.verdict, fields) == ("unknown", ())


def test_yaml_that_only_looks_like_a_boolean_is_compared_as_kubernetes_reads_it(story: Story) -> None:
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  DEBUG: {}\n"
    begin(story, {WEB: deployment(), "apps/web/settings.yaml": settings.format("'off'")})
    story.repo.commit("fix", 70, {"apps/web/settings.yaml": settings.format('"on"')})
    verdict = story.judge("data.DEBUG", "off", "on", object=CONFIG)
    assert story.named(verdict) == ("reflected", "fix", "fix")


def test_a_change_as_a_whole_shows_its_worst_field(story: Story) -> None:
    begin(story, {WEB: deployment()})
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    made = change("two", 60, field(IMAGE, "web:1", "web:2"), field(REPLICAS, 3, 6))
    whole, fields = story.judge_change(made, minute(600))
    assert [verdict.verdict for verdict in fields] == ["reflected", "not-reflected"]
    assert whole.verdict == "not-reflected"


# Kustomize

BASE = {
    "base/kustomization.yaml": "resources: [web.yaml]\n",
    "base/web.yaml": deployment(),
}
OVERLAY = "overlays/prod/kustomization.yaml"


def kustomized(story: Story, overlay: str = "resources: [../../base]\n") -> None:
    begin(story, {**BASE, OVERLAY: overlay})
    story.application(source("overlays/prod"))


@needs_kustomize
def test_a_value_in_the_base_counts_for_the_overlay(story: Story) -> None:
    kustomized(story)
    story.repo.commit("fix", 70, {"base/web.yaml": deployment("web:2")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


@needs_kustomize
def test_a_value_that_moves_from_the_base_to_the_overlay_keeps_its_commit(story: Story) -> None:
    kustomized(story)
    story.repo.commit("fix", 70, {"base/web.yaml": deployment("web:2")})
    images = "resources: [../../base]\nimages: [{name: web, newTag: '2'}]\n"
    story.repo.commit("moved", 80, {"base/web.yaml": deployment("web:1"), OVERLAY: images})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


@needs_kustomize
def test_a_value_in_a_patch_file_counts(story: Story) -> None:
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: %d}\n"
    kustomized(story, "resources: [../../base]\npatches: [{path: replicas.yaml}]\n")
    story.repo.commit("patch", 2, {"overlays/prod/replicas.yaml": patch % 4})
    story.repo.commit("fix", 70, {"overlays/prod/replicas.yaml": patch % 6})
    assert story.named(story.judge(REPLICAS, 4, 6)) == ("reflected", "fix", "fix")


@needs_kustomize
def test_a_value_in_a_component_counts(story: Story) -> None:
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nreplicas: [{name: web, count: %d}]\n"
    kustomized(story, "resources: [../../base]\ncomponents: [../../components/big]\n")
    story.repo.commit("component", 2, {"components/big/kustomization.yaml": component % 5})
    story.repo.commit("fix", 70, {"components/big/kustomization.yaml": component % 6})
    assert story.named(story.judge(REPLICAS, 5, 6)) == ("reflected", "fix", "fix")


@needs_kustomize
def test_a_commit_to_another_overlay_is_not_the_fix(story: Story) -> None:
    kustomized(story)
    other = "resources: [../../base]\nimages: [{name: web, newTag: '2'}]\n"
    story.repo.commit("staging", 70, {"overlays/staging/kustomization.yaml": other})
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"


@needs_kustomize
def test_images_that_the_application_sets_are_not_what_git_says_until_recorded_first(story: Story) -> None:
    kustomized(story)
    story.recorded(50, source("overlays/prod", kind="kustomize", options='{"images":["web:2"]}'))
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"


@needs_kustomize
def test_images_that_the_application_has_always_set_are_what_git_says(story: Story) -> None:
    kustomized(story)
    story.application(source("overlays/prod", kind="kustomize", options='{"images":["web:2"]}'))
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "already"


@needs_kustomize
def test_an_image_updaters_file_counts(story: Story) -> None:
    kustomized(story)
    override = "kustomize:\n  images:\n    - web:2\n"
    story.repo.commit("updater", 70, {"overlays/prod/.argocd-source-shop-prod.yaml": override}, author="updater")
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "updater", "updater")


# Helm

CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 0.1.0\n",
    "chart/values.yaml": "tag: '1'\nreplicas: 3\n",
    "chart/templates/web.yaml": deployment("web:{{ .Values.tag }}", "{{ .Values.replicas }}"),
    "chart/values-prod.yaml": "{}\n",
}
HELM = source("chart", kind="helm", options='{"valueFiles":["values.yaml","values-prod.yaml"]}')


def charted(story: Story, **files: str) -> None:
    begin(story, {**CHART, **files})
    story.application(HELM)


@needs_helm
def test_a_value_in_a_helm_values_file_counts(story: Story) -> None:
    charted(story)
    story.repo.commit("fix", 70, {"chart/values-prod.yaml": "tag: '2'\n"})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


@needs_helm
def test_a_default_of_the_chart_counts(story: Story) -> None:
    charted(story)
    story.repo.commit("fix", 70, {"chart/values.yaml": "tag: '2'\nreplicas: 3\n"})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


@needs_helm
def test_a_value_in_a_template_counts(story: Story) -> None:
    charted(story)
    story.repo.commit("fix", 70, {"chart/templates/web.yaml": deployment("web:2", "{{ .Values.replicas }}")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


@needs_helm
def test_a_value_that_moves_from_the_values_file_to_the_chart_keeps_its_commit(story: Story) -> None:
    charted(story)
    story.repo.commit("fix", 70, {"chart/values-prod.yaml": "tag: '2'\n"})
    moved = {"chart/values-prod.yaml": "{}\n", "chart/values.yaml": "tag: '2'\nreplicas: 3\n"}
    story.repo.commit("moved", 80, moved)
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


@needs_helm
def test_a_values_file_of_another_environment_is_not_rendered_again(story: Story) -> None:
    charted(story)
    story.repo.commit("staging", 70, {"chart/values-staging.yaml": "tag: '2'\n"})
    with story.reader() as reader:
        landings = reader.landings(story.applications[SHOP].states[0])
    assert [story.repo.name(landing.sha) for landing in landings] == ["start"]


@needs_helm
def test_a_parameter_of_the_application_is_not_in_git(story: Story) -> None:
    charted(story)
    options = '{"parameters":[{"name":"replicas","value":"6"}],"valueFiles":["values.yaml","values-prod.yaml"]}'
    story.recorded(50, source("chart", kind="helm", options=options))
    verdict = story.judge(REPLICAS, 3, 6)
    assert (verdict.verdict, verdict.says) == ("not-reflected", "3")


@needs_helm
def test_a_random_value_is_not_deterministic(story: Story) -> None:
    charted(story, **{"chart/templates/web.yaml": deployment("web:{{ randAlphaNum 12 }}", "{{ .Values.replicas }}")})
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "unknown"
    assert verdict.reason.startswith("not deterministic")
    assert story.judge(REPLICAS, 3, 6).verdict == "not-reflected"


@needs_helm
def test_a_chart_that_depends_on_one_beside_it_is_rendered_with_it(story: Story) -> None:
    library = "apiVersion: v2\nname: lib\nversion: 0.1.0\ntype: library\n"
    depends = (
        CHART["chart/Chart.yaml"] + "dependencies:\n  - {name: lib, version: 0.1.0, repository: 'file://../lib'}\n"
    )
    image = '{{ define "lib.image" }}web:%s{{ end }}\n'
    template = deployment('{{ include "lib.image" . }}', 3)
    charted(story, **{
        "chart/Chart.yaml": depends,
        "chart/charts/lib/Chart.yaml": library,
        "chart/charts/lib/templates/_image.tpl": image % 1,
        "chart/templates/web.yaml": template,
    })  # fmt: skip
    story.repo.commit("fix", 70, {"chart/charts/lib/templates/_image.tpl": image % 2})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


@needs_helm
def test_values_from_another_source_of_the_application_count(story: Story) -> None:
    charted(story, **{"env/prod.yaml": "tag: '1'\n"})
    chart = source("chart", kind="helm", options='{"valueFiles":["$values/env/prod.yaml"]}')
    story.application(chart, source("", ref="values"))
    story.repo.commit("fix", 70, {"env/prod.yaml": "tag: '2'\n"})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


def test_without_helm_git_is_unknown_and_the_reason_says_so(story: Story) -> None:
    charted(story)
    with story.reader(tools=Tools()) as reader:
        desired = reader.render(story.applications[SHOP].states[0], story.repo.sha("start"))
    assert getattr(desired, "reason", "") == "Helm is not rendered: this machine has no helm"


def test_an_image_of_another_container_is_another_field(story: Story) -> None:
    begin(story, {WEB: deployment()})
    made = change("sidecar", 60, field("spec.template.spec.containers[name=proxy].image", "p:1", "p:2"))
    _, fields = story.judge_change(made, minute(600))
    assert fields[0].verdict == "not-declared"


def test_a_horizontal_autoscaler_of_the_old_version_is_compared_in_the_new_one(story: Story) -> None:
    old = (
        "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
        "spec: {maxReplicas: %d, targetCPUUtilizationPercentage: 80}\n"
    )
    begin(story, {"apps/web/hpa.yaml": old % 5})
    story.repo.commit("fix", 70, {"apps/web/hpa.yaml": old % 8})
    hpa = thing("web", "HorizontalPodAutoscaler", group="autoscaling")
    assert story.named(story.judge("spec.maxReplicas", 5, 8, object=hpa)) == ("reflected", "fix", "fix")


def test_a_value_that_git_holds_encrypted_is_unknown(story: Story) -> None:
    secret = (
        "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: 'ENC[AES256_GCM,data:abc]'}\n"
        "sops: {version: 3.9.0}\n"
    )
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {URL: 'ENC[AES256_GCM,data:abc]'}\n"
    begin(story, {WEB: deployment(), "apps/web/secret.yaml": secret, "apps/web/settings.yaml": settings})
    db = thing("db", "Secret", group="")
    for path, of in (("data.password", db), ("data.URL", CONFIG)):
        verdict = story.judge(path, "a", "b", object=of)
        assert (verdict.verdict, verdict.reason) == ("unknown", "the value is encrypted in git")
