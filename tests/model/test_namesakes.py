"""Applications of one name are told apart by where they are."""

import pytest

from auditor.model.change import AppKey
from auditor.model.namesakes import namesakes

HERE = AppKey("argocd", "argocd", "web")


def told(*keys: AppKey) -> list[str]:
    return list(dict(namesakes(keys)).values())


def test_a_name_that_one_application_has_stands_alone() -> None:
    assert told(HERE, AppKey("argocd", "argocd", "api")) == []


def test_of_one_name_in_two_namespaces_the_namespace_is_said() -> None:
    assert told(HERE, AppKey("team", "argo-team", "web")) == ["argocd/web", "argo-team/web"]


def test_of_one_name_in_equal_namespaces_of_two_argo_cds_the_argo_cd_is_said() -> None:
    assert told(AppKey("east", "argocd", "web"), AppKey("west", "argocd", "web")) == ["east/web", "west/web"]


def test_of_two_kinds_of_flux_with_one_name_the_kind_is_said() -> None:
    both = [AppKey("prod", "apps", "web", kind) for kind in ("Kustomization", "HelmRelease")]
    assert told(*both) == ["Kustomization web", "HelmRelease web"]


@pytest.mark.parametrize("kinds", [("Application",) * 3, ("Kustomization", "HelmRelease", "HelmRelease")])
def test_where_no_one_thing_tells_them_apart_all_is_said(kinds: tuple[str, ...]) -> None:
    places = (("east", "argocd"), ("east", "team"), ("west", "argocd"))
    keys = [AppKey(*place, "web", kind) for place, kind in zip(places, kinds, strict=True)]
    assert told(*keys) == ["east/argocd/web", "east/team/web", "west/argocd/web"]
