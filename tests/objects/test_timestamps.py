"""Moments as records write them."""

from datetime import UTC, datetime

import pytest

from auditor.objects.timestamps import instant


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-30T07:00:34Z", datetime(2026, 11, 30, 7, 0, 34, tzinfo=UTC)),
        ("2026-11-30T08:00:34.123456789+0100", datetime(2026, 11, 30, 7, 0, 34, 123456, tzinfo=UTC)),
        ("2026-11-30T07:00:34", None),
        ("2026-13-30T07:00:34Z", None),
        ("0001-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("9999-12-31T23:59:59-23:59", None),
        (7, None),
    ],
)
def test_a_moment_has_a_zone_and_a_clock_that_can_have_shown_it(text: object, at: datetime | None) -> None:
    assert instant(text) == at
