"""Rendering: what an Application's options do, what is kept, and what hostile files cannot do."""

import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from auditor.config import RepositoryConfig
from auditor.desired import rendering
from auditor.desired.reader import open_reader
from auditor.desired.tools import Tools
from auditor.model.desired import DesiredState, ManifestKey, Undeterminable
from auditor.model.resource import JsonObject
from auditor.objects.paths import lookup, parse
from auditor.objects.redaction import Redactor
from tests.correlate.git import git_story
from tests.correlate.git.git_story import IMAGE, Story, deployment, needs_helm, needs_kustomize, source
from tests.factories import SHOP

WEB = ManifestKey("apps", "Deployment", "shop-prod", "web")
BASE = {"base/kustomization.yaml": "resources: [web.yaml]\n", "base/web.yaml": deployment()}
OVERLAY = "overlays/prod/kustomization.yaml"
CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 0.1.0\n",
    "chart/values.yaml": "tag: '1'\n",
    "chart/templates/web.yaml": deployment("web:{{ .Values.tag }}"),
}


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """An empty repository."""
    return Story(tmp_path)


def rendered(story: Story, name: str = "start", **given: Any) -> DesiredState | Undeterminable:
    with story.reader(**given) as reader:
        return reader.render(story.applications[SHOP].states[0], story.repo.sha(name))


def state(story: Story, name: str = "start", **given: Any) -> DesiredState:
    found = rendered(story, name, **given)
    assert isinstance(found, DesiredState), found
    return found


def reason(story: Story, name: str = "start", **given: Any) -> str:
    found = rendered(story, name, **given)
    assert isinstance(found, Undeterminable), found
    return found.reason


def value(manifest: JsonObject, path: str) -> Any:
    return lookup(manifest, parse(path)).value


def kustomized(story: Story, options: Mapping[str, Any] | None = None, **files: str | bytes) -> None:
    story.repo.commit("start", 0, {**BASE, OVERLAY: "resources: [../../base]\n", **files})
    kind: Any = "kustomize" if options else "auto"
    story.application(source("overlays/prod", kind=kind, options=orjson.dumps(options or {}).decode()))


def charted(story: Story, options: Mapping[str, Any] | None = None, **files: str | bytes) -> None:
    story.repo.commit("start", 0, {**CHART, **files})
    kind: Any = "helm" if options else "auto"
    story.application(source("chart", kind=kind, options=orjson.dumps(options or {}).decode()))


# Options of the Application


@needs_kustomize
def test_kustomize_options_are_applied_as_argocd_applies_them(story: Story) -> None:
    options = {
        "images": ["web=registry.acme.example/web:2"],
        "replicas": [{"name": "web", "count": "6"}],
        "namePrefix": "blue-",
        "commonLabels": {"team": "a"},
        "labelWithoutSelector": True,
        "commonAnnotations": {"owner": "shop"},
        "patches": [{"target": {"kind": "Deployment"}, "patch": '[{"op":"add","path":"/spec/paused","value":true}]'}],
    }
    kustomized(story, options)
    manifest = state(story).objects[ManifestKey("apps", "Deployment", "shop-prod", "blue-web")]
    assert value(manifest, IMAGE) == "registry.acme.example/web:2"
    assert value(manifest, "spec.replicas") == 6
    assert value(manifest, "metadata.labels.team") == "a"
    assert value(manifest, "spec.selector.matchLabels.team") is None
    assert value(manifest, "metadata.annotations.owner") == "shop"
    assert value(manifest, "spec.paused") is True


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("web:2", "web:2"),
        ("web=other:2", "other:2"),
        ("web=localhost:5000/other", "localhost:5000/other:1"),
        ("web@sha256:" + "a" * 64, "web@sha256:" + "a" * 64),
    ],
)
@needs_kustomize
def test_an_image_override_is_read_in_all_its_forms(story: Story, text: str, image: str) -> None:
    kustomized(story, {"images": [text]})
    assert value(state(story).objects[WEB], IMAGE) == image


