"""Which revision of which repository an application follows."""

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from auditor.collectors.git.charts import chart_folder
from auditor.config import RepositoryConfig
from auditor.model.application import SyncRecord
from auditor.model.change import AppKey, Write
from tests.correlate.git.git_story import IMAGE, REPLICAS, Repo, Story, deployment, needs_helm, needs_kustomize, source
from tests.factories import SHOP, actor, app_state, field, history, minute, thing, write

WEB = "apps/web/web.yaml"
ROOT = AppKey("argocd", "argocd", "root")


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """web alone on main, which Argo CD has seen."""
    story = Story(tmp_path)
    story.repo.commit("start", 0, {WEB: deployment()})
    story.seen("start", 1)
    return story


def test_head_is_the_default_branch(story: Story) -> None:
    story.application(source(target="HEAD"))
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


def test_no_target_is_the_default_branch(story: Story) -> None:
    story.application(source(target=""))
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "reflected"


def test_a_release_branch_is_followed_and_main_is_then_only_a_branch(story: Story) -> None:
    story.repo.commit("release", 10, {"README": "x"}, branch="release", parent="start")
    story.application(source(target="release"))
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("on-branch", "fix", "fix")
    assert verdict.branch == "main"


def test_a_tag_stays_where_it_is(story: Story) -> None:
    story.repo.tag("v1", "start")
    story.application(source(target="v1"))
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"


def test_a_commit_stays_where_it_is(story: Story) -> None:
    story.repo.write()
    story.application(source(target=story.repo.sha("start")[:10]))
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"


def test_a_range_of_versions_follows_the_highest_tag(story: Story) -> None:
    story.repo.tag("v1.0.0", "start")
    story.repo.commit("minor", 70, {WEB: deployment("web:2")})
    story.repo.tag("v1.1.0", "minor")
    story.repo.commit("major", 80, {WEB: deployment("web:3")})
    story.repo.tag("v2.0.0", "major")
    story.application(source(target="1.x"))
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "minor", "minor")


def test_a_target_that_is_nowhere_is_unknown(story: Story) -> None:
    story.application(source(target="gone"))
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "unknown"
    assert "has no branch, tag or commit gone" in verdict.reason


def test_a_repository_that_is_not_configured_is_unknown(story: Story) -> None:
    story.application(source(url="http://git.acme.example/other.git"))
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "unknown"
    assert verdict.reason == "no repository is configured for http://git.acme.example/other.git"


def test_a_repository_that_no_record_names_is_unknown(story: Story) -> None:
    story.application(source(url=""))
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert (verdict.verdict, verdict.reason) == ("unknown", "no record names its repository")


@pytest.mark.parametrize(
    "url",
    [
        "https://git.acme.example/platform/deploy",
        "git@git.acme.example:platform/deploy.git",
        "ssh://git@git.acme.example:22/platform/deploy.git",
        "http://robot:secret@GIT.acme.example/Platform/deploy.git",
    ],
)
def test_a_repository_is_known_by_any_of_its_urls(story: Story, url: str) -> None:
    story.application(source(url=url))
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "reflected"


def test_a_chart_from_a_chart_repository_is_unknown(story: Story) -> None:
    story.application(source("", "1.2.3", "https://charts.example", chart="web"))
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "unknown"
    assert "chart" in verdict.reason


def test_a_plugin_is_unknown(story: Story) -> None:
    story.application(source(kind="plugin", options='{"name":"cdk8s"}'))
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "unknown"
    assert "plugin" in verdict.reason


def test_jsonnet_is_unknown(story: Story) -> None:
    story.repo.commit("jsonnet", 2, {"apps/web/more.jsonnet": "{}"})
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "unknown"
    assert "Jsonnet" in verdict.reason


def test_subfolders_count_only_when_the_directory_is_read_recursively(story: Story) -> None:
    story.repo.commit("sub", 2, {WEB: None, "apps/web/sub/web.yaml": deployment()})
    story.repo.commit("fix", 70, {"apps/web/sub/web.yaml": deployment("web:2")})
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-in-git"
    story.application(source(kind="directory", options='{"recurse":true}'))
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "reflected"


def test_excluded_and_not_included_files_are_not_read(story: Story) -> None:
    story.repo.commit("fix", 70, {WEB: deployment("web:2"), "apps/web/notes.yaml": "{: ["})
    story.application(source(kind="directory", options='{"exclude":"{notes,other}.yaml"}'))
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "reflected"
    story.application(source(kind="directory", options='{"include":"*.json"}'))
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-in-git"


def test_a_file_that_says_so_is_not_rendered(story: Story) -> None:
    story.repo.commit("skip", 2, {"apps/web/skipped.yaml": "# +argocd:skip-file-rendering\n{{ nonsense"})
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"


