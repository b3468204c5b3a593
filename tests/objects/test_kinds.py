import pytest

from auditor.objects.kinds import canonical_group, group_of, is_built_in, is_namespaced, kind_of, resource_of


@pytest.mark.parametrize(
    ("group", "resource", "kind"),
    [
        ("", "configmaps", "ConfigMap"),
        ("", "endpoints", "Endpoints"),
        ("apps", "deployments", "Deployment"),
        ("extensions", "ingresses", "Ingress"),
        ("networking.k8s.io", "networkpolicies", "NetworkPolicy"),
        ("argoproj.io", "applications", "Application"),
        ("helm.toolkit.fluxcd.io", "helmreleases", "HelmRelease"),
    ],
)
def test_a_resource_has_its_kind_and_back(group: str, resource: str, kind: str) -> None:
    assert kind_of(group, resource) == kind
    assert resource_of(group, kind) == resource


def test_what_is_not_known_is_none() -> None:
    assert kind_of("acme.example", "widgets") is None
    assert resource_of("acme.example", "Widget") is None
    assert is_namespaced("acme.example", "Widget") is None


def test_kinds_that_moved_are_one_kind() -> None:
    assert canonical_group("extensions", "Deployment") == "apps"
    assert canonical_group("extensions", "Ingress") == "networking.k8s.io"
    assert canonical_group("events.k8s.io", "Event") == ""
    assert canonical_group("serving.knative.dev", "Service") == "serving.knative.dev"


def test_only_the_api_servers_own_kinds_are_built_in() -> None:
    assert is_built_in("apps", "Deployment")
    assert is_built_in("extensions", "Deployment")
    assert not is_built_in("argoproj.io", "Application")
    assert not is_built_in("apps.openshift.io", "Deployment")


def test_scope_is_known() -> None:
    assert is_namespaced("", "Namespace") is False
    assert is_namespaced("rbac.authorization.k8s.io", "ClusterRole") is False
    assert is_namespaced("rbac.authorization.k8s.io", "Role") is True


def test_the_group_of_an_api_version() -> None:
    assert group_of("v1") == ""
    assert group_of("apps/v1") == "apps"
