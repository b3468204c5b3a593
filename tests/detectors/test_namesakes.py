"""Findings tell applications of one name apart, and only those."""

from pathlib import Path

import pytest

from auditor.config import Config
from auditor.detectors import Detector, find, freeze_not_lifted, shared_ownership
from auditor.model.change import AppKey
from auditor.model.finding import Finding
from auditor.model.namesakes import namesakes
from tests.detectors.cases import case
from tests.factories import app_state, freeze, history

HERE, TEAM = AppKey("argocd", "argocd", "web"), AppKey("argocd", "team", "web")
WEST = AppKey("west", "argocd", "web")
OTHER = AppKey("argocd", "argocd", "api")
SHARED = (("", "ConfigMap", "web", "settings", "Synced"),)


def told(detector: Detector, *keys: AppKey) -> list[Finding]:
    made = [
        history(app_state(0, key, resources=SHARED), key=key, freezes=(freeze(1, None, key),)) for key in keys
    ]  # fmt: skip
    of = case(histories=made, namesakes=dict(namesakes(keys)))
    return sorted(find(of, Config(Path()), [detector]), key=lambda one: repr(one.application))


def test_a_message_and_the_title_name_the_application_so_that_it_is_no_other() -> None:
    here, team = told(freeze_not_lifted.DETECTOR, HERE, TEAM)
    assert (here.called, team.called) == ("argocd/web", "team/web")
    assert here.message.startswith("argocd/web is still frozen")
    assert team.message.startswith("team/web is still frozen")


def test_a_name_that_one_application_has_stays_bare() -> None:
    web, api = sorted(told(freeze_not_lifted.DETECTOR, HERE, OTHER), key=lambda one: one.called, reverse=True)
    assert (web.called, web.message.split()[0], api.called) == ("web", "web", "api")


def test_what_it_is_called_leaves_the_id_of_a_finding() -> None:
    (alone,) = told(freeze_not_lifted.DETECTOR, HERE)
    assert alone.id in {one.id for one in told(freeze_not_lifted.DETECTOR, HERE, TEAM)}


@pytest.mark.parametrize(("other", "named"), [(TEAM, "argocd/web"), (WEST, "web"), (OTHER, "web")])
def test_a_command_has_the_namespace_where_its_argo_cd_has_two_of_the_name(other: AppKey, named: str) -> None:
    found = told(freeze_not_lifted.DETECTOR, HERE, other)
    remedies = [one.remedy for one in found if one.application == HERE]
    assert remedies == [f"argocd app set {named} --sync-policy automated"]


def test_two_owners_of_one_name_are_told_apart_in_one_sentence() -> None:
    (both,) = told(shared_ownership.DETECTOR, HERE, TEAM)
    assert both.message.endswith("is claimed by 2 applications: argocd/web, team/web.")
    assert both.values == ("web", "web")
