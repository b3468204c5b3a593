"""Whether a fix lies on a branch that is not merged."""

from collections.abc import Callable
from datetime import datetime

from auditor.model.application import ApplicationState
from auditor.model.desired import BranchTip, GitReader, Landing
from auditor.model.verdict import Authored, GitVerdict


def on_branch(
    state: ApplicationState, has: Callable[[str], bool], git: GitReader, as_of: datetime
) -> GitVerdict | None:
    """The verdict where an unmerged branch brings the value, None where none does.

    Of several branches the one counts that had it first; the others are named in the reason.
    """
    found = []
    for branch in git.branches(state):
        commit = _brought_by(branch, has, git, as_of)
        if commit is not None:
            found.append((commit.at, branch.name, commit))
    if not found:
        return None
    found.sort(key=lambda entry: entry[:2])
    _, name, commit = found[0]
    others = ", ".join(name for _, name, _ in found[1:])
    return GitVerdict(
        verdict="on-branch",
        reason=f"also on {others}" if others else "",
        commit=commit.sha,
        author=commit.author,
        at=commit.at,
        authored=Authored(commit.sha, commit.author),
        pull_request=commit.pull_request,
        branch=name,
        signature=commit.signature,
    )


def _brought_by(branch: BranchTip, has: Callable[[str], bool], git: GitReader, as_of: datetime) -> Landing | None:
    """The commit with which a branch came to have the value that it has at its end; None where it has not got it, or
    only because it left the tracked branch when that had it."""
    commits = [commit for sha in branch.commits if (commit := git.commit(branch.repo_url, sha)) and commit.at <= as_of]
    if not commits or not has(commits[-1].sha):
        return None
    begin = None
    for commit in reversed(commits):
        if not has(commit.sha):
            break
        if not has(git.first_parent(branch.repo_url, commit.sha)):
            begin = commit
    return begin
