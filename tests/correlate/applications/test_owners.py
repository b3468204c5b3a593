"""Whose an object is, as of a moment."""

from typing import Any

import orjson
import pytest

from auditor.correlate.applications.owners import Owners, tracked_by
from auditor.correlate.applications.tracking import Tracking, trackings
from auditor.model.change import AppKey
from auditor.model.desired import ManifestKey
from auditor.model.facts import ArgoSettings
from tests.factories import ORIGIN, SHOP, app_state, audit_event, history, minute, thing

WEB = ("apps", "Deployment", "shop-prod", "web", "Synced")
OTHER = AppKey("argocd", "argocd", "edge")
TRACKING = "argocd.argoproj.io/tracking-id"
OWN_ID = {TRACKING: "shop-prod:apps/Deployment:shop-prod/web"}


def owners(*states: Any, **given: Any) -> Owners:
    known: dict[AppKey, list[Any]] = {}
    for state in states:
        known.setdefault(state.key, []).append(state)
    return Owners({key: history(*each, key=key) for key, each in known.items()}, **given)


def test_the_tracking_id_decides() -> None:
    found = owners(app_state(0), app_state(0, OTHER)).of(thing(), OWN_ID, minute(1))
    assert (found.application, found.owners, found.known_by) == (SHOP, (SHOP,), "tracking-id")


def test_a_tracking_id_of_another_object_was_copied() -> None:
    assert tracked_by(thing("web-abc", "ReplicaSet"), OWN_ID[TRACKING]) == ""
    assert owners(app_state(0)).of(thing("web2"), OWN_ID, minute(1)).application is None


def test_the_namespace_of_a_cluster_scoped_object_is_the_destination_s() -> None:
    role = thing("reader", "ClusterRole", "", "rbac.authorization.k8s.io")
    assert tracked_by(role, "shop:rbac.authorization.k8s.io/ClusterRole:shop-prod/reader") == "shop"


def test_an_application_in_another_namespace_has_it_before_its_name() -> None:
    team = AppKey("argocd", "team-a", "web")
    marks = {TRACKING: "team-a_web:apps/Deployment:shop-prod/web"}
    assert owners(app_state(0, team)).of(thing(), marks, minute(1)).application == team


def test_an_application_that_no_record_describes_is_still_named() -> None:
    found = owners().of(thing(), OWN_ID, minute(1))
    assert found.application == AppKey("", "", "shop-prod")


def test_an_application_that_deploys_to_another_cluster_owns_nothing_here() -> None:
    assert owners(app_state(0, cluster="staging")).of(thing(), OWN_ID, minute(1)).application is None


def test_the_same_name_in_two_argo_cds_is_told_apart_by_the_cluster() -> None:
    far = AppKey("far", "argocd", "shop-prod")
    found = owners(app_state(0, far, cluster="staging"), app_state(0)).of(thing(), OWN_ID, minute(1))
    assert found.application == SHOP


def test_the_list_of_resources_owns_what_has_lost_its_mark() -> None:
    found = owners(app_state(0, resources=(WEB,))).of(thing(), {}, minute(1))
    assert (found.application, found.known_by) == (SHOP, "status.resources")


def test_the_list_counts_as_it_was_at_the_time() -> None:
    known = owners(app_state(0), app_state(10, resources=(WEB,)), app_state(20))
    assert known.of(thing(), {}, minute(5)).application is None
    assert known.of(thing(), {}, minute(15)).application == SHOP
    assert known.of(thing(), {}, minute(25)).application is None


def test_two_owners_are_both_told() -> None:
    known = owners(app_state(0, resources=(WEB,)), app_state(0, OTHER, resources=(WEB,)))
    found = known.of(thing(), OWN_ID, minute(1))
    assert (found.application, found.owners) == (SHOP, (SHOP, OTHER))


def tracking(method: str) -> Any:
    return trackings([settings(method)], {}, list, [])


def settings(method: str) -> ArgoSettings:
    body = orjson.dumps({"data": {"application.resourceTrackingMethod": method}})
    return ArgoSettings("argocd", "ConfigMap", "argocd", "argocd-cm", "1", body, ORIGIN)


def test_the_instance_label_counts_where_argo_cd_tracks_by_it() -> None:
    marks = {"app.kubernetes.io/instance": "shop-prod"}
    assert owners(app_state(0), tracking=tracking("label")).of(thing(), marks, minute(1)).application == SHOP
    for other in ("annotation", "annotation+label"):
        assert owners(app_state(0), tracking=tracking(other)).of(thing(), marks, minute(1)).application is None


def test_a_long_name_is_cut_in_the_label() -> None:
    long = AppKey("argocd", "argocd", "shop-" + "x" * 70)
    marks = {"app.kubernetes.io/instance": long.name[:63]}
    assert owners(app_state(0, long), tracking=tracking("label")).of(thing(), marks, minute(1)).application == long


def test_a_mark_without_a_namespace_names_no_application_outside_argo_cds_own() -> None:
    team = AppKey("argocd", "team-a", "shop-prod")
    known = owners(app_state(0, team, destination_namespace="shop-prod"), app_state(0), control={"argocd": "argocd"})
    assert known.of(thing(), OWN_ID, minute(1)).application == SHOP
    marks = {TRACKING: "team-a_shop-prod:apps/Deployment:shop-prod/web"}
    assert known.of(thing(), marks, minute(1)).application == team


def test_two_argo_cds_with_one_name_in_one_cluster_are_told_apart_by_their_lists() -> None:
    twin = AppKey("twin", "argocd", "shop-prod")
    known = owners(app_state(0), app_state(0, twin, destination_namespace="shop-prod", resources=(WEB,)))
    assert known.of(thing(), OWN_ID, minute(1)).application == twin


@pytest.mark.parametrize(
    ("labels", "annotations", "method", "expected"),
    [
        ({"app.kubernetes.io/instance": "shop-prod"}, {}, "", Tracking(True, "app.kubernetes.io/instance")),
        ({"app.kubernetes.io/instance": "shop-prod"}, OWN_ID, "", Tracking(False, "")),
        ({"app.kubernetes.io/instance": "release-1"}, {}, "", Tracking(False, "")),
        ({}, {}, "annotation+label", Tracking(False, "app.kubernetes.io/instance")),
    ],
)
def test_without_a_setting_the_marks_on_objects_tell_how_argo_cd_tracks(
    labels: dict[str, str], annotations: dict[str, str], method: str, expected: Tracking
) -> None:
    known = {SHOP: history(app_state(0, resources=(WEB,)))}
    body = orjson.dumps({"metadata": {"name": "web", "labels": labels, "annotations": annotations}})
    event = audit_event(response=body)
    said = [settings(method)] if method else []
    assert trackings(said, known, lambda: [event], [])["argocd"] == expected


def test_rendered_manifests_are_the_last_resort() -> None:
    declared = [ManifestKey("apps", "Deployment", "shop-prod", "web")]
    found = owners(app_state(0), declares=lambda state: declared).of(thing(), {}, minute(1))
    assert (found.application, found.known_by) == (SHOP, "rendered manifests")


def test_flux_marks_with_labels() -> None:
    flux = AppKey("argocd", "flux-system", "apps", "Kustomization")
    marks = {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
    assert owners(app_state(0, flux)).of(thing(), marks, minute(1)).application == flux
