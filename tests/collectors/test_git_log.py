"""Collecting repositories: what is read, what is remembered, and what is never obeyed."""

import os
import shutil
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from auditor.collectors import Reading
from auditor.collectors.git.collect import COLLECTOR
from auditor.collectors.git.process import Repository
from auditor.config import Config, RepositoryConfig
from auditor.model.facts import Batch, Commit, GitRef, SourceMark
from auditor.objects.redaction import Redactor
from auditor.progress import SILENT
from tests.correlate.git.git_story import Repo

INCIDENT = Path(__file__).parents[3] / "shared" / "corpus" / "incident-a"
URL = "http://git.acme.example/platform/deploy.git"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """One commit on main."""
    repo = Repo(tmp_path / "deploy.git")
    repo.commit("start", 0, {"a.yaml": "a: 1\n"})
    repo.write()
    return repo


def read(folder: Path, path: str, *, url: str = URL, marks: Iterable[SourceMark] = (), **given: Any) -> list[Batch]:
    """What the collector yields for one repository."""
    known = tuple(marks)
    config = Config(folder=folder, repositories=(RepositoryConfig(url, path),))
    reading = Reading(config, Redactor(b"k" * 32), lambda kind, name: known, folder / "cache", SILENT, **given)
    return list(COLLECTOR.collect(reading))


def commits(batches: Iterable[Batch]) -> list[Commit]:
    return [fact for batch in batches for fact in batch.facts if isinstance(fact, Commit)]


def refs(batches: Iterable[Batch]) -> list[GitRef]:
    return [fact for batch in batches for fact in batch.facts if isinstance(fact, GitRef)]


def git(folder: Path, *arguments: str, given: bytes = b"") -> str:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always"]
    done = subprocess.run([*command, "-C", str(folder), *arguments], input=given, capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.mark.skipif(not INCIDENT.is_dir(), reason="the recorded incident is not beside the project")
def test_a_bundle_is_read_with_all_its_branches(tmp_path: Path) -> None:
    shutil.copy(INCIDENT / "deploy.bundle", tmp_path)
    batches = read(tmp_path, "deploy.bundle")
    mark = batches[-1].mark
    assert (len(commits(batches)), mark.events, mark.complete, mark.problem) == (13, 13, True, "")
    assert [(ref.kind, ref.name) for ref in refs(batches)] == [
        ("branch", "fix/payments-cpu"),
        ("branch", "hotfix/inc-2041"),
        ("branch", "main"),
        ("head", "HEAD"),
    ]
    merge = next(commit for commit in commits(batches) if len(commit.parents) == 2)
    assert merge.subject == "Merge pull request #41 from acme/hotfix/inc-2041"
    assert [change.path for change in merge.changes] == ["apps/shop/overlays/prod/kustomization.yaml"]


def test_a_commit_has_its_changes_against_its_first_parent(repo: Repo, tmp_path: Path) -> None:
    repo.commit("work", 2, {"b.yaml": "b: 1\n"}, branch="work", parent="start")
    repo.commit("edit", 3, {"a.yaml": "a: 2\n"})
    repo.merge("merge", 4, "work", files={"a.yaml": "a: 3\n"})
    repo.commit("move", 5, {"a.yaml": None, "c.yaml": "a: 3\n"})
    repo.write()
    by_name = {repo.name(commit.sha): commit for commit in commits(read(tmp_path, "deploy.git"))}
    assert {change.path for change in by_name["merge"].changes} == {"a.yaml", "b.yaml"}
    [moved] = by_name["move"].changes
    assert (moved.path, moved.old_path) == ("c.yaml", "a.yaml")
    assert by_name["start"].changes[0].old_blob == ""


def test_a_second_run_reads_nothing_again(repo: Repo, tmp_path: Path) -> None:
    first = read(tmp_path, "deploy.git")
    second = read(tmp_path, "deploy.git", marks=[first[-1].mark])
    assert commits(second) == []
    assert refs(second) == refs(first)
    assert second[-1].mark == first[-1].mark


def test_only_new_commits_are_read(repo: Repo, tmp_path: Path) -> None:
    mark = read(tmp_path, "deploy.git")[-1].mark
    repo.commit("more", 5, {"a.yaml": "a: 2\n"})
    repo.write()
    again = read(tmp_path, "deploy.git", marks=[mark])
    assert [repo.name(commit.sha) for commit in commits(again)] == ["more"]
    assert again[-1].mark.events == 2


def test_a_run_that_was_cut_short_starts_over(repo: Repo, tmp_path: Path) -> None:
    cut_short = read(tmp_path, "deploy.git")[0].mark
    assert not cut_short.complete
    again = read(tmp_path, "deploy.git", marks=[cut_short])
    assert (len(commits(again)), again[-1].mark.events) == (1, 1)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("nowhere", "nowhere is not there: the path of the repository in the configuration leads nowhere."),
        ("empty", "empty is not a git repository, nor a bundle."),
        ("file.txt", "file.txt is not a git repository, nor a bundle."),
    ],
)
def test_what_is_no_repository_is_one_sentence(tmp_path: Path, path: str, sentence: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("hello")
    [batch] = read(tmp_path, path)
    assert (batch.facts, batch.mark.problem) == ((), sentence)


def test_a_bundle_that_is_cut_is_one_sentence(repo: Repo, tmp_path: Path) -> None:
    git(repo.folder, "bundle", "create", "-q", str(tmp_path / "whole.bundle"), "--all")
    whole = (tmp_path / "whole.bundle").read_bytes()
    (tmp_path / "cut.bundle").write_bytes(whole[:-30])
    [batch] = read(tmp_path, "cut.bundle")
    assert batch.mark.problem.startswith("cut.bundle cannot be unpacked")


def test_an_empty_repository_has_no_commits_and_no_problem(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "deploy.git")], check=True)
    batches = read(tmp_path, "deploy.git")
    assert (commits(batches), refs(batches), batches[-1].mark.problem) == ([], [], "")


