"""Applications of one name are told apart by where they are."""

from dataclasses import replace

from auditor.model.application import ApplicationHistory
from auditor.model.change import AppKey
from reports.case.dossier import Dossier, dossier
from reports.contract.options import Options
from tests.reports.cases import empty

HERE = AppKey("argocd", "argocd", "web")


def of(*keys: AppKey) -> Dossier:
    histories = {key: ApplicationHistory(key, (), (), ()) for key in keys}
    return dossier(replace(empty(), applications=histories), Options("UTC", "", "0.0.0"))


def test_a_name_that_one_application_has_stands_alone() -> None:
    assert of(HERE, AppKey("argocd", "argocd", "api")).called(HERE) == "web"


def test_of_one_name_in_two_namespaces_the_namespace_is_said() -> None:
    there = AppKey("team", "argo-team", "web")
    assert [of(HERE, there).called(key) for key in (HERE, there)] == ["argocd/web", "argo-team/web"]


def test_of_one_name_in_equal_namespaces_of_two_argo_cds_the_argo_cd_is_said() -> None:
    east, west = AppKey("east", "argocd", "web"), AppKey("west", "argocd", "web")
    assert [of(east, west).called(key) for key in (east, west)] == ["east/web", "west/web"]
