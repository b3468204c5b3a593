"""A dated repository, written in one go with `git fast-import`, and what is judged on it."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from auditor.collectors import Reading
from auditor.collectors.git.collect import COLLECTOR
from auditor.config import Config, RepositoryConfig
from auditor.correlate.git.verdict import GitJudge
from auditor.desired.reader import Reader, open_reader
from auditor.desired.tools import find_tools
from auditor.model.application import ApplicationHistory, ApplicationState, AppSource, RevisionSeen
from auditor.model.change import AppKey, Change, Write
from auditor.model.facts import Commit, GitRef, SourceMark
from auditor.model.verdict import GitVerdict
from auditor.objects.redaction import Redactor
from auditor.progress import SILENT
from tests.factories import SHOP, app_state, change, evidence, field, history, minute, thing

URL = "http://git.acme.example/platform/deploy.git"
TOOLS = find_tools([Path(__file__).parents[3] / ".tools" / "bin"])
needs_kustomize = pytest.mark.skipif(TOOLS.kustomize_build() is None, reason="no kustomize or kubectl on this machine")
needs_helm = pytest.mark.skipif(TOOLS.helm is None, reason="no helm on this machine")

Files = Mapping[str, str | bytes | None]
"""Contents by path; None removes the file."""


def deployment(image: str = "web:1", replicas: Any = 3, name: str = "web", extra: str = "") -> str:
    """A Deployment; `extra` are further lines of its container."""
    count = "" if replicas is None else f"  replicas: {replicas}\n"
    lines = "".join(f"          {line}\n" for line in extra.splitlines())
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n{count}  template:\n    spec:\n"
        f"      containers:\n        - name: web\n          image: {image}\n{lines}"
    )


class Repo:
    """Commits by minute; each gets a name by which its SHA can be asked for afterwards."""

    def __init__(self, folder: Path, url: str = URL) -> None:
        self.folder = folder
        self.url = url
        self._stream: list[bytes] = []
        self._marks: dict[str, int] = {}
        self._trees: dict[str, dict[str, str | bytes]] = {}
        self._tips: dict[str, str] = {}
        self._shas: dict[str, str] = {}

    def commit(self, name: str, at: float, files: Files, *, branch: str = "main", **given: Any) -> str:
        """A commit on a branch. `author`, `mail`, `message`, `parent` (a name; a new branch starts there), `merge` (a
        name), `authored` (minute) are as given."""
        parent = given.get("parent", self._tips.get(branch))
        tree = dict(self._trees.get(parent or "", {}))
        tree.update({path: content for path, content in files.items() if content is not None})
        for path in [path for path, content in files.items() if content is None]:
            tree.pop(path)
        self._marks[name] = len(self._marks) + 1
        self._trees[name] = tree
        self._write(name, branch, at, tree, parent, given)
        self._tips[branch] = name
        return name

    def _write(
        self, name: str, branch: str, at: float, tree: Mapping[str, str | bytes], parent: str | None, given: Any
    ) -> None:
        who = f"{given.get('author', 'Erin Holt')} <{given.get('mail', 'erin@acme.example')}>"
        message = given.get("message", f"Commit {name}").encode()
        lines = [
            f"commit refs/heads/{branch}",
            f"mark :{self._marks[name]}",
            f"author {who} {minute(given.get('authored', at)).timestamp():.0f} +0000",
            f"committer {who} {minute(at).timestamp():.0f} +0000",
            f"data {len(message)}",
        ]
        self._stream.append("\n".join(lines).encode() + b"\n" + message + b"\n")
        parents = [parent] if parent else []
        for word, other in zip(
            ("from", "merge"), [*parents, *([given["merge"]] if "merge" in given else [])], strict=False
        ):
            self._stream.append(f"{word} :{self._marks[other]}\n".encode())
        self._stream.append(b"deleteall\n")
        for path, content in tree.items():
            mode = "120000" if isinstance(content, bytes) and content.startswith(b"-> ") else "100644"
            raw = content.encode() if isinstance(content, str) else content.removeprefix(b"-> ")
            self._stream.append(f"M {mode} inline {path}\ndata {len(raw)}\n".encode() + raw + b"\n")
        self._stream.append(b"\n")

    def merge(
        self, name: str, at: float, of: str, *, branch: str = "main", files: Files | None = None, **given: Any
    ) -> str:
        """A merge of a named commit: what it has and the branch has otherwise is taken, then `files`."""
        theirs = self._trees[of]
        ours = self._trees[self._tips[branch]]
        taken: dict[str, str | bytes | None] = {path: text for path, text in theirs.items() if ours.get(path) != text}
        return self.commit(name, at, {**taken, **(files or {})}, branch=branch, merge=of, **given)

    def point(self, branch: str, to: str) -> None:
        """Let a branch point to a named commit: a fast-forward, or a push over what was there."""
        self._stream.append(f"reset refs/heads/{branch}\nfrom :{self._marks[to]}\n\n".encode())
        self._tips[branch] = to

    def tag(self, tag: str, of: str) -> None:
        """A tag on a named commit."""
        self._stream.append(f"reset refs/tags/{tag}\nfrom :{self._marks[of]}\n\n".encode())

    def ref(self, name: str, of: str) -> None:
        """Any ref on a named commit."""
        self._stream.append(f"reset {name}\nfrom :{self._marks[of]}\n\n".encode())

    def write(self) -> None:
        """Write what is new into the repository."""
        if self.folder.exists() and not self._stream:
            return
        if not self.folder.exists():
            subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.folder)], check=True)
        marks = self.folder / "auditor-marks"
        options = ["--quiet", "--force", f"--import-marks-if-exists={marks}", f"--export-marks={marks}"]
        git = ["git", f"--git-dir={self.folder}"]
        subprocess.run([*git, "fast-import", *options], input=b"".join(self._stream), check=True)
        self._stream.clear()
        by_mark = dict(line.split() for line in marks.read_text().splitlines())
        self._shas = {name: by_mark[f":{mark}"] for name, mark in self._marks.items()}

    def sha(self, name: str) -> str:
        """The SHA of a named commit, once written."""
        return self._shas[name]

    def name(self, sha: str | None) -> str | None:
        """The name of a commit by its SHA."""
        return next((name for name, other in self._shas.items() if other == sha), sha)


class Story:
    """One application over a repository, and hand-made changes to its objects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repo = Repo(folder / "deploy.git")
        self.repos = [self.repo]
        self.charts: tuple[RepositoryConfig, ...] = ()
        """Folders of packaged charts."""
        self.writes: tuple[Write, ...] = ()
        """Writes of the controller."""
        self.earlier: tuple[SourceMark, ...] = ()
        """The marks of an earlier collection, in their order."""
        self._commits: list[Commit] = []
        self._seen: list[tuple[Repo, str, float, str]] = []
        self.applications: dict[AppKey, ApplicationHistory] = {}
        self.application()

    def application(self, *sources: AppSource, key: AppKey = SHOP, **given: Any) -> ApplicationState:
        """The application, as it was recorded before everything."""
        state = app_state(-60, key, sources=sources or (source(),), **given)
        self.applications[key] = history(state, key=key)
        return state

    def recorded(self, at: float, *sources: AppSource, key: AppKey = SHOP, **given: Any) -> None:
        """The application as it was recorded later."""
        before = self.applications[key]
        state = app_state(at, key, sources=sources or before.states[-1].sources, **given)
        self.applications[key] = history(*before.states, state, key=key)

    def seen(self, name: str, at: float, tracked: str = "main", repo: Repo | None = None) -> None:
        """A record of Argo CD shows the revision at this minute."""
        self._seen.append((repo or self.repo, name, at, tracked))

    def collect(self) -> tuple[list[Commit], list[GitRef], list[SourceMark]]:
        """The facts of all repositories, those of earlier collections too, and the marks."""
        for repo in self.repos:
            repo.write()
        batches = list(COLLECTOR.collect(self.reading()))
        facts = [fact for batch in batches for fact in batch.facts]
        self._commits += [fact for fact in facts if isinstance(fact, Commit)]
        return self._commits, [fact for fact in facts if isinstance(fact, GitRef)], [batch.mark for batch in batches]

    def reading(self, **given: Any) -> Reading:
        """What the collector is given."""
        known = {mark.cluster: mark for mark in self.earlier}

        def marks(kind: str, name: str) -> tuple[SourceMark, ...]:
            return (known[name],) if name in known else ()

        return Reading(self._config(), redactor(), marks, self.folder / "cache", SILENT, **given)

    def _config(self) -> Config:
        configured = tuple(RepositoryConfig(repo.url, repo.folder.name) for repo in self.repos)
        return Config(folder=self.folder, repositories=(*configured, *self.charts))

    @contextmanager
    def reader(self, **given: Any) -> Iterator[Reader]:
        """A reader over what is collected."""
        commits, refs, _ = self.collect()
        config = self._config()
        options: dict[str, Any] = {"tools": TOOLS, **given}
        reader = open_reader(
            config.repositories, config.folder, commits, refs, self.folder / "cache", redactor(), **options
        )
        try:
            yield reader
        finally:
            reader.close()

    def records(self) -> tuple[RevisionSeen, ...]:
        """The records of revisions, oldest first."""
        found = [
            RevisionSeen(repo.url, repo.sha(name), minute(at), evidence(name), tracked)
            for repo, name, at, tracked in self._seen
        ]
        return tuple(sorted(found, key=lambda record: record.at))

    def judge(self, path: str, before: Any, after: Any, at: float = 60, as_of: float = 600, **given: Any) -> GitVerdict:
        """Git's verdict on one field of Deployment shop-prod/web that was changed at this minute."""
        made = change("change", at, field(path, before, after), **given)
        return self.judge_change(made, minute(as_of))[1][0]

    def judge_whole(self, operation: str, at: float = 60, as_of: float = 600, **given: Any) -> GitVerdict:
        """Git's verdict on a created or deleted object."""
        return self.judge_change(change("change", at, operation=operation, **given), minute(as_of))[0]

    def judge_change(self, made: Change, as_of: datetime) -> tuple[GitVerdict, tuple[GitVerdict, ...]]:
        """Git's verdicts on any change."""
        with self.reader() as reader:
            verdict = GitJudge(reader, self.applications, self.records(), as_of, self.writes).judge(made)
        self._no_fix_from_before(made, *verdict[1])
        return verdict

    def _no_fix_from_before(self, made: Change, *verdicts: GitVerdict) -> None:
        """No story may claim as its fix a commit that a record shows in the branch before the change."""
        for verdict in verdicts:
            if verdict.verdict == "reflected" and verdict.landed_by is not None:
                assert verdict.landed_by > made.write.at

    def named(self, verdict: GitVerdict) -> tuple[str, str | None, str | None]:
        """(word, name of the landing commit, name of the authored commit)."""
        authored = verdict.authored.commit if verdict.authored else None
        return verdict.verdict, self.repo.name(verdict.commit), self.repo.name(authored)


def source(path: str = "apps/web", target: str = "main", url: str = URL, **given: Any) -> AppSource:
    """A source in the deploy repository."""
    return AppSource(url, path, target, **given)


def redactor() -> Redactor:
    """One key for all stories."""
    return Redactor(b"k" * 32)


IMAGE = "spec.template.spec.containers[name=web].image"
REPLICAS = "spec.replicas"
CONFIG = thing("settings", "ConfigMap", group="")


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """A story with an empty repository."""
    return Story(tmp_path)
