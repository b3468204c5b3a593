"""Exported projects and settings are states of their objects: the first edit of one shows what was there before."""

import copy
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from auditor.collectors.argocd.exports import read_document
from auditor.config import ArgoCDConfig, ClusterConfig, Config
from auditor.correlate.applications.exported_settings import exported_settings
from auditor.correlate.identity.actors import identify
from auditor.correlate.identity.channels import channel
from auditor.correlate.writes.histories import histories, objects_in
from auditor.model.change import Write
from auditor.model.facts import ArgoSettings
from auditor.model.resource import ABSENT, UNKNOWN, Leaf, leaf
from auditor.objects.redaction import Redactor
from tests.factories import ORIGIN, minute
from tests.scenario import ALICE, Body, Cluster, config_map

CONFIG = Config(Path("."), (ClusterConfig("prod"),), argocds=(ArgoCDConfig("argocd", "prod"),))
SETTINGS = config_map("argocd-cm", "argocd", url="https://argo.acme.example", timeout="180s")
PROJECT: Body = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "AppProject",
    "metadata": {"name": "shop", "namespace": "argocd", "generation": 1},
    "spec": {"description": "the shop", "sourceRepos": ["*"]},
}
REDACTOR = Redactor(b"key of this test")


@pytest.fixture
def cluster() -> Cluster:
    """A cluster whose records begin after its Argo CD was set up."""
    made = Cluster()
    made.create(ALICE, SETTINGS)
    made.create(ALICE, PROJECT)
    made.events.clear()
    return made


def exported(cluster: Cluster, of: Body, managed_at: datetime | None = None, **without: Any) -> ArgoSettings:
    """`kubectl get -o yaml`, with managedFields where a time is given; `without` takes keys out of the metadata."""
    body = copy.deepcopy(cluster.get(of))
    body["metadata"] = {key: value for key, value in body["metadata"].items() if key not in without}
    if managed_at is not None:
        entry = {"manager": "kubectl-edit", "operation": "Update", "time": f"{managed_at:%Y-%m-%dT%H:%M:%SZ}"}
        body["metadata"]["managedFields"] = [entry]
    made = read_document("argocd", body, ORIGIN, REDACTOR)
    assert isinstance(made, ArgoSettings)
    return made


def told(cluster: Cluster, *settings: ArgoSettings, as_of: datetime | None = None) -> list[Write]:
    events = [event for event in cluster.events if as_of is None or event.at <= as_of]
    objects = objects_in(events, identify, channel)
    shown = list(exported_settings(settings, objects, CONFIG, as_of))
    return [write for history in histories(objects, shown, identify, channel) for write in history.writes]


def before(write: Write) -> Leaf:
    (field,) = write.fields
    return field.before


def test_the_first_edit_of_argocd_cm_shows_what_an_export_before_it_had(cluster: Cluster) -> None:
    seen = exported(cluster, SETTINGS)
    cluster.patch(ALICE, SETTINGS, {"data": {"timeout": "10s"}}, "merge")
    (write,) = told(cluster, seen)
    assert before(write) == leaf("180s")
    assert before(told(cluster)[0]) == UNKNOWN


def test_a_key_that_an_export_did_not_have_was_absent(cluster: Cluster) -> None:
    seen = exported(cluster, SETTINGS)
    cluster.patch(ALICE, SETTINGS, {"data": {"admin.enabled": "true"}}, "merge")
    assert before(told(cluster, seen)[0]) == ABSENT


def test_a_project_that_is_put_back_whole_shows_the_field_that_differs_from_its_export(cluster: Cluster) -> None:
    seen = exported(cluster, PROJECT)
    edited = copy.deepcopy(cluster.get(PROJECT))
    edited["spec"]["description"] = "the old shop"
    edited["metadata"]["generation"] = 2
    cluster.update(ALICE, edited)
    assert (told(cluster)[0].fields_known, before(told(cluster, seen)[0])) == (False, leaf("the shop"))


