"""Which files of a repository an application's manifests come from, found by following them."""

from collections.abc import Callable
from dataclasses import dataclass

from auditor.desired.history import Entry, Line
from auditor.desired.trees import Files


@dataclass(frozen=True, slots=True)
class Reads:
    """What one source reads at one revision."""

    paths: tuple[str, ...] = ()
    """Files by name, also such as are looked for and not there."""
    folders: tuple[str, ...] = ()
    """Folders whose files are read, as far as `takes` says so."""
    takes: Callable[[str], bool] | None = None
    links: tuple[str, ...] = ()
    """Files whose appearance, loss or content decides what else is read."""
    link_folders: tuple[str, ...] = ()
    problem: str = ""
    """Why it cannot be rendered, "" where it can be."""
    remotes: tuple[tuple[str, str], ...] = ()
    """Remote bases as kustomizations name them, with the folders in which they lie beside the source's files."""
    absent: bool = False
    """The repository has no such folder: it declares nothing."""

    def files(self, tree: Files) -> list[tuple[str, Entry]]:
        """The files themselves at a revision at which nothing in `links` is otherwise, sorted by path."""
        found = {path: entry for path in self.paths if (entry := tree.get(path)) is not None}
        for folder in self.folders:
            found.update((path, entry) for path, entry in tree.under(folder) if self.takes is None or self.takes(path))
        return sorted(found.items())


def positions(line: Line, end: int, follow: Callable[[int], Reads]) -> list[int]:
    """Positions of the line below `end` at which what is read changed, oldest first. `follow` gives what is read at
    a position; it is asked again only where a file that decides this changed."""
    found: list[int] = []
    position: int | None = 0
    while position is not None and position < end:
        reads = follow(position)
        turn = line.next_change(reads.links, reads.link_folders, position)
        until = end if turn is None else min(turn, end)
        paths, folders = _watched(reads, line)
        found.append(position)
        found += line.changes((*paths, *reads.links), (*folders, *reads.link_folders), position + 1, until)
        position = turn
    return found


def _watched(reads: Reads, line: Line) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files and folders whose changes count. Where not every file of a folder does, those that do are named: an
    application at the root of a repository is not concerned by every commit."""
    takes = reads.takes
    if takes is None:
        return reads.paths, reads.folders
    taken = (path for folder in reads.folders for path in line.paths_under(folder) if takes(path))
    return (*reads.paths, *taken), ()
