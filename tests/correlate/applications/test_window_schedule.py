"""When a sync window holds, by its schedule, its length and its zone. 2026-11-30 is a Monday."""

from datetime import timedelta

import pytest

from auditor.correlate.applications.window_schedule import Span, next_span
from tests.factories import minute

NOON = minute(180)


@pytest.mark.parametrize(
    ("schedule", "duration", "zone", "begins", "ends"),
    [
        ("* * * * *", "1h", "", 0, None),
        ("*/5 * * * *", "10m", "", 0, None),
        ("0 12 * * *", "1h30m", "", 0, 90),
        ("0 11 * * *", "2h", "", 0, 60),
        ("30 12 * * *", "1h", "", 30, 90),
        ("0 13 * * *", "1h", "Europe/Berlin", 0, 60),
        ("0 12 * * mon", "1h", "", 0, 60),
        ("0 12 * * 1-5", "1h", "", 0, 60),
        ("0 12 30 nov *", "1h", "", 0, 60),
        ("0 12 1 * mon", "1h", "", 0, 60),
        ("@daily", "1h", "", 0, None),
        ("* * * * *", "soon", "", 0, None),
        ("* * * * *", "1h", "Mars/Base", 0, None),
    ],
)
def test_a_window_holds(schedule: str, duration: str, zone: str, begins: int, ends: int | None) -> None:
    end = None if ends is None else NOON + timedelta(minutes=ends)
    assert next_span(schedule, duration, zone, NOON) == Span(NOON + timedelta(minutes=begins), end)


@pytest.mark.parametrize("schedule", ["0 22 * * *", "0 12 * * 0,7", "0 12 1 * *", "0 12 * 1 *", "0 10 * * *"])
def test_a_window_that_opens_another_time_does_not_hold(schedule: str) -> None:
    assert next_span(schedule, "1h", "", NOON) is None
