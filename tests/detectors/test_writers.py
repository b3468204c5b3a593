"""Second writers, shared ownership, what went past git, and who claimed to be somebody."""

from dataclasses import replace
from typing import Any

import pytest

from auditor.detectors import break_glass_access, identity_mismatch, not_from_branch, not_in_git, out_of_band_change
from auditor.detectors.second_writer import DETECTOR as SECOND_WRITER
from auditor.detectors.shared_ownership import DETECTOR as SHARED_OWNERSHIP
from auditor.model.change import Actor, AppKey
from auditor.model.resource import ObjectId
from tests.detectors.cases import ALICE, CONTROLLER, PIPELINE, case, found
from tests.factories import SHOP, actor, app_state, change, field, history, minute, thing, verdict, write

NODE = ObjectId("prod", "", "Node", "", "worker-9")
OTHER = AppKey("argocd", "argocd", "shop-edge")


def test_a_pipeline_that_applies_beside_the_controller_is_a_second_writer() -> None:
    applied = [change(f"a{at}", at, field(), actor=PIPELINE, channel="kubectl apply") for at in (1, 2)]
    (finding,) = found(SECOND_WRITER, case(*applied))
    assert (finding.application, finding.actors, finding.count) == (SHOP, (PIPELINE.name,), 2)
    assert finding.severity == "high"


def test_two_pipelines_that_deploy_what_no_application_owns_are_none() -> None:
    applied = [
        change(f"a{at}", at, field(), actor=PIPELINE, channel="kubectl apply", application=None) for at in (1, 2)
    ]
    assert found(SECOND_WRITER, case(*applied)) == []


def test_a_pipeline_that_restarts_a_rollout_is_no_second_writer() -> None:
    restarted = change("r", 1, field(), actor=PIPELINE, channel="kubectl rollout")
    assert found(SECOND_WRITER, case(restarted)) == []


def test_what_an_apply_of_a_pipeline_may_have_pruned_is_no_second_apply() -> None:
    applied = change("a", 1, field(), actor=PIPELINE, channel="kubectl apply")
    pruned = change("p", 1, actor=PIPELINE, channel="kubectl", operation="delete")
    (finding,) = found(SECOND_WRITER, case(applied, pruned))
    assert (finding.count, finding.changes) == (1, ("a",))


def test_one_apply_by_a_person_is_no_habit() -> None:
    assert found(SECOND_WRITER, case(change("a", 1, field(), channel="kubectl apply"))) == []


def test_an_apply_that_may_have_changed_nothing_counts_in_nothing() -> None:
    diffs = [
        change(f"d{at}", at, actor=PIPELINE, channel="kubectl apply", persisted="unproven", outcome="unproven")
        for at in range(50)
    ]
    assert found(SECOND_WRITER, case(*diffs)) == []
    assert found(out_of_band_change.DETECTOR, case(*diffs)) == []


def test_two_applications_that_list_one_object_share_it() -> None:
    resource = ("apps", "Deployment", "shop-prod", "web", "Synced")
    told = [history(app_state(1, key, resources=(resource,)), key=key) for key in (SHOP, OTHER)]
    (finding,) = found(SHARED_OWNERSHIP, case(histories=told))
    assert finding.object == thing()
    assert finding.values == ("shop-edge", "shop-prod")


def test_equal_names_in_two_clusters_share_nothing() -> None:
    resource = ("apps", "Deployment", "shop-prod", "web", "Synced")
    told = [
        history(app_state(1, key, resources=(resource,), cluster=cluster), key=key)
        for key, cluster in ((SHOP, "prod"), (OTHER, "staging"))
    ]
    assert found(SHARED_OWNERSHIP, case(histories=told)) == []


def test_an_application_that_was_removed_owns_nothing() -> None:
    resource = ("apps", "Deployment", "shop-prod", "web", "Synced")
    kept = history(app_state(1, SHOP, resources=(resource,)))
    gone = history(app_state(1, OTHER, resources=(resource,)), key=OTHER, removed_at=kept.states[0].at)
    assert found(SHARED_OWNERSHIP, case(histories=[kept, gone])) == []


