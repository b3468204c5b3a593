"""The configured repositories as far as their history was collected, and what is tracked in each."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from auditor.collectors.git.mirror import git_dir_of, is_bundle, mirror_folder
from auditor.collectors.git.process import Repository
from auditor.config import RepositoryConfig
from auditor.desired import semver
from auditor.desired.blobs import Blobs
from auditor.desired.history import Graph, Tree
from auditor.desired.pack import Pack
from auditor.desired.routes import route
from auditor.desired.source import same_repository
from auditor.model.application import RevisionSeen
from auditor.model.facts import Commit, GitRef

_SHA = re.compile(r"[0-9a-f]{7,64}\Z")


@dataclass(frozen=True, slots=True)
class Tracked:
    """What a targetRevision names in a repository."""

    branch: str
    """"" where it names no branch."""
    shas: tuple[str, ...]
    """The tip; for a range of versions every tag that was the highest once, oldest first."""


class Checkout:
    """One repository: its graph, its contents, and its branches as lines."""

    def __init__(self, url: str, graph: Graph, blobs: Blobs, seen: Iterable[RevisionSeen] = ()) -> None:
        self.url = url
        self.graph = graph
        self.blobs = blobs
        self._lines: dict[str, BranchLine] = {}
        self._seen = [record for record in seen if record.tracked and same_repository(record.repo_url, url)]
        self.branches = {ref.name: ref.sha for ref in graph.refs if ref.kind == "branch"}
        self._tags = {ref.name: ref.sha for ref in graph.refs if ref.kind == "tag"}
        self._default = next((ref.target for ref in graph.refs if ref.kind == "head"), "")

    @property
    def main(self) -> "BranchLine":
        """The line of the default branch, from which other commits are told."""
        return self.line(self._default or min(self.branches, default=""))

    def line(self, branch: str) -> "BranchLine":
        """The line of a branch."""
        if branch not in self._lines:
            former = [ref.sha for ref in self.graph.refs if ref.kind == "former" and ref.target == branch]
            tip = self.branches.get(branch, "")
            self._lines[branch] = BranchLine(self.graph, tip, self._seen_on(branch), former)
        return self._lines[branch]

    def following(self, seen: Sequence[RevisionSeen]) -> "Checkout":
        """The same repository with the records of where its branches have been; itself where they tell nothing new."""
        informed = Checkout(self.url, self.graph, self.blobs, seen)
        targets = {record.tracked for record in informed._seen}
        for branch in sorted({informed._branch_of(target) for target in targets} - {""}):
            positions = self.line(branch).line.positions
            known = self.graph.commits.keys()
            elsewhere = any(sha in known and sha not in positions for sha in informed._seen_on(branch))
            if elsewhere or informed._not_as_followed(branch):
                return informed
        return self

    def _not_as_followed(self, branch: str) -> str:
        """Why the branch as collected is not the one that applications follow, "" where nothing says so.

        A copy that is older than the last record of the branch says nothing of what came since, and one that has none
        of the recorded commits is another repository. A commit that was pushed over is missing from a newer copy.
        """
        records = [record for record in self._seen if self._branch_of(record.tracked) == branch]
        missing = [record for record in records if record.revision not in self.graph.commits]
        if not missing:
            return ""
        last, tip = max(records, key=lambda record: (record.at, record.revision)), self.branches[branch]
        is_older = tip not in self.graph.commits or self.graph.commits[tip].committed_at < last.at
        if (last in missing and is_older) or (missing == records and not self.graph.boundaries):
            return (
                f"its application was at {last.revision[:12]}, which {self.url} as collected does not have: the copy is"
                " out of date, or of another repository"
            )
        return ""

    def _seen_on(self, branch: str) -> frozenset[str]:
        """The commits that applications which follow the branch were at."""
        targets = {record.tracked for record in self._seen}
        alike = {target for target in targets if self._branch_of(target) == branch}
        return frozenset(record.revision for record in self._seen if record.tracked in alike)

    def _branch_of(self, target: str) -> str:
        name = self._default if target == "HEAD" else target.removeprefix("refs/heads/")
        return name if name in self.branches else ""

    def tracked(self, target: str) -> Tracked | str:
        """What a targetRevision names, or the sentence why that cannot be told."""
        name = self._branch_of(target or "HEAD")
        if name:
            return self._not_as_followed(name) or Tracked(name, (self.branches[name],))
        tag = target.removeprefix("refs/tags/")
        if tag in self._tags:
            return Tracked("", (self._tags[tag],))
        wanted = semver.parse_range(target) if semver.is_range(target) else None
        if wanted is not None:
            highest = self._highest(wanted)
            return Tracked("", highest) if highest else f"no tag of {self.url} is a version in {target}"
        if _SHA.match(target):
            found = [sha for sha in self.graph.commits if sha.startswith(target)]
            if len(found) == 1:
                return Tracked("", (found[0],))
        return f"{self.url} has no branch, tag or commit {target or 'HEAD'} in what was collected"

    def has_tag(self, name: str) -> bool:
        """Whether there is a tag of this name."""
        return name.removeprefix("refs/tags/") in self._tags

    def _highest(self, wanted: "semver.Range") -> tuple[str, ...]:
        """The tagged commits that were the highest in the range, each from its commit's time on."""
        tags = [
            (self.graph.commits[sha].committed_at, key, sha)
            for name, sha in self._tags.items()
            if sha in self.graph.commits and semver.matches(name, wanted) and (key := semver.version_key(name))
        ]
        shas: list[str] = []
        best: semver.Key | None = None
        for _, key, sha in sorted(tags):
            if best is None or key >= best:
                best = key
                shas.append(sha)
        return tuple(shas)

    def tree(self, sha: str, line: "BranchLine") -> Tree | None:
        """The files at a commit."""
        return self.graph.tree(sha, line.line)

    def close(self) -> None:
        """End the processes behind it."""
        self.blobs.close()


