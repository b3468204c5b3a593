"""What differs from git now, and by what."""

from dataclasses import replace
from typing import Any

import pytest

from auditor.correlate.cluster.drift import drifted
from auditor.model.case import Case, LiveState
from auditor.model.desired import DesiredState, ManifestKey, Undeterminable
from auditor.model.drift import DriftedField
from auditor.model.resource import ABSENT, JsonObject, leaf
from tests.detectors.cases import AUTOSCALER, CONTROLLER, PIPELINE, case, sync
from tests.factories import SHOP, app_state, change, field, history, minute, thing, verdict

KEY = ManifestKey("apps", "Deployment", "shop-prod", "web")
REPLICAS = ("spec", "replicas")


def declared(manifest: JsonObject | None = None, **given: Any) -> dict[Any, DesiredState]:
    objects = {KEY: manifest or {"spec": {"replicas": 3}}}
    return {SHOP: DesiredState("k", objects, "now", "high", **given)}


def live(body: JsonObject | None, *, complete: bool = True) -> dict[Any, LiveState]:
    return {thing(): LiveState(thing(), body, minute(9), complete)}


def told(*changes: Any, syncs: tuple[Any, ...] = (), body: JsonObject | None = None, **given: Any) -> Case:
    state = given.pop("state", app_state(5))
    made: dict[str, Any] = {
        "histories": [history(state, syncs=syncs)],
        "desired": declared(),
        "live": live(body or {"spec": {"replicas": 6}}),
    }
    return case(*changes, **(made | given))


def one(of: Case) -> DriftedField:
    (found,) = drifted(of)
    return found


def test_a_value_that_a_hand_left_is_drift_by_that_hand() -> None:
    found = one(told(change("c", 1, field(before=3)), verdicts=[verdict("c", ("not-reflected", "standing"))]))
    assert (found.path, found.desired, found.live) == (REPLICAS, leaf(3), leaf(6))
    assert (found.cause, found.by, found.at, found.change) == ("a hand", "alice@acme.example", minute(1), "c")


def test_a_pipeline_is_no_hand() -> None:
    applied = change("c", 1, field(before=3), actor=PIPELINE)
    assert one(told(applied, verdicts=[verdict("c", ("not-reflected", "standing"))])).cause == "a pipeline"


def test_an_autoscaler_is_another_controller() -> None:
    found = one(told(change("c", 1, field(before=3), actor=AUTOSCALER, cause="controller")))
    assert (found.cause, found.by) == ("another controller or a default", AUTOSCALER.name)
    assert found.change is None


def test_what_a_rule_hides_is_drift_only_by_a_hand() -> None:
    rule: JsonObject = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    state = app_state(5, ignore_differences=(rule,))
    scaled = change("c", 1, field(before=3), actor=AUTOSCALER, cause="controller")
    assert drifted(told(scaled, state=state)) == ()
    by_hand = change("c", 1, field(before=3))
    assert one(told(by_hand, state=state)).cause == "a hand"


def test_an_older_value_of_the_controller_is_an_unfinished_sync() -> None:
    wrote = change("c", 1, field(before=3), actor=CONTROLLER, cause="gitops")
    found = one(told(wrote, syncs=(sync(4, "Failed"),)))
    assert found.cause == "an unfinished sync"
    assert found.because == "the last sync, to aaaaaaaaa, is Failed"


def test_without_a_write_the_manager_of_the_field_tells_the_controller() -> None:
    owned = {
        "manager": "kube-controller-manager",
        "operation": "Update",
        "time": "2026-11-30T08:00:00Z",
        "fieldsV1": {"f:spec": {"f:replicas": {}}},
    }
    body: JsonObject = {"metadata": {"managedFields": [owned]}, "spec": {"replicas": 6}}
    found = one(told(body=body))
    assert (found.cause, found.by) == ("another controller or a default", "kube-controller-manager")


def test_what_no_record_tells_is_said_to_be_so() -> None:
    found = one(told())
    assert (found.cause, found.by, found.at) == ("not told", "", None)


def test_without_a_write_a_sync_that_failed_is_the_cause() -> None:
    assert one(told(syncs=(sync(4, "Failed"),))).cause == "an unfinished sync"
    assert one(told(syncs=(sync(4),))).cause == "not told"


def test_what_the_cluster_adds_beside_the_manifest_is_no_drift() -> None:
    body: JsonObject = {"spec": {"replicas": 3, "progressDeadlineSeconds": 600}}
    assert drifted(told(body=body)) == ()


def test_what_a_hand_added_beside_the_manifest_is_drift() -> None:
    added = change("c", 1, field("spec.paused", ..., True))
    body: JsonObject = {"spec": {"replicas": 3, "paused": True}}
    found = one(told(added, body=body, verdicts=[verdict("c", ("not-declared", "standing"))]))
    assert (found.path, found.desired, found.live) == (("spec", "paused"), ABSENT, leaf(True))


def test_a_restart_is_no_drift() -> None:
    at = 'spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]'
    restarted = change("c", 1, field(at, ..., "2026-11-30T09:00:00Z"))
    told_so = told(restarted, body={"spec": {"replicas": 3}}, verdicts=[verdict("c", ("not-declared", "standing"))])
    assert drifted(told_so) == ()


def test_a_partly_known_object_shows_no_absence() -> None:
    parts = live({"metadata": {}}, complete=False)
    assert drifted(told(live=parts)) == ()
    assert one(told(live=live({"metadata": {}}))).live == ABSENT


def test_a_field_that_each_render_gives_otherwise_is_no_drift() -> None:
    again = {KEY: {"spec": {"replicas": 4}}}
    assert drifted(told(desired=declared(second=again))) == ()


def test_an_object_that_is_gone_is_one_drift() -> None:
    found = one(told(live=live(None)))
    assert (found.path, found.live) == ((), ABSENT)


@pytest.mark.parametrize("desired", [{}, {SHOP: Undeterminable("no clone")}])
def test_without_a_render_only_what_hands_left_is_known(desired: Any) -> None:
    assert drifted(told(desired=desired)) == ()
    left = change("c", 1, field(before=3))
    assert len(drifted(told(left, desired=desired, verdicts=[verdict("c", ("not-reflected", "standing"))]))) == 1


def test_fields_of_an_object_that_git_lacks_are_said_with_the_object() -> None:
    made = change("c", 1, operation="create", application=None)
    scaled = change("d", 2, field(before=3), application=None)
    verdicts = [verdict("c", ("not-in-git", "standing"), whole=True), verdict("d", ("not-in-git", "standing"))]
    found = one(told(made, scaled, body={"spec": {"replicas": 3}}, verdicts=verdicts))
    assert (found.application, found.path, found.change) == (None, (), "c")


def test_a_field_that_a_hand_took_out_of_an_object_that_git_lacks_is_no_drift() -> None:
    removed = change("c", 1, field(before=3, after=...), application=None)
    stands = [verdict("c", ("not-in-git", "standing"))]
    assert drifted(told(removed, histories=[], verdicts=stands)) == ()


def test_an_application_that_was_removed_has_no_drift() -> None:
    of = told()
    gone = replace(of, applications={SHOP: replace(of.applications[SHOP], removed_at=minute(8))})
    assert drifted(gone) == ()
