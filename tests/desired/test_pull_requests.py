"""Pull-request numbers as the hosting services write them."""

import pytest

from auditor.desired.pull_requests import pull_request


@pytest.mark.parametrize(
    ("subject", "body", "number"),
    [
        ("Merge pull request #41 from acme/hotfix/inc-2041", "Hotfix", 41),
        ("Release web 1.4.1 to production (#32)", "", 32),
        ("Merge branch 'hotfix' into 'main'", "Pin web\n\nSee merge request platform/deploy!123", 123),
        ("Pin web", "See merge request platform/deploy!7\n", 7),
        ("Merged in hotfix/web (pull request #12)", "Pin web", 12),
        ("Pull request #15: Pin web", "Merge in OPS/deploy from hotfix to main", 15),
        ("Merge pull request #16 in OPS/deploy from hotfix to main", "", 16),
        ("Merged PR 2041: Pin web", "Related work items: #77", 2041),
        ("Merge pull request 'Pin web' (#9) from hotfix into main", "", 9),
        ("Pin web (!8)", "", 8),
        ("Revert \"Release web (#12)\" (#15)", "", 15),
        ("Revert \"Release web (#12)\"", "This reverts commit 1234.", None),
        ("Fix #12: the queue", "", None),
        ("Fix the queue", "Closes #12", None),
        ("payments: 1Gi of memory (was 256Mi)", "", None),
        ("", "", None),
        ("x" * 100_000 + " (#3)", "", None),
    ],
)  # fmt: skip
def test_the_number_is_read_from_where_each_service_writes_it(subject: str, body: str, number: int | None) -> None:
    assert pull_request(subject, body) == number