def test_a_clone_shows_the_branches_of_its_remote(repo: Repo, tmp_path: Path) -> None:
    repo.commit("hotfix", 2, {"a.yaml": "a: 2\n"}, branch="hotfix/1", parent="start")
    repo.write()
    subprocess.run(["git", "clone", "-q", str(repo.folder), str(tmp_path / "clone")], check=True)
    git(tmp_path / "clone", "checkout", "-q", "-b", "mine")
    git(tmp_path / "clone", "commit", "-q", "--allow-empty", "-m", "only here")
    found = refs(read(tmp_path, "clone"))
    assert [(ref.kind, ref.name, ref.target) for ref in found] == [
        ("branch", "hotfix/1", ""),
        ("branch", "main", ""),
        ("head", "HEAD", "main"),
    ]


def test_a_work_tree_beside_its_repository_is_read(repo: Repo, tmp_path: Path) -> None:
    git(repo.folder, "worktree", "add", "-q", str(tmp_path / "tree"), "main")
    assert len(commits(read(tmp_path, "tree"))) == 1


def test_tags_are_peeled_and_pull_requests_are_no_branches(repo: Repo, tmp_path: Path) -> None:
    git(repo.folder, "tag", "-a", "-m", "first", "v1", repo.sha("start"))
    git(repo.folder, "update-ref", "refs/pull/7/head", repo.sha("start"))
    blob = git(repo.folder, "hash-object", "-w", "--stdin", given=b"x")
    git(repo.folder, "update-ref", "refs/tags/of-a-blob", blob)
    found = {(ref.kind, ref.name): ref.sha for ref in refs(read(tmp_path, "deploy.git"))}
    assert found["tag", "v1"] == repo.sha("start")
    assert found["pull", "pull/7/head"] == repo.sha("start")
    assert ("tag", "of-a-blob") not in found


