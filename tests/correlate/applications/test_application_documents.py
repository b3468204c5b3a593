"""What an Application's document says."""

from pathlib import Path
from typing import Any

import pytest

from auditor.config import ArgoCDConfig, ClusterConfig, Config
from auditor.correlate.applications.documents import destination_cluster, parse_application, parse_sources, shared
from auditor.model.application import ApplicationState
from tests.factories import SHOP, evidence, minute

CONFIG = Config(
    Path("."),
    clusters=(
        ClusterConfig("hub", server=("https://kubernetes.default.svc",)),
        ClusterConfig("prod", server=("https://prod.acme.example:6443", "production")),
        ClusterConfig("a", server=("https://shared.acme.example",)),
        ClusterConfig("b", server=("https://shared.acme.example",)),
    ),
    argocds=(ArgoCDConfig("argocd", "hub"),),
)


def state(**document: Any) -> ApplicationState:
    return parse_application(document, SHOP, minute(0), evidence(), CONFIG, "hub")


def policy(**automated: Any) -> ApplicationState:
    return state(spec={"syncPolicy": {"automated": automated}})


@pytest.mark.parametrize(
    ("labels", "annotations", "marked"),
    [
        ({"app.kubernetes.io/instance": "root"}, {}, "root:argoproj.io/Application:argocd/shop-prod"),
        ({"app.kubernetes.io/instance": "shop-prod"}, {}, ""),
        ({"app.kubernetes.io/instance": "helm"}, {"argocd.argoproj.io/tracking-id": "root:x:y/z"}, "root:x:y/z"),
        ({}, {}, ""),
    ],
)
def test_an_application_bears_the_mark_of_its_parent_whichever_way_argo_cd_tracks(
    labels: dict[str, str], annotations: dict[str, str], marked: str
) -> None:
    assert state(metadata={"labels": labels, "annotations": annotations}).tracking_id == marked


def test_auto_sync_is_on_unless_it_is_left_out_or_switched_off() -> None:
    assert policy().automated
    assert policy(enabled=True).automated
    assert not policy(enabled=False).automated
    assert not state(spec={"syncPolicy": {"automated": None}}).automated
    assert not state(spec={}).automated


def test_self_heal_counts_only_with_auto_sync() -> None:
    assert policy(selfHeal=True).self_heal
    assert not policy(selfHeal=True, enabled=False).self_heal
    assert not policy().self_heal


@pytest.mark.parametrize(
    ("server", "name", "cluster"),
    [
        ("https://kubernetes.default.svc", "", "hub"),
        ("", "in-cluster", "hub"),
        ("https://prod.acme.example:6443/", "", "prod"),
        ("", "production", "prod"),
        ("", "prod", "prod"),
        ("https://other.acme.example", "", ""),
        ("https://shared.acme.example", "", ""),
        ("", "", ""),
    ],
)
def test_a_destination_is_a_configured_cluster_or_none(server: str, name: str, cluster: str) -> None:
    assert destination_cluster(server, name, CONFIG, "hub") == cluster


def test_several_sources_are_read_with_their_options() -> None:
    values, chart = parse_sources(
        {
            "sources": [
                {"repoURL": "https://git.acme.example/values.git", "ref": "values", "targetRevision": "main"},
                {"repoURL": "oci://charts", "chart": "web", "targetRevision": "1.*", "helm": {"b": 1, "a": [2]}},
            ]
        }
    )
    assert (values.ref, values.kind, values.options) == ("values", "auto", "{}")
    assert (chart.chart, chart.kind, chart.options) == ("web", "helm", '{"a":[2],"b":1}')


@pytest.mark.parametrize("kind", ["helm", "kustomize", "directory", "plugin"])
def test_equal_options_are_equal_text(kind: str) -> None:
    one, other = ({"source": {"repoURL": "r", kind: options}} for options in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    assert parse_sources(one) == parse_sources(other)
    assert parse_sources(one)[0].kind == kind


def test_what_did_not_change_is_shared_with_the_state_before() -> None:
    before: dict[str, Any] = {"spec": {"a": [1, {"b": 2}]}, "status": {"x": 1}}
    after = shared({"spec": {"a": [1, {"b": 2}]}, "status": {"x": 2}}, before)
    assert after["spec"] is before["spec"]
    assert after["status"] == {"x": 2}


def test_equal_numbers_of_other_types_are_not_taken_for_one_another() -> None:
    assert shared({"a": True}, {"a": 1})["a"] is True


def test_managed_fields_are_left_out() -> None:
    document = shared({"metadata": {"name": "a", "managedFields": [{}]}}, None)
    assert document == {"metadata": {"name": "a"}}


def test_a_document_of_nonsense_is_an_empty_state() -> None:
    found = state(spec={"source": [], "destination": "x", "syncPolicy": 3}, status={"resources": [1, {"kind": 2}]})
    assert found.sources == ()
    assert found.resources == (("", "", "", "", ""),)
