"""At which revision an object is: what Argo CD compared it with, or what it last applied."""

from types import SimpleNamespace
from typing import cast

import pytest

from auditor.correlate.applications.declared import Declared
from auditor.model.application import ApplicationState, SyncRecord
from auditor.model.desired import DesiredState, GitReader, ManifestKey
from auditor.model.resource import JsonObject
from tests.factories import SHOP, app_state, history, minute, thing

APPLIED, TIP = "a" * 40, "b" * 40


class Git:
    """Each revision's one manifest says which it is."""

    def render(self, state: ApplicationState, revision: str) -> DesiredState:
        manifest: JsonObject = {"kind": "Deployment", "revision": revision}
        return DesiredState(revision, {ManifestKey("apps", "Deployment", "shop-prod", "web"): manifest}, "now", "high")


def synced(revision: str) -> SyncRecord:
    done = SimpleNamespace(
        started_at=minute(1), finished_at=minute(2), phase="Succeeded", dry_run=False, revisions=(revision,)
    )
    return cast(SyncRecord, done)


@pytest.mark.parametrize(
    ("status", "syncs", "revision"),
    [
        ("Synced", (synced(APPLIED),), TIP),
        ("OutOfSync", (synced(APPLIED),), APPLIED),
        ("OutOfSync", (), TIP),
    ],
)
def test_an_object_that_differs_from_the_tip_is_at_what_was_synced_last(
    status: str, syncs: tuple[SyncRecord, ...], revision: str
) -> None:
    state = app_state(5, revisions=(TIP,), resources=(("apps", "Deployment", "shop-prod", "web", status),))
    declared = Declared({SHOP: history(state, syncs=syncs)}, cast(GitReader, Git()))
    found = declared.object_at(thing(), minute(6))
    assert found is not None
    assert found["revision"] == revision
