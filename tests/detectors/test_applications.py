"""Syncs, freezes, ignore rules and drift that concern an application as a whole."""

from dataclasses import replace

import pytest
import yaml

from auditor.detectors import (
    break_glass_access,
    drift_not_watched,
    freeze_did_not_hold,
    freeze_not_lifted,
    late_detection,
    not_in_git,
    phantom_diff,
    records_gap,
    staging_drift,
    unfinished_sync,
    useless_ignore,
)
from auditor.model.case import Case, LiveState
from auditor.model.change import AppKey
from auditor.model.coverage import Gap
from auditor.model.desired import DesiredState, ManifestKey
from auditor.model.episode import STEP_NAMES, Episode, Step
from auditor.model.facts import ArgoSettings
from auditor.model.resource import JsonObject, ObjectId, leaf
from auditor.model.staging import StagingCause, StagingDifference, StagingPair
from tests.detectors.cases import AUTOSCALER, CONTROLLER, case, found, result, sync
from tests.factories import (
    ORIGIN,
    SHOP,
    actor,
    app_state,
    change,
    coverage,
    field,
    freeze,
    history,
    mark,
    minute,
    thing,
    verdict,
    write,
)

APPLICATION = ObjectId("prod", "argoproj.io", "Application", "argocd", "shop-prod")
EPISODE = Episode(
    "e", SHOP, ("alice@acme.example",), minute(1), minute(30),
    tuple(Step(name, "not-recorded", None, None, "", ()) for name in STEP_NAMES), (), None, None, None, None,
)  # fmt: skip
RESOURCE = ("apps", "Deployment", "shop-prod", "web", "OutOfSync")


def test_a_sync_that_applied_half_says_which_half() -> None:
    half = sync(1, "Failed", retries=5, resources=(result("web", "Synced"), result("api", "SyncFailed", "immutable")))
    (finding,) = found(unfinished_sync.DETECTOR, case(histories=[history(app_state(0), syncs=(half,))]))
    assert (finding.severity, finding.count) == ("high", 6)
    assert "applied: Deployment web; refused: Deployment api" in finding.message
    assert "immutable" in finding.message


def test_a_sync_that_waits_for_its_next_attempt_is_unfinished() -> None:
    waiting = sync(1, "Running", retries=2, resources=(result("web", "Synced"), result("api", "SyncFailed")))
    (finding,) = found(unfinished_sync.DETECTOR, case(histories=[history(app_state(0), syncs=(waiting,))]))
    assert "waits for a retry (tried 3 times)" in finding.message


def test_a_failed_sync_that_a_later_one_completed_is_none() -> None:
    failed = sync(1, "Failed", resources=(result("api", "SyncFailed"),))
    assert found(unfinished_sync.DETECTOR, case(histories=[history(app_state(0), syncs=(failed, sync(5)))])) == []


def test_attempts_at_one_revision_are_one_finding() -> None:
    attempts = tuple(sync(at, "Failed", resources=(result("api", "SyncFailed"),)) for at in (1, 2, 3))
    (finding,) = found(unfinished_sync.DETECTOR, case(histories=[history(app_state(0), syncs=attempts)]))
    assert finding.count == 3
    assert finding.first_at == minute(1)


def test_a_selective_sync_on_purpose_is_none() -> None:
    chosen = sync(1, origin="manual", extent="selective", selected=(("apps", "Deployment", "web"),))
    assert found(unfinished_sync.DETECTOR, case(histories=[history(app_state(2), syncs=(chosen,))])) == []


def test_a_selective_sync_whose_rest_was_never_synced_is_a_finding() -> None:
    chosen = sync(1, origin="manual", extent="selective", selected=(("apps", "Deployment", "web"),))
    told = history(app_state(2, sync_status="OutOfSync"), syncs=(chosen,))
    (finding,) = found(unfinished_sync.DETECTOR, case(histories=[told]))
    assert "took Deployment web only" in finding.message


def test_a_sync_that_never_ended_is_stuck_after_half_an_hour() -> None:
    running = history(app_state(0), syncs=(sync(1, "Running", finished_at=None),))
    assert len(found(unfinished_sync.DETECTOR, case(histories=[running]))) == 1
    soon = coverage(mark("audit", 0, 5, "prod"))
    assert found(unfinished_sync.DETECTOR, case(histories=[running], coverage=soon)) == []


