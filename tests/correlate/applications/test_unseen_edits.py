"""What audit logs without bodies, exports and Argo CD's own words prove together, and what they do not."""

from typing import Any

from tests.correlate.applications.argo_story import CONTROLLER, SERVER, Story, source
from tests.factories import minute, replace

CANARY = {"spec": {"source": source(kustomize={"images": ["app:canary"]})}}
OFF = {"spec": {"syncPolicy": {"automated": None}}}
ON = {"spec": {"syncPolicy": {"automated": {"selfHeal": True}}}}
DAVE = "dave@acme.example"


def blind(story: Story) -> Story:
    """The story as an audit log at level Metadata has it."""
    story.events = [replace(event, request=None, response=None, level="Metadata") for event in story.events]
    return story


def exported() -> Story:
    return Story({"selfHeal": True}).exported(-60)


def overridden(story: Story) -> Story:
    """Carol puts an image into the Application, and it is synced at once."""
    return story.edited(0, "carol", CANARY).synced(0.1, source=CANARY["spec"]["source"]).exported(10)


def test_an_override_is_put_under_the_only_hand_that_edited_in_time() -> None:
    bypass = blind(overridden(exported())).bypass(0.15)
    assert bypass is not None
    assert (bypass.form, bypass.actor.name, bypass.actor.account) == ("override", "carol", SERVER)
    assert bypass.actor.known_by.startswith("Argo CD event by carol; records before and after it differ")


def test_a_second_hand_before_the_sync_leaves_it_open_who_it_was() -> None:
    annotated: dict[str, Any] = {"metadata": {"annotations": {"note": "x"}}}
    assert blind(overridden(exported().patched(-1, DAVE, annotated))).bypass(0.15) is None


def test_an_edit_after_the_first_sync_with_the_override_did_not_make_it() -> None:
    story = overridden(exported()).edited(5, "erin", ON).exported(10)
    bypass = blind(story).bypass(0.15)
    assert bypass is not None
    assert bypass.actor.name == "carol"


def test_an_edit_of_which_argo_cd_names_nobody_leaves_it_open() -> None:
    story = overridden(exported())
    story.said = []
    assert blind(story).bypass(0.15) is None


def test_nobody_is_named_where_a_parent_may_have_done_it() -> None:
    story = Story({"selfHeal": True})
    story.document["metadata"]["annotations"] = {
        "argocd.argoproj.io/tracking-id": "root:argoproj.io/Application:argocd/web"
    }
    assert blind(overridden(story.exported(-60))).bypass(0.15) is None


def test_a_freeze_between_two_exports_has_the_time_and_name_of_the_only_edit() -> None:
    story = blind(exported().edited(0, "carol", OFF).exported(10).edited(20, "carol", ON).exported(30))
    (freeze,) = story.history().freezes
    assert (freeze.began_at, freeze.began_by.name, freeze.not_before) == (minute(0), "carol", None)
    assert (freeze.ended_at, freeze.ended_by and freeze.ended_by.name) == (minute(20), "carol")


def test_a_freeze_that_only_two_exports_show_has_no_name_and_no_time_of_its_own() -> None:
    story = exported()
    story.document["spec"]["syncPolicy"] = {}
    (freeze,) = story.compared(9, "c1").exported(10).history().freezes
    assert freeze.began_by.kind == "unknown"
    assert freeze.began_by.name == ""
    assert (freeze.not_before, freeze.began_at) == (minute(-60), minute(9))


def test_what_the_controller_reports_all_day_is_no_edit() -> None:
    story = exported().patched(-2, CONTROLLER, {"status": {"reconciledAt": "2026-11-30T08:58:00Z"}})
    assert blind(overridden(story)).bypass(0.15) is not None