class BranchLine:
    """A line with what each of its commits brought to it."""

    def __init__(self, graph: Graph, tip: str, seen: frozenset[str], former: Iterable[str]) -> None:
        self._graph = graph
        self.line = route(graph, tip, seen, former)

    @cached_property
    def landed(self) -> dict[str, int]:
        """For every commit in the tip's history: the position with which it came to the line."""
        return self._graph.brought(self.line.commits)

    @cached_property
    def _merged(self) -> dict[int, list[str]]:
        merged: dict[int, list[str]] = {}
        for sha, position in self.landed.items():
            if sha not in self.line.positions:
                merged.setdefault(position, []).append(sha)
        return merged

    def merged(self, position: int) -> tuple[str, ...]:
        """The commits that the commit at this position brought beside itself, oldest first."""
        brought = self._merged.get(position)
        return tuple(self._graph.oldest_first(brought)) if brought else ()

    def reached(self, sha: str) -> int:
        """The last position of the line in the history of a commit, -1 where they have nothing in common."""
        positions = self.line.positions
        if sha in positions:
            return positions[sha]
        commits = self._graph.commits
        ends = (parent for walked in self._graph.beyond(sha, positions) for parent in commits[walked].parents)
        return max((positions[end] for end in ends if end in positions), default=-1)


def open_checkouts(
    repositories: Sequence[RepositoryConfig],
    folder: Path,
    commits: Iterable[Commit],
    refs: Iterable[GitRef],
    cache: Path,
    pack: Pack,
) -> dict[str, Checkout]:
    """The repositories of the configuration by their URL, also those of which nothing was collected."""
    by_url: dict[str, list[Commit]] = {}
    for commit in commits:
        by_url.setdefault(commit.repository, []).append(commit)
    refs_by_url: dict[str, list[GitRef]] = {}
    for ref in refs:
        refs_by_url.setdefault(ref.repository, []).append(ref)
    return {
        repository.name: Checkout(
            repository.name,
            Graph(by_url.get(repository.name, ()), refs_by_url.get(repository.name, ())),
            Blobs(*_repository(repository, folder, cache), pack),
        )
        for repository in repositories
    }


def _repository(wanted: RepositoryConfig, folder: Path, cache: Path) -> tuple[Repository | None, str]:
    """The repository on disk, or why there is none to read contents from."""
    path = folder / wanted.path
    git_dir: Path | None
    if wanted.path and not is_bundle(path):
        git_dir = git_dir_of(path)
    else:
        git_dir = mirror_folder(cache, wanted.url, path if wanted.path else None)
    if git_dir is None or not git_dir.is_dir():
        return None, f"the files of {wanted.name} are not on this machine"
    return Repository(git_dir), ""