def test_a_shallow_clone_says_where_it_ends(repo: Repo, tmp_path: Path) -> None:
    for number in range(3):
        repo.commit(f"c{number}", number + 2, {"a.yaml": f"a: {number}\n"})
    repo.write()
    subprocess.run(["git", "clone", "-q", "--depth=2", f"file://{repo.folder}", str(tmp_path / "clone")], check=True)
    batches = read(tmp_path, "clone")
    assert len(commits(batches)) == 2
    assert [ref.sha for ref in refs(batches) if ref.kind == "boundary"] == [repo.sha("c1")]


def test_signed_and_unsigned_commits_are_told_apart_without_running_anything(repo: Repo, tmp_path: Path) -> None:
    raw = git(repo.folder, "cat-file", "commit", repo.sha("start"))
    header, _, message = raw.partition("\n\n")
    signed = f"{header}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n{message}\n"
    sha = git(repo.folder, "hash-object", "-t", "commit", "-w", "--stdin", given=signed.encode())
    git(repo.folder, "update-ref", "refs/heads/signed", sha)
    signatures = {commit.sha: commit.signature for commit in commits(read(tmp_path, "deploy.git"))}
    assert signatures == {sha: "E", repo.sha("start"): "N"}


def test_odd_messages_and_names_are_read(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "deploy.git")
    repo.commit("start", 0, {"a b.yaml": "x", 'q"uote.yaml': "x"}, message="two\nlines\n\nBody\n\n    indented\x1b[31m")
    repo.commit("empty", 1, {"new": "x"}, message="")
    repo.commit("nothing", 2, {}, message="nothing changed")
    repo.write()
    by_name = {repo.name(commit.sha): commit for commit in commits(read(tmp_path, "deploy.git"))}
    start = by_name["start"]
    assert (start.subject, start.body) == ("two lines", "Body\n\n    indented\ufffd[31m")
    assert [change.path for change in start.changes] == ["a b.yaml", 'q"uote.yaml']
    assert (by_name["empty"].subject, by_name["empty"].changes[0].path) == ("", "new")
    assert by_name["nothing"].changes == ()


def test_names_that_are_no_utf_8_are_kept_apart(repo: Repo, tmp_path: Path) -> None:
    stream = (
        b"commit refs/heads/odd\ncommitter A <a@b.c> 1796025995 +0000\ndata 4\ncaf\xe9\n"
        b"M 100644 inline n\xe4me\ndata 1\nx\nM 100644 inline n\xf6me\ndata 1\ny\n\n"
    )
    git(repo.folder, "fast-import", "--quiet", given=stream)
    [odd] = [
        commit for commit in commits(read(tmp_path, "deploy.git")) if not commit.parents and len(commit.changes) == 2
    ]
    assert [change.path for change in odd.changes] == ["n\\xe4me", "n\\xf6me"]


def test_a_repository_with_sha_256_names_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "deploy.git"
    subprocess.run(["git", "init", "-q", "--bare", "--object-format=sha256", "-b", "main", str(folder)], check=True)
    Repo(folder).write()
    repo = Repo(folder)
    repo.commit("start", 0, {"a.yaml": "a: 1\n"})
    repo.write()
    git(folder, "bundle", "create", "-q", "--version=3", str(tmp_path / "deploy.bundle"), "--all")
    for path in ("deploy.git", "deploy.bundle"):
        [commit] = commits(read(tmp_path, path))
        assert len(commit.sha) == 64


def test_a_password_in_a_message_is_not_kept(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "deploy.git")
    repo.commit("start", 0, {"a": "x"}, message="Use https://bob:hunter2-hunter2@git.acme.example/x")
    repo.write()
    assert "hunter2" not in commits(read(tmp_path, "deploy.git"))[0].subject


# Nothing is obeyed, nothing is written


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_given_repository_is_never_written_to(repo: Repo, tmp_path: Path) -> None:
    git(repo.folder, "bundle", "create", "-q", str(tmp_path / "deploy.bundle"), "--all")
    before = snapshot(repo.folder), snapshot(tmp_path)["deploy.bundle"]
    read(tmp_path, "deploy.git")
    read(tmp_path, "deploy.bundle")
    assert (snapshot(repo.folder), snapshot(tmp_path)["deploy.bundle"]) == before


