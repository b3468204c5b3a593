"""The revisions that an application follows: one strand for each repository and target it names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditor.desired.history import Tree
from auditor.desired.pull_requests import pull_request
from auditor.desired.repositories import BranchLine, Checkout, Tracked
from auditor.desired.source import same_repository
from auditor.model.application import AppSource
from auditor.model.desired import Landing
from auditor.model.facts import Commit


@dataclass(frozen=True, slots=True)
class Strand:
    """One repository at one target."""

    checkout: Checkout
    target: str
    tracked: Tracked
    line: BranchLine

    @property
    def is_branch(self) -> bool:
        """Whether it moves with a branch, rather than being fixed or moving from tag to tag."""
        return bool(self.tracked.branch)

    def tree(self, sha: str) -> Tree | None:
        """The files at a commit."""
        return self.checkout.tree(sha, self.line)

    def has(self, sha: str) -> bool:
        """Whether the commit is one of the repository."""
        return sha in self.checkout.graph.commits

    def follows(self, target: str) -> bool:
        """Whether a targetRevision means the same branch; "" is one that is not known."""
        if not target or target == self.target:
            return True
        other = self.checkout.tracked(target)
        return not isinstance(other, str) and other.branch == self.tracked.branch

    def states(self) -> Sequence[Commit]:
        """What it has pointed to, oldest first."""
        if self.is_branch:
            return self.line.line.commits
        return [commit for sha in self.tracked.shas if (commit := self.checkout.graph.commits.get(sha))]


def strand(source: AppSource, checkouts: Mapping[str, Checkout]) -> Strand | str:
    """The strand of a source, or the sentence why there is none."""
    checkout = checkouts.get(source.repo_url) or next(
        (other for url, other in checkouts.items() if same_repository(url, source.repo_url)), None
    )
    if not source.repo_url:
        return "no record names its repository"
    if checkout is None:
        return f"no repository is configured for {source.repo_url}"
    if not checkout.graph.commits:
        return f"nothing of the repository {source.repo_url} was collected"
    tracked = checkout.tracked(source.target_revision)
    if isinstance(tracked, str):
        return tracked
    line = checkout.line(tracked.branch) if tracked.branch else checkout.main
    return Strand(checkout, source.target_revision, tracked, line)


def landing(commit: Commit, merged: tuple[str, ...], repo_url: str, position: int = 0) -> Landing:
    """A commit of a strand as one state of what is tracked."""
    return Landing(
        sha=commit.sha,
        at=commit.committed_at,
        author=author_of(commit),
        subject=commit.subject,
        pull_request=pull_request(commit.subject, commit.body),
        merged=merged,
        signature=commit.signature,
        repo_url=repo_url,
        position=position,
    )


def author_of(commit: Commit) -> str:
    """`Name <mail>`."""
    return f"{commit.author_name} <{commit.author_email}>"
