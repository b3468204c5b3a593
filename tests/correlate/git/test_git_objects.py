"""Whole objects in git: created, deleted, dropped, moved, renamed."""

from dataclasses import replace
from pathlib import Path

import pytest

from auditor.collectors.files.bounded_yaml import load
from auditor.correlate.git.manifest import otherwise
from auditor.model.application import ApplicationHistory
from auditor.model.change import AppKey, FieldChange
from auditor.objects.leaves import differences
from tests.correlate.git.git_story import IMAGE, REPLICAS, Story, deployment, source
from tests.factories import SHOP, change, field, minute, thing

WEB = "apps/web/web.yaml"
JOB = "apps/web/job.yaml"
WORKER = thing("worker")


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """web alone on main, which Argo CD has seen."""
    story = Story(tmp_path)
    story.repo.commit("start", 0, {WEB: deployment()})
    story.seen("start", 1)
    return story


def test_a_deleted_object_that_git_declares_is_not_reflected(story: Story) -> None:
    verdict = story.judge_whole("delete")
    assert (verdict.verdict, verdict.commit) == ("not-reflected", None)


def test_a_deleted_object_that_git_drops_later_is_reflected(story: Story) -> None:
    story.repo.commit("dropped", 70, {WEB: None, "apps/web/README": "x"})
    assert story.named(story.judge_whole("delete")) == ("reflected", "dropped", "dropped")


def test_a_deleted_object_that_git_never_declared_is_not_in_git(story: Story) -> None:
    assert story.judge_whole("delete", object=WORKER).verdict == "not-in-git"


def test_a_created_object_that_git_never_declares_is_not_in_git(story: Story) -> None:
    assert story.judge_whole("create", object=WORKER).verdict == "not-in-git"


def test_a_created_object_that_git_declares_later_is_reflected(story: Story) -> None:
    story.repo.commit("added", 70, {JOB: deployment(name="worker")})
    assert story.named(story.judge_whole("create", object=WORKER)) == ("reflected", "added", "added")


def test_a_created_object_that_git_declared_before_is_already_there(story: Story) -> None:
    story.repo.commit("added", 10, {JOB: deployment(name="worker")})
    story.seen("added", 11)
    assert story.named(story.judge_whole("create", object=WORKER)) == ("already", "added", "added")


def made(image: str, replicas: int = 3) -> tuple[FieldChange, ...]:
    """What a create of the worker asks for: as the API server has read it, with more than was typed."""
    stored = load(deployment(image, replicas, name="worker", extra="terminationMessagePath: /dev/log").encode())
    assert isinstance(stored, dict)
    return differences(None, stored, "apps", "Deployment")


def test_an_object_that_was_made_as_git_declares_it_later_is_reflected_by_the_commit_with_its_values(
    story: Story,
) -> None:
    story.repo.commit("added", 10, {JOB: deployment("web:1", name="worker")})
    story.seen("added", 11)
    story.repo.commit("as made", 70, {JOB: deployment("web:2", name="worker")})
    verdict = story.judge_whole("create", object=WORKER, asked=made("web:2"))
    assert (*story.named(verdict), verdict.reason) == ("reflected", "as made", "as made", "")


def test_of_an_object_that_git_declares_with_other_values_the_verdict_says_which(story: Story) -> None:
    story.repo.commit("added", 10, {JOB: deployment("web:1", name="worker")})
    story.seen("added", 11)
    verdict = story.judge_whole("create", object=WORKER, asked=made("web:2"))
    assert story.named(verdict) == ("already", "added", "added")
    assert verdict.reason == "git has other values for spec.template.spec.containers[name=web].image"
    assert not story.judge_whole("create", object=WORKER, asked=made("web:1")).reason


