"""Every form of freeze: who began it, who ended it, and what undid it."""

import copy
from typing import Any

import orjson
import pytest

from auditor.model.facts import ArgoSettings
from tests.correlate.applications.argo_story import APPLICATION_SETS, CONTROLLER, SERVER, Story, application_event
from tests.factories import ORIGIN, audit_event, minute

SELF_HEALING = {"prune": True, "selfHeal": True}
DAVE = "dave@acme.example"


def policy(**automated: Any) -> dict[str, Any]:
    return {"spec": {"syncPolicy": {"automated": automated}}}


OFF = {"spec": {"syncPolicy": {"automated": None}}}


@pytest.mark.parametrize(
    ("form", "frozen", "lifted"),
    [
        ("automated-removed", OFF, policy(**SELF_HEALING)),
        ("automated-disabled", policy(enabled=False), policy(enabled=True)),
        ("self-heal-off", policy(selfHeal=False), policy(selfHeal=True)),
        (
            "skip-reconcile",
            {"metadata": {"annotations": {"argocd.argoproj.io/skip-reconcile": "true"}}},
            {"metadata": {"annotations": {"argocd.argoproj.io/skip-reconcile": None}}},
        ),
    ],
)
def test_a_freeze_has_its_form_its_hand_and_its_end(form: str, frozen: dict[str, Any], lifted: dict[str, Any]) -> None:
    story = Story(SELF_HEALING).created(-60).patched(0, DAVE, frozen).patched(10, "erin@acme.example", lifted)
    (freeze,) = story.history().freezes
    assert (freeze.form, freeze.began_at, freeze.began_by.name) == (form, minute(0), DAVE)
    assert freeze.ended_at == minute(10)
    assert freeze.ended_by is not None
    assert freeze.ended_by.name == "erin@acme.example"
    assert not freeze.undone
    assert [each.ref for each in freeze.evidence] == ["patch-0", "patch-10"]


def test_a_freeze_that_nobody_lifted_is_still_on() -> None:
    (freeze,) = Story(SELF_HEALING).created(-60).patched(0, DAVE, OFF).history().freezes
    assert freeze.ended_at is None


def test_a_freeze_in_the_ui_has_the_argo_cd_user() -> None:
    (freeze,) = Story(SELF_HEALING).created(-60).edited(0, "carol", policy(enabled=False)).history().freezes
    assert (freeze.began_by.name, freeze.began_by.account) == ("carol", SERVER)


def test_the_parent_application_undoes_a_freeze() -> None:
    story = Story(SELF_HEALING)
    story.document["metadata"]["annotations"] = {
        "argocd.argoproj.io/tracking-id": "root:argoproj.io/Application:argocd/web"
    }
    story.created(-60).patched(0, DAVE, OFF).patched(0.01, CONTROLLER, policy(**SELF_HEALING))
    (freeze,) = story.history().freezes
    assert (freeze.undone, freeze.undone_by) == (True, "root")


def test_what_git_switches_off_and_on_again_is_a_freeze_and_what_it_keeps_off_is_a_policy() -> None:
    story = Story(SELF_HEALING)
    story.document["metadata"]["annotations"] = {
        "argocd.argoproj.io/tracking-id": "root:argoproj.io/Application:argocd/web"
    }
    story.created(-60, CONTROLLER).patched(0, CONTROLLER, OFF)
    assert story.history().freezes == ()
    (freeze,) = story.patched(9, CONTROLLER, policy(**SELF_HEALING)).history().freezes
    assert (freeze.form, freeze.began_at, freeze.ended_at) == ("automated-removed", minute(0), minute(9))
    assert (freeze.began_by.name, freeze.description, freeze.undone) == (CONTROLLER, "in root", False)


def refreshed(story: Story, at: float, **given: Any) -> Story:
    """The controller takes an order to refresh off the object, as it does by JSON Patch."""
    removal = [{"op": "remove", "path": "/metadata/annotations/argocd.argoproj.io~1refresh"}]
    event = application_event(at, CONTROLLER, "patch", removal, copy.deepcopy(story.document), **given)
    story.events.append(event)
    return story


def test_a_freeze_whose_lifting_is_not_recorded_is_not_the_next_writer_s_to_have_undone() -> None:
    story = Story(SELF_HEALING).created(-60).patched(0, DAVE, OFF)
    story.patched(10, DAVE, policy(**SELF_HEALING)).events.pop()
    (freeze,) = refreshed(story, 10.1).history().freezes
    assert freeze.ended_by is not None
    assert (freeze.ended_by.name, freeze.undone) == ("", False)


