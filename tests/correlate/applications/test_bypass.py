"""Syncs that went through Argo CD and yet not from the tracked branch, and those that only look like it."""

from typing import Any

from tests.correlate.applications.argo_story import CONTROLLER, Story, source


def helm(**parameters: str) -> dict[str, Any]:
    return {"helm": {"parameters": [{"name": name, "value": value} for name, value in parameters.items()]}}


def test_an_automated_sync_of_the_branch_is_no_bypass() -> None:
    story = Story({}).created(-60).compared(0, "c2", "OutOfSync").synced(0.1, "c2")
    assert story.bypass(0.15) is None


def test_a_write_outside_of_any_sync_is_no_bypass() -> None:
    story = Story().created(-60).synced(0, "c1", by="carol", said="initiated sync locally", manifests=["{}"])
    assert story.bypass(5) is None


def test_local_manifests_are_the_user_s() -> None:
    story = Story().created(-60).synced(
        0, "", by="carol", said="initiated sync locally", manifests=["redacted"], source=None
    )  # fmt: skip
    bypass = story.bypass(0.05)
    assert bypass is not None
    assert (bypass.form, bypass.actor.name, bypass.channel) == ("local-manifests", "carol", "Argo CD UI or CLI")


def test_another_branch_by_name_is_a_bypass() -> None:
    story = Story().created(-60).compared(-5, "c1")
    story.synced(0, "h1", by="carol", said="initiated sync to hotfix (h1)").compared(1, "c1", "OutOfSync")
    bypass = story.bypass(0.05)
    assert bypass is not None
    assert (bypass.form, bypass.actor.name) == ("revision", "carol")
    assert "hotfix" in bypass.reason


def test_a_manual_sync_of_the_tracked_branch_is_none() -> None:
    story = Story().created(-60).compared(-5, "c1")
    story.synced(0, "c2", by="carol", said="initiated sync to main (c2)").compared(1, "c2")
    assert story.bypass(0.05) is None


def test_another_revision_shows_in_what_the_controller_compares_with() -> None:
    story = Story().created(-60).compared(-5, "c1")
    story.synced(0, "h1", by="carol").compared(1, "c1", "OutOfSync")
    bypass = story.bypass(0.05)
    assert bypass is not None
    assert bypass.form == "revision"


def test_a_manual_sync_without_an_event_to_the_tip_is_none() -> None:
    story = Story().created(-60).compared(-5, "c1").synced(0, "c2", by="carol").compared(1, "c2")
    assert story.bypass(0.05) is None


def test_a_rollback_is_the_user_s_also_without_its_event() -> None:
    story = Story().created(-60)
    entries = [{"id": number, "revision": f"c{number}", "source": source()} for number in (0, 1)]
    story.patched(-30, CONTROLLER, {"status": {"history": entries}})
    story.synced(0, "c0", by="carol", syncStrategy={"apply": {}})
    (sync,) = [each for each in story.history().syncs if each.origin == "manual"]
    bypass = story.bypass(0.05)
    assert sync.rollback_to == 0
    assert bypass is not None
    assert (bypass.form, bypass.actor.name) == ("rollback", "carol")


def test_an_override_is_under_whoever_put_it_into_the_application() -> None:
    story = Story({}).created(-60).synced(-50).edited(0, "carol", {"spec": {"source": helm(replicas="2")}})
    story.synced(0.1)
    bypass = story.bypass(0.15)
    assert bypass is not None
    assert (bypass.form, bypass.actor.name, bypass.channel) == ("override", "carol", "Argo CD UI or CLI")
    assert not bypass.mixed
    assert bypass.declared[0].options == "{}"


def test_an_override_by_a_server_whose_clock_is_ahead_is_still_before_its_sync() -> None:
    story = Story({}).created(-60).synced(-50)
    story.edited(0.105, "carol", {"spec": {"source": helm(replicas="2")}}).synced(0.1)
    bypass = story.bypass(0.15)
    assert bypass is not None
    assert (bypass.form, bypass.actor.name) == ("override", "carol")


def test_an_image_override_with_kubectl_is_the_authenticated_user_s() -> None:
    story = Story({}).created(-60).synced(-50)
    override = {"spec": {"source": {"kustomize": {"images": ["web:hotfix"]}}}}
    story.patched(0, "dave@acme.example", override, field_manager="kubectl-patch")
    bypass = story.synced(0.1).bypass(0.15)
    assert bypass is not None
    assert (bypass.form, bypass.actor.name, bypass.channel) == ("override", "dave@acme.example", "kubectl patch")


def test_a_switched_target_revision_is_a_bypass_of_its_own() -> None:
    story = Story({}).created(-60).synced(-50)
    story.patched(0, "dave@acme.example", {"spec": {"source": {"targetRevision": "hotfix"}}}).synced(0.1, "h1")
    bypass = story.bypass(0.15)
    assert bypass is not None
    assert (bypass.form, bypass.declared[0].target_revision) == ("target-revision", "main")


def test_later_syncs_bring_other_things_than_the_override() -> None:
    story = Story({}).created(-60).synced(-50).edited(0, "carol", {"spec": {"source": helm(replicas="2")}})
    story.synced(0.1).synced(10, "c2")
    assert story.bypass(10.05) is None


def test_taking_an_override_out_again_is_no_bypass() -> None:
    story = Story({}).created(-60).synced(-50).edited(0, "carol", {"spec": {"source": helm(replicas="2")}})
    story.synced(0.1).edited(10, "carol", {"spec": {"source": {"helm": None}}}).synced(10.1)
    assert story.bypass(10.15) is None


def test_what_the_parent_application_changes_is_declared() -> None:
    story = Story({}).created(-60).synced(-50)
    story.patched(0, CONTROLLER, {"spec": {"source": {"targetRevision": "release"}}}).synced(0.1, "r1")
    assert story.bypass(0.15) is None
    story.patched(5, "dave@acme.example", {"spec": {"source": {"targetRevision": "hotfix"}}}).synced(5.1, "h1")
    bypass = story.bypass(5.15)
    assert bypass is not None
    assert bypass.declared[0].target_revision == "release"


def test_nobody_is_named_for_a_change_between_two_exports() -> None:
    story = Story({}).exported(-60)
    story.version += 10
    story.document["metadata"]["resourceVersion"] = str(story.version)
    story.document["spec"]["source"] = source(**helm(replicas="2"))
    story.exported(0).synced(0.1)
    assert story.bypass(0.15) is None


def test_an_override_that_is_not_recorded_is_not_under_whoever_wrote_next() -> None:
    story = Story({}).created(-60).synced(-50).edited(0, "carol", {"spec": {"source": helm(replicas="2")}})
    story.events.pop()
    story.said.pop()
    story.patched(1, "dave@acme.example", {"metadata": {"labels": {"team": "shop"}}}).synced(1.1)
    bypass = story.bypass(1.15)
    assert bypass is None or bypass.actor.name == ""


def test_who_claims_to_be_another_in_the_operation_is_not_believed() -> None:
    story = Story().created(-60)
    operation = {"initiatedBy": {"username": "carol"}, "sync": {"revision": "h1", "manifests": ["x"]}}
    story.patched(0, "mallory@acme.example", {"operation": operation})
    started = {"operation": operation, "phase": "Running", "startedAt": "2026-11-30T09:00:01Z"}
    story.patched(0.02, CONTROLLER, {"status": {"operationState": started}})
    bypass = story.bypass(0.05)
    assert bypass is not None
    assert bypass.actor.name == "mallory@acme.example"