def test_two_sources_of_two_repositories_make_one_application(story: Story) -> None:
    other = Repo(story.folder / "settings.git", "http://git.acme.example/settings.git")
    story.repos.append(other)
    other.commit("settings", 0, {"prod/worker.yaml": deployment(name="worker")})
    other.commit("bigger", 70, {"prod/worker.yaml": deployment(name="worker", replicas=6)})
    story.application(source(), source("prod", "main", other.url))
    verdict = story.judge(REPLICAS, 3, 6, object=thing("worker"))
    assert (verdict.verdict, other.name(verdict.commit)) == ("reflected", "bigger")
    assert story.judge(REPLICAS, 3, 6).verdict == "not-reflected"


@needs_kustomize
def test_a_remote_base_is_unknown_and_nothing_is_fetched(story: Story) -> None:
    remote = "resources:\n  - https://github.com/acme/base//web?ref=v1\n"
    story.repo.commit("remote", 2, {"apps/web/kustomization.yaml": remote})
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "unknown"
    assert "remote base" in verdict.reason


# Applications that git declares

APP = """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: shop-prod, namespace: argocd}}
spec:
  destination: {{server: https://kubernetes.default.svc, namespace: shop-prod}}
  source: {{repoURL: {url}, path: {path}, targetRevision: {target}}}
"""


def declared(path: str = "apps/web", target: str = "main") -> str:
    return APP.format(url="http://git.acme.example/platform/deploy.git", path=path, target=target)


def under_root(story: Story) -> None:
    """shop-prod is declared by the application root."""
    story.applications[ROOT] = history(app_state(-60, ROOT, sources=(source("argocd"),)), key=ROOT)
    story.application(tracking_id="root:argoproj.io/Application:argocd/shop-prod")


def test_an_override_in_an_application_that_git_declares_is_not_gits_word(story: Story) -> None:
    story.repo.commit("root", 2, {"argocd/shop-prod.yaml": declared()})
    under_root(story)
    story.repo.commit("other", 3, {"apps/other/web.yaml": deployment("web:2")})
    state = story.applications[SHOP].states[0]
    story.applications[SHOP] = history(
        app_state(-60, SHOP, sources=(source("apps/other"),), tracking_id=state.tracking_id), key=SHOP
    )
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"


def test_a_commit_that_declares_another_path_brings_its_values(story: Story) -> None:
    story.repo.commit("root", 2, {"argocd/shop-prod.yaml": declared(), "apps/web2/web.yaml": deployment("web:2")})
    under_root(story)
    story.repo.commit("switch", 70, {"argocd/shop-prod.yaml": declared("apps/web2")}, message="Switch (#9)")
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("reflected", "switch", "switch")
    assert verdict.pull_request == 9


