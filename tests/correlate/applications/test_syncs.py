"""Every operation once, however many records tell of it."""

from datetime import timedelta
from typing import Any

from auditor.correlate.applications.bypass import revisions_seen
from auditor.correlate.applications.courses import BEGINNING
from auditor.model.facts import ArgoEvent
from tests.correlate.applications.argo_story import CONTROLLER, SERVER, Story, source, stamp
from tests.factories import ORIGIN, minute, replace


def log(at: float, message: str, reason: str = "", user: str = "") -> ArgoEvent:
    component: Any = "server" if user else "controller"
    return ArgoEvent("argocd", minute(at), 1.0, component, "web", user, reason, message, {}, "log", ORIGIN)


def test_an_automated_sync_is_one_record_from_all_that_tells_of_it() -> None:
    story = Story({}).created(-60).synced(0, "c2")
    entry = {
        "id": 1,
        "revision": "c2",
        "deployStartedAt": stamp(0.01),
        "deployedAt": stamp(0.1),
        "initiatedBy": {"automated": True},
        "source": source(),
    }
    story.patched(0.11, CONTROLLER, {"status": {"history": [entry]}})
    story.tells(0.012, "", "Initiated automated sync to 'c2'", "OperationStarted", "controller")
    story.tells(0.1, "", "Sync operation to c2 succeeded", "OperationCompleted", "controller")
    story.said += [
        log(0, "Initiated automated sync to 'c2'"),
        log(0, "Initiated automated sync to 'c2'", "OperationStarted"),
        log(0.1, "Sync operation to c2 succeeded", "OperationCompleted"),
    ]
    (sync,) = story.history().syncs
    assert (sync.origin, sync.extent, sync.phase, sync.revisions) == ("automated", "full", "Succeeded", ("c2",))
    assert (sync.started_at, sync.finished_at) == (minute(0.01), minute(0.1))
    assert {each.kind for each in sync.evidence} == {"audit", "argocd-event"}


def test_self_heal_is_told_by_its_attempts_and_its_resources() -> None:
    selected = [{"group": "apps", "kind": "Deployment", "name": "web"}]
    story = Story({}).created(-60).synced(0, autoHealAttemptsCount=1, resources=selected)
    (sync,) = story.history().syncs
    assert (sync.origin, sync.extent, sync.selected) == ("self-heal", "selective", (("apps", "Deployment", "web"),))


def test_a_manual_sync_has_the_user_and_the_account() -> None:
    (sync,) = Story().created(-60).synced(0, by="carol", said="initiated sync to main (c1)").history().syncs
    assert sync.requested_by is not None
    assert (sync.initiated_by, sync.requested_by.name, sync.requested_by.account) == ("carol", "carol", SERVER)
    assert sync.target == "main"


def test_a_dry_run_is_marked() -> None:
    (sync,) = Story().created(-60).synced(0, by="carol", dryRun=True).history().syncs
    assert sync.dry_run


def test_a_failed_sync_keeps_what_was_applied_and_what_was_not() -> None:
    story = Story({}).created(-60)
    failed = {
        "operation": {"sync": {"revision": "c2"}, "initiatedBy": {"automated": True}},
        "phase": "Failed",
        "startedAt": stamp(0),
        "finishedAt": stamp(3),
        "retryCount": 5,
        "message": "one or more objects failed to apply",
        "syncResult": {
            "revision": "c2",
            "resources": [
                {"kind": "ConfigMap", "name": "a", "namespace": "shop-prod", "status": "Synced"},
                {"kind": "Service", "name": "b", "namespace": "shop-prod", "status": "SyncFailed", "message": "no"},
            ],
        },
    }
    story.patched(3, CONTROLLER, {"status": {"operationState": failed}})
    (sync,) = story.history().syncs
    assert (sync.phase, sync.retries) == ("Failed", 5)
    assert [each.status for each in sync.resources] == ["Synced", "SyncFailed"]


def test_a_sync_that_never_ends_has_no_end() -> None:
    started = {"operation": {"sync": {"revision": "c2"}}, "phase": "Running", "startedAt": stamp(0)}
    (sync,) = Story({}).created(-60).patched(0, CONTROLLER, {"status": {"operationState": started}}).history().syncs
    assert (sync.phase, sync.finished_at) == ("Running", None)


def test_waiting_for_a_retry_is_not_finished() -> None:
    waiting = {
        "operation": {"sync": {}},
        "phase": "Running",
        "startedAt": stamp(0),
        "finishedAt": stamp(1),
        "retryCount": 2,
    }
    (sync,) = Story({}).created(-60).patched(1, CONTROLLER, {"status": {"operationState": waiting}}).history().syncs
    assert (sync.finished_at, sync.retries) == (None, 2)


def test_two_operations_within_one_second_are_two() -> None:
    story = Story({}).created(-60).synced(0, "c2")
    story.synced(0.0005, "c2", autoHealAttemptsCount=1, resources=[{"kind": "ConfigMap", "name": "a"}])
    assert [sync.origin for sync in story.history().syncs] == ["automated", "self-heal"]


def test_history_tells_of_what_was_before_the_records() -> None:
    story = Story({})
    story.document["status"]["history"] = [
        {"id": 14, "revision": "c0", "deployedAt": stamp(-600), "source": source()},
        {
            "id": 15,
            "revision": "c1",
            "deployedAt": stamp(-500),
            "initiatedBy": {"username": "admin"},
            "source": source(),
        },
    ]
    syncs = story.exported(0).exported(10).history().syncs
    assert [(sync.revisions, sync.origin, sync.initiated_by) for sync in syncs] == [
        (("c0",), "unknown", ""),
        (("c1",), "manual", "admin"),
    ]


def test_events_alone_tell_of_a_sync() -> None:
    story = Story().exported(-60)
    story.tells(0, "carol", "carol initiated partial sync to main (c2)", "OperationStarted")
    story.tells(0.1, "", "Partial sync operation to c2 failed: boom", "OperationCompleted", "controller")
    (sync,) = story.history().syncs
    assert (sync.origin, sync.extent, sync.phase, sync.initiated_by) == ("manual", "selective", "Failed", "carol")
    assert (sync.revisions, sync.message) == (("c2",), "boom")


def test_the_same_records_twice_are_the_same_history() -> None:
    story = Story({}).created(-60).synced(0, "c2").exported(1)
    before = story.history()
    story.events += [replace(event) for event in story.events]
    story.snapshots *= 2
    assert story.history().syncs == before.syncs


def test_reconciliations_that_change_nothing_are_not_kept_one_by_one() -> None:
    story = Story({}).created(-60)
    for at in range(100):
        story.compared(at, "c1")
    states = story.history().states
    assert len(states) <= 4
    assert states[-1].at == minute(99)
    assert minute(99) - states[-1].at < timedelta(seconds=1)


def test_an_export_without_any_time_is_so_from_the_beginning() -> None:
    story = Story()
    story.document["status"] = {"sync": {"status": "Synced", "revision": "c1"}}
    history = story.exported(None).history()
    assert [(state.at, state.sources[0].target_revision) for state in history.states] == [(BEGINNING, "main")]
    assert revisions_seen({story.key: history}) == ()


def test_a_branch_name_in_place_of_a_revision_is_no_record_of_a_commit() -> None:
    story = Story({}).created(-60).compared(0, "c2").compared(1, "main", "OutOfSync")
    assert [seen.revision for seen in revisions_seen({story.key: story.history()})] == ["c1", "c2"]


def test_an_export_without_any_time_after_a_request_is_as_old_as_the_request() -> None:
    assert [state.at for state in Story().created(5).exported(None).history().states] == [minute(5), minute(5)]