def test_who_asks_for_a_sync_sends_a_freeze_back_that_somebody_else_made() -> None:
    story = Story(SELF_HEALING).created(-60)
    story.patched(0, DAVE, OFF).events.pop()
    (freeze,) = story.synced(5, by="carol", said="initiated sync to main (c1)").history().freezes
    assert freeze.began_by.name == ""


def test_an_application_set_undoes_a_freeze() -> None:
    story = Story(SELF_HEALING)
    story.document["metadata"]["ownerReferences"] = [{"kind": "ApplicationSet", "name": "shops"}]
    story.created(-60, APPLICATION_SETS)
    story.patched(0, DAVE, policy(enabled=False)).patched(0.002, APPLICATION_SETS, policy(enabled=True))
    (freeze,) = story.history().freezes
    assert (freeze.undone, freeze.undone_by) == (True, "shops")


def test_a_rolling_application_set_freezes_nothing() -> None:
    story = Story(SELF_HEALING).created(-60, APPLICATION_SETS).patched(0, APPLICATION_SETS, OFF)
    assert story.history().freezes == ()


def test_a_rollback_of_an_auto_synced_application_is_one_freeze() -> None:
    story = Story(SELF_HEALING).created(-60).edited(0, "carol", OFF)
    story.synced(0.1, "c0", by="carol", said="initiated rollback to 3")
    (freeze,) = story.history().freezes
    assert (freeze.form, freeze.began_by.name) == ("rollback", "carol")


def test_a_freeze_between_two_exports_has_no_name() -> None:
    story = Story(SELF_HEALING).exported(0)
    story.version += 5
    story.document["metadata"]["resourceVersion"] = "105"
    story.document["spec"]["syncPolicy"] = {}
    (freeze,) = story.exported(30).history().freezes
    assert (freeze.began_by.name, freeze.began_by.kind, freeze.began_at) == ("", "unknown", minute(30))


def test_an_application_that_is_deleted_while_frozen_ends_the_freeze() -> None:
    story = Story(SELF_HEALING).created(-60).patched(0, DAVE, OFF)
    story.events.append(application_event(5, DAVE, "delete", None, {"kind": "Status", "apiVersion": "v1"}))
    history = story.history()
    assert history.removed_at == minute(5)
    assert history.freezes[0].ended_at == minute(5)


def test_a_controller_scaled_to_nothing_freezes_all_its_applications() -> None:
    story = Story(SELF_HEALING).created(-60)
    for at, replicas in ((0, 0), (20, 1)):
        story.events.append(
            audit_event(
                id=f"scale-{at}",
                at=minute(at),
                user=DAVE,
                namespace="argocd",
                name="argocd-application-controller",
                resource="statefulsets",
                subresource="scale",
                request=orjson.dumps({"spec": {"replicas": replicas}}),
            )
        )
    (freeze,) = story.history().freezes
    assert (freeze.form, freeze.began_at, freeze.ended_at) == ("controller-scaled", minute(0), minute(20))


WINDOW = {
    "kind": "deny",
    "schedule": "* * * * *",
    "duration": "1h",
    "applications": ["we*"],
    "description": "INC-2041",
}


def project(at: float, version: int, windows: list[dict[str, Any]], user: str = DAVE) -> Any:
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AppProject",
        "metadata": {"name": "default", "namespace": "argocd", "resourceVersion": str(version), "uid": "p"},
        "spec": {"syncWindows": windows},
    }
    return application_event(
        at, user, "patch", {"spec": {"syncWindows": windows}}, document, resource="appprojects", name="default"
    )


def policy_project(windows: list[dict[str, Any]]) -> ArgoSettings:
    body = {"metadata": {"name": "default", "namespace": "argocd", "resourceVersion": "50"}, "spec": {}}
    body["spec"] = {"syncWindows": copy.deepcopy(windows)}
    return ArgoSettings("argocd", "AppProject", "argocd", "default", "50", orjson.dumps(body), ORIGIN)


def test_a_deny_window_freezes_the_applications_that_it_names() -> None:
    story = Story(SELF_HEALING).created(-60)
    story.settings.append(policy_project([]))
    story.events += [project(0, 200, [WINDOW]), project(30, 201, [])]
    (freeze,) = story.history().freezes
    assert (freeze.form, freeze.began_by.name, freeze.description) == ("sync-window", DAVE, "INC-2041")
    assert (freeze.began_at, freeze.ended_at) == (minute(0), minute(30))


