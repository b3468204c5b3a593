"""The chain over all bytes of an audit log: the same however they were read, and broken where one of them changed."""

import gzip
import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from auditor.collectors.files.streams import Held
from auditor.collectors.kube_audit import chain, collecting, parallel, resume
from auditor.collectors.kube_audit.chain import Chain, Link, Passing, Spanned, first_difference
from tests.collectors.kube_audit.deliveries import event_lines, story
from tests.collectors.kube_audit.reading import Shelf, batches, collected
from tests.collectors.kube_audit.test_parallel import read

LEAF, CHUNK = 1000, 4000
LINE = event_lines(story())[0] + b"\n"
TEXT = b"".join(line + b"\n" for line in event_lines(story()))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves, parts and batches of which a small log has many."""
    monkeypatch.setattr(chain, "LEAF", LEAF)
    monkeypatch.setattr(chain, "CHUNK", CHUNK)
    monkeypatch.setattr(chain, "_LEAVES", CHUNK // LEAF)
    monkeypatch.setattr(collecting, "BATCH", 9_000)
    monkeypatch.setattr(parallel, "PART", 9_000)
    monkeypatch.setattr(parallel, "_WORTHWHILE", 10_000)


LONG = TEXT[: 5 * CHUNK + 50]


def chained(data: bytes, rest: bytes = b"") -> Link:
    made = Chain()
    made.feed(data)
    return made.link(rest)


def link_of(shelf: Shelf, name: str = "") -> Link:
    link = resume.link_of(shelf.mark(name))
    assert link is not None
    return link


@pytest.mark.parametrize("seed", range(8))
def test_a_chain_is_the_same_wherever_its_bytes_were_cut(seed: int) -> None:
    rng = random.Random(seed)
    data = rng.randbytes(rng.choice((10, LEAF, 5 * LEAF, 40 * LEAF + 17)))
    made, at = Chain(), 0
    while at < len(data):
        size = rng.choice((1, 100, LEAF - 1, LEAF, 3 * LEAF + 5))
        if rng.random() < 0.5:
            made.feed(data[at : at + size])
        else:
            spanned = Spanned(Held(data[at : at + size]), at)
            while spanned.read(rng.choice((70, LEAF, 2_000))):
                pass
            made.add(spanned.span())
        at += size
    assert made.link() == chained(data)


def test_the_places_of_a_chain_stay_few_and_lie_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "_MOST", 4)
    for chunks in range(1, 40):
        grown = Chain()
        for number in range(chunks * CHUNK // LEAF):
            grown._append(number.to_bytes(32))
        made = grown.link()
        assert len(made.places) == chunks * CHUNK // chain.apart(made.leaves) <= 4


def test_a_scan_that_reads_ahead_passes_each_byte_once() -> None:
    passing = Passing(Held(b"abcdefghij"), 100)
    assert [passing.read(4), passing.read(4)] == [b"abcd", b"efgh"]
    assert b"".join(passing.passed(106)) == b"abcdef"
    assert b"".join(passing.passed(106)) == b""
    assert passing.held() == b"gh"


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_one_pass_many_passes_and_workers_make_one_chain(packed: Callable[[bytes], bytes], tmp_path: Path) -> None:
    log, shelf = tmp_path / "audit", Shelf()
    for end in (300, LEAF, 2 * LEAF + 1, CHUNK, 50_000, len(TEXT)):
        log.write_bytes(packed(TEXT[:end]))
        collected(tmp_path, shelf)
    with ThreadPoolExecutor(2) as threads:
        by_workers = read(tmp_path, threads)
    assert link_of(shelf) == link_of(collected(tmp_path)) == link_of(by_workers) == chained(TEXT)


def test_a_killed_run_goes_on_with_its_chain_though_the_log_was_rotated(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_bytes(TEXT * 10)
    shelf = Shelf()
    run = batches(tmp_path, shelf)
    for _ in range(2):
        shelf.write(next(run))
    assert 0 < link_of(shelf).length < 10 * len(TEXT)
    os.rename(tmp_path / "audit.log", tmp_path / "audit.log.1")
    assert link_of(collected(tmp_path, shelf)) == chained(TEXT * 10)


def test_the_half_written_end_of_a_log_is_covered_and_then_read_again(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(TEXT + LINE[:100])
    shelf = collected(tmp_path)
    assert link_of(shelf) == chained(TEXT, LINE[:100])
    log.write_bytes(TEXT + LINE)
    assert link_of(collected(tmp_path, shelf)) == chained(TEXT + LINE)


def test_a_log_whose_open_leaf_was_changed_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "LEAF", 100_000)
    log, before = tmp_path / "audit.log", LINE * 20
    log.write_bytes(before)
    shelf = collected(tmp_path)
    changed = before[:5000] + before[5000:-5000].replace(b"audit", b"edits") + before[-5000:]
    log.write_bytes(changed + LINE)
    assert link_of(collected(tmp_path, shelf)) == chained(changed + LINE) != chained(before + LINE)


def differs_from(data: bytes, link: Link) -> int | None:
    return first_difference(Held(data), link)


def test_a_changed_a_missing_and_an_added_byte_are_placed() -> None:
    link = chained(LONG)
    assert differs_from(LONG, link) is None
    assert differs_from(LONG + LINE, link) is None
    at = 2 * CHUNK + 100
    assert differs_from(LONG[:at] + b"#" + LONG[at + 1 :], link) == 2 * CHUNK
    assert differs_from(LONG[:at] + LONG[at + 500 :], link) == 2 * CHUNK
    assert differs_from(LONG[: 3 * CHUNK + 5], link) == 3 * CHUNK
    assert differs_from(b"", link) == 0


def test_a_log_cut_to_a_part_is_told_although_its_places_lie_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "_MOST", 2)
    link = chained(LONG)
    assert chain.apart(link.leaves) > CHUNK
    assert differs_from(LONG, link) is None
    assert differs_from(LONG[: CHUNK + 5], link) == 0


def test_a_changed_half_line_at_the_end_is_told() -> None:
    link = chained(TEXT, LINE[:100])
    assert differs_from(TEXT + LINE, link) is None
    assert differs_from(TEXT + b"#" * 100, link) == len(TEXT) // CHUNK * CHUNK
