"""Programs of others have so long, and are read so far."""

import os
import sys
from pathlib import Path

import pytest

from auditor.collectors.files.programs import ComplainedError, ProgramError, TimedOutError, printed


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]


def test_what_a_program_prints_is_read_as_far_as_is_wanted() -> None:
    code = "print('x' * 4000)"
    assert printed(python(code), 10, 5000) == b"x" * 4000 + b"\n"
    assert printed(python(code), 10, 5) == b"xxxxx"


def test_a_program_has_our_folder_and_environment_unless_it_is_given_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDITOR_SEEN", "yes")
    code = "import os; print(os.getcwd(), os.environ.get('AUDITOR_SEEN'))"
    assert printed(python(code), 10, 5000).decode().split() == [os.getcwd(), "yes"]
    assert printed(python(code), 10, 5000, tmp_path, {}).decode().split() == [str(tmp_path), "None"]


def test_a_program_that_fails_is_told_in_its_own_words_as_far_as_they_are_of_use() -> None:
    with pytest.raises(ComplainedError) as failed:
        printed(python("import sys; sys.exit('no such chart' + '.' * (1 << 20))"), 10, 10)
    assert str(failed.value).startswith("no such chart...")
    assert len(str(failed.value)) == 1 << 16


def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    child = f"import time; time.sleep(2); open({str(tmp_path / 'alive')!r}, 'w')"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    with pytest.raises(TimedOutError, match="it took longer than 1 seconds"):
        printed(python(code), 1, 10)
    with pytest.raises(TimedOutError):
        printed(python("import time; time.sleep(60)"), 2, 10)
    assert not (tmp_path / "alive").exists()


def test_a_program_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="cannot be started: No such file or directory"):
        printed([str(tmp_path / "nothing")], 1, 10)