def test_like_changes_are_one_finding_with_a_count() -> None:
    repeated = [change(f"c{at}", at, field()) for at in (1, 2, 3)]
    (finding,) = found(out_of_band_change.DETECTOR, case(*repeated))
    assert finding.count == 3
    assert finding.changes == ("c1", "c2", "c3")
    assert "3 times" in finding.message


def test_what_the_controller_did_is_no_out_of_band_change() -> None:
    assert found(out_of_band_change.DETECTOR, case(change("c", 1, field(), actor=CONTROLLER, cause="gitops"))) == []


def test_a_change_that_git_has_is_for_information() -> None:
    done = change("c", 1, field())
    (finding,) = found(out_of_band_change.DETECTOR, case(done, verdicts=[verdict("c", ("reflected", "standing"))]))
    assert finding.severity == "info"


def test_a_bypass_is_under_the_person_who_asked_for_it() -> None:
    carol = actor("carol", known_by="Argo CD event by carol")
    changed = change("c", 1, field(), actor=carol, cause="bypass", channel="Argo CD UI or CLI")
    (finding,) = found(not_from_branch.DETECTOR, case(changed))
    assert finding.actors == ("carol",)
    assert found(not_from_branch.DETECTOR, case(change("d", 1, field()))) == []


def test_a_bypass_lists_as_past_the_branch_only_what_git_had_not_then() -> None:
    moved = change("c", 5, field("data.a", 4, 2), field("data.b", 1, 9), actor=actor("carol"), cause="bypass")
    had = verdict("c", ("already", "standing"), ("reflected", "standing"), commit="ab", at=minute(9))
    (finding,) = found(not_from_branch.DETECTOR, case(moved, verdicts=[had]))
    assert "does not hold" in finding.message
    assert ("data.b" in finding.message, "data.a" in finding.message) == (True, False)
    back = verdict("c", ("already", "standing"), ("reflected", "standing"), commit="ab", at=minute(1))
    (finding,) = found(not_from_branch.DETECTOR, case(moved, verdicts=[back]))
    assert "What it changed, the branch holds too" in finding.message


def test_exec_and_impersonation_of_people_are_access() -> None:
    shell = write("x", 1, outcome="access", subresource="exec", object=thing("web-1", "Pod", group=""), code=101)
    posing = write("y", 2, field(), actor=actor(acting_as="oncall-breakglass"))
    messages = [finding.message for finding in found(break_glass_access.DETECTOR, case(writes=[shell, posing]))]
    assert messages == [
        "alice@acme.example ran a command in Pod shop-prod/web-1, once.",
        "alice@acme.example acted as oncall-breakglass, once.",
    ]


def test_an_eviction_by_a_controller_is_no_access() -> None:
    moved = write("x", 1, outcome="access", subresource="eviction", actor=CONTROLLER)
    assert found(break_glass_access.DETECTOR, case(writes=[moved])) == []


def test_a_claim_that_the_account_does_not_bear_out_is_a_mismatch() -> None:
    said = "alice@acme.example sent the field manager argocd-controller"
    (finding,) = found(identity_mismatch.DETECTOR, case(writes=[write("x", 1, field(), disagreement=said)]))
    assert finding.actors == (ALICE.name,)
    assert said in finding.message
    assert found(identity_mismatch.DETECTOR, case(writes=[write("x", 1, field())])) == []


def test_a_restart_is_for_information_and_git_owes_nothing() -> None:
    at = 'spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]'
    restarted = change("c", 1, field(at, ..., "2026-11-30T09:00:00Z"), channel="kubectl rollout")
    told = case(restarted, verdicts=[verdict("c", ("not-declared", "standing"))])
    (finding,) = found(out_of_band_change.DETECTOR, told)
    assert finding.severity == "info"
    assert finding.remedy == "Nothing is owed: a restart leaves no value that git should hold."
    assert found(not_in_git.DETECTOR, told) == []


