"""`auditor notify`, and what `auditor run` posts: only where a webhook is configured."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import app, run
from auditor.console import delivery
from auditor.console.status import Status
from auditor.errors import DeliveryError

Say = Callable[..., int]
HEAD = '[store]\ncache = "cache"\n[redaction]\nkey_file = "key"\n'
SNAPSHOT = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop-prod, namespace: argocd, resourceVersion: "7"}
spec:
  project: default
  source: {repoURL: "https://git.acme.example/deploy.git", path: shop, targetRevision: main}
  destination: {server: "https://nowhere.example", namespace: shop}
status:
  sync: {status: OutOfSync}
  reconciledAt: "2026-11-30T07:00:00Z"
  operationState:
    phase: Failed
    message: one or more objects failed to apply
    startedAt: "2026-11-30T06:50:00Z"
    finishedAt: "2026-11-30T06:50:10Z"
    operation: {sync: {revision: "1111111111111111111111111111111111111111"}}
    syncResult: {revision: "1111111111111111111111111111111111111111"}
"""


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Runs a command beside one Application whose sync failed."""
    monkeypatch.chdir(tmp_path)
    Path("argocd").mkdir()
    Path("argocd/applications.yaml").write_text(SNAPSHOT)
    configure("")
    return lambda *arguments: run(partial(app(), list(arguments)))


@pytest.fixture
def posted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What would have gone out."""
    sent: list[tuple[str, Any]] = []

    def post(url: str, payload: Any) -> str:
        sent.append((url, payload))
        return "chat.example"

    monkeypatch.setattr(delivery, "post", post)
    return sent


def configure(webhook: str) -> None:
    argocd = '[[cluster]]\nname = "a"\n[[argocd]]\nname = "main"\ncluster = "a"\nexports = ["argocd/"]\n'
    Path("auditor.toml").write_text(f'{HEAD}{argocd}[notify]\nwebhook = "{webhook}"\n')


def nightly(say: Say) -> int:
    return say("run", "--output", "out", "--format", "json", "--quiet")


def test_without_a_webhook_nothing_is_posted(
    say: Say, posted: list[tuple[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert nightly(say) == Status.FINDINGS
    assert say("notify") == Status.CONFIG
    assert "AUDITOR_NOTIFY_WEBHOOK" in capsys.readouterr().err
    assert posted == []


def test_run_posts_what_is_new_where_a_webhook_is_configured(say: Say, posted: list[tuple[str, Any]]) -> None:
    configure("https://chat.example/hook")
    assert nightly(say) == Status.FINDINGS
    [(url, payload)] = posted
    assert url == "https://chat.example/hook"
    assert "unfinished-sync" in payload["text"]


def test_a_webhook_may_come_from_the_environment(
    say: Say, posted: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDITOR_NOTIFY_WEBHOOK", "https://chat.example/env")
    say("collect", "--quiet")
    assert say("notify", "--quiet") == Status.CLEAN
    assert [url for url, _ in posted] == ["https://chat.example/env"]


def test_a_night_without_news_posts_nothing_unless_all_is_asked_for(
    say: Say, posted: list[tuple[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert nightly(say) == Status.FINDINGS
    later = SNAPSHOT.replace('"7"', '"8"').replace("T07:00:00Z", "T08:00:00Z")
    Path("argocd/later.yaml").write_text(later)
    configure("https://chat.example/hook")
    assert nightly(say) == Status.NOTHING_NEW
    assert say("notify") == Status.CLEAN
    assert "nothing was posted" in capsys.readouterr().err
    assert posted == []
    assert say("notify", "--all", "--quiet") == Status.CLEAN
    assert "unfinished-sync" in posted[0][1]["text"]


def test_a_night_that_cannot_be_posted_is_printed_and_kept(
    say: Say, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def post(*_: object) -> str:
        raise DeliveryError("chat.example did not answer within 10 seconds.", "Try again.")

    monkeypatch.setattr(delivery, "post", post)
    configure("https://chat.example/hook")
    assert nightly(say) == Status.DELIVERY
    said = capsys.readouterr()
    assert "unfinished-sync" in said.out
    assert "did not answer" in said.err
    assert Path("out/postmortem.json").exists()


def test_a_dry_run_prints_the_message_and_posts_nothing(
    say: Say, posted: list[tuple[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    configure("https://chat.example/hook")
    say("collect", "--quiet")
    capsys.readouterr()
    assert say("notify", "--dry-run", "--quiet") == Status.CLEAN
    assert json.loads(capsys.readouterr().out)["blocks"]
    assert posted == []


def test_a_comment_goes_to_stdout_or_a_file(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    say("collect", "--quiet")
    capsys.readouterr()
    assert say("notify", "--format", "markdown", "--quiet") == Status.CLEAN
    shown = capsys.readouterr().out
    assert shown.startswith("## auditor\n")
    assert say("notify", "--format", "markdown", "--output", "comment.md", "--quiet") == Status.CLEAN
    assert capsys.readouterr().out == "comment.md\n"
    assert Path("comment.md").read_text() == shown
    assert say("notify", "--output", "comment.md", "--quiet") == Status.USAGE


def test_bounds_narrow_what_is_told(say: Say, capsys: pytest.CaptureFixture[str]) -> None:
    say("collect", "--quiet")
    assert say("notify", "--format", "markdown", "--app", "other-*", "--quiet") == Status.NOT_FOUND
    said = capsys.readouterr()
    assert said.out == ""
    assert "There are: " in said.err


@pytest.mark.parametrize("url", ["ftp://x/SECRET", "SECRET", "https:///SECRET", "https://x/SEC RET", "http://[SECRET"])
def test_a_webhook_that_is_none_is_refused_with_its_line_and_not_shown(
    say: Say, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    configure(url)
    assert say("notify") == Status.CONFIG
    said = capsys.readouterr().err
    assert "line 12: webhook must be" in said
    assert "SEC" not in said


def test_a_webhook_makes_no_result_out_of_date(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    say("collect", "--quiet")
    say("findings", "--quiet")
    configure("https://chat.example/hook")
    monkeypatch.setattr("auditor.console.computed.gathered", None)
    assert say("findings") == Status.CLEAN


def test_the_copy_of_a_configuration_shows_no_webhook(say: Say) -> None:
    from auditor.config_file import load

    configure("https://chat.example/SECRET")
    assert "SECRET" not in repr(load(Path("auditor.toml")))