def test_values_within_a_list_that_the_api_server_filled_in_are_no_other_values() -> None:
    claims = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {volumeClaimTemplates: [{%s}]}"
    declared, stored = (load((claims % text).encode()) for text in ("spec: {}", "spec: {volumeMode: File}, kind: X"))
    assert isinstance(declared, dict)
    assert isinstance(stored, dict)
    of = thing("db", kind="StatefulSet")
    asked = differences(None, stored, "apps", "StatefulSet")
    create = change("c", 1, operation="create", object=of, asked=asked).write
    assert otherwise(declared, create) == ()
    fewer = differences(None, declared, "apps", "StatefulSet")
    assert otherwise(stored, replace(create, asked=fewer)) == (("spec", "volumeClaimTemplates"),)


def test_a_created_object_on_a_branch_is_on_branch(story: Story) -> None:
    story.repo.commit("added", 70, {JOB: deployment(name="worker")}, branch="worker", parent="start")
    assert story.named(story.judge_whole("create", object=WORKER)) == ("on-branch", "added", "added")


def test_a_changed_object_that_git_dropped_since_is_superseded(story: Story) -> None:
    story.repo.commit("dropped", 70, {WEB: None, "apps/web/README": "x"})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("superseded", "dropped", "dropped")


def test_an_object_that_git_dropped_before_the_change_is_not_in_git(story: Story) -> None:
    story.repo.commit("dropped", 10, {WEB: None, "apps/web/README": "x"})
    story.seen("dropped", 11)
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-in-git"


