"""A question about what the records do not name is no question with an empty answer."""

from functools import partial

import pytest

from auditor.cli import app, run
from auditor.console.status import Status
from tests.commands.asking import Ask, ask
from tests.conftest import Demo

__all__ = ["ask"]


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (("changes", "--app", "shop"), "shop-prod, shop-staging"),
        (("changes", "--app", "shop-prod", "--app", "shop"), "shop-prod, shop-staging"),
        (("changes", "--app", "*-preprod"), "catalog-prod"),
        (("changes", "--app", "shop", "--as-of", "10m"), "shop-prod, shop-staging"),
        (("changes", "--actor", "alice"), "alice@acme.example"),
        (("changes", "--kind", "depl"), "deployment"),
        (("changes", "--cluster", "acm"), "acme"),
        (("changes", "--namespace", "shop-prd"), "shop-prod"),
        (("changes", "--name", "apii"), "api"),
        (("findings", "--app", "shop", "--exit-status"), "shop-prod, shop-staging"),
        (("episodes", "--app", "shop"), "shop-prod, shop-staging"),
        (("drift", "--app", "shop"), "shop-prod, shop-staging"),
        (("run", "--app", "nosuch"), "catalog-prod"),
        (("notify", "--dry-run", "--cluster", "b"), "acme"),
        (("report", "postmortem", "--app", "shop"), "shop-prod, shop-staging"),
        (("report", "register", "--app", "argocd/shop"), "shop-prod, shop-staging"),
        (("report", "drift", "--cluster", "b"), "acme"),
    ],
)
def test_a_name_that_no_record_has_is_told_with_those_there_are(
    ask: Ask, arguments: tuple[str, ...], nearest: str
) -> None:
    said = ask(*arguments)
    assert said.status == Status.NOT_FOUND
    assert f"There are: {nearest}" in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    "given",
    [
        ("--git", "missing"),
        ("--git", "not-reflect"),
        ("--cluster-state", "gone"),
        ("--channel", "edit"),
        ("--cause", "hand"),
    ],
)
def test_a_word_that_is_none_of_a_list_is_a_usage_error(ask: Ask, given: tuple[str, str]) -> None:
    said = ask("changes", *given)
    assert said.status == Status.USAGE
    assert f"{given[1]!r} is none of " in said.err
    assert said.out == ""


def test_a_severity_that_there_is_not_is_told_in_the_programs_own_words(ask: Ask) -> None:
    said = ask("findings", "--severity", "hgih")
    assert said.status == Status.USAGE
    assert "'--severity': 'hgih' is not one of 'info'" in said.err


def test_a_channel_of_many_commands_is_asked_for_by_their_program(ask: Ask) -> None:
    all_of_it = ask("changes", "--channel", "kubectl").out
    assert "kubectl edit" in all_of_it
    assert "kubectl scale" in all_of_it
    assert "Argo CD UI or CLI" not in all_of_it


def test_a_rule_that_there_is_not_is_a_usage_error_that_guesses(ask: Ask) -> None:
    said = ask("findings", "--ident", "second-writters")
    assert said.status == Status.USAGE
    assert "Did you mean 'second-writer'?" in said.err


@pytest.mark.parametrize("kind", ["deploy", "deployments", "Deployment", "deployments.apps", "deploym*"])
def test_a_kind_is_written_as_kubectl_takes_it(ask: Ask, kind: str) -> None:
    asked = ask("changes", "--kind", kind)
    assert asked.status == Status.CLEAN
    assert asked == ask("changes", "--kind", "deployment")
    assert "Deployment shop-prod/web" in asked.out


def test_globs_ask_for_all_that_they_match(ask: Ask) -> None:
    named = ask("changes", "--app", "shop-prod", "--app", "shop-staging")
    assert ask("changes", "--app", "shop-*") == named
    assert "alice@acme.example" in ask("changes", "--actor", "alice@*").out


def test_a_known_application_of_which_nothing_is_said_has_an_empty_answer(ask: Ask) -> None:
    said = ask("changes", "--app", "edge-prod", "--git", "superseded")
    assert said.status == Status.CLEAN
    assert said.out.startswith("No changes.")


def test_an_application_may_be_called_with_its_namespace(ask: Ask) -> None:
    assert ask("findings", "--app", "argocd/shop-prod") == ask("findings", "--app", "shop-prod")
    assert ask("report", "drift", "--app", "argocd/shop-prod", "--format", "csv").status == Status.CLEAN


def test_of_episodes_that_may_be_meant_those_are_listed_and_no_others(ask: Ask) -> None:
    said = ask("report", "postmortem", "--episode", "shop-prod")
    assert said.status == Status.NOT_FOUND
    assert "More than one episode" in said.err
    assert "shop-prod-903f7bc0" in said.err
    assert "shop-staging" not in said.err


@pytest.mark.parametrize("report", ["drift", "register", "staging"])
def test_only_the_postmortem_offers_episodes(
    demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], report: str
) -> None:
    monkeypatch.chdir(demo.folder)
    assert run(partial(app(), ["report", report, "--format", "csv"])) == Status.CLEAN
    assert "--episode" not in capsys.readouterr().err


def test_what_was_refused_is_counted_as_attempts(ask: Ask) -> None:
    assert " attempts. The records end" in ask("changes", "--attempts").out


def test_the_findings_of_a_rule_may_be_asked_for_by_that_word(ask: Ask) -> None:
    assert ask("findings", "--rule", "not-in-git") == ask("findings", "--ident", "not-in-git")
    assert ask("findings", "--rule", "not-in-git").status == Status.CLEAN