def test_nothing_that_a_repository_configures_runs(repo: Repo, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", str(repo.folder), str(tmp_path / "clone")], check=True)
    clone, marker = tmp_path / "clone", tmp_path / "it-ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {marker}\n")
    script.chmod(stat.S_IRWXU)
    (clone / ".git" / "info" / "attributes").write_text("* diff=evil filter=evil\n")
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc"):
        shutil.copy(script, clone / ".git" / "hooks" / hook)
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "core.askPass", "gpg.program",
        "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.smudge", "filter.evil.clean",
        "credential.helper", "uploadpack.packObjectsHook", "core.alternateRefsCommand", "pager.log",
    ):  # fmt: skip
        git(clone, "config", key, str(script))
    for key, value in (
        ("log.showSignature", "true"),
        ("extensions.partialClone", "origin"),
        ("core.hooksPath", "hooks"),
    ):
        git(clone, "config", key, value)
    git(clone, "config", "core.repositoryFormatVersion", "1")
    git(clone, "config", "remote.origin.promisor", "true")
    git(clone, "config", "remote.origin.url", f"ext::{script}")
    git(clone, "config", "protocol.allow", "always")
    batches = read(tmp_path, "clone")
    repository = Repository(clone / ".git")
    # An object that is not there is what a partial clone would fetch from its remote.
    assert repository.blob("1" * 40) is None
    repository.close()
    assert len(commits(batches)) == 1
    assert not marker.exists()


def test_names_of_refs_are_never_options(repo: Repo, tmp_path: Path) -> None:
    packed = "".join(
        f"{repo.sha('start')} refs/heads/{name}\n"
        for name in ("--output=owned", "--exec=touch owned", "-x", "main;touch owned", "$(touch owned)")
        if " " not in name
    )
    (repo.folder / "packed-refs").write_text(packed)
    batches = read(tmp_path, "deploy.git")
    assert len(commits(batches)) == 1
    assert {ref.name for ref in refs(batches)} >= {"--output=owned", "-x", "main"}
    assert not list(tmp_path.rglob("owned"))


def test_a_url_that_is_an_option_or_a_command_does_nothing(tmp_path: Path) -> None:
    for url in ("--upload-pack=touch owned", "ext::sh -c touch% owned", "-c core.sshCommand=touch owned"):
        [batch] = read(tmp_path, "", url=url)
        assert batch.facts == ()
        assert f"{batch.mark.source} cannot be fetched" in batch.mark.problem
    assert not Path("owned").exists()
    assert not list(tmp_path.rglob("owned"))


def test_a_submodule_is_never_fetched(repo: Repo, tmp_path: Path) -> None:
    stream = (
        b"commit refs/heads/main\ncommitter A <a@b.c> 1796025995 +0000\ndata 3\nsub\nfrom refs/heads/main^0\n"
        b"M 160000 " + b"1" * 40 + b" sub\nM 100644 inline .gitmodules\ndata <<END\n"
        b'[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c "touch owned" a\nEND\n\n'
    )
    git(repo.folder, "fast-import", "--quiet", given=stream)
    git(repo.folder, "bundle", "create", "-q", str(tmp_path / "deploy.bundle"), "--all")
    assert len(commits(read(tmp_path, "deploy.bundle"))) == 2
    assert not list(tmp_path.rglob("owned"))


# Mirrors


def test_a_url_is_mirrored_and_fetched_incrementally(repo: Repo, tmp_path: Path) -> None:
    url = f"file://{repo.folder}"
    first = read(tmp_path, "", url=url)
    assert len(commits(first)) == 1
    repo.commit("more", 5, {"a.yaml": "a: 2\n"})
    repo.write()
    again = read(tmp_path, "", url=url, marks=[first[-1].mark])
    assert [repo.name(commit.sha) for commit in commits(again)] == ["more"]