def test_a_freeze_without_an_end_is_not_lifted() -> None:
    (finding,) = found(freeze_not_lifted.DETECTOR, case(histories=[history(app_state(0), freezes=(freeze(1, None),))]))
    assert finding.actors == ("alice@acme.example",)
    assert "argocd app set shop-prod --sync-policy automated" in finding.remedy


def test_a_freeze_that_its_hand_lifted_is_neither_left_nor_undone() -> None:
    told = case(histories=[history(app_state(0), freezes=(freeze(1, 9),))])
    assert found(freeze_not_lifted.DETECTOR, told) == []
    assert found(freeze_did_not_hold.DETECTOR, told) == []


def test_a_freeze_that_the_parent_application_undid_did_not_hold() -> None:
    undone = freeze(1, 1.1, undone=True, undone_by="root")
    (finding,) = found(freeze_did_not_hold.DETECTOR, case(histories=[history(app_state(0), freezes=(undone,))]))
    assert "root undid it after 6 s" in finding.message
    assert finding.actors == ("alice@acme.example",)


def test_an_unknown_key_is_found_in_the_request_that_sent_it() -> None:
    rule: JsonObject = {"group": "apps", "kind": "Deployment", "jsonPath": "/spec/replicas"}
    stored: JsonObject = {"group": "apps", "kind": "Deployment"}
    asked = field("spec.ignoreDifferences", ..., [rule])
    told = case(
        writes=[write("w", 1, asked, object=APPLICATION)],
        histories=[history(app_state(0), app_state(2, ignore_differences=(stored,)))],
    )
    findings = found(useless_ignore.DETECTOR, told)
    assert findings[0].actors == ("alice@acme.example",)
    assert "does not know: jsonPath" in findings[0].message


@pytest.mark.parametrize("outcome", ["refused", "dry-run"])
def test_a_rule_that_was_never_stored_is_none(outcome: str) -> None:
    asked = field("spec.ignoreDifferences", ..., [{"kind": "Deployment", "jsonPath": "/x"}])
    told = case(writes=[write("w", 1, asked, object=APPLICATION, outcome=outcome)], histories=[history(app_state(0))])
    assert found(useless_ignore.DETECTOR, told) == []


def test_a_rule_that_covers_a_field_and_is_respected_is_none() -> None:
    rule: JsonObject = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    state = app_state(
        0, ignore_differences=(rule,), sync_options=("RespectIgnoreDifferences=true",), resources=(RESOURCE,)
    )
    live = {thing(): LiveState(thing(), {"spec": {"replicas": 3}}, minute(1), True)}
    assert found(useless_ignore.DETECTOR, case(histories=[history(state)], live=live)) == []


def test_a_pointer_that_leads_nowhere_is_useless() -> None:
    rule: JsonObject = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replica"]}
    live = {thing(): LiveState(thing(), {"spec": {"replicas": 3}}, minute(1), True)}
    told = history(app_state(0, ignore_differences=(rule,), resources=(RESOURCE,)))
    (finding,) = found(useless_ignore.DETECTOR, case(histories=[told], live=live))
    assert "/spec/replica, which none of its objects has" in finding.message
    unknown = {thing(): LiveState(thing(), {}, minute(1), False)}
    assert found(useless_ignore.DETECTOR, case(histories=[told], live=unknown)) == []


def test_a_rule_that_a_sync_overwrites_is_useless() -> None:
    rule: JsonObject = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    told = history(app_state(0, ignore_differences=(rule,), resources=(RESOURCE,)))
    reset = write("w", 1, field(before=5, after=3), actor=CONTROLLER, cause="gitops")
    (finding,) = found(useless_ignore.DETECTOR, case(writes=[reset], histories=[told]))
    assert "RespectIgnoreDifferences=true" in finding.remedy


def test_drift_of_a_manual_application_without_a_subscription_reaches_nobody() -> None:
    states = [app_state(at, automated=False, sync_status="OutOfSync", resources=(RESOURCE,)) for at in (1, 31)]
    (finding,) = found(drift_not_watched.DETECTOR, case(histories=[history(*states)]))
    assert "for 30 min (Deployment web)" in finding.message


def test_one_export_does_not_tell_how_long_an_application_is_out_of_sync() -> None:
    state = app_state(1, automated=False, sync_status="OutOfSync", resources=(RESOURCE,))
    (finding,) = found(drift_not_watched.DETECTOR, case(histories=[history(state)]))
    assert "is OutOfSync in the only record of its state (Deployment web)" in finding.message


