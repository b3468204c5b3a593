"""How a value came to the tracked branch: what git's history says of a change, story by story."""

from pathlib import Path

import pytest

from auditor.model.application import RevisionSeen
from tests.correlate.git.git_story import IMAGE, REPLICAS, Story, deployment
from tests.factories import evidence, minute

WEB = "apps/web/web.yaml"


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """web:1 with three replicas on main since the beginning, which Argo CD has seen."""
    story = Story(tmp_path)
    story.repo.commit("start", 0, {WEB: deployment()})
    story.seen("start", 1)
    return story


def test_a_commit_on_the_branch_reflects_the_change(story: Story) -> None:
    story.repo.commit("fix", 70, {WEB: deployment("web:2")}, author="Bob Ito", mail="bob@acme.example")
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("reflected", "fix", "fix")
    assert verdict.author == "Bob Ito <bob@acme.example>"
    assert verdict.delay_seconds == 600


@pytest.mark.parametrize("others", [True, False], ids=["an old copy", "another repository"])
def test_a_copy_without_the_commit_that_was_followed_last_says_nothing(
    story: Story, monkeypatch: pytest.MonkeyPatch, others: bool
) -> None:
    lost = RevisionSeen(story.repo.url, "f" * 40, minute(80), evidence("lost"), "main")
    if not others:
        story.repo.commit("newer", 90, {"README": "x"})
    known = story.records
    monkeypatch.setattr(story, "records", lambda: (*known(), lost) if others else (lost,))
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "unknown"
    assert "ffffffffffff" in verdict.reason


def test_a_commit_that_was_pushed_over_is_missing_from_a_newer_copy(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.repo.commit("fix", 90, {WEB: deployment("web:2")})
    lost = RevisionSeen(story.repo.url, "f" * 40, minute(80), evidence("lost"), "main")
    known = story.records
    monkeypatch.setattr(story, "records", lambda: (*known(), lost))
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


def test_a_merge_reflects_the_change_and_the_author_is_found_inside_it(story: Story) -> None:
    story.repo.commit("typo", 62, {"README": "x"}, branch="hotfix", parent="start")
    story.repo.commit("pin", 63, {WEB: deployment("web:2")}, branch="hotfix", author="Bob Ito", mail="bob@acme.example")
    story.repo.commit("note", 64, {"README": "y"}, branch="hotfix")
    story.repo.merge("merge", 70, "note", message="Merge pull request #41 from acme/hotfix")
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("reflected", "merge", "pin")
    assert (verdict.author, verdict.pull_request) == ("Bob Ito <bob@acme.example>", 41)


def test_a_squash_reflects_the_change(story: Story) -> None:
    story.repo.commit("pin", 63, {WEB: deployment("web:2")}, branch="hotfix", parent="start")
    story.repo.commit("squash", 70, {WEB: deployment("web:2")}, message="Pin web (#42)")
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("reflected", "squash", "squash")
    assert verdict.pull_request == 42


def test_a_rebased_commit_lands_by_the_committers_clock(story: Story) -> None:
    story.repo.commit("rebased", 70, {WEB: deployment("web:2")}, authored=30)
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("reflected", "rebased", "rebased")
    assert verdict.delay_seconds == 600


def test_a_cherry_pick_reflects_the_change_where_it_landed(story: Story) -> None:
    story.repo.commit("release", 63, {WEB: deployment("web:2")}, branch="release", parent="start")
    story.repo.commit("picked", 75, {WEB: deployment("web:2")}, message="Pin web\n\n(cherry picked from commit 1234)")
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "picked", "picked")


def test_a_reverted_fix_is_not_reflected_and_the_reason_says_when_git_had_it(story: Story) -> None:
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    story.repo.commit("revert", 90, {WEB: deployment("web:1")}, message='Revert "Commit fix (#12)"')
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert (verdict.verdict, verdict.commit) == ("not-reflected", None)
    assert verdict.reason == "git had it from 2026-11-30 10:10:00 UTC until 2026-11-30 10:30:00 UTC"


