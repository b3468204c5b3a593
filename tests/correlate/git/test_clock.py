"""The end of git is the latest committer's clock, as far as records do not know better."""

from datetime import datetime
from typing import cast

from auditor.correlate.git.clock import by_records
from auditor.model.application import RevisionSeen
from auditor.model.coverage import AsOf
from auditor.model.desired import GitReader
from tests.factories import commit, evidence, minute


class Line:
    """A repository whose commits a, b, c … follow each other."""

    def __init__(self) -> None:
        self.asked = 0

    def contains(self, repo_url: str, sha: str, ancestor: str) -> bool:
        self.asked += 1
        return sha >= ancestor


def end(clocks: dict[str, float], seen: dict[str, float], git: Line | None = None, log: float = 60) -> datetime | None:
    records = [RevisionSeen("url", sha, minute(at), evidence()) for sha, at in seen.items()]
    ends = AsOf({"prod": minute(log)}, None, minute(max(clocks.values())), None, None)
    commits = [commit(sha, at) for sha, at in clocks.items()]
    return by_records(ends, commits, records, cast(GitReader, git or Line())).git


def test_a_commit_that_a_record_shows_was_made_by_then() -> None:
    assert end({"a": 10, "b": 500}, {"b": 40}) == minute(40)
    assert end({"a": 10, "b": 500, "c": 20}, {"c": 30}) == minute(30)
    assert end({"b": 500, "c": 50}, {"b": 40}) == minute(50)


def test_the_first_record_that_shows_a_commit_counts() -> None:
    assert end({"a": 10, "b": 500}, {"a": 20, "b": 40, "c": 55}) == minute(40)


def test_a_commit_that_no_record_shows_keeps_its_clock() -> None:
    assert end({"a": 10, "b": 500}, {"a": 40}) == minute(500)
    assert end({"a": 600, "b": 500}, {"a": 40}) == minute(500)


def test_commits_within_the_time_of_the_other_records_are_not_looked_at() -> None:
    git = Line()
    assert end({"a": 10, "b": 59}, {"b": 40}, git) == minute(59)
    assert git.asked == 0