def test_drift_that_somebody_is_told_of_is_watched() -> None:
    document: JsonObject = {"metadata": {"annotations": {"notifications.argoproj.io/subscribe.on-drift.slack": "ops"}}}
    state = app_state(1, automated=False, sync_status="OutOfSync", document=document)
    assert found(drift_not_watched.DETECTOR, case(histories=[history(state)])) == []


def test_a_value_that_stands_without_git_and_that_a_sync_will_undo_is_high() -> None:
    judged = replace(verdict("c", ("not-reflected", "standing")), prospect="undone-at-next-sync", next="It goes.")
    (finding,) = found(not_in_git.DETECTOR, case(change("c", 1, field()), verdicts=[judged]))
    assert (finding.severity, finding.path, finding.values) == ("high", "spec.replicas", (6,))


def test_a_value_that_is_gone_is_low_and_one_that_git_has_is_none() -> None:
    gone = verdict("c", ("not-reflected", "reverted-by-gitops"))
    (finding,) = found(not_in_git.DETECTOR, case(change("c", 1, field()), verdicts=[gone]))
    assert finding.severity == "low"
    done = verdict("c", ("reflected", "standing"))
    assert found(not_in_git.DETECTOR, case(change("c", 1, field()), verdicts=[done])) == []


def phantom_case() -> Case:
    return case(
        change("c", 1, field(before=3, after=5), actor=AUTOSCALER, cause="controller"),
        histories=[history(app_state(2, resources=(RESOURCE,), sync_status="OutOfSync"))],
        desired={SHOP: _declared(3)},
        live={thing(): LiveState(thing(), {"spec": {"replicas": 5}}, minute(2), True)},
    )


def test_a_difference_that_an_autoscaler_made_is_phantom_and_its_block_covers_it() -> None:
    (finding,) = found(phantom_diff.DETECTOR, phantom_case())
    assert finding.actors == (AUTOSCALER.name,)
    assert yaml.safe_load(finding.snippet)["ignoreDifferences"][0]["jsonPointers"] == ["/spec/replicas"]


def test_a_field_that_a_person_changed_is_never_offered_to_be_ignored() -> None:
    told = case(
        change("c", 1, field(before=3, after=5)),
        histories=[history(app_state(2, resources=(RESOURCE,), sync_status="OutOfSync"))],
        desired={SHOP: _declared(3)},
        live={thing(): LiveState(thing(), {"spec": {"replicas": 5}}, minute(2), True)},
    )
    assert found(phantom_diff.DETECTOR, told) == []


def test_what_a_sync_wrote_before_git_moved_on_is_not_phantom() -> None:
    told = case(
        change("c", 1, field(before=2, after=5), actor=CONTROLLER, cause="gitops"),
        histories=[history(app_state(2, resources=(RESOURCE,), sync_status="OutOfSync"))],
        desired={SHOP: _declared(3)},
        live={thing(): LiveState(thing(), {"spec": {"replicas": 5}}, minute(2), True)},
    )
    assert found(phantom_diff.DETECTOR, told) == []


def _declared(replicas: int) -> DesiredState:
    key = ManifestKey("apps", "Deployment", "shop-prod", "web")
    return DesiredState("k", {key: {"spec": {"replicas": replicas}}}, "now", "high")


def test_a_gap_in_the_records_is_said_with_the_command_that_fills_it() -> None:
    gap = Gap("git", "", None, None, "No git repository.", "git clone --mirror URL")
    (finding,) = found(records_gap.DETECTOR, case(coverage=coverage(gaps=(gap,))))
    assert (finding.severity, finding.remedy) == ("info", "Export it: git clone --mirror URL")


def test_a_write_that_no_event_tells_of_is_a_gap_in_the_audit_log() -> None:
    unnamed = actor("", "unknown")
    told = case(
        change("c", 1, field(), actor=unnamed, known_by="ownership"),
        change("d", 2, field()),
        change("e", 3, field(), actor=unnamed, known_by="ownership"),
    )
    (finding,) = found(records_gap.DETECTOR, told)
    assert (finding.severity, finding.count, finding.changes) == ("medium", 2, ("c", "e"))
    assert finding.message.startswith("The audit log of prod that was read has no event of 2 writes")


def test_equal_objects_of_two_clusters_have_findings_of_their_own() -> None:
    twins = [
        write("x", 1, object=replace(thing(), cluster=cluster), outcome="access", subresource="exec")
        for cluster in ("east", "west")
    ]
    ids = {finding.id for finding in found(break_glass_access.DETECTOR, case(writes=twins))}
    assert len(ids) == 2


