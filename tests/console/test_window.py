"""A window that the records do not reach."""

import pytest

from auditor.console.window import outside
from tests.factories import mark, minute

MARKS = (mark("audit", 0, 60), mark("argocd", 10, 90), mark("git", -600, 600))


@pytest.mark.parametrize(
    ("since", "until", "as_of", "why"),
    [
        (91, None, None, "the last ends 2026-11-30 10:30:00 UTC"),
        (None, -1, None, "the first begins 2026-11-30 09:00:00 UTC"),
        (-60, -1, None, "the first begins 2026-11-30 09:00:00 UTC"),
        (None, None, -1, "the first begins 2026-11-30 09:00:00 UTC"),
        (90, 600, None, ""),
        (-600, 0, None, ""),
        (None, None, None, ""),
    ],
)
def test_only_audit_logs_and_argo_cd_tell_of_changes(
    since: float | None, until: float | None, as_of: float | None, why: str
) -> None:
    times = [None if each is None else minute(each) for each in (since, until, as_of)]
    said = outside(MARKS, *times)
    assert why in said
    assert bool(said) == bool(why)


def test_without_such_records_nothing_is_said_of_their_end() -> None:
    assert outside((mark("git", 0, 60),), minute(90), None) == ""
