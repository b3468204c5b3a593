"""Remote bases of kustomizations: resolved from the collected history of their repository, never fetched."""

from pathlib import Path

import pytest

from tests.correlate.git.git_story import IMAGE, REPLICAS, Repo, Story, deployment, needs_kustomize

BASES = "https://git.acme.example/platform/bases.git"
OVERLAY = "apps/web/kustomization.yaml"
PATCH = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: {}\n"


def overlay(base: str, replicas: int = 3) -> dict[str, str]:
    """An overlay of a base; it sets the replicas."""
    return {
        OVERLAY: f"resources:\n  - {base}\npatches:\n  - path: replicas.yaml\n",
        "apps/web/replicas.yaml": PATCH.format(replicas),
    }


@pytest.fixture
def bases(tmp_path: Path) -> Repo:
    """A base with image web:1, tagged v1, and the branch `stable` at it."""
    repo = Repo(tmp_path / "bases.git", BASES)
    files = {
        "web/kustomization.yaml": "resources: [../common]\n",
        "common/kustomization.yaml": "resources: [web.yaml]\n",
        "common/web.yaml": deployment("web:1"),
    }
    repo.commit("base", 0, files)
    repo.tag("v1", "base")
    repo.point("stable", "base")
    return repo


@pytest.fixture
def story(tmp_path: Path, bases: Repo) -> Story:
    """An application over the deploy repository, with the bases' repository configured too."""
    story = Story(tmp_path)
    story.repos.append(bases)
    return story


def base_name(story: Story, bases: Repo, sha: str | None) -> str | None:
    return bases.name(story.repo.name(sha))


@needs_kustomize
def test_a_base_on_a_branch_is_a_state_of_its_own_that_a_commit_there_changes(story: Story, bases: Repo) -> None:
    story.repo.commit("start", 2, overlay("https://git.acme.example/platform/bases//web?ref=stable"))
    bases.commit("fix", 70, {"common/web.yaml": deployment("web:2")}, branch="stable")
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert (verdict.verdict, base_name(story, bases, verdict.commit)) == ("reflected", "fix")
    assert story.judge(IMAGE, "web:1", "web:9").verdict == "superseded"


@needs_kustomize
def test_a_commit_on_another_branch_of_the_base_is_not_in_the_application(story: Story, bases: Repo) -> None:
    story.repo.commit("start", 2, overlay("https://git.acme.example/platform/bases//web?ref=stable"))
    bases.commit("elsewhere", 70, {"common/web.yaml": deployment("web:2")})
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "on-branch"


@needs_kustomize
def test_a_base_at_a_tag_changes_with_the_commit_that_names_another(story: Story, bases: Repo) -> None:
    bases.commit("two", 5, {"common/web.yaml": deployment("web:2")})
    bases.tag("v2", "two")
    story.repo.commit("start", 2, overlay("git@git.acme.example:platform/bases.git//web?ref=v1"))
    story.seen("start", 10)
    story.repo.commit("bump", 70, overlay("git@git.acme.example:platform/bases.git//web?ref=v2"))
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "bump", "bump")


@needs_kustomize
def test_a_base_at_a_commit_is_what_it_was_then(story: Story, bases: Repo) -> None:
    bases.commit("later", 3, {"common/web.yaml": deployment("web:2")})
    bases.write()
    story.repo.commit("start", 4, overlay(f"{BASES}//web?ref={bases.sha('base')}&timeout=90s"))
    story.seen("start", 5)
    assert story.judge(IMAGE, "web:9", "web:1").verdict == "already"
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"
    story.repo.commit("fix", 70, overlay(f"{BASES}//web?ref={bases.sha('base')}&timeout=90s", 6))
    assert story.named(story.judge(REPLICAS, 3, 6)) == ("reflected", "fix", "fix")


@pytest.mark.parametrize("ref", ["v9", "1.x", "0123456"])
def test_a_base_at_a_ref_that_was_not_collected_is_unknown(story: Story, ref: str) -> None:
    story.repo.commit("start", 2, overlay(f"{BASES}//web?ref={ref}"))
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert (verdict.verdict, verdict.commit) == ("unknown", None)
    assert f"has no branch, tag or commit {ref} in what was collected" in verdict.reason


@pytest.mark.parametrize(
    ("base", "reason"),
    [
        ("https://git.acme.example/platform/other//web?ref=v1", "which is not fetched"),
        ("https://git.acme.example/platform/bases-more//web?ref=v1", "which is not fetched"),
        (f"{BASES}//../../etc?ref=v1", "which is not fetched"),
        (f"{BASES}//nowhere?ref=v1", "no such folder is there"),
        ("https://git.acme.example/platform/deploy//web?ref=main", "that it follows on another one"),
    ],
)
def test_what_is_not_a_folder_of_a_configured_repository_is_unknown(story: Story, base: str, reason: str) -> None:
    story.repo.commit("start", 2, overlay(base))
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "unknown"
    assert reason in verdict.reason


def test_a_ref_that_is_a_branch_and_a_tag_is_unknown(story: Story, bases: Repo) -> None:
    bases.tag("stable", "base")
    story.repo.commit("start", 2, overlay(f"{BASES}//web?ref=stable"))
    assert "is both a branch and a tag" in story.judge(IMAGE, "web:1", "web:2").reason


def test_a_base_that_leads_out_of_its_repository_is_unknown(story: Story, bases: Repo) -> None:
    bases.commit("out", 1, {"web/kustomization.yaml": "resources: [../../apps/secret]\n"})
    bases.tag("v2", "out")
    secret = {"apps/secret/kustomization.yaml": "resources: []\n"}
    story.repo.commit("start", 2, {**overlay(f"{BASES}//web?ref=v2"), **secret})
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert (verdict.verdict, "leads out of the repository" in verdict.reason) == ("unknown", True)


@needs_kustomize
def test_a_list_that_is_not_written_line_by_line_is_unknown_rather_than_changed(story: Story) -> None:
    story.repo.commit("start", 2, {OVERLAY: f"resources: ['{BASES}//web?ref=v1']\n"})
    assert "cannot be told from other text" in story.judge(IMAGE, "web:1", "web:2").reason


@needs_kustomize
def test_a_base_of_a_base_is_followed(story: Story, bases: Repo, tmp_path: Path) -> None:
    more = Repo(tmp_path / "more.git", "https://github.com/acme/more")
    more.commit("middle", 1, {"kustomization.yaml": f"resources:\n- '{BASES}//web?ref=stable' # the base\n"})
    story.repos.append(more)
    story.repo.commit("start", 2, overlay("github.com/acme/more"))
    bases.commit("fix", 70, {"common/web.yaml": deployment("web:2")}, branch="stable")
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert (verdict.verdict, base_name(story, bases, verdict.commit)) == ("reflected", "fix")
