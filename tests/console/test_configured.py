"""Sources that the configuration names no longer: what was read stays, what failed is settled."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from auditor.cli import app, run
from auditor.config import AnnouncementsConfig, ArgoCDConfig, ClusterConfig, Config, RepositoryConfig
from auditor.console.configured import is_configured
from auditor.console.status import Status
from auditor.model.facts import RecordKind, SourceMark

HEAD = '[store]\ncache = "cache"\n[redaction]\nkey_file = "key"\n'
CONFIG = Config(
    Path("/etc/auditor"),
    clusters=(
        ClusterConfig(
            "prod",
            audit=("audit/", "/etc/auditor/more.log", "old-*/kube*.log", "../up/", "s3://logs/eks/", "-", "~x/y"),
            objects=("live",),
            context="prod-admin",
        ),
    ),
    argocds=(ArgoCDConfig("main", "prod", ("argocd/",), in_cluster=True),),
    repositories=(RepositoryConfig("https://git/deploy", "deploy.bundle"), RepositoryConfig("https://git/other")),
    announcements=(AnnouncementsConfig("./slack/"),),
)


@pytest.mark.parametrize(
    ("kind", "cluster", "source", "configured"),
    [
        ("audit", "prod", "audit/a.log.gz", True),
        ("audit", "prod", "audit/deep/a.log", True),
        ("audit", "prod", "audit", True),
        ("audit", "prod", "audit-2/a.log", False),
        ("audit", "prod", "more.log", True),
        ("audit", "prod", "old-1/kube-1.log", True),
        ("audit", "prod", "old-1/else.log", False),
        ("audit", "prod", "../up/a.log", True),
        ("audit", "prod", "s3://logs/eks/2026/a.gz", True),
        ("audit", "prod", "s3://logs/gke/a.gz", False),
        ("audit", "prod", "-", True),
        ("audit", "staging", "audit/a.log", False),
        ("objects", "prod", "live/objects.yaml", True),
        ("objects", "prod", "live:prod-admin/secrets", True),
        ("objects", "prod", "live:other/secrets", False),
        ("argocd", "main", "argocd/end/events.yaml", True),
        ("argocd", "main", "live:in-cluster", True),
        ("argocd", "second", "argocd/end/events.yaml", False),
        ("git", "https://git/deploy", "deploy.bundle", True),
        ("git", "https://git/deploy", "old.bundle", False),
        ("git", "https://git/other", "https://git/other", True),
        ("git", "https://git/gone", "https://git/gone", False),
        ("announcements", "./slack/", "./slack/", True),
        ("announcements", "timeline.csv", "timeline.csv", False),
    ],
)
def test_a_source_is_known_by_what_the_configuration_calls_it(
    kind: RecordKind, cluster: str, source: str, configured: bool
) -> None:
    assert is_configured(CONFIG, SourceMark(kind, cluster, source, "", "")) is configured


def test_the_folder_itself_holds_all_that_is_in_it() -> None:
    config = Config(Path("/etc/auditor"), clusters=(ClusterConfig("a", audit=(".",)),))
    assert is_configured(config, SourceMark("audit", "a", "deep/a.log", "", ""))


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: run(partial(app(), [*arguments, "--quiet"]))


def configure(*audit: str) -> None:
    Path("auditor.toml").write_text(f'{HEAD}[[cluster]]\nname = "a"\naudit = {json.dumps(audit)}\n')


def test_a_source_that_was_removed_haunts_nobody(say: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.log").write_text("not ours\n")
    Path("new.log").write_text("not ours either\n")
    configure("old.log", "gone.log", "new.log")
    assert say("collect") == Status.SOURCE
    configure("new.log")
    capsys.readouterr()
    assert say("sources") == Status.CLEAN
    shown = capsys.readouterr().out
    assert "old.log is no longer configured; what was read of it stays." in shown
    assert "gone.log" not in shown
    assert say("sources", "--format", "json") == Status.CLEAN
    answer = json.loads(capsys.readouterr().out)
    assert {one["source"]: one["configured"] for one in answer["sources"]} == {"new.log": True, "old.log": False}
    assert not any("gone.log" in gap["sentence"] for gap in answer["missing"])
    assert say("collect") == Status.CLEAN