def test_a_restart_beside_another_change_hides_nothing() -> None:
    at = 'spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]'
    both = change("c", 1, field(at, ..., "2026-11-30T09:00:00Z"), field())
    told = case(both, verdicts=[verdict("c", ("not-declared", "standing"), ("not-reflected", "standing"))])
    assert [finding.path for finding in found(not_in_git.DETECTOR, told)] == ["spec.replicas"]
    assert found(out_of_band_change.DETECTOR, told)[0].severity == "low"


def test_a_cordoned_node_is_nothing_that_git_lacks() -> None:
    closed = change("c", 1, field("spec.unschedulable", ..., True), object=NODE, application=None)
    told = case(closed, verdicts=[verdict("c", ("not-in-git", "standing"))])
    assert found(not_in_git.DETECTOR, told) == []
    assert found(out_of_band_change.DETECTOR, told)[0].severity == "info"


def test_a_pipeline_that_deploys_what_no_application_owns_is_for_information() -> None:
    made = change("c", 1, operation="create", actor=PIPELINE, application=None)
    told = case(made, verdicts=[verdict("c", ("not-in-git", "standing"), whole=True)])
    assert found(not_in_git.DETECTOR, told) == []
    assert found(out_of_band_change.DETECTOR, told)[0].severity == "info"
    by_hand = change("c", 1, operation="create", application=None)
    told = case(by_hand, verdicts=[verdict("c", ("not-in-git", "standing"), whole=True)])
    assert len(found(not_in_git.DETECTOR, told)) == 1


@pytest.mark.parametrize(
    ("made", "remedy"),
    [
        (
            {"object": thing("block-bots", "NetworkPolicy", group="networking.k8s.io"), "operation": "create"},
            "Declare the object in git under an application, or delete it.",
        ),
        (
            {"object": thing("db", "Secret", group=""), "operation": "create"},
            "Let an application bring it, sealed or from a secret store and never in plain text, or delete it.",
        ),
    ],
)
def test_the_remedy_for_an_object_that_no_application_owns_is_about_the_object(
    made: dict[str, Any], remedy: str
) -> None:
    created = change("c", 1, application=None, **made)
    unowned = "No application owns the object: no sync touches it."
    told = replace(verdict("c", ("not-in-git", "standing"), whole=True), prospect="invisible", next=unowned)
    (finding,) = found(not_in_git.DETECTOR, case(created, verdicts=[told]))
    assert finding.remedy == remedy
    assert finding.message.endswith(unowned)


def test_of_two_fields_of_one_change_each_is_told_what_happens_to_itself() -> None:
    changed = change("c", 1, field("data.region", "eu", "us"), field("data.zone", ..., "b"))
    told = verdict("c", ("not-reflected", "standing"), ("not-declared", "standing"))
    words = "Auto-sync is off: the sync that somebody starts by hand puts git's value back."
    left = replace(told.fields[1], prospect="invisible", next="No sync undoes it.")
    told = replace(told, prospect="undone-at-manual-sync", next=words, fields=(told.fields[0], left))
    region, zone = found(not_in_git.DETECTOR, case(changed, verdicts=[told]))
    assert (region.severity, region.message.endswith(words)) == ("high", True)
    assert (zone.severity, zone.message.endswith("no sync will undo it.")) == ("medium", True)
    assert zone.remedy.startswith("Declare the field in git")


def test_what_was_taken_away_and_came_back_is_not_called_gone() -> None:
    undone = ("not-reflected", "reverted-by-gitops")
    told = case(
        change("a", 1, operation="delete"),
        change("b", 2, field(before=True, after=...)),
        change("c", 3, field("spec.paused", False, True)),
        verdicts=[verdict("a", undone, whole=True), verdict("b", undone), verdict("c", undone)],
    )
    fates = [
        finding.message.partition(undone[0])[2][2:].partition(" already")[0]
        for finding in found(not_in_git.DETECTOR, told)
    ]
    assert fates == ["The object is there again", "The field is set again", "It is gone from the cluster"]


