"""Pruning the sample incident: fewer records, and the same answers."""

import io
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import app, run
from auditor.console.status import Status
from auditor.store import open_store
from tests.conftest import ROOT

Ask = Callable[..., str]
ANSWERS = {"changes": "changes", "episodes": "episodes", "findings": "findings", "staging": "pairs", "drift": "drift"}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The incident collected, asked, pruned to its last four minutes, and asked again: once for all that look at it."""
    folder = tmp_path_factory.mktemp("prune") / "incident"
    shutil.copytree(ROOT / "data" / "incident", folder, ignore=shutil.ignore_patterns("cache"))
    said: dict[str, Any] = {"folder": folder}
    with pytest.MonkeyPatch.context() as patch, pytest.MonkeyPatch.context() as printed:
        patch.chdir(folder)
        patch.setenv("PATH", "")
        ask = partial(_answer, printed)
        ask("collect")
        said["before"] = {name: json.loads(ask(name, "--format", "json"))[key] for name, key in ANSWERS.items()}
        said["dry"] = ask("prune", "--keep", "4m", "--dry-run")
        said["wet"] = ask("prune", "--keep", "4m")
        said["after"] = {name: json.loads(ask(name, "--format", "json"))[key] for name, key in ANSWERS.items()}
    return said


def _answer(patch: pytest.MonkeyPatch, *arguments: str, status: Status = Status.CLEAN) -> str:
    out = io.StringIO()
    patch.setattr("sys.stdout", out)
    assert run(partial(app(), [*arguments, "--quiet"])) == status
    return out.getvalue()


@pytest.fixture
def ask(told: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """What a command answers in a copy of what was pruned."""
    shutil.copytree(told["folder"], tmp_path / "incident")
    monkeypatch.chdir(tmp_path / "incident")
    monkeypatch.setenv("PATH", "")
    return partial(_answer, monkeypatch)


def test_the_answers_are_what_they_were(told: dict[str, Any]) -> None:
    for name, answer in told["before"].items():
        assert told["after"][name] == answer, name


def test_a_dry_run_says_what_would_go_and_leaves_it(told: dict[str, Any]) -> None:
    dry, wet = told["dry"].splitlines(), told["wet"].splitlines()
    assert "would go" in dry[1]
    assert dry[2].split() == wet[2].split()
    assert wet[2].startswith("audit events")
    assert "Nothing was changed." in dry[-1]
    assert wet[-1].startswith("The store had ")


def test_the_evidence_of_every_change_is_still_there(told: dict[str, Any], ask: Ask) -> None:
    with open_store("sqlite:///auditor.db", folder=Path.cwd()) as store:
        for change in told["after"]["changes"]:
            assert store.audit_event(change["evidence"]["event_id"]), change["id"]


def test_the_records_are_said_to_begin_later(ask: Ask) -> None:
    missing = json.loads(ask("sources", "--format", "json"))["missing"]
    [said] = [gap for gap in missing if "pruning" in gap["sentence"]]
    assert said["last_at"].startswith("2026-11-30T07:09:02")
    assert "pruning" not in ask("findings", "--format", "csv"), "what somebody asked for is no finding"


def test_a_second_time_nothing_goes(ask: Ask) -> None:
    size = Path("auditor.db").stat().st_size
    assert "There was nothing to let go." in ask("prune", "--keep", "4m")
    assert Path("auditor.db").stat().st_size == size


def test_pruned_records_are_not_read_again(ask: Ask) -> None:
    ask("collect", "--exit-status", status=Status.NOTHING_NEW)


def test_nothing_is_pruned_while_a_run_is_at_work(ask: Ask) -> None:
    with open_store("sqlite:///auditor.db", folder=Path.cwd()) as held, held.exclusive():
        ask("prune", "--keep", "1m", status=Status.LOCKED)


@pytest.mark.parametrize("arguments", [(), ("--keep", "soon")])
def test_how_much_stays_must_be_said(ask: Ask, arguments: tuple[str, ...]) -> None:
    ask("prune", *arguments, status=Status.USAGE)
