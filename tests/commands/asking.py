"""What the demo's store answers, asked in process."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from auditor.cli import app, run
from tests.conftest import Demo


@dataclass(frozen=True, slots=True)
class Said:
    """What a command said, its lines joined."""

    status: int
    out: str
    err: str


Ask = Callable[..., Said]


@pytest.fixture
def ask(demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Asks a copy of the demo."""
    monkeypatch.chdir(shutil.copytree(demo.folder, tmp_path / "incident"))
    monkeypatch.setenv("PATH", "")

    def answer(*arguments: str) -> Said:
        status = run(partial(app(), [*arguments, "--quiet"]))
        said = capsys.readouterr()
        return Said(status, " ".join(said.out.split()), " ".join(said.err.split()))

    return answer