def test_a_renamed_object_is_another_object(story: Story) -> None:
    story.repo.commit("renamed", 70, {WEB: deployment("web:2", name="web-v2")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("superseded", "renamed", "renamed")


def test_a_moved_file_keeps_the_commit_of_its_values(story: Story) -> None:
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    story.repo.commit("moved", 80, {WEB: None, "apps/web/frontend.yaml": deployment("web:2")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


def test_an_object_that_moves_into_a_list_keeps_the_commit_of_its_values(story: Story) -> None:
    indented = "".join(f"    {line}\n" for line in deployment("web:2").splitlines())
    listed = "apiVersion: v1\nkind: List\nitems:\n  -\n" + indented
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    story.repo.commit("listed", 80, {WEB: listed})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


def test_several_documents_in_one_file_are_told_apart(story: Story) -> None:
    story.repo.commit("both", 2, {WEB: deployment() + "---\n" + deployment(name="worker")})
    story.repo.commit("fix", 70, {WEB: deployment() + "---\n" + deployment(name="worker", replicas=6)})
    assert story.judge(REPLICAS, 3, 6).verdict == "not-reflected"
    assert story.named(story.judge(REPLICAS, 3, 6, object=WORKER)) == ("reflected", "fix", "fix")


def test_an_object_in_another_namespace_is_another_object(story: Story) -> None:
    elsewhere = deployment("web:2").replace("name: web\nspec", "name: web\n  namespace: other\nspec")
    story.repo.commit("elsewhere", 70, {"apps/web/other.yaml": elsewhere})
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"
    other = thing("web", namespace="other")
    assert story.named(story.judge(IMAGE, "web:1", "web:2", object=other)) == ("reflected", "elsewhere", "elsewhere")


def test_a_cluster_scoped_object_is_found_without_the_destinations_namespace(story: Story) -> None:
    role = (
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: ops\n  labels: {tier: '%s'}\n"
    )
    story.repo.commit("role", 2, {"apps/web/role.yaml": role % "a"})
    story.repo.commit("fix", 70, {"apps/web/role.yaml": role % "b"})
    ops = thing("ops", "ClusterRole", "", "rbac.authorization.k8s.io")
    assert story.named(story.judge("metadata.labels.tier", "a", "b", object=ops)) == ("reflected", "fix", "fix")


def test_a_cluster_scoped_object_of_an_unknown_kind_is_found_too(story: Story) -> None:
    custom = "apiVersion: acme.example/v1\nkind: Fleet\nmetadata: {name: north}\nspec: {size: %d}\n"
    story.repo.commit("fleet", 2, {"apps/web/fleet.yaml": custom % 1})
    story.repo.commit("fix", 70, {"apps/web/fleet.yaml": custom % 2})
    fleet = thing("north", "Fleet", "", "acme.example")
    assert story.named(story.judge("spec.size", 1, 2, object=fleet)) == ("reflected", "fix", "fix")


def test_an_object_that_no_application_owns_is_not_in_git(story: Story) -> None:
    made = change("unowned", 60, field(IMAGE, "web:1", "web:2"), object=thing("debug"), application=None)
    whole, fields = story.judge_change(made, minute(600))
    assert [verdict.verdict for verdict in (whole, *fields)] == ["not-in-git", "not-in-git"]


def test_an_object_that_git_adopts_after_it_was_made_by_hand_is_reflected(story: Story) -> None:
    story.repo.commit("adopted", 70, {"apps/web/late.yaml": deployment(name="late")})
    late = thing("late")
    made = change("made", 60, operation="create", object=late, application=None)
    whole, fields = story.judge_change(made, minute(600))
    assert (whole.verdict, story.repo.name(whole.commit), fields) == ("reflected", "adopted", ())
    elsewhere = change("made", 60, operation="create", object=replace(late, namespace="other"), application=None)
    assert story.judge_change(elsewhere, minute(600))[0].verdict == "not-in-git"


OTHER = AppKey("argocd", "argocd", "shop-other")


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("web:1", "web:2", ("reflected", "moved", "moved")),
        ("web:1", "web:3", ("superseded", "moved", "moved")),
        ("web:0", "web:1", ("superseded", "moved", "moved")),
    ],
)
def test_an_object_that_git_moves_to_another_application_is_judged_there(
    story: Story, before: str, after: str, verdict: tuple[str, str, str]
) -> None:
    story.application(source("apps/other"), key=OTHER, destination_namespace="shop-prod")
    moved = {"apps/web/web.yaml": None, "apps/web/stay.yaml": deployment(name="stay")}
    story.repo.commit("moved", 70, {**moved, "apps/other/web.yaml": deployment("web:2")})
    assert story.named(story.judge(IMAGE, before, after)) == verdict


def test_a_value_that_git_moves_as_it_is_was_there_already_and_stays_lacking_what_a_hand_set(story: Story) -> None:
    story.application(source("apps/other"), key=OTHER, destination_namespace="shop-prod")
    moved = {"apps/web/web.yaml": None, "apps/web/stay.yaml": deployment(name="stay")}
    story.repo.commit("moved", 70, {**moved, "apps/other/web.yaml": deployment("web:1")})
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"
    assert story.named(story.judge(IMAGE, "web:0", "web:1")) == ("already", "start", "start")
    assert story.judge(f"{IMAGE}PullPolicy", "Always", ...).verdict == "already"
    assert story.judge_whole("delete").verdict == "not-reflected"


def test_a_collection_of_which_the_record_names_no_object_is_unknown(story: Story) -> None:
    cleared = change("cleared", 60, operation="delete", object=thing(""), application=None)
    assert story.judge_change(cleared, minute(600))[0].verdict == "unknown"


def test_without_any_record_of_applications_git_is_unknown(story: Story) -> None:
    story.applications.clear()
    made = change("unowned", 60, field(IMAGE, "web:1", "web:2"), application=None)
    assert story.judge_change(made, minute(600))[0].verdict == "unknown"


def test_an_application_without_any_state_is_unknown(story: Story) -> None:
    story.applications[SHOP] = ApplicationHistory(SHOP, (), (), ())
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "unknown"


def test_a_folder_that_comes_after_the_change_reflects_it(story: Story) -> None:
    story.application(source("apps/late"))
    story.repo.commit("late", 70, {"apps/late/web.yaml": deployment("web:2")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "late", "late")


def test_a_secret_is_compared_by_its_hash_and_never_shown(story: Story) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: %s}\n"
    story.repo.commit("secret", 2, {"apps/web/secret.yaml": secret % "correct-horse"})
    story.seen("secret", 3)
    with story.reader() as reader:
        desired = reader.render(story.applications[SHOP].states[0], story.repo.sha("secret"))
    assert "correct-horse" not in str(desired)
    assert b"correct-horse" not in (story.folder / "cache" / "rendered.pack").read_bytes()
