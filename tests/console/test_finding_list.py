"""The list of findings: what needs a person first, and no change twice for the bare fact that it was made."""

from dataclasses import replace

import pytest

from auditor.console.finding_list import show_findings
from auditor.console.options import Severity
from auditor.detectors.conclusion import conclude
from auditor.model.change import AppKey
from auditor.model.finding import SEVERITIES, Finding
from auditor.model.finding import Severity as SeverityName
from auditor.nightly.folding import BARE, folded


def finding(ident: str, severity: SeverityName, *changes: str) -> Finding:
    return conclude(ident, severity, f"What {ident} says.", "Mend it.", key=changes, changes=changes)


def idents(*found: Finding) -> list[tuple[str, list[str]]]:
    return [(one.ident, [other.ident for other in also]) for one, also in folded(found)]


def test_the_bare_fact_of_a_change_stands_with_what_is_said_of_the_change() -> None:
    assert idents(
        finding("second-writer", "high", "a", "b"), finding("not-in-git", "low", "c"), finding(BARE, "low", "a", "b"),
        finding(BARE, "info", "c"),
    ) == [("second-writer", [BARE]), ("not-in-git", [BARE])]  # fmt: skip


def test_the_bare_fact_of_a_change_of_which_nothing_else_is_said_stands_alone() -> None:
    alone = [finding("not-in-git", "low", "a"), finding(BARE, "low", "a", "b"), finding(BARE, "info", "c")]
    assert idents(*alone) == [("not-in-git", []), (BARE, []), (BARE, [])]


def test_nothing_is_put_below_what_is_less_severe() -> None:
    assert idents(finding(BARE, "low", "a"), finding("not-in-git", "info", "a")) == [(BARE, []), ("not-in-git", [])]


def test_two_rules_that_each_say_more_of_a_change_both_stand() -> None:
    both = finding("not-in-git", "high", "a"), finding("staging-drift", "medium", "a")
    assert idents(*both) == [("not-in-git", []), ("staging-drift", [])]


def test_what_is_not_shown_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    show_findings([finding("not-in-git", "low", "0123456789abcdef"), finding(BARE, "low", "0123456789abcdef")], "")
    said = capsys.readouterr().out
    assert "change 0123456789ab, also out-of-band-change\n" in said
    assert "What out-of-band-change says" not in said
    assert said.endswith("2 findings.\n1 of them says only that a change above was made past git.\n")


def test_a_finding_names_its_application_so_that_it_is_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    alone = replace(finding("not-in-git", "low", "a"), application=AppKey("argocd", "argocd", "web"))
    show_findings([alone, replace(alone, namesake="argocd/web")], "")
    titles = [line.split("  ")[-1] for line in capsys.readouterr().out.splitlines() if "application " in line]
    assert titles == ["application web", "application argocd/web"]


def test_the_severities_of_the_option_are_those_of_findings() -> None:
    assert tuple(Severity) == SEVERITIES
    assert Severity.MEDIUM.and_worse == ("medium", "high")
