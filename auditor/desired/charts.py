"""A folder of packaged charts, as `helm pull` fills one: `NAME-VERSION.tgz`."""

import hashlib
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from auditor.collectors.files.bounded_yaml import MalformedYamlError
from auditor.desired import semver
from auditor.desired.blobs import UnreadableError
from auditor.desired.history import Entry
from auditor.desired.source import normal_path

_LARGEST = 64 << 20
"""Bytes of all files of one chart together."""
_MOST_FILES = 10_000


class Chart:
    """One packaged chart: a tree (see `trees.Files`) and its contents (see `blobs.Contents`)."""

    def __init__(self, name: str, files: dict[str, bytes]) -> None:
        """`files` by path; the first folder of each is the chart's name."""
        self.name = name
        self._entries = {path: Entry("100644", hashlib.sha256(content).hexdigest()) for path, content in files.items()}
        self._contents = {self._entries[path].blob: content for path, content in files.items()}

    def get(self, path: str) -> Entry | None:
        """The file at the path, None where there is none."""
        return self._entries.get(path)

    def under(self, folder: str) -> list[tuple[str, Entry]]:
        """The files in the folder and below it, sorted by path."""
        prefix = f"{folder}/" if folder else ""
        return sorted((path, entry) for path, entry in self._entries.items() if path.startswith(prefix))

    def has_folder(self, folder: str) -> bool:
        """Whether anything lies in the folder."""
        return bool(self.under(folder))

    def content(self, blob: str, path: str) -> bytes:
        """The content. Raises UnreadableError for one that is not the chart's."""
        if blob not in self._contents:
            raise UnreadableError(f"{path} is not in the chart {self.name}")
        return self._contents[blob]

    def fact(self, kind: str, blob: str, path: str, compute: Callable[[bytes], Any]) -> Any:
        """What `compute` makes of the content."""
        try:
            return compute(self.content(blob, path))
        except MalformedYamlError as error:
            raise UnreadableError(f"{path} does not parse: {error}") from error


class ChartFolder:
    """The charts that lie in a folder."""

    def __init__(self, folder: Path, *, nested: bool = False) -> None:
        """`nested`: `team/web` lies in the folder `team` (as `collect` keeps them) rather than beside all others."""
        self._folder = folder
        self._nested = nested
        self._charts: dict[Path, Chart] = {}

    def chart(self, name: str, version: str) -> Chart:
        """The chart at a version, or at the highest one of a range. Raises UnreadableError."""
        parent, _, base = name.rpartition("/")
        folder = self._folder / (normal_path(parent) or "") if self._nested else self._folder
        versions = {file.name[len(base) + 1 : -4]: file for file in sorted(folder.glob(f"{_literal(base)}-*.tgz"))}
        wanted = semver.parse_range(version) if version not in versions else None
        alike = [found for found in versions if wanted is not None and semver.matches(found, wanted)]
        chosen = version if version in versions else max(alike, key=_order, default="")
        if not chosen:
            raise UnreadableError(f"the chart {name} {version} is not among the charts {self._where}")
        file = versions[chosen]
        if file not in self._charts:
            self._charts[file] = Chart(base, _unpacked(file))
        return self._charts[file]

    @property
    def _where(self) -> str:
        return "that were fetched" if self._nested else f"in {self._folder.name}"


def _order(version: str) -> semver.Key:
    return semver.version_key(version) or (0, 0, 0, ())


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _unpacked(file: Path) -> dict[str, bytes]:
    """The regular files of a chart; links, devices and paths that lead out are left where they are."""
    files: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(file, "r:gz") as tar:
            for member in tar:
                total += member.size
                if total > _LARGEST or len(files) > _MOST_FILES:
                    raise UnreadableError(f"the chart {file.name} is larger than any chart")
                stream = tar.extractfile(member) if member.isfile() else None
                if stream is not None and normal_path(member.name) == member.name:
                    files[member.name] = stream.read()
    except (OSError, tarfile.TarError, EOFError) as error:
        raise UnreadableError(f"the chart {file.name} cannot be unpacked: {error}") from error
    return files
