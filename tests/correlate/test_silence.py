from dataclasses import replace

from auditor.correlate.silence import silences
from auditor.model.facts import SourceMark
from tests.factories import mark


def log(*spans: tuple[str, str], stream: str = "", source: str = "audit.log") -> SourceMark:
    told = tuple((f"2026-11-30T{begin}", f"2026-11-30T{end}") for begin, end in spans)
    return replace(mark("audit", 0, 60, "prod"), source=source, streams={stream: told})


def gaps(*marks: SourceMark) -> list[str]:
    return [
        f"{gap.first_at:%H:%M}-{gap.last_at:%H:%M}" for gap in silences("prod", marks) if gap.first_at and gap.last_at
    ]


def test_a_log_that_is_never_silent_has_no_gap() -> None:
    assert gaps(log(("00:00", "08:00"))) == []


def test_a_hole_in_a_log_that_always_talks_is_a_gap() -> None:
    assert gaps(log(("00:00", "03:00"), ("03:30", "08:00"))) == ["03:00-03:30"]


def test_rotated_files_that_follow_each_other_leave_none() -> None:
    assert gaps(log(("00:00", "03:00")), log(("03:01", "08:00"), source="audit.log.1")) == []


def test_a_log_that_is_mostly_silent_has_no_gaps() -> None:
    assert gaps(log(("00:00", "00:02"), ("04:00", "04:01"), ("08:00", "08:03"))) == []


def test_a_short_silence_is_no_gap() -> None:
    assert gaps(log(("00:00", "03:00"), ("03:08", "08:00"))) == []


def test_a_stream_that_ends_before_the_others_is_a_gap_though_the_whole_has_no_hole() -> None:
    lost = gaps(log(("00:00", "08:00"), stream="a"), log(("00:00", "07:00"), stream="b", source="b.log"))
    assert lost == ["07:00-08:00"]


def test_one_stream_may_end_when_it_does() -> None:
    assert gaps(log(("00:00", "07:00"), stream="a")) == []
