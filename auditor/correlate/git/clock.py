"""Until when git is known, where a committer's clock runs ahead of everything that was recorded."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from auditor.model.application import RevisionSeen
from auditor.model.coverage import AsOf
from auditor.model.desired import GitReader
from auditor.model.facts import Commit


def by_records(ends: AsOf, commits: Iterable[Commit], seen: Sequence[RevisionSeen], git: GitReader) -> AsOf:
    """The ends of records whose end of git is the latest committer's clock, with what records know better.

    A commit was made by the time at which a record shows a revision that has it, whatever its clock said. One that no
    record shows may have been made after all other records: its clock stands.
    """
    others = replace(ends, git=None).moment
    if ends.git is None or others is None or ends.git <= others:
        return ends
    end: datetime | None = None
    for commit in sorted(commits, key=lambda commit: commit.committed_at, reverse=True):
        if end is not None and commit.committed_at <= end:
            break
        made = _made_by(commit, seen, git)
        end = made if end is None else max(end, made)
    return ends if end is None else replace(ends, git=end)


def _made_by(commit: Commit, seen: Iterable[RevisionSeen], git: GitReader) -> datetime:
    shown = (one.at for one in seen if git.contains(commit.repository, one.revision, commit.sha))
    return min(commit.committed_at, next(shown, commit.committed_at))
