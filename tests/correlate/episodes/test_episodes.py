"""Break-glass stories, good and bad, and which of the five steps are recorded of each."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from auditor.config import ArgoCDConfig, Config, Person
from auditor.correlate.episodes.episodes import episodes
from auditor.model.change import Change
from auditor.model.coverage import Coverage, Gap
from auditor.model.episode import STEP_NAMES, Episode
from auditor.model.verdict import ClusterVerdict, Verdict
from tests.factories import (
    SHOP,
    actor,
    app_state,
    change,
    commit,
    coverage,
    field,
    freeze,
    history,
    mark,
    message,
    minute,
    thing,
    verdict,
)

CONFIG = Config(folder=Path("/"), argocds=(ArgoCDConfig("argocd", "prod"),))
OTHERS = {"payments-prod", "shop-staging", "catalog-prod"}
FIX: dict[str, Any] = {
    "commit": "c1",
    "at": minute(20),
    "author": "Erin Holt <erin@acme.example>",
    "delay_seconds": 600.0,
}
GOOD_HISTORY = history(
    app_state(-30),
    app_state(5, automated=False),
    app_state(30, revisions=("c1",)),
    freezes=(freeze(5, 29),),
)
COMMITS = (commit("c0", -40), commit("c1", 20, "c0"))


def told(
    changes: list[Change],
    verdicts: list[Verdict],
    story: Any = GOOD_HISTORY,
    announcements: tuple[Any, ...] = (),
    covered: Coverage | None = None,
    config: Config = CONFIG,
) -> tuple[Episode, ...]:
    others = {replace(SHOP, name=name): history(app_state(-30, replace(SHOP, name=name))) for name in sorted(OTHERS)}
    return episodes(
        changes,
        {verdict.change: verdict for verdict in verdicts},
        others | {story.key: story},
        announcements,
        covered or coverage(),
        COMMITS,
        config,
    )


def states(episode: Episode) -> dict[str, str]:
    return {step.name: step.state for step in episode.steps}


HOTFIX = change("hotfix", 10, field("spec.replicas", 3, 6))
SAID = message(12, "shop-prod: auto-sync is off, web scaled to 6")


def test_a_good_break_glass_has_all_five_steps_with_who_and_when() -> None:
    (episode,) = told([HOTFIX], [verdict("hotfix", ("reflected", "standing"), **FIX)], announcements=(SAID,))
    assert states(episode) == dict.fromkeys(STEP_NAMES, "done")
    freeze_step, change_step, announce, git, unfreeze = episode.steps
    assert (freeze_step.at, freeze_step.by) == (minute(5), "alice@acme.example")
    assert (change_step.at, change_step.by) == (minute(10), "alice@acme.example")
    assert (announce.at, announce.by, announce.detail) == (minute(12), "alice", "in incidents")
    assert (git.at, git.by) == (minute(20), "Erin Holt <erin@acme.example>")
    assert (unfreeze.at, unfreeze.by, unfreeze.detail) == (minute(29), "alice@acme.example", "Synced at c1")
    assert all(step.evidence for step in episode.steps)
    assert (episode.began_at, episode.ended_at) == (minute(5), minute(29))
    assert (episode.seconds_to_announce, episode.seconds_to_git) == (120.0, 600.0)
    assert (episode.seconds_frozen, episode.seconds_exposed) == (1440.0, 600.0)


def test_a_change_without_any_step_misses_what_was_read_for() -> None:
    story = history(app_state(-30), app_state(40))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("not-reflected", "standing"))], story)
    assert states(episode) == {
        "freeze": "missing",
        "change": "done",
        "announce": "missing",
        "git": "missing",
        "unfreeze": "not-needed",
    }
    assert episode.steps[3].detail == "git has another value for spec.replicas"
    assert episode.seconds_exposed is None


@pytest.mark.parametrize(
    ("marks", "step", "words"),
    [
        ((mark("announcements", -60, 120),), "freeze", "the audit log of Argo CD's cluster"),
        ((mark("audit", -60, 120, "other"), mark("git", 0, 120)), "freeze", "the audit log of Argo CD's cluster"),
        ((mark("audit", -60, 120, "prod"),), "announce", "no announcements were read"),
        ((mark("audit", -60, 120, "prod"), mark("announcements", -60, 9)), "announce", "no announcements were read"),
    ],
)
def test_a_step_whose_source_was_not_read_is_not_recorded(marks: tuple[Any, ...], step: str, words: str) -> None:
    story = history(app_state(-30))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("reflected", "standing"))], story, covered=coverage(*marks))
    found = episode.steps[STEP_NAMES.index(step)]
    assert found.state == "not-recorded"
    assert words in found.detail


def test_rotated_files_of_one_log_leave_no_gap_but_a_told_gap_does() -> None:
    files = (mark("audit", -60, 9.9, "prod"), mark("audit", 10.1, 60, "prod"))
    story, answers = history(app_state(-30)), [verdict("hotfix", ("reflected", "standing"))]
    (episode,) = told([HOTFIX], answers, story, covered=coverage(*files))
    assert episode.steps[0].state == "missing"
    gap = Gap("audit", "prod", minute(9.9), minute(10.1), "a file is missing", "")
    (episode,) = told([HOTFIX], answers, story, covered=coverage(*files, gaps=(gap,)))
    assert episode.steps[0].state == "not-recorded"


def test_git_that_could_not_be_read_is_not_recorded_with_the_reason() -> None:
    (episode,) = told([HOTFIX], [verdict("hotfix", ("unknown", "standing"), reason="no clone of the repository")])
    assert (episode.steps[3].state, episode.steps[3].detail) == ("not-recorded", "no clone of the repository")


def test_an_application_of_which_no_record_says_how_it_syncs_is_not_recorded() -> None:
    (episode,) = told([HOTFIX], [verdict("hotfix", ("not-reflected", "standing"))], history())
    assert (states(episode)["freeze"], states(episode)["unfreeze"]) == ("not-recorded", "not-recorded")


def test_an_application_that_waits_for_a_manual_sync_needs_no_freeze() -> None:
    story = history(app_state(-30, automated=False), app_state(40, automated=False))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("not-reflected", "standing"))], story)
    assert (states(episode)["freeze"], states(episode)["unfreeze"]) == ("not-needed", "not-needed")


def test_an_application_frozen_before_the_records_begin_is_not_recorded_and_its_unfreeze_is() -> None:
    story = history(app_state(-30, automated=False), app_state(40))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("not-reflected", "standing"))], story)
    assert (states(episode)["freeze"], states(episode)["unfreeze"]) == ("not-recorded", "done")
    assert episode.steps[4].at == minute(40)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("automated-removed", "auto-sync was removed"),
        ("automated-disabled", "auto-sync was disabled"),
        ("self-heal-off", "a new commit still syncs"),
        ("sync-window", "a sync window denied syncs (INC-2041)"),
        ("skip-reconcile", "reconciling was skipped"),
        ("controller-scaled", "scaled to 0"),
        ("rollback", "a rollback"),
    ],
)
def test_all_forms_of_freeze_count(form: str, words: str) -> None:
    ticket = "INC-2041" if form == "sync-window" else ""
    story = history(app_state(-30), app_state(30), freezes=(freeze(5, 29, form=form, description=ticket),))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("reflected", "standing"))], story)
    assert episode.steps[0].state == "done"
    assert words in episode.steps[0].detail


def test_nothing_holds_what_an_application_set_rolls_out() -> None:
    states = [app_state(at, automated=False, rolled_out_by="shops") for at in (-30, 40)]
    (episode,) = told([HOTFIX], [verdict("hotfix", ("not-reflected", "standing"))], history(*states))
    assert (episode.steps[0].state, episode.steps[0].detail) == ("missing", "the ApplicationSet shops starts the syncs")
    assert episode.steps[4].detail == "nothing held the syncs that its ApplicationSet starts"


def test_a_freeze_after_the_first_change_is_out_of_order() -> None:
    story = history(app_state(-30), app_state(30), freezes=(freeze(12, 29),))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("reflected", "standing"))], story)
    assert (episode.steps[0].state, episode.ended_at) == ("out-of-order", minute(29))


def test_a_freeze_that_something_undid_is_done_and_says_so() -> None:
    undone = freeze(9, 9.1, undone=True, undone_by="root", ended_by=actor("argocd", "gitops"))
    story = history(app_state(-30), app_state(9.1), freezes=(undone,))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("not-reflected", "reverted-by-gitops"))], story)
    assert episode.steps[0].state == "done"
    assert episode.steps[0].detail == "auto-sync was removed; undone by root at 09:09:06 UTC"
    assert (episode.steps[4].state, episode.steps[4].detail) == ("not-needed", "root had put auto-sync back")
    assert (episode.began_at, episode.ended_at) == (minute(9), minute(40))


def test_an_application_that_is_still_frozen_has_an_open_episode() -> None:
    story = history(app_state(-30), app_state(5, automated=False), freezes=(freeze(5, None),))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("reflected", "standing"), **FIX)], story)
    assert (episode.ended_at, episode.steps[4].state) == (None, "missing")
    assert "still frozen at 11:00:00 UTC" in episode.steps[4].detail
    assert episode.seconds_frozen == 115 * 60


def test_an_episode_is_open_until_it_has_been_quiet_long_enough() -> None:
    short = coverage(mark("audit", -60, 20, "prod"))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("not-reflected", "standing"))], history(), covered=short)
    assert episode.ended_at is None


def test_a_fix_after_the_unfreeze_is_late() -> None:
    late = FIX | {"at": minute(35)}
    (episode,) = told([HOTFIX], [verdict("hotfix", ("reflected", "standing"), **late)])
    assert episode.steps[3].state == "late"


def test_a_committers_clock_that_runs_ahead_makes_no_fix_late() -> None:
    ahead = FIX | {"at": minute(35), "landed_by": minute(21)}
    (episode,) = told([HOTFIX], [verdict("hotfix", ("reflected", "standing"), **ahead)])
    assert (episode.steps[3].state, episode.steps[3].at) == ("done", minute(21))
    assert episode.seconds_to_git == 11 * 60


def test_one_reflected_field_is_enough_and_what_git_does_not_declare_stands_beside() -> None:
    both = change("hotfix", 10, field("spec.replicas"), field("spec.paused", ..., True))
    story = history(app_state(-30), app_state(30, revisions=("c1",)), freezes=(freeze(5, 29),))
    answers = verdict("hotfix", ("reflected", "standing"), ("not-declared", "standing"), **FIX)
    (episode,) = told([both], [answers], story)
    assert (episode.steps[3].state, episode.steps[3].detail) == ("done", "git does not declare spec.paused")
    assert episode.steps[4].detail == "Synced at c1; Argo CD cannot see spec.paused"
    assert episode.seconds_exposed is None


def test_what_git_does_not_declare_is_not_said_to_be_unseen_by_flux() -> None:
    key = replace(SHOP, kind="Kustomization")
    both = change("hotfix", 10, field("spec.replicas"), field("spec.paused", ..., True), application=key)
    shown = (app_state(-30, key), app_state(30, key, revisions=("c1",)))
    story = history(*shown, key=key, freezes=(freeze(5, 29, key),))
    answers = verdict("hotfix", ("reflected", "standing"), ("not-declared", "standing"), **FIX)
    (episode,) = told([both], [answers], story)
    assert episode.steps[4].detail == "Synced at c1; git does not declare spec.paused"


def test_a_field_that_stands_and_that_git_lacks_leaves_git_missing() -> None:
    both = change("hotfix", 10, field("spec.replicas"), field("spec.minReadySeconds", 0, 5))
    (episode,) = told([both], [verdict("hotfix", ("reflected", "standing"), ("not-reflected", "standing"), **FIX)])
    assert (episode.steps[3].state, episode.steps[3].detail) == (
        "missing",
        "git has another value for spec.minReadySeconds",
    )


def test_a_field_that_went_back_does_not_hinder_the_fix_of_another() -> None:
    both = change("hotfix", 10, field("spec.replicas"), field("spec.minReadySeconds", 0, 5))
    answers = verdict("hotfix", ("reflected", "standing"), ("not-reflected", "reverted-by-gitops"), **FIX)
    (episode,) = told([both], [answers])
    assert episode.steps[3].state == "done"


def test_values_that_git_had_already_need_no_fix() -> None:
    (episode,) = told([HOTFIX], [verdict("hotfix", ("already", "standing"), commit="c0", at=minute(-40))])
    assert (episode.steps[3].state, episode.seconds_exposed) == ("not-needed", 0.0)


def test_what_the_same_person_took_back_needs_no_fix_and_what_gitops_took_back_misses_it() -> None:
    answer = verdict("hotfix", ("not-reflected", "reverted"))
    mine = ClusterVerdict("reverted", at=minute(15), by="alice@acme.example")
    by_hand = replace(answer, fields=(replace(answer.fields[0], cluster=mine),))
    (episode,) = told([HOTFIX], [by_hand])
    assert (episode.steps[3].state, episode.seconds_exposed) == ("not-needed", 300.0)
    (episode,) = told([HOTFIX], [verdict("hotfix", ("not-reflected", "reverted-by-gitops"))])
    assert episode.steps[3].state == "missing"


def test_a_restart_alone_is_an_act_that_git_need_not_know() -> None:
    path = 'spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]'
    (episode,) = told([change("hotfix", 10, field(path, ..., "t"))], [verdict("hotfix", ("not-declared", "standing"))])
    assert episode.steps[3].state == "not-needed"


def test_a_created_object_that_no_manifest_declares_leaves_git_missing() -> None:
    created = change("new", 10, object=thing("debug"), operation="create")
    (episode,) = told([created], [verdict("new", ("not-in-git", "standing"), whole=True)])
    assert (episode.steps[3].state, episode.steps[3].detail) == (
        "missing",
        "no manifest declares Deployment shop-prod/debug",
    )


def test_a_deleted_object_that_git_still_declares_leaves_git_missing() -> None:
    gone = change("gone", 10, object=thing("flags"), operation="delete")
    (episode,) = told([gone], [verdict("gone", ("not-reflected", "standing"), whole=True)])
    assert episode.steps[3].detail == "git still declares Deployment shop-prod/flags"


def test_an_unfreeze_without_a_synced_record_since_is_missing_and_without_any_record_not_recorded() -> None:
    answer = [verdict("hotfix", ("reflected", "standing"), **FIX)]
    old = history(app_state(-30), app_state(30, revisions=("c0",)), freezes=(freeze(5, 29),))
    (episode,) = told([HOTFIX], answer, old)
    assert (episode.steps[4].state, episode.steps[4].at) == ("missing", minute(29))
    assert "no record since says Synced at a revision with the fix" in episode.steps[4].detail
    (episode,) = told([HOTFIX], answer, history(app_state(-30), freezes=(freeze(5, 29),)))
    assert episode.steps[4].state == "not-recorded"


def test_what_argo_cd_said_before_the_unfreeze_is_no_empty_diff() -> None:
    stale = app_state(30, revisions=("c1",), reconciled_at=minute(7))
    story = history(app_state(-30), stale, freezes=(freeze(5, 29),))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("reflected", "standing"), **FIX)], story)
    assert episode.steps[4].state == "missing"


def test_an_unfreeze_whose_fix_cannot_be_told_says_so() -> None:
    story = history(app_state(-30), app_state(30), freezes=(freeze(5, 29),))
    (episode,) = told([HOTFIX], [verdict("hotfix", ("unknown", "standing"))], story)
    assert episode.steps[4].state == "done"
    assert episode.steps[4].detail == "Synced at c0; whether that has the fix is not recorded"


def test_a_later_revision_that_contains_the_fix_counts() -> None:
    story = history(app_state(-30), app_state(30, revisions=("c2",)), freezes=(freeze(5, 29),))
    answers = {"hotfix": verdict("hotfix", ("reflected", "standing"), **FIX)}
    commits = (*COMMITS, commit("c2", 28, "c1"))
    (episode,) = episodes([HOTFIX], answers, {SHOP: story}, (), coverage(), commits, CONFIG)
    assert episode.steps[4].state == "done"


def test_an_episode_ends_at_its_unfreeze_and_the_next_change_begins_another() -> None:
    after = change("after", 33, field("spec.replicas", 6, 7), actor=actor("bob@acme.example"))
    found = told(
        [HOTFIX, after],
        [verdict("hotfix", ("reflected", "standing"), **FIX), verdict("after", ("not-reflected", "standing"))],
        announcements=(SAID,),
    )
    assert [(episode.changes, episode.actors) for episode in found] == [
        (("hotfix",), ("alice@acme.example",)),
        (("after",), ("bob@acme.example",)),
    ]
    assert states(found[1])["announce"] == "missing"


def test_quiet_minutes_part_two_episodes_unless_a_freeze_joins_them() -> None:
    late = change("late", 60, field("spec.replicas", 6, 7))
    answers = [verdict("hotfix", ("not-reflected", "standing")), verdict("late", ("not-reflected", "standing"))]
    assert len(told([HOTFIX, late], answers, history(app_state(-30)))) == 2
    assert len(told([HOTFIX, late], answers, history(app_state(-30), freezes=(freeze(5, 90),)))) == 1
    assert len(told([HOTFIX, late], answers, history(app_state(-30), freezes=(freeze(20, 90),)))) == 1


def test_several_people_share_one_episode() -> None:
    second = change("second", 15, field("spec.replicas", 6, 8), actor=actor("bob@acme.example"))
    (episode,) = told(
        [HOTFIX, second],
        [verdict("hotfix", ("not-reflected", "overwritten")), verdict("second", ("reflected", "standing"), **FIX)],
        announcements=(message(16, "shop-prod is frozen, scaled", author="bob", mail="bob@acme.example"),),
    )
    assert episode.actors == ("alice@acme.example", "bob@acme.example")
    assert states(episode)["announce"] == "done"


def test_only_hands_on_an_application_make_an_episode() -> None:
    robot = change("robot", 10, field(), actor=actor("system:serviceaccount:ci:pipeline", "ci"))
    release = change("release", 10, field(), cause="gitops", actor=actor("argocd", "gitops"))
    orphan = change("orphan", 10, field(), application=None)
    unproven = change("unproven", 10, field(), persisted="unproven")
    control = change("freeze", 10, field(), object=thing("shop-prod", "Application", "argocd", "argoproj.io"))
    assert told([robot, release, orphan, unproven, control], []) == ()


def test_a_shared_credential_and_a_bypass_make_one_too() -> None:
    shared = change("shared", 10, field(), actor=actor("kubernetes-admin", "shared-credential"))
    bypass = change("bypass", 11, field(), cause="bypass", actor=actor("carol"))
    (episode,) = told([shared, bypass], [])
    assert episode.actors == ("kubernetes-admin", "carol", "alice@acme.example")


def announced(*said: Any, config: Config = CONFIG, author: str = "alice@acme.example", kind: str = "person") -> str:
    made = change("hotfix", 10, field("spec.replicas", 3, 6), actor=actor(author, kind))
    story = history(app_state(-30), freezes=(freeze(5, 29, began_by=actor(author), ended_by=actor(author)),))
    (episode,) = told([made], [verdict("hotfix", ("reflected", "standing"))], story, tuple(said), config=config)
    return episode.steps[2].state


@pytest.mark.parametrize(
    "text",
    [
        "shop-prod: auto-sync is off",
        "I have frozen `shop-prod`.",
        "SHOP-PROD/web is being scaled",
        "web scaled to 6, the queue is long",
    ],
)
def test_the_actors_message_about_the_application_or_the_object_announces(text: str) -> None:
    assert announced(message(12, text)) == "done"


@pytest.mark.parametrize(
    "said",
    [
        message(12, "checkout is timing out for everybody. I am on it."),
        message(12, "shop-production is fine, shop-prod-eu too"),
        message(12, "payments-prod: web scaled to 6"),
        message(12, "shop-prod is slow, is anybody on it?", "bob", "bob@acme.example"),
        message(12, "payments-prod: auto-sync is off", "bob", "bob@acme.example"),
        message(12, "web scaled to 6", "bob", "bob@acme.example"),
        message(-30, "shop-prod: auto-sync is off for the upgrade"),
        message(4, "shop-prod is at 1.4.1 since this morning"),
    ],
)
def test_a_message_of_another_incident_is_not_taken_for_one(said: Any) -> None:
    assert announced(said) == "missing"


def test_somebody_else_may_announce_what_the_actor_does() -> None:
    assert announced(message(12, "alice is scaling in shop-prod", "bob", "bob@acme.example")) == "done"
    assert announced(message(12, "shop-prod: web goes to 6", "bob", "bob@acme.example")) == "done"


def test_behind_a_shared_credential_any_author_may_say_what_was_done_and_a_question_says_nothing() -> None:
    def shared(text: str) -> str:
        return announced(message(12, text, "dave", ""), author="kubernetes-admin", kind="shared-credential")

    assert shared("shop-prod: auto-sync is off, I raise the replicas") == "done"
    assert shared("shop-prod is slow, is anybody on it?") == "missing"


def test_of_a_freeze_whose_hand_no_record_names_any_author_may_tell() -> None:
    def unnamed(text: str) -> str:
        began = freeze(5, 29, began_by=actor("", "unknown"), ended_by=actor("alice@acme.example"))
        made = change("hotfix", 10, field("spec.replicas", 3, 6))
        judged = verdict("hotfix", ("reflected", "standing"))
        said = message(6, text, "dave", "dave@acme.example")
        (episode,) = told([made], [judged], history(app_state(-30), freezes=(began,)), (said,))
        return episode.steps[2].state

    assert unnamed("I have taken shop-prod off auto-sync") == "done"
    assert unnamed("shop-prod is slow, is anybody on it?") == "missing"


def test_what_is_about_to_be_done_may_be_announced_ahead() -> None:
    assert announced(message(3, "about to freeze shop-prod and scale web")) == "done"


def test_a_message_after_the_goal_is_late() -> None:
    assert announced(message(26, "shop-prod: web was scaled")) == "late"


def test_an_author_of_the_same_local_name_at_another_company_is_somebody_else() -> None:
    assert announced(message(12, "web scaled to 6", "alice", "alice@vendor.example")) == "missing"


def test_the_configuration_joins_the_names_of_one_person() -> None:
    people = (Person("Alice", ("alice@acme.example", "ali")),)
    said = message(12, "web scaled to 6", "ali", "")
    assert announced(said) == "missing"
    assert announced(said, config=replace(CONFIG, people=people)) == "done"


def test_the_closing_words_of_one_episode_announce_no_other() -> None:
    again = change("again", 33, field("spec.replicas", 6, 7))
    found = told(
        [HOTFIX, again],
        [verdict("hotfix", ("reflected", "standing"), **FIX), verdict("again", ("not-reflected", "standing"))],
        announcements=(SAID, message(29.5, "shop-prod is back on auto-sync and Synced. Done.")),
    )
    assert [states(episode)["announce"] for episode in found] == ["done", "missing"]


def test_an_episode_soon_after_another_has_its_own_announcement() -> None:
    again = change("again", 33, field("spec.replicas", 6, 7))
    answers = [verdict("hotfix", ("reflected", "standing"), **FIX), verdict("again", ("not-reflected", "standing"))]
    found = told([HOTFIX, again], answers, announcements=(SAID, message(34, "shop-prod: seven of web by hand")))
    assert [(each.steps[2].state, each.steps[2].at) for each in found] == [("done", SAID.at), ("done", minute(34))]


def test_the_same_records_in_any_order_give_the_same_episodes() -> None:
    second = change("second", 12, field("spec.paused", ..., True))
    answers = [verdict("hotfix", ("reflected", "standing"), **FIX), verdict("second", ("not-declared", "standing"))]
    said = (message(26, "shop-prod: late word"), SAID)
    assert told([HOTFIX, second], answers, announcements=said) == told(
        [second, HOTFIX], answers[::-1], announcements=said[::-1]
    )
