"""Reports tell applications of one name apart."""

from dataclasses import replace

from auditor.model.change import AppKey
from reports.case.dossier import dossier
from reports.contract.options import Options
from tests.reports.cases import empty


def test_an_application_is_called_as_the_case_calls_it() -> None:
    here, other = AppKey("argocd", "argocd", "web"), AppKey("argocd", "argocd", "api")
    told = dossier(replace(empty(), namesakes={here: "argocd/web"}), Options("UTC", "", "0.0.0"))
    assert (told.called(here), told.called(other)) == ("argocd/web", "api")
