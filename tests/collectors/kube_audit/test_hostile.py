"""Damaged and hostile input: no crash, no hang, no event lost beside the damaged ones, every byte accounted for."""

import gzip
import json
import os
import random
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from auditor.collectors.kube_audit import events, scan, tables, window, wrappers
from auditor.collectors.kube_audit.delivery import Delivery
from tests.collectors.kube_audit.deliveries import WRAPPINGS, audit_event, event_lines, story
from tests.collectors.kube_audit.reading import collected

MUTATIONS = int(os.environ.get("AUDITOR_TEST_MUTATIONS", "150"))
"""The default is what a build can afford."""
LINES = event_lines(story())
NAMES = sorted(WRAPPINGS)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One kind of damage, somewhere."""
    at = rng.randrange(len(data))
    span = rng.choice([1, 2, 10, 1000])
    match rng.randrange(12):
        case 0:
            return data[:at]
        case 1:
            return data[at:]
        case 2:
            return data[:at] + bytes(byte ^ 1 << rng.randrange(8) for byte in data[at : at + span]) + data[at + span :]
        case 3:
            return data[:at] + rng.randbytes(span) + data[at:]
        case 4:
            return data[:at] + data[at + span :]
        case 5:
            other = WRAPPINGS[rng.choice(NAMES)](LINES[:5])
            return data[:at] + other + data[at:]
        case 6:
            return data[:at] + b"\0" * span + data[at:]
        case 7:
            return data[:at] + b"[" * rng.choice([10, 5000]) + data[at:]
        case 8:
            return data[:at] + b'{"a":' * rng.choice([10, 5000]) + data[at:]
        case 9:
            return data[:at] + b"\xff\xfe\xc0\x80" + data[at:]
        case 10:
            return data[:at] + b"9" * 400 + b"e999999999" + data[at:]
        case _:
            return data[:at] + data[max(at - span, 0) :] + data[:span]


@pytest.mark.parametrize("seed", range(MUTATIONS))
def test_mutated_input_is_read_to_its_end(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    data = WRAPPINGS[NAMES[seed % len(NAMES)]](LINES[:30])
    for _ in range(rng.randrange(1, 4)):
        data = mutated(data, rng) or b"x"
    (tmp_path / "export").write_bytes(data)
    shelf = collected(tmp_path)
    mark = shelf.mark()
    assert mark.complete
    assert sum(mark.account.values()) == mark.bytes
    assert mark.events == sum(mark.levels.values())
    again = collected(tmp_path, shelf)
    assert again.mark() == mark


LINE_BASED = (
    "json lines",
    "CRLF and a byte order mark",
    "AKS storage",
    "CloudWatch S3 export",
    "Loki logcli",
    "syslog",
)
IN_ARRAYS = ("an array, one element a line", "an array", "a pretty array", "CloudWatch in one line", "one event list")


@pytest.mark.parametrize("name", [*LINE_BASED, *IN_ARRAYS])
def test_a_damaged_record_costs_no_other(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.collectors.kube_audit.window.BLOCK", 1 << 10)
    monkeypatch.setattr(scan, "BLOCK", 1 << 10)
    lines = event_lines([audit_event(number, requestObject={"data": {"k": "v" * 50}}) for number in range(40)])
    whole = WRAPPINGS[name](lines)
    rng = random.Random(name)
    for _ in range(12):
        number = rng.randrange(2, 38)
        ident = f"{number:012x}".encode()
        at = whole.index(ident) + rng.randrange(60, 200)
        damaged = whole[:at] + rng.choice([b'"', b"\0\0", b"}", b"]}", b"{", b"\\", b"\xff"]) + whole[at + 1 :]
        (tmp_path / "export").write_bytes(damaged)
        found = {event.audit_id[-12:].encode() for event in collected(tmp_path).events.values()}
        assert len(found - {ident}) == 39


def test_a_cut_line_between_whole_ones_is_one_skipped_place(tmp_path: Path) -> None:
    for size in (30, 300, 700):
        (tmp_path / "audit.log").write_bytes(b"\n".join([LINES[3], LINES[13][:size], *LINES[23:30], b""]))
        shelf = collected(tmp_path)
        assert (shelf.mark().events, shelf.mark().undecodable) == (8, 1)
        assert [(place.offset, place.length) for place in shelf.skipped] == [(len(LINES[3]) + 1, size + 1)]


@pytest.mark.parametrize("behind", range(4))
def test_a_line_cut_behind_a_colon_takes_no_event_with_it(behind: int, tmp_path: Path) -> None:
    for mark in (b'"requestURI":', b'"auditID":', b'"kind":'):
        cut = LINES[13][: LINES[13].index(mark) + len(mark)]
        (tmp_path / "audit.log").write_bytes(b"\n".join([LINES[3], cut, *LINES[23 : 23 + behind], b""]))
        shelf = collected(tmp_path)
        assert shelf.mark().events == 1 + behind
        assert [(place.offset, place.length, place.reason) for place in shelf.skipped] == [
            (len(LINES[3]) + 1, len(cut) + 1, "cut off")
        ]


NESTS: dict[str, Callable[[Any], Any]] = {
    "a wrapping beside a key with dots": lambda inner: {"message": inner, "a.verb": "z"},
    "a member beside a key with dots": lambda inner: {"x": inner, "a.verb": "z"},
    "annotations beside a key with dots": lambda inner: {"annotations": inner, "user.username": "z"},
    "a text beside a key with dots": lambda inner: {"log": json.dumps(inner), "a.verb": "z"},
}


@pytest.mark.parametrize("nest", NESTS.values(), ids=list(NESTS))
def test_each_byte_of_a_record_is_looked_at_a_bounded_number_of_times(
    nest: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    record: Any = {"x": 1}
    for _ in range(12):
        record = nest(record)
    looked_at = []
    decode = events.decode_members
    monkeypatch.setattr(events, "decode_members", lambda text: looked_at.append(len(text)) or decode(text))
    text = json.dumps(record).encode()
    list(wrappers.unwrap(text, Delivery()))
    assert sum(looked_at) < 200 * len(text)


def test_the_long_name_of_a_column_is_not_written_with_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    table = json.dumps({"columns": ["n" * 10_000, "verb"], "rows": [[1, "get"]] * 1000}).encode()
    rows = list(tables.rows(events.decode_members(table)))
    assert rows[0] == b'{"":1,"verb":"get"}'
    assert sum(map(len, rows)) < 2 * len(table)


def test_a_line_above_the_limit_is_skipped_with_its_place(tmp_path: Path) -> None:
    long_line = b'{"kind":"Event","data":"' + b"x" * (window.LIMIT + 5_000_000) + b'"}'
    (tmp_path / "audit.log").write_bytes(b"\n".join([LINES[3], long_line, LINES[13], b""]))
    tracemalloc.start()
    shelf = collected(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert shelf.mark().events == 2
    (place,) = shelf.skipped
    assert (place.offset, place.reason) == (len(LINES[3]) + 1, "longer than 16 MiB")
    assert peak < 120_000_000


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize(
    "fill", [b"\0", b"[", b" ", b"\n", b"{"], ids=["NUL", "brackets", "blanks", "newlines", "braces"]
)
def test_a_bomb_is_read_in_bounded_memory(compress: object, fill: bytes, tmp_path: Path) -> None:
    assert callable(compress)
    size = 48 << 20
    (tmp_path / "bomb").write_bytes(compress(LINES[3] + b"\n" + fill * size))
    tracemalloc.start()
    shelf = collected(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert shelf.mark().events == 1
    assert shelf.mark().bytes == len(LINES[3]) + 1 + size
    assert peak < 120_000_000


def test_a_damaged_archive_gives_what_came_before_and_says_so(tmp_path: Path) -> None:
    data = gzip.compress(b"".join(line + b"\n" for line in LINES * 20), compresslevel=1)
    (tmp_path / "cut.gz").write_bytes(data[: len(data) // 2])
    wrong = bytearray(data)
    wrong[len(data) // 2] ^= 0xFF
    (tmp_path / "wrong.gz").write_bytes(bytes(wrong))
    (tmp_path / "trailing.gz").write_bytes(data + b"no gzip")
    shelf = collected(tmp_path)
    assert shelf.mark("trailing.gz").events == 1200
    assert 100 < shelf.mark("cut.gz").events < 1200
    reasons = {place.source: place.reason for place in shelf.skipped if place.length == 0}
    assert reasons["cut.gz"] == "the gzip data ends too early"
    assert reasons["wrong.gz"].startswith("the gzip data is damaged")
    assert reasons["trailing.gz"] == "bytes that are not gzip follow its end"
    assert zlib.crc32(data) != zlib.crc32(bytes(wrong))


def test_many_lines_that_may_begin_a_value_take_no_quadratic_time(tmp_path: Path) -> None:
    for opening in (b"[\n", b'{"a":\n', b"[[1],\n", b'{"a":[\n'):
        (tmp_path / "audit.log").write_bytes(opening * 40_000 + b"\n" + LINES[3] + b"\n")
        assert collected(tmp_path).mark().events <= 1


def test_a_file_of_another_kind_has_no_events_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(100_000))
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "list.json").write_bytes(b'{"kind":"PodList","items":[{"kind":"Pod","metadata":{"name":"x"}}]}')
    (tmp_path / "audit.log").write_bytes(LINES[3])
    shelf = collected(tmp_path)
    assert {name: mark.events for (_, name), mark in shelf.marks.items()} == {
        "image.png": 0,
        "empty": 0,
        "list.json": 0,
        "audit.log": 1,
    }
    assert shelf.mark("list.json").foreign == 1