@needs_helm
def test_helm_options_are_applied_in_argocds_order(story: Story) -> None:
    template = deployment("{{ .Values.image }}") + (
        "  minReadySeconds: {{ .Values.seconds }}\n  revisionHistoryLimit: {{ .Values.limit }}\n"
    )
    options = {
        "releaseName": "shop",
        "valueFiles": ["values.yaml", "/env/prod.yaml"],
        "valuesObject": {"seconds": 3},
        "parameters": [{"name": "limit", "value": "4"}, {"name": "text", "value": "1", "forceString": True}],
    }
    labels = "metadata:\n  name: web\n  labels: {release: '{{ .Release.Name }}', text: {{ .Values.text | quote }}}\n"
    files = {
        "chart/templates/web.yaml": template.replace("metadata:\n  name: web\n", labels),
        "chart/values.yaml": "image: a\nseconds: 1\nlimit: 1\ntext: x\n",
        "env/prod.yaml": "image: b\nseconds: 2\nlimit: 2\n",
    }
    charted(story, options, **files)
    manifest = state(story).objects[WEB]
    assert value(manifest, IMAGE) == "b"
    assert value(manifest, "spec.minReadySeconds") == 3
    assert value(manifest, "spec.revisionHistoryLimit") == 4
    assert value(manifest, "metadata.labels") == {"release": "shop", "text": "1"}


@needs_helm
def test_a_missing_values_file_fails_unless_the_application_allows_it(story: Story) -> None:
    charted(story, {"valueFiles": ["nowhere.yaml"]})
    assert "Helm does not render it" in reason(story)
    story.application(
        source("chart", kind="helm", options='{"ignoreMissingValueFiles":true,"valueFiles":["nowhere.yaml"]}')
    )
    assert value(state(story).objects[WEB], IMAGE) == "web:1"


@needs_helm
def test_build_variables_of_argocd_are_replaced(story: Story) -> None:
    options = {"parameters": [{"name": "tag", "value": "$ARGOCD_APP_NAME"}], "valueFiles": ["${ARGOCD_APP_NAME}.yaml"]}
    charted(story, options, **{"chart/shop-prod.yaml": "{}\n"})
    assert value(state(story).objects[WEB], IMAGE) == "web:shop-prod"


@needs_helm
def test_the_recorded_kubernetes_version_decides(story: Story) -> None:
    charted(story, **{"chart/templates/web.yaml": deployment("web:{{ .Capabilities.KubeVersion.Minor }}")})
    assert value(state(story, versions={"prod": "1.29.4"}).objects[WEB], IMAGE) == "web:29"


@needs_helm
def test_a_chart_that_asks_the_cluster_or_the_clock_has_lower_confidence(story: Story) -> None:
    asking = '{{ $x := lookup "v1" "Secret" "a" "b" }}{{ $y := now }}\n'
    charted(story, **{"chart/templates/web.yaml": asking + deployment()})
    found = state(story)
    assert found.confidence == "low"
    assert found.reason == "its templates make dated values and its templates ask the cluster, which is not asked here"


@needs_helm
def test_a_chart_whose_dependency_is_not_there_is_unknown(story: Story) -> None:
    dependency = "dependencies:\n  - {name: redis, version: 1.0.0, repository: 'https://charts.example'}\n"
    charted(story, **{"chart/Chart.yaml": CHART["chart/Chart.yaml"] + dependency})
    assert "redis" in reason(story)


# One render for each content


@needs_kustomize
def test_a_content_that_comes_again_is_not_rendered_again(story: Story) -> None:
    kustomized(story)
    story.repo.commit("there", 5, {"base/web.yaml": deployment("web:2")})
    story.repo.commit("back", 6, {"base/web.yaml": deployment()})
    story.repo.commit("elsewhere", 7, {"README": "x"})
    with story.reader() as reader:
        for name in ("start", "there", "back", "elsewhere"):
            reader.render(story.applications[SHOP].states[0], story.repo.sha(name))
        assert (reader.counts.renders, reader.counts.contents) == (2, 2)