def test_ids_of_findings_do_not_depend_on_what_came_later() -> None:
    one = found(freeze_not_lifted.DETECTOR, case(histories=[history(app_state(0), freezes=(freeze(1, None),))]))
    later = coverage(mark("audit", 0, 999, "prod"))
    other = found(
        freeze_not_lifted.DETECTOR,
        case(histories=[history(app_state(0), freezes=(freeze(1, None),))], coverage=later),
    )
    assert one[0].id == other[0].id
    assert one[0].message != other[0].message


def test_what_was_said_of_an_application_that_is_gone_is_said_no_more() -> None:
    failed = sync(1, "Failed", resources=(result("api", "SyncFailed"),))
    rule: JsonObject = {"group": "apps", "kind": "Deployment"}
    state = app_state(0, ignore_differences=(rule,), automated=False, sync_status="OutOfSync")
    gone = case(histories=[history(state, syncs=(failed,), freezes=(freeze(1, None),), removed_at=minute(9))])
    for detector in (unfinished_sync, useless_ignore, freeze_not_lifted, drift_not_watched, phantom_diff):
        assert found(detector.DETECTOR, gone) == [], detector.DETECTOR.ident


def test_a_release_that_waits_for_its_button_is_for_information() -> None:
    states = [app_state(at, automated=False, sync_status="OutOfSync", resources=(RESOURCE,)) for at in (1, 31)]
    assert found(drift_not_watched.DETECTOR, case(histories=[history(*states)]))[0].severity == "info"
    states.append(app_state(90, automated=False, sync_status="OutOfSync"))
    assert found(drift_not_watched.DETECTOR, case(histories=[history(*states)]))[0].severity == "low"


def test_subscriptions_for_all_applications_watch_too() -> None:
    body = b'{"data": {"subscriptions": "- recipients: [slack:ops]"}}'
    settings = ArgoSettings("argocd", "ConfigMap", "argocd", "argocd-notifications-cm", "1", body, ORIGIN)
    state = app_state(1, automated=False, sync_status="OutOfSync")
    told = case(histories=[history(state)], settings=(settings,))
    assert found(drift_not_watched.DETECTOR, told) == []


def test_a_rule_that_was_replaced_says_since_when_and_is_low() -> None:
    rule: JsonObject = {"group": "apps", "kind": "Deployment"}
    told = history(app_state(0, ignore_differences=(rule,)), app_state(30))
    (finding,) = found(useless_ignore.DETECTOR, case(histories=[told]))
    assert finding.severity == "low"
    assert finding.message.endswith("It is gone since 2026-11-30 09:30:00 UTC.")


def test_what_the_api_server_kept_of_a_wrong_rule_is_not_told_twice() -> None:
    rule: JsonObject = {"group": "apps", "kind": "Deployment", "jsonPath": "/spec/replicas"}
    stored: JsonObject = {"group": "apps", "kind": "Deployment"}
    asked = field("spec.ignoreDifferences", ..., [rule])
    told = case(
        writes=[write("w", 1, asked, object=APPLICATION)],
        histories=[history(app_state(0), app_state(2, ignore_differences=(stored,)))],
    )
    assert len(found(useless_ignore.DETECTOR, told)) == 1


def test_a_pointer_to_what_is_merely_not_set_now_is_for_information() -> None:
    rule: JsonObject = {
        "group": "apps",
        "kind": "Deployment",
        "jsonPointers": ["/spec/template/metadata/annotations/x"],
    }
    live = {thing(): LiveState(thing(), {"spec": {"replicas": 3}}, minute(1), True)}
    told = history(app_state(0, ignore_differences=(rule,), resources=(RESOURCE,)))
    (finding,) = found(useless_ignore.DETECTOR, case(histories=[told], live=live))
    assert finding.severity == "info"


def test_an_episode_of_restarts_is_nothing_to_notice() -> None:
    at = 'spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]'
    slow = replace(EPISODE, changes=("c",), seconds_to_announce=7200.0)
    restarted = change("c", 1, field(at, ..., "2026-11-30T09:00:00Z"))
    assert found(late_detection.DETECTOR, case(restarted, episodes=(slow,))) == []
    (finding,) = found(late_detection.DETECTOR, case(change("c", 1, field()), episodes=(slow,)))
    assert "announced after 2 h, the goal is 15 min" in finding.message


