"""The branches, tags and other refs of a repository, as a reader of its hosting service knows them."""

import re
from collections.abc import Iterator
from pathlib import Path

from auditor.collectors.git.process import GitFailedError, Repository
from auditor.model.facts import GitRef
from auditor.objects.redaction import Redactor

_FORMAT = "%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(*objecttype)%00%(symref)"
_PULLS = ("refs/pull/", "refs/pull-requests/", "refs/merge-requests/", "refs/changes/")
_FORMER = re.compile(r"refs/auditor/former/(.+)/([0-9a-f]{40,64})")
_USUAL_DEFAULTS = ("main", "master", "trunk")


def refs(repository: Repository, url: str, redactor: Redactor) -> list[GitRef]:
    """All refs that lead to a commit, sorted. In a clone the branches are those of its remote: what lies only in
    somebody's work tree is in no branch that a controller tracks."""
    listed = [(redactor.name(name), sha, target) for name, sha, target in _listed(repository)]
    remote = _remote(name for name, _, _ in listed)
    branch_prefix = f"refs/remotes/{remote}/" if remote else "refs/heads/"
    found = [ref for name, sha, _ in listed if (ref := _ref(url, name, sha, branch_prefix))]
    branches = {ref.name: ref.sha for ref in found if ref.kind == "branch"}
    symbolic = {name: target for name, _, target in listed if target}
    head = _head(repository, symbolic.get(f"{branch_prefix}HEAD", ""), branch_prefix, branches)
    if head:
        found.append(GitRef(url, "HEAD", "head", branches[head], head))
    found.extend(GitRef(url, sha, "boundary", sha, "") for sha in _boundaries(repository))
    return sorted(found, key=lambda ref: (ref.kind, ref.name, ref.sha))


def _listed(repository: Repository) -> Iterator[tuple[str, str, str]]:
    """(ref, commit, target of a symbolic ref). Tags are peeled; refs to trees and blobs are left out."""
    output = repository.output("for-each-ref", f"--format={_FORMAT}")
    for line in output.decode("utf-8", "backslashreplace").splitlines():
        name, sha, kind, peeled, peeled_kind, target = line.split("\0")
        if "commit" in (kind, peeled_kind):
            yield name, sha if kind == "commit" else peeled, target


def _remote(names: Iterator[str]) -> str:
    """The remote whose branches count: `origin`, else the first one."""
    remotes = {name.split("/")[2] for name in names if name.startswith("refs/remotes/")}
    return "origin" if "origin" in remotes else min(remotes, default="")


def _ref(url: str, name: str, sha: str, branch_prefix: str) -> GitRef | None:
    if name.startswith(branch_prefix) and name != f"{branch_prefix}HEAD":
        return GitRef(url, name.removeprefix(branch_prefix), "branch", sha, "")
    if name.startswith("refs/tags/"):
        return GitRef(url, name.removeprefix("refs/tags/"), "tag", sha, "")
    if name.startswith(_PULLS):
        return GitRef(url, name.removeprefix("refs/"), "pull", sha, "")
    former = _FORMER.fullmatch(name)
    return former_ref(url, former[1], sha) if former else None


def former_ref(url: str, branch: str, sha: str) -> GitRef:
    """A tip that a branch had before it was pushed over."""
    return GitRef(url, f"{branch}@{sha[:12]}", "former", sha, branch)


def _head(repository: Repository, remote_head: str, branch_prefix: str, branches: dict[str, str]) -> str:
    """The default branch: what HEAD points to, else the usual name, else the only one."""
    candidates = [remote_head.removeprefix(branch_prefix)]
    try:
        candidates.append(repository.output("symbolic-ref", "HEAD").decode("utf-8", "replace").strip()[11:])
    except GitFailedError:
        pass
    candidates += _USUAL_DEFAULTS
    if len(branches) == 1:
        candidates += branches
    return next((name for name in candidates if name in branches), "")


def _boundaries(repository: Repository) -> list[str]:
    """Where a shallow clone ends."""
    place = repository.output("rev-parse", "--git-path", "shallow").decode("utf-8", "surrogateescape").strip()
    shallow = Path(repository.git_dir, place)
    return sorted(shallow.read_text("ascii", "replace").split()) if shallow.is_file() else []