def test_an_export_after_the_edit_is_no_state_before_it(cluster: Cluster) -> None:
    cluster.patch(ALICE, SETTINGS, {"data": {"timeout": "10s"}}, "merge")
    assert before(told(cluster, exported(cluster, SETTINGS))[0]) == UNKNOWN


def test_the_export_of_the_version_before_the_edit_counts_and_no_older_one(cluster: Cluster) -> None:
    old = exported(cluster, SETTINGS)
    cluster.patch(ALICE, SETTINGS, {"data": {"timeout": "60s"}}, "merge")
    new = exported(cluster, SETTINGS)
    cluster.events.clear()
    cluster.patch(ALICE, SETTINGS, {"data": {"timeout": "10s"}}, "merge")
    assert [before(told(cluster, *seen)[0]) for seen in ((old, new), (new, old))] == [leaf("60s"), leaf("60s")]


def test_where_a_write_to_a_project_is_missing_since_its_export_the_value_before_is_not_known(cluster: Cluster) -> None:
    seen = exported(cluster, PROJECT)
    cluster.patch(ALICE, PROJECT, {"spec": {"description": "the kiosk"}}, "merge")
    cluster.events.clear()
    cluster.patch(ALICE, PROJECT, {"spec": {"description": "the mall"}}, "merge")
    stored = cluster.get(PROJECT) | {"metadata": cluster.get(PROJECT)["metadata"] | {"generation": 3}}
    cluster._amend(cluster.events[-1], stored)
    assert before(told(cluster, seen)[0]) == UNKNOWN


def test_a_question_as_of_a_moment_looks_into_no_later_export(cluster: Cluster) -> None:
    cluster.patch(ALICE, SETTINGS, {"data": {"timeout": "60s"}}, "merge")
    then = minute(cluster.minutes)
    cluster.minutes += 5
    cluster.patch(ALICE, SETTINGS, {"data": {"timeout": "10s"}}, "merge")
    later = [exported(cluster, SETTINGS), exported(cluster, SETTINGS, minute(cluster.minutes))]
    objects = objects_in(cluster.events[:1], identify, channel)
    assert list(exported_settings(later, objects, CONFIG, then)) == []
    assert list(exported_settings([exported(cluster, SETTINGS, then)], objects, CONFIG, then)) != []


def test_a_question_as_of_a_moment_uses_an_export_that_a_request_up_to_then_shows_to_be_older(cluster: Cluster) -> None:
    seen = exported(cluster, SETTINGS)
    cluster.patch(ALICE, SETTINGS, {"data": {"timeout": "10s"}}, "merge")
    assert before(told(cluster, seen, as_of=minute(cluster.minutes))[0]) == leaf("180s")


@pytest.mark.parametrize("without", ["uid", "resourceVersion"])
def test_what_argo_cd_itself_exported_is_no_state_of_the_object(cluster: Cluster, without: str) -> None:
    seen = exported(cluster, SETTINGS, **{without: None})
    cluster.patch(ALICE, SETTINGS, {"data": {"timeout": "10s"}}, "merge")
    assert before(told(cluster, seen)[0]) == UNKNOWN


def test_what_nobody_wrote_is_not_told_for_its_export(cluster: Cluster) -> None:
    assert told(cluster, exported(cluster, SETTINGS), exported(cluster, PROJECT)) == []


def test_a_credential_in_an_export_is_compared_and_not_told(cluster: Cluster) -> None:
    secret = config_map("argocd-cm", "argocd", **{"dex.config": "clientSecret: 9f8a7c6b5d4e3f2a1b0c"})
    cluster.patch(ALICE, SETTINGS, {"data": secret["data"]}, "merge")
    seen = exported(cluster, SETTINGS)
    assert b"9f8a7c6b5d4e3f2a1b0c" not in seen.body
    cluster.events.clear()
    cluster.patch(ALICE, SETTINGS, {"data": {"dex.config": None}}, "merge")
    assert "9f8a7c6b5d4e3f2a1b0c" not in orjson.dumps(told(cluster, seen)[0].fields).decode()
    assert before(told(cluster, seen)[0]).state == "value"