@needs_kustomize
def test_the_next_run_renders_nothing_and_says_so(story: Story) -> None:
    kustomized(story)
    assert state(story).rendered == "now"
    with story.reader() as reader:
        found = reader.render(story.applications[SHOP].states[0], story.repo.sha("start"))
        assert isinstance(found, DesiredState)
        assert (found.rendered, reader.counts.renders) == ("before", 0)


def test_what_was_kept_by_another_reading_is_rendered_anew(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.repo.commit("start", 0, {"apps/web/web.yaml": deployment()})
    assert [state(story).rendered for _ in range(2)] == ["now", "before"]
    monkeypatch.setattr(rendering, "READING", rendering.READING + 1)
    assert [state(story).rendered for _ in range(2)] == ["now", "before"]


@needs_kustomize
def test_without_git_and_renderers_what_was_shipped_is_still_there(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    kustomized(story)
    before = state(story)
    bundle = story.folder / "deploy.bundle"
    subprocess.run(["git", f"--git-dir={story.repo.folder}", "bundle", "create", "-q", bundle, "--all"], check=True)
    commits, refs, _ = story.collect()
    (story.folder / "cache").rename(story.folder / "shipped")
    shutil.rmtree(story.repo.folder)
    monkeypatch.setenv("PATH", "")
    repositories = (RepositoryConfig(story.repo.url, "deploy.bundle"),)
    reader = open_reader(
        repositories, story.folder, commits, refs, story.folder / "cache", git_story.redactor(),
        shipped=(story.folder / "shipped",), tools=Tools(),
    )  # fmt: skip
    found = reader.render(story.applications[SHOP].states[0], story.repo.sha("start"))
    reader.close()
    assert isinstance(found, DesiredState)
    assert (found.objects, found.rendered) == (before.objects, "before")


def test_hashes_of_secrets_are_kept_for_one_key_only(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: correct-horse}\n"
    story.repo.commit("start", 0, {"apps/web/secret.yaml": secret, "apps/web/web.yaml": deployment()})
    key = ManifestKey("", "Secret", "shop-prod", "db")
    first = state(story).objects[key]
    assert state(story).objects[key] == first
    monkeypatch.setattr(git_story, "redactor", lambda: Redactor(b"other" * 8))
    assert state(story).objects[key] != first
    assert "correct-horse" not in str(first)


@needs_helm
def test_a_missing_program_is_said_and_not_remembered(story: Story) -> None:
    charted(story)
    assert reason(story, tools=Tools()) == "Helm is not rendered: this machine has no helm"
    assert value(state(story).objects[WEB], IMAGE) == "web:1"


def test_a_missing_kustomize_is_said(story: Story) -> None:
    kustomized(story)
    assert reason(story, tools=Tools()) == "Kustomize is not rendered: this machine has no kustomize"


# What hostile files cannot do


@needs_kustomize
@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../etc/passwd", "web.yaml"])
def test_a_symbolic_link_is_not_followed(story: Story, target: str) -> None:
    kustomized(story, **{"base/web.yaml": b"-> " + target.encode()})
    assert "symbolic link" in reason(story)


@pytest.mark.parametrize("text", ["../../../../../etc", "/etc", "../../../x"])
@needs_kustomize
def test_a_base_outside_of_the_repository_is_not_read(story: Story, text: str) -> None:
    kustomized(story, **{OVERLAY: f"resources: ['{text}']\n"})
    assert "leads out of the repository" in reason(story)


def test_a_path_that_leads_out_of_the_repository_is_not_read(story: Story) -> None:
    story.repo.commit("start", 0, {"a.yaml": "a: 1"})
    story.application(source("../../etc"))
    assert reason(story) == "the path ../../etc leads out of the repository"


@needs_kustomize
def test_a_kustomization_cannot_run_a_program(story: Story, tmp_path: Path) -> None:
    generator = (
        "apiVersion: someteam.example.com/v1\nkind: Evil\nmetadata:\n  name: evil\n  annotations:\n"
        "    config.kubernetes.io/function: |\n      exec:\n        path: ./evil.sh\n"
    )
    script = f"#!/bin/sh\ntouch {tmp_path}/it-ran\n"
    kustomized(story, **{
        OVERLAY: "resources: [../../base]\ngenerators: [evil.yaml]\n",
        "overlays/prod/evil.yaml": generator,
        "overlays/prod/evil.sh": script,
    })  # fmt: skip
    assert "Kustomize does not render it" in reason(story)
    assert not (tmp_path / "it-ran").exists()


@needs_kustomize
def test_a_kustomization_that_inflates_a_chart_is_unknown(story: Story) -> None:
    kustomized(story, **{OVERLAY: "helmCharts: [{name: x, repo: 'https://charts.example', version: 1.0.0}]\n"})
    assert "inflates a Helm chart" in reason(story)


@needs_kustomize
def test_kustomizations_that_lead_to_each_other_end(story: Story) -> None:
    kustomized(
        story, **{OVERLAY: "resources: [../../base]\n", "base/kustomization.yaml": "resources: [../overlays/prod]\n"}
    )
    assert "Kustomize does not render it" in reason(story)


def test_a_yaml_bomb_costs_what_its_text_costs(story: Story) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    story.repo.commit("start", 0, {"apps/web/bomb.yaml": "\n".join(lines)})
    began = time.monotonic()
    assert "does not parse" in reason(story)
    assert time.monotonic() - began < 5


@needs_helm
def test_a_template_without_end_is_ended(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "{{ range $i, $_ := until 2000000000 }}{{ range $j, $_ := until 2000000000 }}x{{ end }}{{ end }}"
    charted(story, **{"chart/templates/web.yaml": endless})
    monkeypatch.setattr("auditor.desired.tools.run.__defaults__", (2.0,))
    assert "Helm does not render it" in reason(story)


def test_a_large_file_pointer_is_unknown(story: Story) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12\n"
    story.repo.commit("start", 0, {"apps/web/web.yaml": pointer})
    assert reason(story) == "apps/web/web.yaml is a Git LFS pointer: the content lies elsewhere"


def test_files_that_are_no_manifests_are_left_out(story: Story) -> None:
    files = {"apps/web/web.yaml": deployment(), "apps/web/values.yaml": "a: 1\n", "apps/web/notes.txt": "{: ["}
    story.repo.commit("start", 0, files)
    assert list(state(story).objects) == [WEB]


def test_json_manifests_and_lists_are_read(story: Story) -> None:
    listed = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}],
    }
    story.repo.commit("start", 0, {"apps/web/list.json": orjson.dumps(listed).decode()})
    assert list(state(story).objects) == [ManifestKey("", "Service", "shop-prod", "a")]


def test_a_shallow_clone_says_what_it_does_not_hold(story: Story) -> None:
    story.repo.commit("start", 0, {"apps/web/web.yaml": deployment()})
    story.repo.commit("fix", 70, {"apps/web/web.yaml": deployment("web:2")})
    story.repo.commit("other", 80, {"README": "x"})
    story.repo.write()
    shallow = story.folder / "shallow.git"
    subprocess.run(
        ["git", "clone", "-q", "--bare", "--depth=2", f"file://{story.repo.folder}", str(shallow)], check=True
    )
    story.repo.folder = shallow
    verdict = story.judge(IMAGE, "web:1", "web:2", at=60)
    assert verdict.verdict == "unknown"
    assert "does not go back" in verdict.reason
