"""An answer without rows says for which times it holds, as a time without a zone is read in the report's."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from auditor.cli import app, run
from tests.conftest import Demo

Ask = Callable[..., str]


@pytest.fixture
def ask(demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Asks a copy of the demo from a desk in Berlin; the answer for people, its lines joined."""
    config = shutil.copytree(demo.folder, tmp_path / "incident") / "auditor.toml"
    config.write_text(f'{config.read_text()}\n[report]\nzone = "Europe/Berlin"\n')
    monkeypatch.setenv("PATH", "")

    def answer(*arguments: str) -> str:
        assert run(partial(app(), [*arguments, "--config", str(config), "--quiet"])) == 0
        return " ".join(capsys.readouterr().out.split())

    return answer


@pytest.mark.parametrize("question", ["changes", "findings", "episodes"])
def test_a_span_that_holds_nothing_is_told_in_utc(ask: Ask, question: str) -> None:
    said = ask(question, "--since", "2026-11-30", "--until", "2026-11-30 01:00")
    assert f"No {question}. Asked for: from 2026-11-29 23:00:00 UTC, before 2026-11-30 00:00:00 UTC." in said


@pytest.mark.parametrize("question", ["changes", "episodes", "staging"])
def test_a_moment_before_all_records_is_told_in_utc(ask: Ask, question: str) -> None:
    assert "Asked for: as of 2026-11-28 23:00:00 UTC." in ask(question, "--as-of", "2026-11-29")


def test_an_answer_with_rows_does_not_repeat_the_question(ask: Ask) -> None:
    assert "Asked for" not in ask("changes", "--since", "2026-11-30")
