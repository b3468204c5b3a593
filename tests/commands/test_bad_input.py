"""Whatever is wrong with the input gets a sentence, a status of its own, and costs nothing that was collected."""

import json
import shutil
import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from auditor.cli import app, run
from auditor.console.status import Status
from tests.conftest import ROOT

SAMPLE = ROOT / "data" / "incident"
HEAD = '[store]\ncache = "cache"\n[redaction]\nkey_file = "key"\n'

Say = Callable[..., int]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    return lambda *arguments: run(partial(app(), list(arguments)))


class NoPango:
    """A machine without Pango: loading WeasyPrint fails as it does there."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "weasyprint":
            raise OSError("cannot load library 'libpango-1.0-0'")


def configure(text: str) -> None:
    Path("auditor.toml").write_text(HEAD + text)


def test_without_a_configuration_the_way_to_one_is_told(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    assert say("changes") == Status.CONFIG
    assert "auditor init" in capsys.readouterr().err


def test_without_a_store_the_way_to_one_is_told(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    configure("")
    assert say("changes") == Status.STORE
    assert "auditor collect" in capsys.readouterr().err
    assert not Path("auditor.db").exists()


def test_a_cluster_is_not_read_again_under_another_name(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(SAMPLE / "audit", "logs")
    configure('[[cluster]]\nname = "main"\naudit = ["logs/"]\n')
    assert say("collect") == 0
    configure('[[cluster]]\nname = "acme"\naudit = ["logs/"]\n')
    capsys.readouterr()
    assert say("collect") == Status.CONFIG
    assert "as that of main" in capsys.readouterr().err
    configure('[[cluster]]\nname = "acme"\naudit = ["logs/"]\n[[cluster]]\nname = "main"\naudit = ["logs/"]\n')
    assert say("collect") == 0


def test_a_log_is_not_read_again_for_a_cluster_that_was_made_out_of_another(
    say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SAMPLE / "audit", "logs/main")
    shutil.copytree(SAMPLE / "audit", "logs/west")
    configure('[[cluster]]\nname = "main"\naudit = ["logs/"]\n')
    assert say("collect") == 0
    configure(
        '[[cluster]]\nname = "main"\naudit = ["logs/main/"]\n[[cluster]]\nname = "west"\naudit = ["logs/west/"]\n'
    )
    capsys.readouterr()
    assert say("collect") == Status.CONFIG
    assert "Let main read it as before" in capsys.readouterr().err


def test_logs_of_several_folders_are_said_to_be_taken_for_one_clusters(
    say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SAMPLE / "audit", "records/main")
    shutil.copytree(SAMPLE / "audit", "records/west")
    shutil.copytree(SAMPLE / "live", "records/live")
    assert say("init", "--from", "records") == 0
    assert "'main/' and 'west/' are taken for one cluster's" in capsys.readouterr().err


def test_a_folder_that_was_missing_once_is_not_told_of_when_it_is_back(
    say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(
        '[[cluster]]\nname = "a"\naudit = ["logs/"]\n[[argocd]]\nname = "argocd"\ncluster = "a"\nexports = ["now/"]\n'
    )
    assert say("collect") == Status.SOURCE
    shutil.copytree(SAMPLE / "audit", "logs")
    shutil.copytree(SAMPLE / "argocd" / "end", "now")
    assert say("collect") == 0
    capsys.readouterr()
    assert say("sources") == 0
    assert "does not exist" not in capsys.readouterr().out


def test_a_source_that_is_not_there_is_told_and_the_others_are_read(
    say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SAMPLE / "slack", "slack")
    configure('[[cluster]]\nname = "a"\naudit = ["nothing.log"]\n[[announcements]]\npath = "slack/"\n')
    assert say("collect") == Status.SOURCE
    said = capsys.readouterr()
    assert "nothing.log does not exist" in said.err
    assert "4 new records" in said.err
    assert said.out == ""


def test_logs_that_are_dated_past_what_is_wanted_are_not_opened(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("2026/11/20/a.log", "2026/11/30/a.log", "audit-2026-11-21T05-31-00.000.log", "audit.log"):
        Path("audit", name).parent.mkdir(parents=True, exist_ok=True)
        Path("audit", name).write_text("not ours\n")
    configure('[[cluster]]\nname = "a"\naudit = ["audit/"]\n')

    def read(*bounds: str) -> list[str]:
        assert say("collect", *bounds) == Status.CLEAN
        capsys.readouterr()
        assert say("sources", "--format", "json") == Status.CLEAN
        listed = json.loads(capsys.readouterr().out)["sources"]
        return sorted(source["source"].removeprefix("audit/") for source in listed)

    assert read("--since", "2026-11-25", "--until", "2026-11-26") == ["audit.log"]
    assert read("--since", "2026-11-25") == ["2026/11/30/a.log", "audit.log"]
    assert len(read()) == 4


def test_a_span_before_the_end_of_no_records_is_a_usage_error(say: Say) -> None:
    configure("")
    assert say("collect", "--since", "2h") == Status.USAGE


def test_a_foreign_file_is_counted_with_its_place(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    Path("audit.log").write_text("not ours\n")
    configure('[[cluster]]\nname = "a"\naudit = ["audit.log"]\n')
    assert say("collect") == Status.CLEAN
    capsys.readouterr()
    assert say("sources", "--format", "json") == Status.CLEAN
    [source] = json.loads(capsys.readouterr().out)["sources"]
    assert source["events"] == 0
    assert source["skipped"][0]["offset"] == 0


def test_without_audit_logs_nobody_is_accused_of_nothing(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    configure("")
    say("collect", "--quiet")
    assert say("changes") == Status.CLEAN
    assert "cannot be told" in capsys.readouterr().out


def test_a_store_of_a_newer_program_is_left_alone(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    configure("")
    say("collect", "--quiet")
    with sqlite3.connect("auditor.db") as connection:
        connection.execute("UPDATE meta SET value = '9999' WHERE key = 'schema'")
    connection.close()
    assert say("collect") == Status.STORE
    assert "newer auditor" in capsys.readouterr().err


def test_a_store_in_use_is_not_written_to(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    from auditor.store import open_store

    configure("")
    with open_store("sqlite:///auditor.db", folder=Path.cwd()) as held, held.exclusive():
        assert say("collect") == Status.LOCKED
        assert say("changes") == Status.LOCKED
    assert "Another run is at work" in capsys.readouterr().err
    assert say("collect") == Status.CLEAN


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("report", "nosuch"), Status.USAGE),
        (("report", "postmortem", "--format", "docx"), Status.USAGE),
        (("run", "--report", "nosuch"), Status.USAGE),
        (("run", "--format", "html", "--format", "docx"), Status.USAGE),
        (("report", "postmortem", "--episode", "zz"), Status.NOT_FOUND),
        (("show", "zz"), Status.NOT_FOUND),
        (("show", "zz", "--format", "csv"), Status.USAGE),
        (("who", "deployment/nothing"), Status.NOT_FOUND),
        (("who", "a/b/c/d"), Status.USAGE),
        (("changes", "--since", "never"), Status.USAGE),
        (("changes", "--cause", "magic"), Status.USAGE),
        (("changes", "--format", "xml"), Status.USAGE),
        (("changes", "--limit", "0"), Status.USAGE),
        (("changes", "--config", "."), Status.CONFIG),
        (("sql", "DELETE FROM meta"), Status.USAGE),
        (("sql", "SELEC"), Status.USAGE),
        (("sql", "SELECT 1; SELECT 2"), Status.USAGE),
    ],
)
def test_each_mistake_has_its_status_and_prints_no_answer(
    say: Say, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], status: Status
) -> None:
    configure("")
    say("collect", "--quiet")
    capsys.readouterr()
    assert say(*arguments) == status
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert said.err or said.out.startswith("No write to ")


def test_a_statement_that_cannot_be_answered_says_what_can(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    configure("")
    say("collect", "--quiet")
    capsys.readouterr()
    told = []
    for statement in ("DELETE FROM meta", "SELECT * FROM changes"):
        assert say("sql", statement) == Status.USAGE
        told.append(" ".join(capsys.readouterr().err.split()))
    assert "A question only reads" in told[0]
    assert "no such table: changes. Tables: announcement, application_snapshot," in told[1]


def test_a_run_that_cannot_be_meant_reads_nothing(say: Say) -> None:
    configure('[[cluster]]\nname = "a"\naudit = ["audit.log"]\n')
    assert say("run", "--report", "nosuch") == Status.USAGE
    assert not Path("auditor.db").exists()


def test_the_demo_does_not_write_over_a_folder_that_is_not_its_own(say: Say) -> None:
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("precious")
    assert say("demo", "mine") == Status.CONFIG
    assert [path.name for path in Path("mine").iterdir()] == ["notes.txt"]


def test_init_says_of_which_copy_it_cannot_tell_the_repository(
    say: Say, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deploy.bundle").write_bytes(b"# v2 git bundle\n")
    assert say("init", "--from", ".") == Status.CLEAN
    assert "Of which repository 'deploy.bundle' is a copy, nothing says" in capsys.readouterr().err


def test_init_does_not_replace_a_configuration(say: Say) -> None:
    configure("# mine\n")
    assert say("init") == Status.CONFIG
    assert Path("auditor.toml").read_text().endswith("# mine\n")
    assert say("init", "--force") == Status.CLEAN
    assert "# mine" not in Path("auditor.toml").read_text()


def test_a_report_that_cannot_be_made_leaves_no_file(
    say: Say, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("")
    say("collect", "--quiet")
    assert say("report", "postmortem", "--output", "/proc/x.html", "--quiet") == Status.RENDER
    assert "cannot be written" in capsys.readouterr().err
    assert say("report", "postmortem", "--output", "new/x.html", "--quiet") == Status.RENDER
    assert "There is no folder new." in capsys.readouterr().err
    assert not Path("new").exists()
    Path("new").mkdir()
    assert say("report", "postmortem", "--output", "new/x.html", "--quiet") == Status.CLEAN
    assert [path.name for path in Path("new").iterdir()] == ["x.html"]
    assert Path("new/x.html").stat().st_mode & 0o077 == 0


def test_without_pango_the_other_formats_are_written(
    say: Say, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoPango(), *sys.meta_path])
    configure("")
    assert say("run", "--output", "out", "--quiet") == Status.RENDER
    assert sorted(path.name for path in Path("out").iterdir()) == ["postmortem.html", "postmortem.json"]
    assert "Pango" in capsys.readouterr().err


def test_a_terminal_is_not_sent_a_pdf(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    from auditor.console import reporting
    from reports.contract.report import Renderer

    configure("")
    say("collect", "--quiet")
    pdf = Renderer("pdf", ".pdf", lambda *_: b"%PDF-1.7 ...")
    monkeypatch.setattr(reporting, "renderer_for", lambda *_: pdf)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert say("report", "postmortem", "--format", "pdf", "--output", "-", "--quiet") == Status.USAGE
    assert say("report", "postmortem", "--format", "pdf", "--quiet") == Status.CLEAN
    assert Path("postmortem.pdf").read_bytes() == b"%PDF-1.7 ..."


def test_a_store_on_read_only_media_answers(
    say: Say, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("")
    say("collect", "--quiet")
    say("changes", "--quiet")
    before = sorted(path.name for path in Path().iterdir())
    monkeypatch.setattr("os.access", lambda *_: False)
    capsys.readouterr()
    assert say("changes", "--quiet") == Status.CLEAN
    assert "No audit log was read" in capsys.readouterr().out
    assert sorted(path.name for path in Path().iterdir()) == before


def test_a_repository_that_was_never_read_is_missing(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    configure("")
    say("collect", "--quiet")
    configure('[[repository]]\nurl = "https://git.acme.example/deploy.git"\npath = "deploy.bundle"\n')
    capsys.readouterr()
    assert say("sources", "--quiet") == Status.CLEAN
    assert "No git repository was read yet" in capsys.readouterr().out
