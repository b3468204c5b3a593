"""One source in detail: its bytes add up, and its streams speak and are silent."""

from typing import Any

import pytest

from auditor.console.source_detail import account_rows, byte_check, show_source, span_rows
from auditor.model.facts import Skipped, SourceMark

ACCOUNT = {"event": 700, "read": 200, "wrapping": 100}


def mark(size: int = 1000, **given: Any) -> SourceMark:
    return SourceMark("audit", "acme", "audit/audit.log", "", "jsonl", bytes=size, account=ACCOUNT, **given)


def test_each_kind_of_byte_is_told_those_of_which_there_are_none_too() -> None:
    rows = dict(account_rows(ACCOUNT))
    assert rows["events"] == "700 bytes, 70.0%"
    assert rows["skipped"] == "0 bytes, 0.0%"


def test_bytes_that_are_missing_from_the_account_are_told() -> None:
    assert byte_check([mark(), mark()]) == "2,000 bytes, each accounted for"
    assert byte_check([mark(), mark(1050)]) == "2,050 bytes, of which 50 are not accounted for"


def test_a_stream_has_its_spans_and_the_silences_between_them() -> None:
    spans = [
        ("2026-11-30T07:00", "2026-11-30T07:10"),
        ("2026-11-30T07:30", "2026-11-30T07:40"),
        ("2026-11-30T09:00", "2026-12-01T01:00"),
    ]
    assert span_rows(spans) == [
        ("2026-11-30 07:00 – 07:10", "then silent for 20 min"),
        ("2026-11-30 07:30 – 07:40", "then silent for 1 h 20 min"),
        ("2026-11-30 09:00 – 2026-12-01 01:00", ""),
    ]
    assert span_rows(spans * 9)[-1] == ("and 7 spans more", "--format json lists them all")


def test_all_of_a_source_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    streams = {
        "apiserver-1": (("2026-11-30T07:00", "2026-11-30T07:10"),),
        "apiserver-2": (("2026-11-30T07:00", "2026-11-30T07:04"),),
    }
    writers = {f"user-{number}": number for number in range(20)}
    one = mark(streams=streams, writers=writers, successful_writes=190, complete=False, levels={"Metadata": 3})
    show_source(one, [Skipped("audit", "acme", "audit/audit.log", 12, 34, "cut last line")])
    said = capsys.readouterr().out
    for expected in (
        "190 stored, 0 dry runs, 0 not accepted", "in all", "1,000 bytes, each accounted for", "user-19",
        "and 10 others", "When the stream apiserver-2 spoke", "2026-11-30 07:00 – 07:04\n",
        "at byte 12  34 bytes: cut last line",
        "not read to its end",
    ):  # fmt: skip
        assert expected in said