def test_a_fix_that_was_reverted_and_made_again_counts_from_the_last_time(story: Story) -> None:
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    story.repo.commit("revert", 90, {WEB: deployment("web:1")})
    story.repo.commit("again", 95, {WEB: deployment("web:2")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "again", "again")


def test_a_fix_on_another_branch_only_is_on_branch(story: Story) -> None:
    story.repo.commit("release", 63, {WEB: deployment("web:2")}, branch="release/1", parent="start")
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("on-branch", "release", "release")
    assert verdict.branch == "release/1"


def test_a_branch_that_left_when_main_had_the_value_does_not_bring_it(story: Story) -> None:
    story.repo.commit("stale", 5, {"apps/web/other.yaml": deployment(name="other")}, branch="old", parent="start")
    story.repo.commit("upgrade", 10, {WEB: deployment("web:2")})
    story.seen("upgrade", 11)
    assert story.judge(IMAGE, "web:2", "web:1").verdict == "not-reflected"


def test_the_first_of_two_branches_with_the_fix_is_named_and_the_other_too(story: Story) -> None:
    story.repo.commit("second", 80, {WEB: deployment("web:2")}, branch="b", parent="start")
    story.repo.commit("first", 70, {WEB: deployment("web:2")}, branch="c", parent="start")
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("on-branch", "first", "first")
    assert verdict.reason == "also on b"


def test_a_pull_request_ref_of_a_mirror_is_no_branch(story: Story) -> None:
    story.repo.commit("closed", 63, {WEB: deployment("web:2")}, branch="gone", parent="start")
    story.repo.ref("refs/pull/7/head", "closed")
    story.repo.write()
    story.repo.point("gone", "start")
    assert story.judge(IMAGE, "web:1", "web:2").verdict == "not-reflected"


def test_another_value_that_came_later_supersedes_the_change(story: Story) -> None:
    story.repo.commit("other", 70, {WEB: deployment("web:3")}, message="Release web 3 (#50)")
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("superseded", "other", "other")
    assert (verdict.says, verdict.pull_request) == ("web:3", 50)


def test_a_value_that_git_had_before_is_already_there(story: Story) -> None:
    assert story.named(story.judge(IMAGE, "web:9", "web:1")) == ("already", "start", "start")


def test_a_value_that_git_gave_up_after_the_change_and_took_again_is_reflected(story: Story) -> None:
    story.repo.commit("away", 70, {WEB: deployment("web:2")})
    story.repo.commit("back", 80, {WEB: deployment("web:1")})
    assert story.named(story.judge(IMAGE, "web:9", "web:1")) == ("reflected", "back", "back")


def test_nothing_in_git_is_not_reflected(story: Story) -> None:
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert (verdict.verdict, verdict.commit, verdict.says) == ("not-reflected", None, "web:1")


def test_a_value_of_a_conflict_resolved_in_the_merge_is_authored_by_the_merge(story: Story) -> None:
    story.repo.commit("theirs", 62, {WEB: deployment("web:5")}, branch="hotfix", parent="start")
    story.repo.commit("ours", 63, {WEB: deployment("web:6")})
    story.repo.merge("merge", 70, "theirs", files={WEB: deployment("web:2")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "merge", "merge")


def test_two_values_of_one_merge_have_their_own_authors(story: Story) -> None:
    story.repo.commit("pin", 62, {WEB: deployment("web:2")}, branch="hotfix", parent="start")
    story.repo.commit("scale", 63, {WEB: deployment("web:2", 6)}, branch="hotfix")
    story.repo.merge("merge", 70, "scale")
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "merge", "pin")
    assert story.named(story.judge(REPLICAS, 3, 6)) == ("reflected", "merge", "scale")


def test_a_commit_by_a_slow_clock_is_not_taken_for_already(story: Story) -> None:
    story.repo.commit("before", 50, {"README": "x"})
    story.seen("before", 51)
    story.repo.commit("fix", 45, {WEB: deployment("web:2")})
    story.seen("fix", 66)
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("reflected", "fix", "fix")
    assert verdict.delay_seconds is None
    assert "first seen after" in verdict.reason


def test_a_commit_by_a_fast_clock_cannot_land_after_it_was_seen(story: Story) -> None:
    story.repo.commit("fix", 200, {WEB: deployment("web:2")})
    story.seen("fix", 50)
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("already", "fix", "fix")


def test_a_fast_forward_of_an_old_branch_makes_up_no_delay(story: Story) -> None:
    story.repo.commit("old", 10, {WEB: deployment("web:2")}, branch="hotfix", parent="start")
    story.seen("start", 55)
    story.repo.point("main", "old")
    story.seen("old", 70)
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert story.named(verdict) == ("reflected", "old", "old")
    assert verdict.delay_seconds is None


def test_without_any_record_of_revisions_a_commit_from_before_has_no_delay(tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.repo.commit("start", 0, {WEB: deployment()})
    story.repo.commit("fix", 50, {WEB: deployment("web:2")})
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert (verdict.verdict, verdict.delay_seconds) == ("reflected", None)
    assert "no record shows when it landed" in verdict.reason


def test_a_commit_of_another_application_shows_that_the_fix_had_landed(story: Story) -> None:
    story.repo.commit("fix", 40, {WEB: deployment("web:2")})
    story.repo.commit("elsewhere", 45, {"apps/other/x.yaml": deployment(name="x")})
    story.seen("elsewhere", 46)
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("already", "fix", "fix")


def test_a_fast_forward_to_a_branch_that_had_merged_main_does_not_move_what_was_seen_before(story: Story) -> None:
    story.repo.commit("fix", 40, {WEB: deployment("web:2")})
    story.seen("fix", 41)
    story.repo.commit("work", 42, {"README": "x"}, branch="feature", parent="start")
    story.repo.merge("sync", 70, "fix", branch="feature")
    story.repo.point("main", "sync")
    story.seen("sync", 71)
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("already", "fix", "fix")


def test_as_of_an_earlier_moment_the_verdict_is_the_one_of_then(story: Story) -> None:
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    assert story.judge(IMAGE, "web:1", "web:2", as_of=65).verdict == "not-reflected"
    assert story.judge(IMAGE, "web:1", "web:2", as_of=75).verdict == "reflected"


def test_a_branch_commit_from_after_the_moment_does_not_count(story: Story) -> None:
    story.repo.commit("late", 90, {WEB: deployment("web:2")}, branch="hotfix", parent="start")
    assert story.judge(IMAGE, "web:1", "web:2", as_of=80).verdict == "not-reflected"


def test_a_revision_that_does_not_parse_leaves_the_one_before_in_force(story: Story) -> None:
    story.repo.commit("broken", 50, {WEB: "{: ["})
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    assert story.named(story.judge(IMAGE, "web:1", "web:2")) == ("reflected", "fix", "fix")


def test_a_tip_that_does_not_parse_makes_git_unknown(story: Story) -> None:
    story.repo.commit("broken", 70, {WEB: "{: ["})
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "unknown"
    assert "apps/web/web.yaml does not parse" in verdict.reason


def test_a_fix_that_was_pushed_over_is_not_reflected(story: Story) -> None:
    story.repo.commit("fix", 70, {WEB: deployment("web:2")})
    story.seen("fix", 71)
    marks = story.collect()[2]
    story.repo.point("main", "start")
    story.repo.commit("other", 90, {"README": "x"})
    story.earlier = tuple(marks)
    verdict = story.judge(IMAGE, "web:1", "web:2")
    assert verdict.verdict == "not-reflected"
    assert verdict.reason == "git had it from 2026-11-30 10:10:00 UTC until 2026-11-30 10:30:00 UTC"


def test_the_mailmap_gives_the_author_the_name_that_people_know(story: Story) -> None:
    story.repo.commit("map", 2, {".mailmap": "Bob Ito <bob@acme.example> <bob@laptop.local>\n"})
    story.repo.commit("fix", 70, {WEB: deployment("web:2")}, author="bob", mail="bob@laptop.local")
    assert story.judge(IMAGE, "web:1", "web:2").author == "Bob Ito <bob@acme.example>"
