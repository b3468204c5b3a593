"""How programs that render are run: apart from everything."""

import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from auditor.desired import tools
from auditor.desired.tools import RenderFailedError, Tools, find_tools, run


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]


def test_a_program_has_an_empty_home_and_nothing_on_its_search_path(tmp_path: Path) -> None:
    code = "import os; print(sorted(os.environ)); print(os.listdir(os.environ['HOME']), os.environ['PATH'] == '')"
    names, home = run(python(code), tmp_path).decode().splitlines()
    assert home == "[] True"
    assert "AUDITOR_SECRET" not in names


def test_a_program_does_not_see_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    assert b"AWS" not in run(python("import os; print(dict(os.environ))"), tmp_path)


@pytest.mark.skipif(not tools._without_network(), reason="this machine does not let a process give up its network")
def test_a_program_reaches_no_network(tmp_path: Path) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        code = f"import socket; socket.create_connection(('127.0.0.1', {listening.getsockname()[1]}), 2)"
        with pytest.raises(RenderFailedError):
            run(python(code), tmp_path)


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    code = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'input()']); time.sleep(60)"
    with pytest.raises(RenderFailedError, match="longer than 1 seconds"):
        run(python(code), tmp_path, seconds=1)


def test_a_program_that_wants_too_much_memory_fails(tmp_path: Path) -> None:
    with pytest.raises(RenderFailedError):
        run(python("bytearray(12 << 30)"), tmp_path)


def test_a_program_that_writes_too_much_fails(tmp_path: Path) -> None:
    with pytest.raises(RenderFailedError):
        run(python("import sys\nfor _ in range(80): sys.stdout.write('x' * (1 << 20))"), tmp_path)


def test_a_programs_complaint_is_kept_short_and_without_the_folder(tmp_path: Path) -> None:
    code = f"import sys; sys.exit('{tmp_path}/chart: bad' + ' very' * 1000)"
    with pytest.raises(RenderFailedError) as failed:
        run(python(code), tmp_path)
    assert str(failed.value).startswith("chart: bad very")
    assert len(str(failed.value)) <= 400


def test_a_program_that_complains_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    with pytest.raises(RenderFailedError):
        run(python("import sys\nwhile True: sys.stderr.write('x' * (1 << 20))"), tmp_path, seconds=5)


def test_a_program_that_is_not_there_is_a_failure_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(RenderFailedError, match=r"cannot be started|failed"):
        run([str(tmp_path / "nothing")], tmp_path)


def test_tools_are_found_in_given_folders_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helm = tmp_path / "helm"
    helm.write_text("#!/bin/sh\n")
    helm.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    found = find_tools([tmp_path])
    assert found == Tools(helm=helm)
    assert found.kustomize_build() is None


def test_kubectl_stands_in_for_kustomize() -> None:
    assert Tools(kubectl=Path("/bin/kubectl")).kustomize_build() == ("/bin/kubectl", "kustomize")
    assert Tools(Path("/bin/kustomize"), Path("/bin/kubectl")).kustomize_build() == ("/bin/kustomize", "build")


def test_running_is_possible_from_a_thread(tmp_path: Path) -> None:
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(run(python("print(1)"), tmp_path)))
    thread.start()
    thread.join(20)
    assert found == [b"1\n"]


def test_no_home_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run(python("import os; open(os.environ['HOME'] + '/x', 'w').close()"), tmp_path)
    assert os.listdir(tmp_path) == []