def test_a_host_that_is_down_leaves_the_mirror_in_use(repo: Repo, tmp_path: Path) -> None:
    url = f"file://{repo.folder}"
    read(tmp_path, "", url=url)
    repo.folder.rename(tmp_path / "away")
    batches = read(tmp_path, "", url=url)
    assert len(commits(batches)) == 1
    assert batches[-1].mark.problem.endswith("read from the mirror of the last run.")


def test_a_host_that_was_never_reached_is_one_sentence(tmp_path: Path) -> None:
    [batch] = read(tmp_path, "", url=f"file://{tmp_path}/nowhere")
    assert f"{batch.mark.source} cannot be fetched" in batch.mark.problem


def test_a_forced_push_keeps_the_old_tip(repo: Repo, tmp_path: Path) -> None:
    repo.commit("lost", 5, {"a.yaml": "a: 2\n"})
    repo.write()
    url = f"file://{repo.folder}"
    first = read(tmp_path, "", url=url)
    repo.point("main", "start")
    repo.commit("other", 9, {"a.yaml": "a: 3\n"})
    repo.write()
    second = read(tmp_path, "", url=url, marks=[first[-1].mark])
    third = read(tmp_path, "", url=url, marks=[second[-1].mark])
    for batches in (second, third):
        assert [(ref.target, repo.name(ref.sha)) for ref in refs(batches) if ref.kind == "former"] == [("main", "lost")]
    git(next((tmp_path / "cache" / "git").glob("*.git")), "gc", "-q", "--prune=now")
    git(next((tmp_path / "cache" / "git").glob("*.git")), "cat-file", "-e", repo.sha("lost"))


def test_a_bundle_that_is_replaced_is_read_again(repo: Repo, tmp_path: Path) -> None:
    bundle = tmp_path / "deploy.bundle"
    git(repo.folder, "bundle", "create", "-q", str(bundle), "--all")
    first = read(tmp_path, "deploy.bundle")
    repo.commit("more", 5, {"a.yaml": "a: 2\n"})
    repo.write()
    bundle.unlink()
    git(repo.folder, "bundle", "create", "-q", str(bundle), "--all")
    again = read(tmp_path, "deploy.bundle", marks=[first[-1].mark])
    assert [repo.name(commit.sha) for commit in commits(again)] == ["more"]


def test_a_bundle_says_nothing_of_what_another_of_the_same_repository_held(repo: Repo, tmp_path: Path) -> None:
    git(repo.folder, "bundle", "create", "-q", str(tmp_path / "ours.bundle"), "--all")
    alone = read(tmp_path, "ours.bundle")
    repo.commit("foreign", 5, {"a.yaml": "a: 2\n"})
    repo.write()
    git(repo.folder, "bundle", "create", "-q", str(tmp_path / "theirs.bundle"), "--all")
    read(tmp_path, "theirs.bundle")
    after = read(tmp_path, "ours.bundle")
    assert (commits(after), refs(after)) == (commits(alone), refs(alone))


# Without git


def test_without_git_a_bundle_that_was_read_before_is_read_from_its_kept_history(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repo.folder, "bundle", "create", "-q", str(tmp_path / "deploy.bundle"), "--all")
    before = read(tmp_path, "deploy.bundle")
    shutil.rmtree(tmp_path / "cache" / "git")
    (tmp_path / "cache").rename(tmp_path / "shipped")
    monkeypatch.setenv("PATH", "")
    after = read(tmp_path, "deploy.bundle", shipped=(tmp_path / "shipped",))
    assert (commits(after), refs(after)) == (commits(before), refs(before))
    assert after[-1].mark == before[-1].mark


def test_without_git_a_repository_is_one_sentence(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    [batch] = read(tmp_path, "deploy.git")
    assert batch.mark.problem.startswith("git is not installed on this machine")


def test_the_cache_is_the_owners_alone(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    git(repo.folder, "bundle", "create", "-q", str(tmp_path / "deploy.bundle"), "--all")
    read(tmp_path, "deploy.bundle")
    for folder in (tmp_path / "cache" / "git", tmp_path / "cache" / "history"):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
