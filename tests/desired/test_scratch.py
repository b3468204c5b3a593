"""What a process that was killed left behind is removed, and nothing else."""

import os
from pathlib import Path

import pytest

from auditor.desired.scratch import scratch, sweep

DAYS = 3 * 24 * 60 * 60


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def aged(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "left.yaml").write_text("x")
    old = folder.stat().st_mtime - DAYS
    os.utime(folder, (old, old))
    return folder


def test_a_folder_is_gone_when_done_with(place: Path) -> None:
    with scratch() as name:
        assert Path(name).parent == place
        assert Path(name).stat().st_mode & 0o077 == 0
    assert list(place.iterdir()) == []


def test_only_what_was_left_long_ago_is_swept_up(place: Path) -> None:
    left, foreign, named = place / "auditor-scratch-ab12_x9z", place / "kept-ab12_x9z", place / "auditor-scratch-notes"
    for folder in (left, foreign, named):
        aged(folder)
    (place / "auditor-scratch-link1234").symlink_to(foreign)
    with scratch() as name:
        sweep()
        assert Path(name).is_dir()
    assert sorted(path.name for path in place.iterdir()) == [
        "auditor-scratch-link1234",
        "auditor-scratch-notes",
        "kept-ab12_x9z",
    ]
    assert (foreign / "left.yaml").exists()


def test_what_another_user_left_is_theirs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = aged(place / "auditor-scratch-ab12_x9z")
    monkeypatch.setattr("os.getuid", lambda: left.stat().st_uid + 1)
    sweep()
    assert left.is_dir()
