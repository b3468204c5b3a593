"""What the files of a repository hold, as far as following and rendering them needs it."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from auditor.collectors.files.bounded_yaml import MalformedYamlError
from auditor.collectors.git.process import GitMissingError, Repository
from auditor.desired.pack import Pack

T = TypeVar("T")

_LFS = b"version https://git-lfs.github.com/spec/"


class UnreadableError(Exception):
    """A file of a revision cannot be read; the text is the reason, for a reader."""


class Contents(Protocol):
    """What the files of some trees hold."""

    def content(self, blob: str, path: str) -> bytes:
        """The content. Raises UnreadableError."""
        ...

    def fact(self, kind: str, blob: str, path: str, compute: Callable[[bytes], Any]) -> Any:
        """What `compute` makes of the content, as a JSON value. Raises UnreadableError."""
        ...


class SeveralContents:
    """The contents of trees from several places: the first that has one says it."""

    def __init__(self, places: Sequence[Contents], further: Mapping[str, Contents]) -> None:
        """`further` places may still become more."""
        self._places = places
        self._further = further

    def content(self, blob: str, path: str) -> bytes:
        """The content. Raises UnreadableError with the last place's reason."""
        return self._first(lambda place: place.content(blob, path))

    def fact(self, kind: str, blob: str, path: str, compute: Callable[[bytes], Any]) -> Any:
        """What `compute` makes of the content."""
        return self._first(lambda place: place.fact(kind, blob, path, compute))

    def _first(self, ask: Callable[[Contents], T]) -> T:
        *others, last = (*self._places, *self._further.values())
        for place in others:
            try:
                return ask(place)
            except UnreadableError:
                continue
        return ask(last)


class Blobs:
    """Contents by object name, and small facts about contents that outlive the clone."""

    def __init__(self, repository: Repository | None, missing: str, pack: Pack) -> None:
        """`missing` says why there is no repository to read."""
        self._repository = repository
        self._missing = missing
        self._pack = pack
        self._facts: dict[bytes, Any] = {}

    def content(self, blob: str, path: str) -> bytes:
        """The content. Raises UnreadableError where the clone has not got it, or it is only a pointer to it."""
        if self._repository is None:
            raise UnreadableError(self._missing)
        try:
            content = self._repository.blob(blob)
        except GitMissingError as error:
            raise UnreadableError("git is not installed on this machine") from error
        if content is None:
            raise UnreadableError(f"{path} of that revision is not in the clone, or is too large")
        if content.startswith(_LFS):
            raise UnreadableError(f"{path} is a Git LFS pointer: the content lies elsewhere")
        return content

    def fact(self, kind: str, blob: str, path: str, compute: Callable[[bytes], Any]) -> Any:
        """What `compute` makes of the content, as a JSON value, computed once for each distinct content."""
        key = hashlib.sha256(f"{kind}\0{blob}".encode()).digest()
        if key not in self._facts:
            found = self._pack.get(key)
            if found is None:
                found = self._computed(blob, path, compute)
                self._pack.put(key, found)
            self._facts[key] = found
        return self._facts[key]

    def _computed(self, blob: str, path: str, compute: Callable[[bytes], Any]) -> Any:
        try:
            return compute(self.content(blob, path))
        except MalformedYamlError as error:
            raise UnreadableError(f"{path} does not parse: {error}") from error

    def close(self) -> None:
        """End the processes behind it."""
        if self._repository is not None:
            self._repository.close()
