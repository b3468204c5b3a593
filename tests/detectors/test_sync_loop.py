from dataclasses import replace
from typing import Any

from auditor.detectors.sync_loop import DETECTOR
from auditor.model.application import ApplicationHistory
from auditor.model.change import Actor, Change, Write
from tests.detectors.cases import ALICE, AUTOSCALER, CONTROLLER, PIPELINE, case, found, sync
from tests.factories import app_state, change, coverage, field, history, mark, minute, write


def pull(at: float, wanted: Any = 1, seen: Any = 3, **given: Any) -> Change:
    asked = field(before=seen, after=wanted)
    return change(f"pull-{at}", at, asked, **{"actor": CONTROLLER, "cause": "gitops", **given})


def push(at: float, value: Any = 3, before: Any = 1, by: Actor = AUTOSCALER) -> Change:
    return change(f"push-{at}", at, field(before=before, after=value), actor=by, cause="controller")


def rounds(*at: float, by: Actor = AUTOSCALER) -> list[Change]:
    return [each for moment in at for each in (push(moment, by=by), pull(moment + 0.1))]


def no_op(at: float, **given: Any) -> Write:
    asked = (field("spec.paused", True, False),)
    return write(
        f"no-op-{at}",
        at,
        actor=CONTROLLER,
        cause="gitops",
        **{"outcome": "no-op", "asked": asked, "fields": (), **given},
    )


def test_an_autoscaler_and_self_heal_that_undo_each_other_are_a_loop() -> None:
    (loop,) = found(DETECTOR, case(*rounds(1, 2, 4, 9)))
    assert (loop.path, loop.values, loop.count) == ("spec.replicas", (1, 3), 4)
    assert loop.actors == (CONTROLLER.name, AUTOSCALER.name)
    assert (loop.first_at, loop.last_at) == (minute(1.1), minute(9.1))
    assert "jsonPointers" in loop.snippet
    assert "/spec/replicas" in loop.snippet


def test_a_webhook_that_puts_its_value_back_is_a_loop_of_no_op_writes() -> None:
    writes = [no_op(at, admitted_by=("admission webhook pull-policy.acme.example",)) for at in (1, 2, 5)]
    (loop,) = found(DETECTOR, case(writes=writes))
    assert loop.path == "spec.paused"
    assert loop.values == (False, True)
    assert loop.actors == (CONTROLLER.name, "admission webhook pull-policy.acme.example")


def test_a_webhook_that_the_record_does_not_name_stays_unnamed() -> None:
    (loop,) = found(DETECTOR, case(writes=[no_op(at) for at in (1, 2, 5)]))
    assert loop.actors == (CONTROLLER.name, "admission (webhook not recorded)")


def test_a_value_that_is_asked_for_again_and_again_without_an_answer_is_not_kept() -> None:
    asked = (field("spec.paused", False, False),)
    blind = [
        write(f"b{at}", at, actor=CONTROLLER, cause="gitops", outcome="unproven", asked=asked, fields=())
        for at in (1, 2, 3, 5)
    ]
    (loop,) = found(DETECTOR, case(writes=blind))
    assert loop.values == (False,)
    assert "a writer that is not recorded does not keep it" in loop.message
    applied = [replace(each, patch_type="apply") for each in blind]
    assert found(DETECTOR, case(writes=applied)) == []
    answered = [replace(each, resource_version=str(place)) for place, each in enumerate(blind, 1)]
    assert found(DETECTOR, case(writes=answered)) == []


def test_an_autoscaler_without_self_heal_is_no_loop() -> None:
    assert found(DETECTOR, case(push(1), push(2, 5, 3), push(3, 2, 5), push(9, 6, 2))) == []


def test_releases_that_reset_what_an_autoscaler_set_are_no_loop() -> None:
    deployed = history(app_state(0), syncs=tuple(sync(at, revisions=(f"c{at}",)) for at in (1, 6, 11)))
    changes = [each for at in (1, 6, 11) for each in (push(at - 0.5), pull(at + 0.01))]
    assert found(DETECTOR, case(*changes, histories=[deployed])) == []


def test_different_values_of_one_controller_are_a_release_and_no_loop() -> None:
    assert found(DETECTOR, case(pull(1, 2, 1), pull(2, 3, 2), pull(3, 4, 3), pull(4, 5, 4))) == []


def test_a_hand_that_tries_three_times_is_no_loop() -> None:
    assert found(DETECTOR, case(*rounds(1, 2, 3, by=ALICE))) == []


