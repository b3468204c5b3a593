"""A report of one application: what bears on it, and nothing that is told of others."""

from tests.commands.asking import Ask, ask

__all__ = ["ask"]


def timeline(ask: Ask, *scope: str) -> str:
    report = ask("report", "postmortem", "--format", "markdown", *scope).out
    return report.partition("## Timeline")[2].partition("## Changes")[0]


def test_it_tells_commits_to_what_the_application_is_rendered_from_and_no_others(ask: Ask) -> None:
    told = timeline(ask, "--app", "payments-prod")
    assert "payments: 1Gi of memory in production" in told
    assert "payments: five replicas in production" in told
    assert "hotfix/inc-2041" not in told
    assert "catalog" not in told


def test_it_tells_messages_that_name_it_and_none_that_name_another(ask: Ask) -> None:
    told = timeline(ask, "--app", "shop-prod")
    assert "shop-prod is back on auto-sync and Synced. Done.” |" in told
    assert "catalog-prod: sync is paused" not in told


def test_of_a_message_that_names_no_application_it_says_so(ask: Ask) -> None:
    said = "checkout is timing out for everybody, error rate 40 %. I am on it.”"
    assert f"{said}; names no application |" in timeline(ask, "--app", "shop-prod")
    assert "names no application" not in timeline(ask)
    assert said not in timeline(ask, "--app", "catalog-prod")


def test_an_episode_is_told_with_the_same_commits_and_messages(ask: Ask) -> None:
    episode = ask("episodes", "--app", "catalog-prod", "--format", "csv").out.split()[1].partition(",")[0]
    told = timeline(ask, "--episode", episode)
    assert "catalog-prod: sync is paused" in told
    assert "inc-2041" not in told
