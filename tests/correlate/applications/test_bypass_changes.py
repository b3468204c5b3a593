"""Writes of the GitOps controller that went past the tracked branch, as changes of those who asked for them."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from auditor.correlate.applications.bypass import Bypass, Bypasses
from auditor.correlate.applications.bypass_changes import through_argo
from auditor.correlate.applications.declared import Declared
from auditor.correlate.applications.owners import Owners
from auditor.model.application import ApplicationState, SyncRecord
from auditor.model.change import FieldChange, Write
from auditor.model.desired import DesiredState, GitReader, ManifestKey
from auditor.model.resource import UNKNOWN, JsonObject
from tests.factories import SHOP, actor, app_state, field, history, minute, thing, write

COMMIT = "c" * 40
MANIFEST: JsonObject = {"kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"THEME": "light", "LANG": "en"}}
LISTED = ("", "ConfigMap", "shop-prod", "web")
THEME, LANG, MOTTO = (replace(field(f"data.{key}", ..., after), before=UNKNOWN) for key, after in (
    ("THEME", "dark"), ("LANG", "en"), ("MOTTO", "more")
))  # fmt: skip


class Git:
    """A reader of one revision that has one manifest."""

    def render(self, state: ApplicationState, revision: str) -> DesiredState:
        assert revision == COMMIT
        return DesiredState("content", {ManifestKey("", "ConfigMap", "shop-prod", "web"): MANIFEST}, "now", "high")


class LocalSync:
    """Carol's sync of local manifests, behind each write."""

    def of(self, *_: Any) -> Bypass:
        sync = cast(SyncRecord, SimpleNamespace(started_at=minute(9), revisions=()))
        source = app_state(0).sources
        return Bypass("local-manifests", actor("carol"), "Argo CD UI or CLI", sync, source, source, "local", False, ())


def placed(*fields: FieldChange, status: str = "Synced") -> Write:
    state = app_state(0, revisions=(COMMIT,), resources=((*LISTED, status),))
    known = {SHOP: history(state)}
    applied = write("w", 10, *fields, object=thing(kind="ConfigMap", group=""), cause="gitops")
    declared = Declared(known, cast(GitReader, Git()))
    [told] = through_argo([applied], Owners(known), cast(Bypasses, LocalSync()), declared)
    return told


def test_a_value_that_the_records_lack_was_what_git_had_given() -> None:
    told = placed(THEME, LANG, MOTTO)
    assert (told.cause, told.actor.name) == ("bypass", "carol")
    assert told.fields == (field("data.THEME", "light", "dark"), MOTTO)


@pytest.mark.parametrize("fields", [(LANG,), (field("data.THEME", "blue", "dark"),)])
def test_what_is_recorded_stays_and_nothing_is_left_without_fields(fields: tuple[FieldChange, ...]) -> None:
    assert placed(*fields).fields == fields


def test_git_says_nothing_of_an_object_that_differed_from_it() -> None:
    assert placed(THEME, status="OutOfSync").fields == (THEME,)