def test_a_commit_that_declares_another_tag_brings_its_values(story: Story) -> None:
    story.repo.tag("v1", "start")
    story.repo.commit("root", 2, {"argocd/shop-prod.yaml": declared(target="v1"), WEB: deployment("web:2")})
    story.repo.tag("v2", "root")
    under_root(story)
    story.repo.commit("promote", 70, {"argocd/shop-prod.yaml": declared(target="v2")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "promote", "promote")


def test_a_value_that_was_written_on_the_branch_that_is_declared_after_it_keeps_its_author(story: Story) -> None:
    story.repo.commit("root", 2, {"argocd/shop-prod.yaml": declared(target="release")})
    story.repo.commit("release", 3, {"README": "x"}, branch="release", parent="root")
    under_root(story)
    story.repo.commit("fix", 65, {WEB: deployment("web:2")}, author="Dave Lind")
    story.repo.commit("switch", 70, {"argocd/shop-prod.yaml": declared(target="main")})
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("reflected", "switch", "fix")
    assert verdict.author.startswith("Dave Lind")


# Charts from a chart repository, values from git

CHARTS = "https://charts.acme.example"


def packaged(folder: Path, version: str = "1.2.0") -> None:
    """A chart as `helm package` makes one."""
    folder.mkdir(exist_ok=True)
    files = {
        "web/Chart.yaml": f"apiVersion: v2\nname: web\nversion: {version}\n",
        "web/values.yaml": "tag: '1'\nreplicas: 3\n",
        "web/templates/web.yaml": deployment("web:{{ .Values.tag }}", "{{ .Values.replicas }}"),
    }
    with tarfile.open(folder / f"web-{version}.tgz", "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))


def chart_with_values(story: Story, version: str = "1.2.0") -> None:
    options = '{"valueFiles":["$values/env/prod.yaml"]}'
    chart = source("", version, CHARTS, chart="web", kind="helm", options=options)
    story.application(chart, source("", ref="values"))
    story.repo.commit("values", 2, {"env/prod.yaml": "tag: '1'\n"})
    story.seen("values", 3)


@needs_helm
def test_a_chart_at_hand_is_rendered_with_its_values_from_git(story: Story) -> None:
    packaged(story.folder / "charts")
    story.charts = (RepositoryConfig(CHARTS, "charts"),)
    chart_with_values(story)
    story.repo.commit("fix", 70, {"env/prod.yaml": "tag: '2'\n"})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")
    assert story.named(story.judge(REPLICAS, 6, 3))[0] == "already"


@needs_helm
def test_a_fetched_chart_of_a_registry_is_rendered_as_one_at_hand(story: Story) -> None:
    registry = RepositoryConfig("oci://registry.acme.example/charts", charts=True)
    held = chart_folder(story.folder / "cache", registry.url)
    held.mkdir(parents=True)
    packaged(held)
    story.charts = (registry,)
    options = '{"valueFiles":["$values/env/prod.yaml"]}'
    chart = source("", "1.2.0", "registry.acme.example/charts", chart="web", kind="helm", options=options)
    story.application(chart, source("", ref="values"))
    story.repo.commit("values", 2, {"env/prod.yaml": "tag: '1'\n"})
    story.repo.commit("fix", 70, {"env/prod.yaml": "tag: '2'\n"})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


@needs_helm
def test_a_range_of_chart_versions_takes_the_highest_at_hand(story: Story) -> None:
    packaged(story.folder / "charts", "1.2.0")
    packaged(story.folder / "charts", "1.10.0")
    packaged(story.folder / "charts", "2.0.0")
    story.charts = (RepositoryConfig(CHARTS, "charts"),)
    chart_with_values(story, "1.x")
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"


@needs_helm
def test_a_chart_that_no_repository_declares_says_so(story: Story) -> None:
    packaged(story.folder / "charts")
    story.charts = (RepositoryConfig(CHARTS, "charts"),)
    story.application(source("", "1.2.0", CHARTS, chart="web"))
    verdict = story.judge(IMAGE, "web:9", "web:1")
    assert (verdict.verdict, verdict.commit) == ("already", None)
    assert verdict.reason.startswith("the value comes from the Application")


def synced(at: float, *revisions: str) -> SyncRecord:
    none: tuple[()] = ()
    return SyncRecord(
        SHOP, minute(at), minute(at), "Succeeded", revisions, none, "automated", "full", "", None,
        False, False, None, 0, "", none, none, none,
    )  # fmt: skip


def controller_asked(at: float, **values: Any) -> Write:
    fields = [field(IMAGE, "?", values["image"])]
    return write(f"sync-{at}", at, *fields, cause="gitops", patch_type="apply", actor=actor("argocd", "gitops"))


def test_without_the_chart_what_the_controller_asked_for_stands_for_it(story: Story) -> None:
    chart_with_values(story)
    story.repo.commit("fix", 70, {"env/prod.yaml": "tag: '2'\n"})
    story.applications[SHOP] = history(
        *story.applications[SHOP].states, key=SHOP, syncs=(synced(5, "1.2.0"), synced(71, "1.2.0"))
    )
    story.writes = (controller_asked(5, image="web:1"), controller_asked(71, image="web:2"))
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert (verdict.verdict, story.repo.name(verdict.commit), verdict.confidence) == ("reflected", "fix", "low")
    assert "what the controller last asked for stands for it" in verdict.reason


def test_without_the_chart_and_without_a_sync_git_is_unknown(story: Story) -> None:
    chart_with_values(story)
    story.repo.commit("fix", 70, {"env/prod.yaml": "tag: '2'\n"})
    story.applications[SHOP] = history(*story.applications[SHOP].states, key=SHOP, syncs=(synced(5, "1.2.0"),))
    story.writes = (controller_asked(5, image="web:1"),)
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert (verdict.verdict, verdict.commit) == ("unknown", None)
    assert "no folder with its charts is configured" in verdict.reason


def test_where_nothing_can_render_a_text_search_gives_a_hint_and_no_verdict(story: Story) -> None:
    story.application(source(kind="plugin", options='{"name":"cdk8s"}'))
    story.repo.commit("fix", 70, {WEB: deployment("web:2024-hotfix", 7)})
    image = story.judge(IMAGE, "web:1", "web:2024-hotfix")
    assert (image.verdict, image.commit, image.confidence) == ("unknown", None, "low")
    assert f"apps/web/web.yaml has the value since {story.repo.sha('fix')[:12]}" in image.reason
    assert "by text search" in story.judge(REPLICAS, 3, 7).reason
    assert "by text search" not in story.judge(REPLICAS, 3, 8).reason


def test_an_application_at_the_root_of_a_repository_is_not_concerned_by_every_commit(story: Story) -> None:
    story.application(source("."))
    story.repo.commit("root", 2, {"web.yaml": deployment()})
    story.repo.commit("elsewhere", 3, {"apps/other.yaml": deployment(name="other")})
    story.repo.commit("fix", 70, {"web.yaml": deployment("web:2")})
    with story.reader() as reader:
        landings = reader.landings(story.applications[SHOP].states[0])
    assert isinstance(landings, tuple)
    assert [story.repo.name(landing.sha) for landing in landings] == ["start", "root", "fix"]
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")
