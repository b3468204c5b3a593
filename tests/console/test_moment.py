"""Times as people write them."""

from datetime import UTC, datetime

import pytest
import typer

from auditor.console.moment import moment

END = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-11-30T07:00:00Z", datetime(2026, 11, 30, 7, tzinfo=UTC)),
        ("2026-11-30T07:00+02:00", datetime(2026, 11, 30, 5, tzinfo=UTC)),
        ("2026-11-30", datetime(2026, 11, 29, 23, tzinfo=UTC)),
        ("2026-11-30 07:00", datetime(2026, 11, 30, 6, tzinfo=UTC)),
        ("90m", datetime(2026, 11, 30, 10, 30, tzinfo=UTC)),
        ("2h", datetime(2026, 11, 30, 10, tzinfo=UTC)),
        ("1w", datetime(2026, 11, 23, 12, tzinfo=UTC)),
        ("5min", datetime(2026, 11, 30, 11, 55, tzinfo=UTC)),
        ("2h30m", datetime(2026, 11, 30, 9, 30, tzinfo=UTC)),
        ("1 day 12 hours", datetime(2026, 11, 29, 0, tzinfo=UTC)),
    ],
)
def test_a_time_is_one_of_the_readers_zone_or_counts_back_from_the_end(written: str, meant: datetime) -> None:
    assert moment(written, END, "Europe/Berlin") == meant


def test_no_time_is_no_time() -> None:
    assert moment(None, END, "UTC") is None


@pytest.mark.parametrize(
    "written", ["tomorrow", "5 minutes ago", "25:00", "2026-13-01", "7x", "", "999999w", "0001-01-01"]
)
def test_what_is_no_time_is_a_usage_error(written: str) -> None:
    with pytest.raises(typer.BadParameter):
        moment(written, END, "Asia/Tokyo")


def test_a_span_needs_an_end_to_count_from() -> None:
    with pytest.raises(typer.BadParameter, match="there are none"):
        moment("2h", None, "UTC")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("today", "2026-12-01 23:00:00"),
        ("yesterday", "2026-11-30 23:00:00"),
        ("7:05", "2026-12-02 06:05:00"),
        ("07:05:30", "2026-12-02 06:05:30"),
    ],
)
def test_a_day_of_the_calendar_is_the_readers_and_what_it_became_is_told(written: str, meant: str) -> None:
    told: list[str] = []
    found = moment(written, END, "Europe/Berlin", told.append, lambda: datetime(2026, 12, 1, 23, 30, tzinfo=UTC))
    assert f"{found:%Y-%m-%d %H:%M:%S}" == meant
    assert told == [f"{written} is taken for {meant} UTC."]
