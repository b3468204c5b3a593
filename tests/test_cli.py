"""The command line as a whole: it starts quickly, knows its commands, and says every failure in its own status."""

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor import errors, registry
from auditor.cli import app, run
from auditor.console.status import Status
from tests.conftest import ROOT, Demo

HEAVY = (
    "duckdb", "fsspec", "git", "jinja2", "kubernetes", "numpy", "openpyxl", "pandas", "psycopg", "pyarrow", "pydantic",
    "rich", "sqlalchemy", "sqlmodel", "weasyprint", "yaml",
)  # fmt: skip


def auditor(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "auditor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


def test_the_commands_are_these() -> None:
    assert [command.name for command in registry.commands()] == [
        "demo", "init", "collect", "run", "notify", "report", "changes", "who", "episodes", "findings", "drift",
        "staging", "show", "sources", "sql", "verify", "prune",
    ]  # fmt: skip


def test_the_collectors_are_these() -> None:
    assert [collector.name for collector in registry.collectors()] == [
        "announcements", "argocd", "git", "audit", "live", "objects",
    ]  # fmt: skip


def test_the_detectors_are_these() -> None:
    assert [detector.ident for detector in registry.detectors()] == [
        "break-glass-access", "drift-not-watched", "freeze-did-not-hold", "freeze-not-lifted", "identity-mismatch",
        "late-detection", "not-from-branch", "not-in-git", "out-of-band-change", "phantom-diff", "records-gap",
        "second-writer", "shared-ownership", "staging-drift", "sync-loop", "unfinished-sync", "useless-ignore",
    ]  # fmt: skip


def test_the_reports_and_their_formats_are_these() -> None:
    formats = {"csv", "html", "json", "markdown", "parquet", "pdf", "xlsx"}
    assert {renderer.name for renderer in registry.renderers()} == formats
    assert {report.name: set(report.formats) <= formats for report in registry.reports()} == {
        "drift": True, "postmortem": True, "register": True, "staging": True,
    }  # fmt: skip


def test_help_loads_nothing_heavy() -> None:
    code = f"""
import sys
from auditor.cli import app
try:
    app()(["--help"])
except SystemExit:
    pass
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Questions:" in done.stdout
    assert done.stderr == "[]\n"


def test_help_is_there_within_a_moment() -> None:
    def seconds() -> float:
        """Of a processor: a machine that is busy with other work does not count."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert auditor("--help").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.3


@pytest.mark.parametrize("name", [command.name for command in registry.commands()])
def test_every_command_explains_itself(name: str) -> None:
    done = auditor(name, "--help", COLUMNS="80")
    assert done.returncode == 0
    assert f"Usage: auditor {name}" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert f"Example:\n\n    auditor {name} " in done.stdout


def test_a_command_that_is_none_is_a_usage_error() -> None:
    assert auditor("frobnicate").returncode == Status.USAGE


def test_the_version_is_told() -> None:
    assert re.fullmatch(r"auditor \d+\.\d+\.\d+\n", auditor("--version").stdout)


def _raises(error: BaseException) -> Callable[[], object]:
    def program() -> object:
        raise error

    return program


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.ConfigError("m", "h"), Status.CONFIG),
        (errors.SourceError("m", "h"), Status.SOURCE),
        (errors.StoreError("m", "h"), Status.STORE),
        (errors.StoreLockedError("m", "h"), Status.LOCKED),
        (errors.RenderError("m", "h"), Status.RENDER),
        (errors.DeliveryError("m", "h"), Status.DELIVERY),
        (errors.NotFoundError("m", "h"), Status.NOT_FOUND),
        (KeyboardInterrupt(), Status.INTERRUPTED),
        (SystemExit(3), Status.FINDINGS),
    ],
)
def test_each_failure_has_its_own_status(error: BaseException, status: Status) -> None:
    assert run(_raises(error)) == status


def test_every_error_of_ours_has_a_status() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.AuditorError)]
    for kind in kinds:
        if kind is not errors.AuditorError:
            assert run(_raises(kind("message", ""))) > Status.USAGE


def test_an_error_is_two_lines_on_stderr_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    run(_raises(errors.SourceError("no \x1b[31mcolour", "look \u202eagain")))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[0].startswith("auditor: no ")
    assert "\x1b" not in said.err
    assert "\u202e" not in said.err


def test_a_bug_shows_where_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        run(_raises(ZeroDivisionError()))


def test_the_page_of_exit_statuses_lists_them_all() -> None:
    page = (Path(__file__).parent.parent / "docs" / "exit-codes.md").read_text()
    rows = {int(number): name for number, name in re.findall(r"^\| (\d+) \| ([a-z ]+) \|", page, re.M)}
    assert rows == {status.value: status.name.lower().replace("_", " ") for status in Status}


@pytest.mark.parametrize("arguments", ["--help", "changes", "changes --format json", "changes --format csv"])
def test_a_pipe_that_closes_early_ends_quietly_with_a_status_of_its_own(demo: Demo, arguments: str) -> None:
    command = f"{sys.executable} -m auditor {arguments} | true; exit ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, cwd=demo.folder, env=environment
    )
    assert done.returncode == Status.PIPE_CLOSED
    assert "Traceback" not in done.stderr
    assert "BrokenPipeError" not in done.stderr


def ascii_only(folder: Path, *arguments: str) -> str:
    """What a command prints where stdout takes nothing but ASCII."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii", "COLUMNS": "200"}
    command = [sys.executable, "-m", "auditor", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert done.returncode == Status.CLEAN, done.stderr
    return done.stdout


def test_what_a_terminal_cannot_show_is_a_question_mark(demo: Demo) -> None:
    said = ascii_only(demo.folder, "changes", "--app", "catalog-prod")
    assert "catalog:4.4.0 ? registry.acme.example/catalog:4.3.9" in said
    assert "?ber" in ascii_only(demo.folder, "sql", "SELECT 'über' AS word", "--format", "csv")


def test_json_holds_every_character_whatever_the_encoding(demo: Demo) -> None:
    answer = ascii_only(demo.folder, "sql", "SELECT 'über → 😀' AS word", "--format", "json")
    assert json.loads(answer)["rows"] == [{"word": "über → 😀"}]


def test_options_may_stand_before_the_command(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text("[oops]\n")
    done = auditor("--config", str(tmp_path / "other.toml"), "sources")
    assert done.returncode == Status.CONFIG
    assert "unknown section [oops]" in done.stderr
    assert done.stdout == ""


def test_the_application_is_assembled_once() -> None:
    assert app() is app()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this machine has no /dev/full")
def test_an_answer_that_finds_no_room_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "auditor.toml").write_text('[store]\ncache = "cache"\n[redaction]\nkey_file = "key"\n')
    assert subprocess.run([sys.executable, "-m", "auditor", "collect", "-q"], cwd=tmp_path, check=False).returncode == 0
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "auditor", "sources", "-q"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert done.returncode == Status.RENDER
    assert done.stderr == "auditor: The answer cannot be written: No space left on device.\n"
