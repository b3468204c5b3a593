"""The roles that ship with the program ask for no more than reading needs."""

from typing import Any

import pytest
import yaml

from auditor.objects import kinds
from tests.conftest import ROOT

ROLES = list(yaml.safe_load_all((ROOT / "docs" / "clusterrole.yaml").read_text()))
RULES = [rule for role in ROLES for rule in role["rules"]]


def test_there_is_a_role_for_argocd_and_one_for_what_it_manages() -> None:
    assert [role["metadata"]["name"] for role in ROLES] == ["auditor-argocd", "auditor-objects"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: ",".join(rule["apiGroups"]) or "core")
def test_a_rule_reads_named_resources_and_no_secret(rule: dict[str, Any]) -> None:
    assert set(rule["verbs"]) <= {"get", "list"}
    assert "*" not in [*rule["resources"], *rule["apiGroups"], *rule["verbs"]]
    assert "secrets" not in rule["resources"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: ",".join(rule["apiGroups"]) or "core")
def test_a_rule_names_resources_that_there_are(rule: dict[str, Any]) -> None:
    (group,) = rule["apiGroups"]
    for resource in rule["resources"]:
        assert kinds.kind_of(group, resource), resource