def test_only_drift_of_what_was_changed_is_a_sign_of_it() -> None:
    changed = change("c", 1, field())
    episode = replace(EPISODE, changes=("c",))
    elsewhere = ("apps", "Deployment", "shop-prod", "api", "OutOfSync")
    unrelated = history(app_state(0), app_state(61, sync_status="OutOfSync", resources=(elsewhere,)))
    assert found(late_detection.DETECTOR, case(changed, histories=[unrelated], episodes=(episode,))) == []
    seen = history(app_state(0), app_state(61, sync_status="OutOfSync", resources=(RESOURCE,)))
    (finding,) = found(late_detection.DETECTOR, case(changed, histories=[seen], episodes=(episode,)))
    assert "first noticed after 1 h, by Argo CD's OutOfSync" in finding.message


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"jqPathExpressions": [".spec.template.spec.containers[].imagePullPolicy"]}, ""),
        (
            {"jqPathExpressions": ['.spec.template.spec.containers[] | select(.name == "web") | .args']},
            "has the expression",
        ),
        ({"jqPathExpressions": [".spec | to_entries"]}, ""),
        ({"managedFieldsManagers": ["kube-controller-manager"]}, ""),
        ({"managedFieldsManagers": ["kube-controler-manager"]}, "trusts the manager kube-controler-manager"),
    ],
)
def test_an_expression_or_a_manager_that_selects_nothing_is_useless(rule: JsonObject, said: str) -> None:
    body: JsonObject = {
        "metadata": {"managedFields": [{"manager": "kube-controller-manager", "fieldsV1": {"f:spec": {}}}]},
        "spec": {"template": {"spec": {"containers": [{"name": "web", "imagePullPolicy": "Always"}]}}},
    }
    whole = {thing(): LiveState(thing(), body, minute(1), True)}
    state = app_state(
        0,
        ignore_differences=({"group": "apps", "kind": "Deployment"} | rule,),
        sync_options=("RespectIgnoreDifferences=true",),
        resources=(RESOURCE,),
    )
    messages = [
        finding.message for finding in found(useless_ignore.DETECTOR, case(histories=[history(state)], live=whole))
    ]
    assert bool(messages) == bool(said)
    assert all(said in message for message in messages)


def difference(*causes: StagingCause, advice: str = "promote") -> StagingPair:
    one = StagingDifference(
        thing(), ("spec", "replicas"), leaf(3), leaf(6), causes, "a hotfix of alice", ("c",), None, advice
    )
    return StagingPair(AppKey("argocd", "argocd", "shop-staging"), SHOP, "configuration", (one,))


@pytest.mark.parametrize(
    ("cause", "severity"), [("production-hotfix", "medium"), ("hotfix-not-in-git", "medium"), ("staging-change", "low")]
)
def test_a_hotfix_that_staging_lacks_is_staging_drift(cause: StagingCause, severity: str) -> None:
    (finding,) = found(staging_drift.DETECTOR, case(staging=(difference(cause, "overlay"),)))
    assert (finding.severity, finding.application, finding.path) == (severity, SHOP, "spec.replicas")
    assert "6 in shop-prod, 3 in shop-staging" in finding.message
    assert finding.remedy.startswith("Bring the value to staging too")


@pytest.mark.parametrize("cause", ["overlay", "promotion"])
def test_what_differs_by_design_or_is_on_its_way_is_none(cause: StagingCause) -> None:
    assert found(staging_drift.DETECTOR, case(staging=(difference(cause),))) == []


def test_a_difference_that_a_rule_hides_is_not_phantom() -> None:
    rule: JsonObject = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    of = phantom_case()
    state = app_state(2, resources=(RESOURCE,), sync_status="OutOfSync", ignore_differences=(rule,))
    assert found(phantom_diff.DETECTOR, replace(of, applications={SHOP: history(state)})) == []


def test_a_difference_of_which_no_record_tells_the_writer_is_not_phantom() -> None:
    assert found(phantom_diff.DETECTOR, replace(phantom_case(), writes=(), changes=())) == []


def test_an_object_that_argocd_calls_synced_has_no_phantom_difference() -> None:
    synced = app_state(2, resources=((*RESOURCE[:4], "Synced"),))
    assert found(phantom_diff.DETECTOR, replace(phantom_case(), applications={SHOP: history(synced)})) == []
