"""Second writers, shared ownership, what went past git, and who claimed to be somebody."""

from auditor.detectors import break_glass_access, identity_mismatch, not_from_branch, out_of_band_change
from auditor.detectors.second_writer import DETECTOR as SECOND_WRITER
from auditor.detectors.shared_ownership import DETECTOR as SHARED_OWNERSHIP
from auditor.model.change import AppKey
from tests.detectors.cases import ALICE, CONTROLLER, PIPELINE, case, found
from tests.factories import SHOP, actor, app_state, change, field, history, thing, verdict, write

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
