"""`auditor show`: one change, by its id or by what a report cites, and its records as JSON for whoever reads on."""

import json
import re

import pytest

from auditor.cli import app
from auditor.console.status import Status
from tests.commands.asking import Ask, ask

__all__ = ["ask"]


@pytest.fixture
def change(ask: Ask) -> dict[str, str]:
    """A change that git has taken over, as id and audit ID."""
    said = ask("changes", "--git", "reflected", "--name", "web", "--limit", "1", "--format", "json")
    [found] = json.loads(said.out)["changes"]
    return {"id": found["id"], "audit_id": found["evidence"]["audit_id"]}


@pytest.mark.parametrize("way", ["id", "audit_id"])
def test_a_change_is_found_by_how_either_of_its_ids_begins(ask: Ask, change: dict[str, str], way: str) -> None:
    said = ask("show", change[way][:13])
    assert said.status == Status.CLEAN
    assert change["id"][:12] in said.out


def test_of_several_changes_the_candidates_are_listed(ask: Ask, change: dict[str, str]) -> None:
    said = ask("show", change["id"][0])
    assert said.status == Status.NOT_FOUND
    assert len(re.findall(r"[0-9a-f]{12} 2026-11-30 \d\d:\d\d:\d\d UTC \w+", said.err)) == 8
    assert said.err.endswith("and more")


def test_what_no_change_is_called_says_where_ids_come_from(ask: Ask) -> None:
    said = ask("show", "zzz")
    assert said.status == Status.NOT_FOUND
    assert "`auditor changes` lists them" in said.err


def test_the_commit_is_told_with_its_author_and_its_pull_request(ask: Ask, change: dict[str, str]) -> None:
    assert re.search(r"● git: reflected [0-9a-f]{9} by Erin Holt, pull request 41 ■", ask("show", change["id"]).out)
    assert "● git: reflected b648bbc3f by Erin Holt, pull request 41" in ask("changes").out
    explained = ask("who", "shop-prod/deployment/web", "--explain").out
    assert re.search(
        r"git: commit [0-9a-f]{40} by Erin Holt <erin@acme.example>, pull request 41, on the br", explained
    )


def test_records_are_json_that_is_wrapped_nowhere(
    ask: Ask, change: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    app()(["show", change["id"], "--quiet"], standalone_mode=False)
    record = capsys.readouterr().out.partition("\n{")[2]
    assert json.loads("{" + record)["audit_id"] == change["audit_id"]
