"""What git says an object should be, at a revision. The git side implements `GitReader`; correlation only asks it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from auditor.model.application import ApplicationState, RevisionSeen
from auditor.model.resource import JsonObject


@dataclass(frozen=True, slots=True)
class ManifestKey:
    """A manifest's identity inside one application: its namespace is the destination's where it has none."""

    group: str
    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class DesiredState:
    """The rendered manifests of one application at one revision."""

    content: str
    """Key of the content that was rendered: equal keys, equal manifests."""
    objects: Mapping[ManifestKey, JsonObject]
    rendered: Literal["now", "before", "applied"]
    """`before`: from the cache; `applied`: no renderer could say, and this is what the controller last applied."""
    confidence: Literal["high", "low"]
    second: Mapping[ManifestKey, JsonObject] = field(default_factory=dict)
    """Manifests that came out otherwise when the same content was rendered again: where a field differs between the
    two, git does not determine it."""
    reason: str = ""
    """Why confidence is low, in one sentence."""


@dataclass(frozen=True, slots=True)
class Undeterminable:
    """Git cannot say, and why, in one sentence a reader understands."""

    reason: str


@dataclass(frozen=True, slots=True)
class Landing:
    """One state of the tracked branch, as its first-parent history has it."""

    sha: str
    """First-parent commit."""
    at: datetime
    """Committer's clock: the earliest."""
    author: str
    """`Name <mail>` of the commit."""
    subject: str
    pull_request: int | None
    merged: tuple[str, ...]
    """Commits that it brought beside itself, oldest first (a merge)."""
    signature: str
    repo_url: str = ""
    """The repository of the source whose history this is."""
    position: int = 0
    """Place on the tracked line, counted from its beginning."""


@dataclass(frozen=True, slots=True)
class BranchTip:
    """A branch that the tracked one has not merged."""

    name: str
    sha: str
    commits: tuple[str, ...]
    """The commits that the tracked branch has not, oldest first."""
    repo_url: str = ""


class GitReader(Protocol):
    """Read-only access to repositories and rendered states; all methods are cached and none raises for bad input."""

    def following(self, seen: Sequence[RevisionSeen]) -> "GitReader":
        """A reader that also knows from records where branches have been, where first parents do not tell."""
        ...

    def landings(self, state: ApplicationState) -> Sequence[Landing] | Undeterminable:
        """All states of what the application tracks, oldest first, that can differ in what it reads."""
        ...

    def render(self, state: ApplicationState, sha: str) -> DesiredState | Undeterminable:
        """The application's manifests with its primary git source at `sha`."""
        ...

    def mentions(self, state: ApplicationState, sha: str, pattern: str) -> str:
        """The first file that the application reads at `sha` in which a regular expression matches, "" for none."""
        ...

    def branches(self, state: ApplicationState) -> Sequence[BranchTip]:
        """Unmerged branches of the application's repository whose commits touch what it reads."""
        ...

    def contains(self, repo_url: str, sha: str, ancestor: str) -> bool | None:
        """Whether `sha` has `ancestor` in its history; None where either is not known."""
        ...

    def reached(self, state: ApplicationState, repo_url: str, tracked: str, sha: str) -> tuple[str, int] | None:
        """`Landing.repo_url`, and the last position of the application's tracked line that `sha` has in its history.

        None where `sha` is not known, the repository is not the application's, or `tracked` (a targetRevision, "" for
        not known) is another branch than the one that the application tracks.
        """
        ...

    def commit(self, repo_url: str, sha: str) -> Landing | None:
        """Any commit of a repository, None where it is not known."""
        ...

    def first_parent(self, repo_url: str, sha: str) -> str:
        """The first parent of a commit, "" where there is none or it is not known."""
        ...

    def complete(self, state: ApplicationState) -> bool:
        """Whether the history of what the application tracks goes back to its beginning (no shallow clone)."""
        ...
