"""What Flux's objects say: revisions, contents, sources, suspension, and how reconciliations went."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from auditor.config import ArgoCDConfig, ClusterConfig, Config
from auditor.correlate.applications.flux_documents import commit_of
from auditor.correlate.applications.flux_sources import declared_sources
from auditor.correlate.applications.histories import histories, own_requests
from auditor.correlate.git.source import parent_of
from auditor.correlate.identity.actors import identify
from auditor.model.application import ApplicationHistory
from auditor.model.change import AppKey
from auditor.model.facts import ApplicationSnapshot, ArgoSettings
from tests.factories import ORIGIN, app_state, history, minute

CONFIG = Config(
    Path("."),
    clusters=(ClusterConfig("prod", server=("https://kubernetes.default.svc",)), ClusterConfig("edge")),
    argocds=(ArgoCDConfig("flux", "prod"),),
)
GIT = {"sourceRef": {"kind": "GitRepository", "name": "deploy"}, "path": "./apps/web", "prune": True}
URL = "https://git.acme.example/deploy.git"


def source(kind: str = "GitRepository", **spec: Any) -> ArgoSettings:
    body = orjson.dumps({"kind": kind, "spec": {"url": URL} | spec})
    return ArgoSettings("flux", kind, "flux-system", "deploy", "1", body, ORIGIN)


def known(kind: str, spec: dict[str, Any], *sources: ArgoSettings, **status: Any) -> ApplicationHistory:
    """The history of one exported object."""
    body = orjson.dumps({"kind": kind, "metadata": {"name": "web"}, "spec": spec, "status": status})
    exported = ApplicationSnapshot("flux", kind, "flux-system", "web", "7", minute(0), body, ORIGIN)
    found = histories([exported], own_requests([]), [], sources or [source()], CONFIG, identify)
    return found[AppKey("flux", "flux-system", "web", kind)]


@pytest.mark.parametrize(
    "written", ["main@sha1:4507", "sha1:4507", "main/4507", "v1.0.1@sha1:4507", "feature/x@sha1:4507", "feature/x/4507"]
)
def test_the_commit_of_a_revision_however_flux_wrote_it(written: str) -> None:
    assert commit_of(written) == "4507"


def test_a_kustomization_is_made_of_a_folder_of_its_git_repository() -> None:
    (state,) = known("Kustomization", GIT, lastAppliedRevision="main@sha1:4507").states
    (made_of,) = state.sources
    assert (made_of.repo_url, made_of.path, made_of.target_revision, made_of.problem) == (URL, "apps/web", "master", "")
    assert (state.cluster, state.revisions, state.automated, state.self_heal) == ("prod", ("4507",), True, True)


@pytest.mark.parametrize(
    ("ref", "target"),
    [
        ({"branch": "main"}, "main"),
        ({"branch": "main", "tag": "v1"}, "v1"),
        ({"tag": "v1", "semver": ">=1.0.0"}, ">=1.0.0"),
        ({"name": "refs/heads/release", "branch": "main"}, "refs/heads/release"),
        ({"branch": "main", "commit": "4507"}, "4507"),
    ],
)
def test_flux_follows_the_most_exact_reference(ref: dict[str, str], target: str) -> None:
    (state,) = known("Kustomization", GIT, source(ref=ref)).states
    assert state.sources[0].target_revision == target


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"sourceRef": {"kind": "OCIRepository", "name": "deploy"}}, "its manifests come from OCIRepository deploy"),
        ({"sourceRef": {"kind": "GitRepository", "name": "other"}}, "the records do not hold GitRepository other"),
        ({"postBuild": {"substitute": {"A": "b"}}}, "its postBuild puts values into what kustomize renders"),
    ],
)
def test_what_cannot_be_rendered_says_why(spec: dict[str, Any], problem: str) -> None:
    (state,) = known("Kustomization", GIT | spec).states
    assert state.sources[0].problem.startswith(problem)


def test_what_a_kustomization_adds_is_among_its_options() -> None:
    images = [{"name": "app", "newName": "registry/app", "newTag": "2"}]
    (state,) = known("Kustomization", GIT | {"images": images, "targetNamespace": "shop"}).states
    assert state.sources[0].kind == "kustomize"
    assert orjson.loads(state.sources[0].options) == {"images": ["app=registry/app:2"], "namespace": "shop"}


def test_the_inventory_lists_what_it_owns() -> None:
    entries = [{"id": "shop_web_apps_Deployment"}, {"id": "_system__reader_rbac.authorization.k8s.io_ClusterRole"}]
    (state,) = known("Kustomization", GIT, inventory={"entries": [*entries, {"id": "odd"}]}).states
    assert [each[:4] for each in state.resources] == [
        ("apps", "Deployment", "shop", "web"),
        ("rbac.authorization.k8s.io", "ClusterRole", "", "system:reader"),
    ]


def test_another_cluster_is_the_one_that_its_kubeconfig_names() -> None:
    (state,) = known("Kustomization", GIT | {"kubeConfig": {"secretRef": {"name": "edge"}}}).states
    assert state.cluster == "edge"
    (state,) = known("Kustomization", GIT | {"kubeConfig": {"secretRef": {"name": "unheard-of"}}}).states
    assert state.cluster == ""


def test_a_release_is_made_of_a_chart_and_corrects_drift_only_where_told() -> None:
    chart = {"chart": "web", "version": "1.2.3", "sourceRef": {"kind": "HelmRepository", "name": "deploy"}}
    spec = {"chart": {"spec": chart}, "values": {"replicas": 2}, "targetNamespace": "shop"}
    (state,) = known("HelmRelease", spec, source("HelmRepository"), history=[{"chartVersion": "1.2.3"}]).states
    (made_of,) = state.sources
    assert (made_of.repo_url, made_of.chart, made_of.target_revision, made_of.kind) == (URL, "web", "1.2.3", "helm")
    assert orjson.loads(made_of.options) == {"releaseName": "shop-web", "valuesObject": {"replicas": 2}}
    assert (state.revisions, state.destination_namespace, state.self_heal) == (("1.2.3",), "shop", False)
    corrected = spec | {"driftDetection": {"mode": "enabled"}}
    assert known("HelmRelease", corrected).states[0].self_heal


def test_values_from_the_cluster_cannot_be_rendered() -> None:
    chart = {"chart": "charts/web", "sourceRef": {"kind": "GitRepository", "name": "deploy"}}
    spec = {"chart": {"spec": chart}, "valuesFrom": [{"kind": "ConfigMap", "name": "web-values"}]}
    (made_of,) = known("HelmRelease", spec).states[0].sources
    assert (made_of.path, made_of.problem) == ("charts/web", "it takes values from ConfigMap web-values in the cluster")


def test_the_history_tells_of_reconciliations_before_the_export() -> None:
    entries = [
        {
            "digest": "b",
            "lastReconciled": "2026-11-30T08:50:00Z",
            "lastReconciledStatus": "ReconciliationSucceeded",
            "metadata": {"revision": "main@sha1:c2"},
        },
        {"digest": "a", "lastReconciled": "2026-11-30T08:10:00Z", "lastReconciledStatus": "BuildFailed"},
    ]
    told = known("Kustomization", GIT, history=entries).syncs
    assert [(sync.started_at, sync.phase, sync.revisions) for sync in told] == [
        (minute(-50), "Failed", ()),
        (minute(-10), "Succeeded", ("c2",)),
    ]


def test_a_kustomization_and_a_release_of_one_name_are_two_applications() -> None:
    bodies = [
        ApplicationSnapshot("flux", kind, "flux-system", "web", "7", minute(0), b'{"spec": {}}', ORIGIN)
        for kind in ("Kustomization", "HelmRelease")
    ]
    assert len(histories(bodies, own_requests([]), [], [], CONFIG, identify)) == 2


@pytest.mark.parametrize(
    "broken", [b"[]", b'{"spec": 3, "status": []}', b'{"status": {"conditions": [1], "history": "x"}}', b"not json"]
)
def test_a_document_of_another_shape_stops_nothing(broken: bytes) -> None:
    exported = ApplicationSnapshot("flux", "Kustomization", "flux-system", "web", "7", minute(0), broken, ORIGIN)
    assert len(histories([exported], own_requests([]), [], [], CONFIG, identify)) == 1


def test_a_branch_that_two_exports_of_a_source_show_changed_between_them() -> None:
    def repository(branch: str, at: str, version: str) -> ArgoSettings:
        status = {"conditions": [{"type": "Ready", "lastTransitionTime": at}]}
        body = {"kind": "GitRepository", "spec": {"url": URL, "ref": {"branch": branch}}, "status": status}
        return ArgoSettings("flux", "GitRepository", "flux-system", "deploy", version, orjson.dumps(body), ORIGIN)

    exports = [repository("main", "2026-11-30T08:00:00Z", "1"), repository("canary", "2026-11-30T09:10:00Z", "9")]
    states = known("Kustomization", GIT, *exports).states
    assert [(state.at, state.sources[0].target_revision) for state in states] == [
        (minute(0), "main"),
        (minute(10), "canary"),
    ]


def test_the_kustomization_that_applies_a_release_declares_its_values() -> None:
    chart = {"chart": "charts/web", "sourceRef": {"kind": "GitRepository", "name": "deploy"}}
    spec: dict[str, Any] = {"chart": {"spec": chart}, "values": {"replicas": 2}}
    (state,) = known("HelmRelease", spec).states
    (declared,) = declared_sources(state, spec | {"values": {"replicas": 5}})
    assert (declared.repo_url, declared.target_revision) == (URL, "master")
    assert orjson.loads(declared.options)["valuesObject"] == {"replicas": 5}
    other = {"chart": {"spec": chart | {"sourceRef": {"kind": "GitRepository", "name": "other"}}}}
    assert declared_sources(state, other) == ()


def test_the_parent_of_a_release_is_the_kustomization_in_its_labels() -> None:
    labels = {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
    release = history(app_state(0, AppKey("flux", "shop", "web", "HelmRelease"), labels=labels))
    own = history(release.states[0], key=release.states[0].key)
    apps = AppKey("flux", "flux-system", "apps", "Kustomization")
    parent = history(app_state(0, apps), key=apps)
    assert parent_of(own, {own.key: own, apps: parent}) is parent
    assert parent_of(own, {own.key: own}) is None
