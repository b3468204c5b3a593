"""Where a repository can be read: the clone that was given, or a private mirror of a bundle or a URL.

A mirror is a bare repository in the cache, so that what was given is never written to. It is fetched incrementally
with the user's own git credentials, without a prompt and with a time limit; when the host is down it still has what
the last fetch brought.
"""

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from auditor.collectors.git.process import GitFailedError, Repository, environment, run

FETCH_SECONDS = 600.0
_SIGNATURES = (b"# v2 git bundle\n", b"# v3 git bundle\n")
_REFSPECS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """A repository that can be read, or the reason why not."""

    format: str
    """git-clone, git-bundle or git-mirror."""
    repository: Repository | None
    problem: str = ""
    digest: str = ""
    """SHA-256 of a bundle's bytes."""
    bytes: int = 0
    """Size of a bundle."""


def mirror_folder(cache: Path, url: str, bundle: Path | None = None) -> Path:
    """The private mirror of a repository, whether or not it is there yet.

    Each bundle has its own: what another of the same repository held is not in the records that this one is of.
    """
    said = url if bundle is None else f"{url}\n{bundle.resolve()}"
    return cache / "git" / f"{hashlib.sha256(said.encode('utf-8', 'surrogateescape')).hexdigest()[:20]}.git"


def is_bundle(path: Path) -> bool:
    """Whether the file begins as a git bundle does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SIGNATURES[0])) in _SIGNATURES


def holds_charts(path: Path) -> bool:
    """Whether the folder has packaged charts: the place of a chart repository rather than of a git one."""
    return path.is_dir() and git_dir_of(path) is None and next(path.glob("*.tgz"), None) is not None


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def git_dir_of(path: Path) -> Path | None:
    """The git directory of a clone, a work tree or a bare repository; None where the folder is none of them."""
    dot_git = path / ".git"
    if dot_git.is_file():
        first, _, target = dot_git.read_text(errors="replace").strip().partition("gitdir: ")
        return None if first or not target else (path / target).resolve()
    for candidate in (dot_git, path):
        if (candidate / "HEAD").is_file() and (candidate / "objects").is_dir():
            return candidate
    return None


def open_clone(path: Path) -> Place:
    """A repository on disk, read where it lies."""
    git_dir = git_dir_of(path)
    if git_dir is None:
        return Place("git-clone", None, "is not a git repository, nor a bundle")
    return Place("git-clone", Repository(git_dir))


def open_bundle(path: Path, url: str, cache: Path) -> Place:
    """A bundle, unpacked into its mirror where the mirror has not got exactly this bundle yet."""
    digest, size = digest_of(path), path.stat().st_size
    mirror = mirror_folder(cache, url, path)
    stamp = mirror / "auditor-bundle"
    if not (stamp.is_file() and stamp.read_text() == digest):
        try:
            _update(mirror, str(path.resolve()), _private_environment())
        except GitFailedError as error:
            return Place("git-bundle", None, f"cannot be unpacked: {error}", digest, size)
        stamp.write_text(digest)
    return Place("git-bundle", Repository(mirror), "", digest, size)


def open_url(url: str, cache: Path) -> Place:
    """A mirror of the URL, brought up to date if the host answers."""
    mirror = mirror_folder(cache, url)
    try:
        _update(mirror, url, _network_environment())
    except GitFailedError as error:
        problem = f"cannot be fetched: {error}"
        if not (mirror / "HEAD").is_file():
            return Place("git-mirror", None, problem)
        return Place("git-mirror", Repository(mirror), f"{problem}; read from the mirror of the last run")
    return Place("git-mirror", Repository(mirror))


def _update(mirror: Path, source: str, variables: dict[str, str]) -> None:
    """Fetch branches and tags into the mirror, and make it where there is none. The former tips stay as refs."""
    if not (mirror / "HEAD").is_file():
        _clone(mirror, source, variables)
        return
    former = _tips(mirror)
    git = ("--git-dir", str(mirror), "fetch", "--quiet", "--prune", "--force", "--no-tags", "--no-auto-gc")
    run((*git, "--no-recurse-submodules", "--no-write-fetch-head", "--", source, *_REFSPECS), variables, FETCH_SECONDS)
    keep_former_tips(mirror, former)


def _clone(mirror: Path, source: str, variables: dict[str, str]) -> None:
    mirror.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    half_made = mirror.with_suffix(".new")
    shutil.rmtree(half_made, ignore_errors=True)
    options = ("clone", "--quiet", "--bare", "--template=", "--no-hardlinks", "--no-recurse-submodules")
    run((*options, "--", source, str(half_made)), variables, FETCH_SECONDS)
    half_made.rename(mirror)


def _tips(mirror: Path) -> dict[str, str]:
    listed = Repository(mirror).output("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/")
    return dict(line.rsplit(" ", 1) for line in listed.decode("utf-8", "surrogateescape").splitlines())


def keep_former_tips(mirror: Path, former: dict[str, str]) -> None:
    """A tip that its branch no longer contains was pushed over: it is kept under `refs/auditor/former/`."""
    repository = Repository(mirror)
    now = _tips(mirror)
    lines = []
    for name, sha in sorted(former.items()):
        tip = now.get(name)
        if tip is not None and tip != sha and not contains(repository, tip, sha):
            branch = name.removeprefix("refs/heads/")
            lines.append(f"create refs/auditor/former/{branch}/{sha} {sha}\n")
    if lines:
        given = "".join(lines).encode("utf-8", "surrogateescape")
        repository.output("update-ref", "--stdin", given=given)


def contains(repository: Repository, tip: str, ancestor: str) -> bool:
    """Whether the tip has the ancestor in its history; one that is no longer there is in none."""
    given = f"{ancestor}\n^{tip}\n".encode("ascii")
    try:
        return not repository.output("rev-list", "--max-count=1", "--stdin", given=given)
    except GitFailedError:
        return False


def _private_environment() -> dict[str, str]:
    return environment({"core.hooksPath": os.devnull}) | {"GIT_ALLOW_PROTOCOL": "file"}


def _network_environment() -> dict[str, str]:
    """The user's own git configuration and credentials, for the one command that talks to the host."""
    ssh = os.environ.get("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=20")
    return {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_SSH_COMMAND": ssh,
        "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
        "GIT_ASKPASS": os.environ.get("GIT_ASKPASS", "true"),
        "LC_ALL": "C",
        "GIT_CONFIG_COUNT": "3",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": os.devnull,
        "GIT_CONFIG_KEY_1": "gc.auto",
        "GIT_CONFIG_VALUE_1": "0",
        "GIT_CONFIG_KEY_2": "core.fsmonitor",
        "GIT_CONFIG_VALUE_2": "false",
    }
