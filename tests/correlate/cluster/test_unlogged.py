from dataclasses import replace
from typing import Any

from auditor.correlate.cluster.unlogged import doubted_by_sync
from auditor.model.application import SyncRecord
from auditor.model.change import AppKey
from auditor.model.verdict import Verdict
from tests.factories import SHOP, change, field, history, minute, verdict

RAISED = change("c", 1, field("spec.replicas", 3, 6))
UNDONE = replace(verdict("c", ("not-reflected", "standing")), prospect="undone-at-next-sync", next="undone")


def synced(at: float, **given: Any) -> SyncRecord:
    told: dict[str, Any] = {"phase": "Succeeded", "extent": "full", "dry_run": False, "selected": ()}
    key: AppKey = SHOP
    told |= given
    return SyncRecord(
        key, minute(at), minute(at), told["phase"], (), (), "self-heal", told["extent"], "", None, False,
        told["dry_run"], None, 0, "", (), told["selected"], (),
    )  # fmt: skip


def after(*syncs: SyncRecord, of: Verdict = UNDONE) -> str:
    return doubted_by_sync(RAISED, of, replace(history(), syncs=syncs), minute(60)).cluster.verdict


def test_what_a_sync_has_gone_over_is_not_said_to_stand_where_the_log_has_none_of_its_writes() -> None:
    told = doubted_by_sync(RAISED, UNDONE, replace(history(), syncs=(synced(2),)), minute(60))
    assert (told.cluster.verdict, told.fields[0].cluster.verdict, told.prospect) == ("unknown", "unknown", "unknown")
    assert after(synced(2, extent="selective", selected=(("apps", "Deployment", "web"),))) == "unknown"


def test_syncs_before_it_of_something_else_or_without_effect_leave_it_standing() -> None:
    assert after() == "standing"
    assert after(synced(0)) == "standing"
    assert after(synced(90)) == "standing"
    assert after(synced(2, phase="Failed")) == "standing"
    assert after(synced(2, dry_run=True)) == "standing"
    assert after(synced(2, extent="selective", selected=(("", "ConfigMap", "web"),))) == "standing"


def test_what_no_sync_undoes_stands_whatever_was_synced() -> None:
    kept = replace(verdict("c", ("not-declared", "standing")), prospect="invisible")
    assert after(synced(2), of=kept) == "standing"
    left = replace(
        verdict("c", ("not-reflected", "standing"), reason="git had it from 2 to 3"), prospect=UNDONE.prospect
    )
    assert after(synced(2), of=left) == "standing"
