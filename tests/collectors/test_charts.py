"""Fetching the charts that Applications name: from a chart repository, once, and pinned."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from auditor.collectors import Reading
from auditor.collectors.git import charts
from auditor.collectors.git.charts import NamedChart, chart_folder, named_charts
from auditor.collectors.git.collect import COLLECTOR
from auditor.config import Config, RepositoryConfig
from auditor.desired.charts import ChartFolder
from auditor.model.facts import ApplicationSnapshot, Origin, SourceMark
from auditor.objects.redaction import Redactor
from auditor.progress import SILENT
from tests.collectors.chart_repository import ChartRepository, chart_repository
from tests.correlate.git.git_story import TOOLS, needs_helm

PULLED = {"values.yaml": "tag: '1'\n"}


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChartRepository]:
    """A repository with web 1.2.0, and helm on the search path with a home of its own."""
    if TOOLS.helm is not None:
        monkeypatch.setenv("PATH", f"{TOOLS.helm.parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    with chart_repository() as repository:
        repository.publish("web", "1.2.0", PULLED)
        yield repository


def application(spec: dict[str, Any], status: dict[str, Any] | None = None, name: str = "shop") -> ApplicationSnapshot:
    body = orjson.dumps({"spec": spec, "status": status or {}})
    return ApplicationSnapshot("main", "Application", "argocd", name, "1", None, body, Origin("apps.yaml", 0, 1, ""))


def chart(url: str, version: str = "1.2.0", name: str = "web") -> dict[str, Any]:
    return {"repoURL": url, "chart": name, "targetRevision": version}


def collect(folder: Path, url: str, *snapshots: ApplicationSnapshot, known: SourceMark | None = None) -> SourceMark:
    """The mark of one run over a chart repository."""
    config = Config(folder=folder, repositories=(RepositoryConfig(url, charts=True),))
    marks = () if known is None else (known,)
    reading = Reading(
        config, Redactor(b"k" * 32), lambda *_: marks, folder / "cache", SILENT, applications=lambda: snapshots
    )
    (batch,) = COLLECTOR.collect(reading)
    return batch.mark


def values(folder: Path, url: str, name: str = "web", version: str = "1.2.0") -> bytes:
    """What values.yaml of the held chart says."""
    held = ChartFolder(chart_folder(folder / "cache", url), nested=True).chart(name, version)
    entry = held.get(f"{name}/values.yaml")
    assert entry is not None
    return held.content(entry.blob, "values.yaml")


@needs_helm
def test_the_chart_that_an_application_names_is_fetched(shop: ChartRepository, tmp_path: Path) -> None:
    mark = collect(tmp_path, shop.url, application({"source": chart(shop.url)}))
    assert (mark.kind, mark.format, mark.problem) == ("git", "helm-charts", "")
    assert values(tmp_path, shop.url) == b"tag: '1'\n"
    assert '"web-1.2.0.tgz"' in mark.position["charts"]
    assert [path.name for path in chart_folder(tmp_path / "cache", shop.url).iterdir()] == ["web-1.2.0.tgz"]


@needs_helm
def test_a_chart_that_is_held_needs_no_host(shop: ChartRepository, tmp_path: Path) -> None:
    wanted = application({"source": chart(shop.url)})
    first = collect(tmp_path, shop.url, wanted)
    shop.files.clear()
    again = collect(tmp_path, shop.url, wanted, known=first)
    assert (again, values(tmp_path, shop.url)) == (first, b"tag: '1'\n")


@needs_helm
def test_a_version_of_the_past_is_fetched_once_and_not_asked_about_again(shop: ChartRepository, tmp_path: Path) -> None:
    shop.publish("web", "1.3.0", PULLED)
    past = {"history": [{"source": chart(shop.url), "revision": "1.2.0"}]}
    wanted = application({"source": chart(shop.url, "1.3.0")}, past)
    first = collect(tmp_path, shop.url, wanted)
    assert {"/web-1.2.0.tgz", "/web-1.3.0.tgz"} <= set(shop.requests)
    shop.requests.clear()
    assert collect(tmp_path, shop.url, wanted, known=first) == first
    assert "/web-1.2.0.tgz" not in shop.requests


@needs_helm
def test_a_chart_that_changes_under_its_version_is_told_and_the_first_one_kept(
    shop: ChartRepository, tmp_path: Path
) -> None:
    wanted = application({"source": chart(shop.url)})
    first = collect(tmp_path, shop.url, wanted)
    shop.publish("web", "1.2.0", {"values.yaml": "tag: '6'\n"})
    again = collect(tmp_path, shop.url, wanted, known=first)
    assert "The chart web 1.2.0" in again.problem
    assert again.problem.endswith("the first one is kept.")
    assert (again.position, values(tmp_path, shop.url)) == (first.position, b"tag: '1'\n")


@needs_helm
def test_a_pin_outlives_the_cache(shop: ChartRepository, tmp_path: Path) -> None:
    wanted = application({"source": chart(shop.url)})
    first = collect(tmp_path, shop.url, wanted)
    held = chart_folder(tmp_path / "cache", shop.url) / "web-1.2.0.tgz"
    held.unlink()
    assert collect(tmp_path, shop.url, wanted, known=first) == first
    held.unlink()
    shop.publish("web", "1.2.0", {"values.yaml": "tag: '6'\n"})
    again = collect(tmp_path, shop.url, wanted, known=first)
    assert again.problem.endswith("the first one is no longer here, and none is used.")
    assert not held.exists()


@needs_helm
def test_a_chart_that_is_not_there_is_told_in_helms_words(shop: ChartRepository, tmp_path: Path) -> None:
    mark = collect(tmp_path, shop.url, application({"source": chart(shop.url, "9.9.9")}))
    assert mark.problem.startswith(f"The chart web 9.9.9 of {shop.url} cannot be fetched: ")
    assert "9.9.9" in mark.problem.partition("fetched: ")[2]


@needs_helm
@pytest.mark.parametrize("added", [True, False])
def test_the_login_that_the_users_helm_keeps_is_used(shop: ChartRepository, tmp_path: Path, added: bool) -> None:
    shop.login = "robot:hunter2"
    if added:
        login = ["--username=robot", "--password=hunter2"]
        subprocess.run([str(TOOLS.helm), "repo", "add", "acme", shop.url, *login], check=True, capture_output=True)
    mark = collect(tmp_path, shop.url, application({"source": chart(shop.url)}))
    assert (mark.problem == "", "cannot be fetched" in mark.problem) == (added, not added)
    assert not added or values(tmp_path, shop.url) == b"tag: '1'\n"


@needs_helm
def test_credentials_of_a_url_are_not_told(shop: ChartRepository, tmp_path: Path) -> None:
    with_password = shop.url.replace("://", "://robot:hunter2@")
    shop.files.clear()
    mark = collect(tmp_path, with_password, application({"source": chart(shop.url)}))
    assert mark.source == shop.url
    assert "cannot be fetched" in mark.problem
    assert "hunter2" not in repr(mark)


def test_without_helm_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    url = "https://charts.acme.example"
    mark = collect(tmp_path, url, application({"source": chart(url)}))
    assert mark.problem == (f"The chart web 1.2.0 of {url} cannot be fetched: helm is not installed on this machine.")
    assert collect(tmp_path, url).problem == ""


def test_helm_that_never_ends_is_ended_and_the_host_not_asked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    helm = tmp_path / "bin" / "helm"
    helm.parent.mkdir()
    helm.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexec sleep 60\n')
    helm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{helm.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(charts, "PULL_SECONDS", 0.5)
    url = "oci://registry.acme.example/charts"
    named = [
        application({"source": chart(url.removeprefix("oci://"), name=name)}, name=name) for name in ("api", "web")
    ]
    mark = collect(tmp_path, url, *named)
    assert "it took longer than" in mark.problem
    assert "the host did not answer before" in mark.problem
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert asked.endswith("-- oci://registry.acme.example/charts/api")


def test_only_a_chart_repository_is_asked(tmp_path: Path) -> None:
    mark = collect(tmp_path, "file:///etc", application({"source": chart("file:///etc")}))
    assert mark.problem == "file:///etc is no chart repository: its URL must begin with https://, http:// or oci://."


URL = "https://charts.acme.example"


def test_what_a_range_came_to_is_named_and_not_the_range() -> None:
    spec = {"sources": [{"repoURL": "https://git.acme.example/a.git", "ref": "v"}, chart(URL, "1.x")]}
    synced = {**spec, "revisions": ["abc", "1.4.2"]}
    snapshot = application(spec, {"operationState": {"syncResult": synced}})
    assert named_charts([snapshot], URL) == (set(), {NamedChart("web", "1.4.2")})


def test_the_last_record_of_an_application_says_what_it_has_now() -> None:
    records = [application({"source": chart(URL, version)}) for version in ("1.0.0", "1.1.0")]
    assert named_charts(records, f"{URL}/") == ({NamedChart("web", "1.1.0")}, {NamedChart("web", "1.0.0")})


@pytest.mark.parametrize(
    "hostile",
    [
        chart(URL, name="../../etc/web"),
        chart(URL, name="--post-renderer=x"),
        chart(URL, "--debug"),
        chart(URL, "1.0/../../x"),
        chart("https://other.example"),
        {"repoURL": URL, "chart": 5, "targetRevision": "1.0.0"},
    ],
)
def test_names_that_are_none_and_other_repositories_are_left_alone(hostile: dict[str, Any]) -> None:
    assert named_charts([application({"source": hostile})], URL) == (set(), set())


def test_what_a_pull_that_was_killed_left_is_swept_up(tmp_path: Path) -> None:
    url = "https://charts.acme.example"
    folder = chart_folder(tmp_path, url)
    for name in (".pull-ab12_x9z", ".pull-fresh_99", "web"):
        (folder / name).mkdir(parents=True)
        (folder / name / "web-1.2.0.tgz").write_bytes(b"half of it")
    long_ago = folder.stat().st_mtime - 3 * 24 * 60 * 60
    for name in (".pull-ab12_x9z", "web"):
        os.utime(folder / name, (long_ago, long_ago))
    assert charts.fetch_charts(url, url, (), tmp_path, {}) == []
    assert sorted(path.name for path in folder.iterdir()) == [".pull-fresh_99", "web"]
