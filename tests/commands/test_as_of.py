"""The recorded incident as it stood at moments of it."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from auditor.cli import app, run
from tests.conftest import Demo

Ask = Callable[..., Any]


@pytest.fixture
def ask(demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Asks the demo's store as of a time of its morning; the answer as JSON."""
    monkeypatch.chdir(demo.folder)
    monkeypatch.setenv("PATH", "")

    def answer(question: str, at: str) -> Any:
        asked = [question, "--as-of", f"2026-11-30T{at}Z", "--format", "json", "--quiet"]
        assert run(partial(app(), asked)) == 0
        return json.loads(capsys.readouterr().out)

    return answer


def image_of_web(answer: Any) -> tuple[str, str]:
    """What git and the cluster say of the image that was set by hand."""
    [field] = [
        field
        for change in answer["changes"]
        if (change["application"], change["object"]["name"]) == ("shop-prod", "web")
        for field in change["fields"]
        if field["path"].endswith("[name=web].image")
    ]
    return field["git"]["verdict"], field["cluster"]["verdict"]


@pytest.mark.parametrize(
    ("at", "verdicts"),
    [("07:01:00", ("not-reflected", "standing")), ("07:03:00", ("reflected", "standing"))],
)
def test_a_change_is_judged_by_what_git_had_then(ask: Ask, at: str, verdicts: tuple[str, str]) -> None:
    assert image_of_web(ask("changes", at)) == verdicts


def test_nothing_that_happened_later_is_told(ask: Ask) -> None:
    answer = ask("changes", "07:01:00")
    assert max(change["at"] for change in answer["changes"]) <= "2026-11-30T07:01:00Z"
    assert set(filter(None, [*answer["as_of"]["audit"].values(), answer["as_of"]["git"]])) == {"2026-11-30T07:01:00Z"}


@pytest.mark.parametrize(("at", "state", "ended"), [("07:01:00", "missing", False), ("07:03:00", "done", True)])
def test_an_episode_has_the_steps_that_were_done_by_then(ask: Ask, at: str, state: str, ended: bool) -> None:
    [episode] = [each for each in ask("episodes", at)["episodes"] if each["application"] == "shop-prod"]
    assert (episode["steps"]["git"]["state"], episode["ended_at"] is not None) == (state, ended)


@pytest.mark.parametrize("question", ["findings", "staging"])
def test_every_question_can_be_asked_of_a_moment(ask: Ask, question: str) -> None:
    assert ask(question, "07:01:00")["as_of"]["git"] == "2026-11-30T07:01:00Z"
    assert ask(question, "07:01:00") != ask(question, "07:12:00")


def test_the_answer_of_a_moment_leaves_the_answer_of_today(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    def today() -> str:
        assert run(partial(app(), ["changes", "--format", "json", "--quiet"])) == 0
        return capsys.readouterr().out

    before = today()
    ask("changes", "07:01:00")
    assert today() == before