def test_an_override_is_not_said_to_be_undone_by_putting_the_value_back() -> None:
    changed = change("c", 1, field(), actor=actor("carol"), cause="bypass", channel="Argo CD UI or CLI")
    kept = replace(verdict("c", ("not-reflected", "standing")), prospect="kept", next="Every sync applies it.")
    (finding,) = found(not_in_git.DETECTOR, case(changed, verdicts=[kept]))
    assert "take the override out" in finding.remedy
    assert "before the next sync" not in finding.remedy


def test_a_field_that_was_set_back_on_an_object_outside_git_owes_nothing() -> None:
    off = change("a", 1, field(before=True, after=...), application=None)
    on = change("b", 2, field(before=..., after=True), application=None)
    told = [verdict("a", ("not-in-git", "reverted")), verdict("b", ("not-in-git", "standing"))]
    assert found(not_in_git.DETECTOR, case(off, on, verdicts=told)) == []
    assert len(found(not_in_git.DETECTOR, case(off, verdicts=told[:1]))) == 1


def test_nothing_is_owed_says_why_and_claims_no_agreement_with_git() -> None:
    gone = "Nothing of it is left in the cluster."
    told = replace(verdict("c", ("not-in-git", "reverted")), prospect="settled", next=gone)
    (finding,) = found(out_of_band_change.DETECTOR, case(change("c", 1, field()), verdicts=[told]))
    assert finding.remedy == f"Nothing is owed. {gone}"


def test_a_drained_node_is_one_story() -> None:
    pods = [thing(f"web-{number}", "Pod", group="") for number in range(9)]
    moved = [
        write(f"e{place}", place, outcome="access", subresource="eviction", object=pod)
        for place, pod in enumerate(pods)
    ]
    (finding,) = found(break_glass_access.DETECTOR, case(writes=moved))
    assert (finding.severity, finding.count) == ("info", 9)
    assert "evicted Pod shop-prod/web-0, Pod shop-prod/web-1, Pod shop-prod/web-2 and 6 more" in finding.message


def test_what_was_read_in_anothers_name_is_told_with_the_name() -> None:
    read = write("r", 1, outcome="access", subresource="", actor=actor(acting_as="oncall-breakglass"))
    (finding,) = found(break_glass_access.DETECTOR, case(writes=[read]))
    assert "acted as oncall-breakglass" in finding.message


def test_two_pipelines_beside_the_controller_are_two_second_writers() -> None:
    other = actor("system:serviceaccount:ci:edge", "ci")
    applied = [
        change("a", 1, field(), actor=PIPELINE, channel="kubectl apply"),
        change("b", 2, field(), actor=other, channel="kubectl apply", application=OTHER),
    ]
    assert [(one.application, one.actors) for one in found(SECOND_WRITER, case(*applied))] == [
        (SHOP, (PIPELINE.name,)),
        (OTHER, (other.name,)),
    ]


def test_an_application_deleted_with_its_objects_is_no_out_of_band_change() -> None:
    gone = change("c", 1, operation="delete", actor=CONTROLLER, cause="gitops")
    assert found(out_of_band_change.DETECTOR, case(gone)) == []
    assert found(not_in_git.DETECTOR, case(gone)) == []


@pytest.mark.parametrize(
    ("second", "by", "said"),
    [(6, ALICE, "twice"), (9, ALICE, "the last of 2 changes"), (6, actor("bob@acme.example"), "the last of 2 changes")],
)
def test_a_value_is_said_to_be_set_twice_only_where_one_hand_set_that_value_twice(
    second: int, by: Actor, said: str
) -> None:
    changes = [change("a", 1, field(after=6), actor=ALICE), change("b", 2, field(after=second), actor=by)]
    told = case(*changes, verdicts=[verdict(each.id, ("not-reflected", "standing")) for each in changes])
    (finding,) = found(not_in_git.DETECTOR, told)
    assert f"= {second} ({by.name}, {said})" in finding.message
