"""`auditor init --from`: what lies in a folder is told by content, never by name."""

import bz2
import gzip
import io
import json
import lzma
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from auditor.config import AnnouncementsConfig, Config, EnvironmentPair, RepositoryConfig
from auditor.config_file import parse
from auditor.console.first_config import config_text
from auditor.console.recognise import Recognised, configuration, recognise
from auditor.errors import ConfigError
from tests.conftest import ROOT

EVENT = json.dumps({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": "x", "stage": "ResponseComplete"})
APPLICATION = """\
apiVersion: v1
items:
- apiVersion: argoproj.io/v1alpha1
  kind: Application
  metadata:
    name: shop-prod
  spec:
    source:
      repoURL: https://git.acme.example/platform/deploy.git
    destination:
      server: https://prod.acme.example
"""
OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  resourceVersion: '1'\n"


def lay(root: Path, **files: str | bytes) -> Path:
    for name, content in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def found(root: Path) -> set[tuple[str, str]]:
    return {(one.kind, one.path) for one in recognise(root)}


def test_the_sample_is_recognised() -> None:
    assert found(ROOT / "data" / "incident") == {
        ("audit", "audit/"), ("argocd", "argocd/"), ("objects", "live/"), ("slack", "slack/"),
        ("bundle", "deploy.bundle"),
    }  # fmt: skip


def test_names_do_not_matter(tmp_path: Path) -> None:
    lay(tmp_path, **{"x__notes.txt": EVENT, "y__audit.log": "nothing of ours\n", "z__1": APPLICATION, "z__2": OBJECT})
    assert found(tmp_path) == {("audit", "x/"), ("argocd", "z/1"), ("objects", "z/2")}


def test_a_compressed_log_is_recognised(tmp_path: Path) -> None:
    lay(tmp_path, audit__1=gzip.compress(EVENT.encode()))
    assert found(tmp_path) == {("audit", "audit/")}


def test_a_timeline_is_recognised(tmp_path: Path) -> None:
    lay(tmp_path, **{"timeline.csv": "time,who,what\n2026-11-30T07:00Z,dave,froze\n", "README.md": "# Timetable\n"})
    assert found(tmp_path) == {("timeline", "timeline.csv")}


def zipped(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return packed.getvalue()


def test_archives_are_told_by_what_they_hold(tmp_path: Path) -> None:
    slack = zipped(export__users_json="[]", export__channels_json="[]")
    lay(
        tmp_path,
        chat__acme=slack,
        logs__a=zipped(audit_log=EVENT),
        logs__b=lzma.compress(EVENT.encode()),
        logs__c=bz2.compress(EVENT.encode()),
        gitops__a=zipped(applications_yaml=APPLICATION),
        live__a=zipped(objects_yaml=OBJECT),
        other__a=zipped(picture_png="\0"),
        other__b=slack[:30],
    )
    assert found(tmp_path) == {
        ("slack", "chat/acme"), ("audit", "logs/"), ("packed", "gitops/a"), ("packed", "live/a"),
    }  # fmt: skip


def test_records_that_are_not_read_out_of_an_archive_are_in_no_configuration(tmp_path: Path) -> None:
    lay(tmp_path, a__packed=zipped(applications_yaml=APPLICATION), b__log=EVENT)
    config = configuration(tmp_path, recognise(tmp_path))
    assert (config.argocds, config.clusters[0].audit) == ((), ("b/",))


def test_objects_in_json_without_line_ends_are_recognised(tmp_path: Path) -> None:
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": "1"}}
    lay(tmp_path, a__1=json.dumps(one, separators=(",", ":")))
    assert found(tmp_path) == {("objects", "a/")}


def test_a_clone_is_one_thing_and_nothing_in_it_is_read(tmp_path: Path) -> None:
    clone = tmp_path / "deploy"
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    subprocess.run(["git", "-C", str(clone), "remote", "add", "origin", "https://git/acme/deploy.git"], check=True)
    lay(clone, **{"app.yaml": APPLICATION})
    assert found(tmp_path) == {("clone", "deploy/")}
    config = configuration(tmp_path, recognise(tmp_path))
    assert config.repositories == (RepositoryConfig("https://git/acme/deploy.git", "deploy/"),)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    lay(tmp_path, secret__audit=EVENT)
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "link").symlink_to(tmp_path / "secret")
    assert found(tmp_path / "records") == set()


def test_unreadable_and_binary_files_are_no_records(tmp_path: Path) -> None:
    lay(tmp_path, cut=gzip.compress(EVENT.encode())[:20], binary=b"\0\1" + EVENT.encode(), empty=b"")
    assert found(tmp_path) == set()


def test_the_exports_tell_what_repositories_destinations_and_environments_are_called(tmp_path: Path) -> None:
    lay(
        tmp_path,
        argocd__apps=APPLICATION,
        **{"copy.bundle": b"# v2 git bundle\n", "argocd__more.yaml": APPLICATION.replace("-prod", "-staging")},
    )
    (tmp_path / "argocd" / "apps").rename(tmp_path / "argocd" / "apps.yaml")
    config = configuration(tmp_path, recognise(tmp_path))
    assert config.clusters[0].server == ("https://prod.acme.example",)
    assert config.repositories == (RepositoryConfig("https://git.acme.example/platform/deploy.git", "copy.bundle"),)
    assert config.environments == (EnvironmentPair("shop-staging", "shop-prod"),)


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    odd = (Recognised('a "quoted"\\ü\x7f.csv', "timeline"), Recognised("audit/", "audit"))
    config = configuration(tmp_path, odd)
    again = parse(config_text(config), tmp_path / "auditor.toml", {})
    assert again == config
    assert again.announcements == (AnnouncementsConfig('a "quoted"\\ü\x7f.csv'),)


def test_what_was_not_found_stands_there_as_comments_that_work(tmp_path: Path) -> None:
    text = config_text(Config(tmp_path))
    uncommented = re.sub(r"(?m)^# (?=\[|\w+ = )", "", text)
    config = parse(uncommented, tmp_path / "auditor.toml", {})
    assert config.repositories
    assert config.announcements
    assert config.accepted
    assert config.redaction.fields


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no folder"):
        recognise(tmp_path / "nothing")