def test_a_pipeline_against_self_heal_is_a_loop_without_a_block_to_paste() -> None:
    (loop,) = found(DETECTOR, case(*rounds(1, 2, 3, by=PIPELINE)))
    assert loop.snippet == ""


def test_two_rounds_are_no_loop() -> None:
    assert found(DETECTOR, case(*rounds(1, 2))) == []


def test_rounds_that_lie_days_apart_are_no_loop() -> None:
    assert found(DETECTOR, case(*rounds(1, 1000, 2000, 3000))) == []


def test_a_loop_that_stopped_says_since_when_and_is_low() -> None:
    rule = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    told: ApplicationHistory = history(app_state(0), app_state(20, ignore_differences=(rule,)))
    (loop,) = found(DETECTOR, case(*rounds(1, 2, 3), histories=[told]))
    assert loop.severity == "low"
    assert "an ignoreDifferences rule covers the field now" in loop.message


def test_a_loop_whose_field_is_ignored_now_is_over_however_short_the_quiet() -> None:
    rule = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    told = history(app_state(0), app_state(3.2, ignore_differences=(rule,)))
    (loop,) = found(
        DETECTOR, case(*rounds(1, 2, 3), histories=[told], coverage=coverage(mark("audit", 0, 3.5, "prod")))
    )
    assert loop.severity == "low"


def test_a_loop_that_runs_until_the_records_end_is_high() -> None:
    (loop,) = found(DETECTOR, case(*rounds(1, 2, 3), coverage=coverage(mark("audit", 0, 3.5, "prod"))))
    assert loop.severity == "high"
    assert "still runs when the records end" in loop.message


def test_server_side_apply_that_asks_for_what_is_there_is_no_pull() -> None:
    same = [
        write(
            f"same-{at}",
            at,
            actor=CONTROLLER,
            cause="gitops",
            outcome="no-op",
            patch_type="apply",
            asked=(field(before=3, after=3),),
        )
        for at in (1, 2, 3, 4)
    ]
    assert found(DETECTOR, case(writes=same)) == []


def test_a_loop_that_argocd_backs_off_from_is_one_loop() -> None:
    at, gap, moments = 1.0, 0.2, list[float]()
    while gap < 5:
        moments.append(at)
        at, gap = at + gap, gap * 3
    (loop,) = found(DETECTOR, case(*rounds(*moments, at, at + 5, at + 10)))
    assert loop.count == len(moments) + 3


def test_an_operator_that_sets_another_value_each_time_is_a_loop() -> None:
    operator = Actor("system:serviceaccount:acme:tuner", "operator", known_by="authenticated user")
    turns = [(push(at, value, 1, operator), pull(at + 0.1, seen=value)) for at, value in ((1, 3), (2, 4), (3, 5))]
    (loop,) = found(DETECTOR, case(*(each for turn in turns for each in turn)))
    assert (loop.count, loop.actors) == (3, (CONTROLLER.name, operator.name))
    assert loop.remedy.startswith("The operator owns the field")


def test_a_controller_that_nobody_knows_is_a_party_too() -> None:
    own = Actor("system:serviceaccount:acme:thing", "unknown", known_by="authenticated user")
    (loop,) = found(DETECTOR, case(*rounds(1, 2, 3, by=own)))
    assert loop.actors == (CONTROLLER.name, own.name)
    assert loop.snippet == "", "an unknown client may have been a hand"


def test_a_loop_tells_its_cost_in_writes() -> None:
    (loop,) = found(DETECTOR, case(*rounds(1, 2, 3)))
    assert "3 rounds in 2 min, one every 1 min in the median, 6 writes." in loop.message
    (silent,) = found(DETECTOR, case(writes=[no_op(at) for at in (1, 2, 5)]))
    assert "3 writes." in silent.message


def test_loops_on_two_fields_of_one_object_are_two() -> None:
    turns = [
        change(f"{who}-{path}-{at}", at + late, field(path, *values), actor=by, cause=cause)
        for at in (1, 2, 3)
        for path in ("spec.replicas", "spec.minReadySeconds")
        for who, late, values, by, cause in (
            ("push", 0, (1, 3), AUTOSCALER, "controller"),
            ("pull", 0.1, (3, 1), CONTROLLER, "gitops"),
        )
    ]
    assert {loop.path for loop in found(DETECTOR, case(*turns))} == {"spec.replicas", "spec.minReadySeconds"}
