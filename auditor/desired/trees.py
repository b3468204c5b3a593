"""Several trees as one: the sources of an application side by side, each under a folder of its own."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from auditor.desired.history import Entry


class Files(Protocol):
    """What following and rendering need of a tree."""

    def get(self, path: str) -> Entry | None:
        """The file at the path, None where there is none."""
        ...

    def under(self, folder: str) -> list[tuple[str, Entry]]:
        """The files in the folder and below it, sorted by path."""
        ...

    def has_folder(self, folder: str) -> bool:
        """Whether anything lies in the folder."""
        ...


class SideBySide:
    """The first tree at the root, the others in folders that no repository has."""

    def __init__(self, root: Files, others: Mapping[str, Files]) -> None:
        """`others` are trees by the name of their folder."""
        self._root = root
        self._others = others

    def _place(self, path: str) -> tuple[str, Files, str]:
        """(prefix, tree, path in it)."""
        name, _, rest = path.partition("/")
        other = self._others.get(name)
        return ("", self._root, path) if other is None else (f"{name}/", other, rest)

    def get(self, path: str) -> Entry | None:
        """The file at the path, None where there is none."""
        _, tree, rest = self._place(path)
        return tree.get(rest)

    def under(self, folder: str) -> list[tuple[str, Entry]]:
        """The files in the folder and below it, sorted by path."""
        prefix, tree, rest = self._place(folder)
        return [(prefix + path, entry) for path, entry in tree.under(rest)]

    def has_folder(self, folder: str) -> bool:
        """Whether anything lies in the folder."""
        _, tree, rest = self._place(folder)
        return tree.has_folder(rest)


def beside(number: int) -> str:
    """The folder of the tree with this number; the first is the root."""
    return f"auditor-source-{number}" if number else ""


def own_paths(paths: Sequence[str], number: int, count: int) -> list[str]:
    """Those of the paths that lie in the tree with this number, as that tree calls them."""
    if number:
        prefix = f"{beside(number)}/"
        return [path.removeprefix(prefix) for path in paths if path.startswith(prefix) or f"{path}/" == prefix]
    others = tuple(f"{beside(other)}/" for other in range(1, count))
    return [path for path in paths if not f"{path}/".startswith(others)] if others else list(paths)
