"""Records, store and configuration are one folder, which may lie anywhere."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from auditor.cli import app, run
from auditor.store import open_store
from tests.conftest import Demo


def test_a_folder_that_was_moved_answers_without_a_new_run(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = shutil.copytree(demo.folder, tmp_path / "elsewhere")
    monkeypatch.chdir(moved)
    monkeypatch.setenv("PATH", "")
    with open_store("sqlite:///auditor.db", folder=moved, create=False) as store, store.exclusive():
        assert run(partial(app(), ["changes"])) == 0
    said = capsys.readouterr()
    assert "web" in said.out
    assert "A run is at work" not in said.err