def test_a_window_for_other_applications_freezes_nothing() -> None:
    story = Story(SELF_HEALING).created(-60)
    story.settings.append(policy_project([]))
    story.events.append(project(0, 200, [WINDOW | {"applications": ["api"]}]))
    assert story.history().freezes == ()


def test_a_window_that_was_always_there_is_a_policy() -> None:
    story = Story(SELF_HEALING).created(-60)
    story.settings.append(policy_project([WINDOW]))
    story.events.append(project(0, 200, [WINDOW]))
    assert story.history().freezes == ()


def test_a_window_that_git_adds_and_takes_out_again_is_a_freeze_and_one_that_stays_is_a_policy() -> None:
    story = Story(SELF_HEALING).created(-60)
    story.settings.append(policy_project([]))
    story.events.append(project(0, 200, [WINDOW], CONTROLLER))
    assert story.history().freezes == ()
    story.events.append(project(30, 201, [], CONTROLLER))
    (freeze,) = story.history().freezes
    assert (freeze.form, freeze.began_by.name, freeze.began_at) == ("sync-window", CONTROLLER, minute(0))
    assert (freeze.ended_at, freeze.undone) == (minute(30), False)


def test_a_window_that_closes_by_itself_ends_the_freeze() -> None:
    story = Story(SELF_HEALING).created(-60)
    story.settings.append(policy_project([]))
    story.events.append(project(5, 200, [WINDOW | {"schedule": "0 9 * * *", "duration": "2h"}]))
    (freeze,) = story.history().freezes
    assert (freeze.began_at, freeze.ended_at, freeze.ended_by) == (minute(5), minute(120), None)


def test_a_window_that_opens_at_night_is_no_freeze_by_day() -> None:
    story = Story(SELF_HEALING).created(-60)
    story.settings.append(policy_project([]))
    story.events.append(project(5, 200, [WINDOW | {"schedule": "0 22 * * *"}]))
    assert story.history().freezes == ()


ALLOW = WINDOW | {"kind": "allow", "schedule": "0 22 * * *", "duration": "1h"}


def test_the_first_allow_window_denies_syncs_until_it_opens() -> None:
    story = Story(SELF_HEALING).created(-60)
    story.settings.append(policy_project([]))
    story.events += [project(0, 200, [ALLOW])]
    (freeze,) = story.history().freezes
    assert (freeze.form, freeze.began_at, freeze.ended_at) == ("sync-window", minute(0), minute(13 * 60))
    assert freeze.began_by.name == DAVE


@pytest.mark.parametrize(
    ("before", "added"),
    [
        ([], ALLOW | {"schedule": "* * * * *"}),
        ([ALLOW], ALLOW | {"schedule": "0 23 * * *"}),
        ([], ALLOW | {"schedule": "whenever"}),
        ([], ALLOW | {"applications": ["api"]}),
    ],
)
def test_an_allow_window_that_takes_nothing_away_is_no_freeze(before: list[Any], added: dict[str, Any]) -> None:
    story = Story(SELF_HEALING).created(-60)
    story.settings.append(policy_project(before))
    story.events += [project(0, 200, [*before, added])]
    assert story.history().freezes == ()


def test_a_window_says_whether_people_may_still_sync() -> None:
    story = Story(SELF_HEALING).created(-60)
    story.settings.append(policy_project([]))
    story.events += [project(0, 200, [WINDOW | {"manualSync": True}])]
    assert story.history().freezes[0].description == "INC-2041; manual syncs are allowed"


@pytest.mark.parametrize(("strategy", "freezes"), [("RollingSync", 0), ("AllAtOnce", 1)])
def test_what_a_rolling_set_may_have_switched_off_is_no_freeze(strategy: str, freezes: int) -> None:
    story = Story(SELF_HEALING)
    story.document["metadata"]["ownerReferences"] = [{"kind": "ApplicationSet", "name": "shops"}]
    body = orjson.dumps({"kind": "ApplicationSet", "spec": {"strategy": {"type": strategy}}})
    story.settings.append(ArgoSettings("argocd", "ApplicationSet", "argocd", "shops", "5", body, ORIGIN))
    story.exported(-60).version += 1
    story.document["spec"]["syncPolicy"] = {}
    assert len(story.exported(10).history().freezes) == freezes
