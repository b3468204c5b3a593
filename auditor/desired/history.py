"""A repository's commits as a graph, and its tracked branches as lines on which files have lives.

Trees are rebuilt from what each commit changed against its first parent, so that neither git nor a clone is needed to
know which file had which content at a revision.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from auditor.model.facts import Commit, GitRef


class Entry(NamedTuple):
    """A file of a tree, as git has it."""

    mode: str
    blob: str


Changes: TypeAlias = "Sequence[tuple[str, Entry | None]]"

SYMLINK = "120000"
SUBMODULE = "160000"


@dataclass(slots=True)
class _Life:
    """The states of one path along a line: at which positions it changed, and to what."""

    at: list[int] = field(default_factory=list)
    states: list[Entry | None] = field(default_factory=list)

    def before(self, end: int) -> Entry | None:
        """The state after the last change at a position below `end`."""
        place = bisect_left(self.at, end) - 1
        return self.states[place] if place >= 0 else None


class Line:
    """The states of a branch, oldest first, each a commit whose changes are against the state before it."""

    def __init__(self, commits: Sequence[Commit], against_other: Mapping[str, Changes] | None = None) -> None:
        """`against_other` has, by SHA, the changes of commits whose state before is not their first parent."""
        self.commits = commits
        self.positions = {commit.sha: position for position, commit in enumerate(commits)}
        self._lives: dict[str, _Life] = {}
        self._folders: dict[str, list[int]] = {}
        for position, commit in enumerate(commits):
            other = (against_other or {}).get(commit.sha)
            for path, entry in changed(commit) if other is None else other:
                self._change(position, path, entry)
        self._paths = sorted(self._lives)

    def _change(self, position: int, path: str, entry: Entry | None) -> None:
        life = self._lives.get(path)
        if life is None:
            life = self._lives[path] = _Life()
        life.at.append(position)
        life.states.append(entry)
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            positions = self._folders.setdefault(folder, [])
            if positions and positions[-1] == position:
                break
            positions.append(position)

    def entry(self, path: str, end: int) -> Entry | None:
        """The file at the state below position `end`, None where there is none."""
        life = self._lives.get(path)
        return life.before(end) if life else None

    def paths_under(self, folder: str) -> Sequence[str]:
        """All paths that were ever in the folder, sorted."""
        if not folder:
            return self._paths
        first = bisect_left(self._paths, f"{folder}/")
        return self._paths[first : bisect_left(self._paths, f"{folder}0", first)]

    def changes(self, paths: Iterable[str], folders: Iterable[str], start: int, end: int) -> list[int]:
        """Positions in `[start, end)` at which one of the paths, or anything in one of the folders, changed."""
        found: set[int] = set()
        for path in paths:
            life = self._lives.get(path)
            if life:
                found.update(life.at[bisect_left(life.at, start) : bisect_left(life.at, end)])
        for folder in folders:
            positions = self._folders.get(folder, [])
            found.update(positions[bisect_left(positions, start) : bisect_left(positions, end)])
        return sorted(found)

    def next_change(self, paths: Iterable[str], folders: Iterable[str], after: int) -> int | None:
        """The first position behind `after` at which one of them changed."""
        lives = (life.at for path in paths if (life := self._lives.get(path)))
        lists = [*lives, *(self._folders.get(folder, []) for folder in folders)]
        return min((at[place] for at in lists if (place := bisect_right(at, after)) < len(at)), default=None)


def changed(commit: Commit) -> Iterator[tuple[str, Entry | None]]:
    """The paths that a commit changed against its first parent, with what they became."""
    for change in commit.changes:
        if change.old_path:
            yield change.old_path, None
        yield change.path, Entry(change.mode, change.blob) if change.blob else None


class Tree:
    """The files at one commit: a state of a line, and what further commits changed on top of it."""

    def __init__(self, line: Line, end: int, over: Mapping[str, Entry | None]) -> None:
        self._line = line
        self._end = end
        self._over = over

    def get(self, path: str) -> Entry | None:
        """The file at the path, None where there is none."""
        if path in self._over:
            return self._over[path]
        return self._line.entry(path, self._end)

    def under(self, folder: str) -> list[tuple[str, Entry]]:
        """The files in the folder and below it, sorted by path."""
        prefix = f"{folder}/" if folder else ""
        paths: Iterable[str] = self._line.paths_under(folder)
        added = [path for path in self._over if path.startswith(prefix)]
        if added:
            paths = sorted({*paths, *added})
        return [(path, entry) for path in paths if (entry := self.get(path)) is not None]

    def has_folder(self, folder: str) -> bool:
        """Whether anything lies in the folder."""
        return any(self.get(path) is not None for path in self._line.paths_under(folder)) or any(
            entry is not None and path.startswith(f"{folder}/") for path, entry in self._over.items()
        )


class Graph:
    """All commits of a repository that are known, with its refs."""

    def __init__(self, commits: Iterable[Commit], refs: Iterable[GitRef]) -> None:
        self.commits = {commit.sha: commit for commit in commits}
        self.refs = tuple(refs)
        self.boundaries = frozenset(ref.sha for ref in self.refs if ref.kind == "boundary")

    def chain(self, tip: str, through: Mapping[str, str]) -> list[Commit]:
        """The states that led to a tip, oldest first: first parents, except where `through` knows the parent of a
        merge that the branch had before it."""
        found: list[Commit] = []
        commit = self.commits.get(tip)
        while commit is not None:
            found.append(commit)
            parent = through.get(commit.sha) or next(iter(commit.parents), "")
            commit = self.commits.get(parent)
        found.reverse()
        return found

    def brought(self, chain: Sequence[Commit]) -> dict[str, int]:
        """For every commit in the history of a chain's last: the position with which it came to the chain."""
        landed = {commit.sha: position for position, commit in enumerate(chain)}
        for position, commit in enumerate(chain):
            before = chain[position - 1].sha if position else ""
            for parent in commit.parents:
                if parent != before:
                    self._land(parent, position, landed)
        return landed

    def _land(self, sha: str, position: int, landed: dict[str, int]) -> None:
        open_ends = [sha]
        while open_ends:
            current = open_ends.pop()
            commit = self.commits.get(current)
            if commit is None or current in landed:
                continue
            landed[current] = position
            open_ends.extend(commit.parents)

    def difference(self, before: str, after: str, line: Line) -> Changes:
        """What differs between the trees of any two commits, told from a line that is near to both."""
        one, other = self.tree(before, line), self.tree(after, line)
        old = dict(one.under("")) if one else {}
        new = dict(other.under("")) if other else {}
        return [(path, new.get(path)) for path in sorted({*old, *new}) if old.get(path) != new.get(path)]

    def beyond(self, sha: str, landed: Mapping[str, int]) -> list[str]:
        """The commits in the history of `sha` that have not landed."""
        found: dict[str, None] = {}
        open_ends = [sha]
        while open_ends:
            current = open_ends.pop()
            commit = self.commits.get(current)
            if commit is not None and current not in landed and current not in found:
                found[current] = None
                open_ends.extend(commit.parents)
        return list(found)

    def tree(self, sha: str, line: Line) -> Tree | None:
        """The files at any commit: from where its first parents leave the line. None for an unknown commit."""
        over: dict[str, Entry | None] = {}
        current = self.commits.get(sha)
        if current is None:
            return None
        while current is not None:
            position = line.positions.get(current.sha)
            if position is not None:
                return Tree(line, position + 1, over)
            for path, entry in changed(current):
                over.setdefault(path, entry)
            current = self.commits.get(next(iter(current.parents), ""))
        return Tree(line, 0, over)

    def oldest_first(self, shas: Iterable[str]) -> list[str]:
        """Commits ordered so that parents come before children; ties by the committer's clock, then by name."""
        wanted = set(shas)
        ordered: list[str] = []
        done: set[str] = set()
        by_clock = sorted(wanted, key=lambda sha: (self.commits[sha].committed_at, sha))
        for start in by_clock:
            stack = [(start, False)]
            while stack:
                sha, parents_done = stack.pop()
                if parents_done:
                    ordered.append(sha)
                elif sha not in done:
                    done.add(sha)
                    stack.append((sha, True))
                    stack.extend((parent, False) for parent in self.commits[sha].parents if parent in wanted)
        return ordered
