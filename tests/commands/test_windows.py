"""What no record reaches is not checked, and never all clear."""

from pathlib import Path

import pytest

from auditor.console.status import Status
from tests.commands.asking import Ask, ask

__all__ = ["ask"]


@pytest.mark.parametrize("times", [("--since", "2026-12-01"), ("--until", "2026-11-29"), ("--as-of", "2026-11-29")])
def test_no_report_is_made_of_a_time_that_no_record_reaches(ask: Ask, times: tuple[str, str]) -> None:
    said = ask("report", "postmortem", *times, "--output", "report.html")
    assert said.status == Status.NOT_CHECKED
    assert "reaches this time" in said.err
    assert not Path("report.html").exists()


def test_a_report_of_a_quiet_time_within_the_records_is_made(ask: Ask) -> None:
    assert ask("report", "drift", "--since", "1s", "--format", "csv").status == Status.CLEAN


def test_an_empty_answer_says_that_no_record_reaches_its_time(ask: Ask) -> None:
    assert "the last ends 2026-11-30 07:13:02 UTC" in ask("changes", "--since", "2026-12-01").out
    assert ask("findings", "--since", "2026-12-01", "--exit-status").status == Status.NOT_CHECKED


def test_a_moment_before_the_records_is_not_where_they_end(ask: Ask) -> None:
    said = ask("changes", "--as-of", "2026-11-29").out
    assert "the first begins 2026-11-30 06:57:45 UTC" in said
    assert "The records end" not in said
