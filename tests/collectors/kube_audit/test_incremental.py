"""Runs that follow each other while files grow, rotate, are compressed, copied, truncated and refilled."""

import gzip
import os
import random
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from auditor.collectors.kube_audit import collecting
from auditor.config import ClusterConfig
from auditor.model.facts import SourceMark
from tests.collectors.kube_audit.deliveries import WRAPPINGS, audit_event, event_lines, story
from tests.collectors.kube_audit.exports import EXPORTS
from tests.collectors.kube_audit.reading import Shelf, batches, collected

LINES = event_lines(story())
TEXT = b"".join(line + b"\n" for line in LINES)


def events_by_source(shelf: Shelf) -> dict[str, int]:
    return {name: mark.events for (_, name), mark in shelf.marks.items()}


def without_position(mark: SourceMark) -> SourceMark:
    """All but how it resumes: the chain of what was read is the same however often and by whom it was."""
    return replace(mark, position={key: text for key, text in mark.position.items() if key == "chain"})


def whole(shelf: Shelf) -> tuple[Any, ...]:
    """All that a store would hold, but how a mark resumes."""
    origins = {key: (event.origin.source, event.origin.offset) for key, event in shelf.events.items()}
    return origins, shelf.skipped, {key: without_position(mark) for key, mark in shelf.marks.items()}


def test_a_file_that_grows_is_read_on_where_it_was_left(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    shelf = Shelf()
    for end in (10, 10, 25, 60):
        log.write_bytes(b"".join(line + b"\n" for line in LINES[:end]))
        collected(tmp_path, shelf)
        assert shelf.mark().events == end
    assert whole(shelf) == whole(collected(tmp_path))


DELIVERIES = WRAPPINGS | EXPORTS
WRITTEN_AT_ONCE = ("UTF", "YAML", "yaml", "tsv", "aws --output text")
"""A beginning of these looks like a whole: what else belongs to it cannot be known."""


@pytest.mark.parametrize("name", [name for name in DELIVERIES if not any(at in name for at in WRITTEN_AT_ONCE)])
def test_a_file_cut_at_any_byte_and_completed_later_is_as_if_read_whole(name: str, tmp_path: Path) -> None:
    data = DELIVERIES[name](LINES[:20])
    log = tmp_path / "export"
    log.write_bytes(data)
    at_once = collected(tmp_path)
    rng = random.Random(name)
    for _ in range(3):
        shelf = Shelf()
        for end in sorted(rng.sample(range(1, len(data)), 3)):
            log.write_bytes(data[:end])
            collected(tmp_path, shelf)
        log.write_bytes(data)
        collected(tmp_path, shelf)
        assert set(shelf.events) == set(at_once.events)
        assert shelf.skipped == set()
        assert (shelf.mark().events, shelf.mark().undecodable) == (20, 0)
        assert shelf.mark().account == at_once.mark().account


def test_a_half_written_line_is_told_and_then_taken_back(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(TEXT[:-100])
    shelf = collected(tmp_path)
    assert (shelf.mark().events, shelf.mark().undecodable, len(shelf.skipped)) == (59, 1, 1)
    log.write_bytes(TEXT)
    collected(tmp_path, shelf)
    assert (shelf.mark().events, shelf.mark().undecodable, shelf.skipped) == (60, 0, set())


def test_a_rotated_file_keeps_what_is_known_of_it_under_its_new_name(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(TEXT)
    shelf = collected(tmp_path)
    log.rename(tmp_path / "audit-2026-11-30T05-32-00.000.log")
    log.write_bytes(b"".join(line + b"\n" for line in event_lines([audit_event(900), audit_event(901)])))
    collected(tmp_path, shelf)
    assert events_by_source(shelf) == {"audit-2026-11-30T05-32-00.000.log": 60, "audit.log": 2}


def test_what_was_appended_before_a_rotation_is_not_lost(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(b"".join(line + b"\n" for line in LINES[:30]))
    shelf = collected(tmp_path)
    (tmp_path / "audit.log.1").write_bytes(TEXT)
    log.write_bytes(event_lines([audit_event(900)])[0] + b"\n")
    collected(tmp_path, shelf)
    assert events_by_source(shelf) == {"audit.log.1": 60, "audit.log": 1}
    assert len(shelf.events) == 37


def test_a_chain_of_rotations_moves_every_name_by_one(tmp_path: Path) -> None:
    parts = [LINES[0:10], LINES[10:25], LINES[25:45], LINES[45:60]]
    shelf = Shelf()
    for part in parts:
        for number in (3, 2, 1):
            name = tmp_path / (f"audit.log.{number - 1}" if number > 1 else "audit.log")
            if name.exists():
                name.rename(tmp_path / f"audit.log.{number}")
        (tmp_path / "audit.log").write_bytes(b"".join(line + b"\n" for line in part))
        collected(tmp_path, shelf)
    assert events_by_source(shelf) == {"audit.log": 15, "audit.log.1": 20, "audit.log.2": 15, "audit.log.3": 10}
    assert len(shelf.events) == 36


def test_compression_after_rotation_is_the_same_content(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(b"".join(line + b"\n" for line in LINES[:40]))
    shelf = collected(tmp_path)
    log.unlink()
    (tmp_path / "audit.log.1.gz").write_bytes(gzip.compress(TEXT))
    collected(tmp_path, shelf)
    assert events_by_source(shelf) == {"audit.log.1.gz": 60}


def test_copy_and_truncate_neither_loses_nor_doubles(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(TEXT)
    shelf = collected(tmp_path)
    shutil.copy(log, tmp_path / "audit.log.1")
    os.truncate(log, 0)
    with log.open("ab") as file:
        file.write(event_lines([audit_event(900)])[0] + b"\n")
    collected(tmp_path, shelf)
    assert events_by_source(shelf) == {"audit.log.1": 60, "audit.log": 1}


def test_a_truncated_and_refilled_file_of_the_same_name_is_new(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(TEXT)
    shelf = collected(tmp_path)
    fresh = event_lines([audit_event(900 + number) for number in range(200)])
    with log.open("r+b") as file:
        file.truncate()
        file.write(b"".join(line + b"\n" for line in fresh))
    collected(tmp_path, shelf)
    assert shelf.mark().events == 200
    assert len(shelf.events) == 236


def test_overlapping_exports_give_each_event_once_and_each_source_its_own_count(tmp_path: Path) -> None:
    for number, (start, end) in enumerate([(0, 30), (20, 50), (40, 60), (0, 60)]):
        (tmp_path / f"export-{number}").write_bytes(WRAPPINGS["AKS storage"](LINES[start:end]))
    shelf = collected(tmp_path)
    assert Counter(mark.events for mark in shelf.marks.values()) == {30: 2, 20: 1, 60: 1}
    assert len(shelf.events) == 36


def test_a_member_appended_to_a_gzip_is_read_on(tmp_path: Path) -> None:
    log = tmp_path / "audit.log.gz"
    shelf = Shelf()
    data = b""
    for at in range(0, 60, 20):
        data += gzip.compress(b"".join(line + b"\n" for line in LINES[at : at + 20]))
        log.write_bytes(data)
        collected(tmp_path, shelf)
    assert shelf.mark().events == 60
    assert shelf.skipped == set()


def test_a_source_that_went_away_keeps_its_mark(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(TEXT)
    (tmp_path / "other.log").write_bytes(LINES[0])
    shelf = collected(tmp_path)
    log.unlink()
    collected(tmp_path, shelf)
    assert events_by_source(shelf) == {"audit.log": 60, "other.log": 1}


@pytest.mark.parametrize("name", ["json lines", "a pretty array", "CRI", "CloudWatch filter-log-events", "gzip"])
def test_a_run_that_is_stopped_after_any_batch_is_finished_by_the_next(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "BATCH", 4 << 10)
    monkeypatch.setattr("auditor.collectors.kube_audit.window.BLOCK", 1 << 10)
    monkeypatch.setattr("auditor.collectors.kube_audit.scan.BLOCK", 1 << 10)
    for number in range(2):
        (tmp_path / f"export-{number}").write_bytes(WRAPPINGS[name](LINES[number * 30 : number * 30 + 30]))
    at_once = collected(tmp_path)
    assert len(list(batches(tmp_path, Shelf()))) > 8
    for stop in range(1, 20, 3):
        shelf = Shelf()
        for _ in range(60):
            for number, batch in enumerate(batches(tmp_path, shelf)):
                shelf.write(batch)
                if number == stop:
                    break
            else:
                break
        assert whole(shelf) == whole(at_once)


def test_records_of_two_clusters_in_one_source_do_not_mix(tmp_path: Path) -> None:
    def entry(number: int, cluster: str) -> bytes:
        group = f"/aws/eks/{cluster}/cluster"
        line = event_lines([audit_event(number)])[0].decode()
        return WRAPPINGS["subscription records"]([line.encode()]).replace(b"/aws/eks/prod/cluster", group.encode())

    (tmp_path / "firehose").write_bytes(b"".join(entry(n, ("prod", "staging")[n % 3 == 0]) for n in range(9)))
    clusters = [ClusterConfig("prod", audit=("firehose",)), ClusterConfig("staging", audit=("firehose",))]
    shelf = collected(tmp_path, clusters=clusters)
    assert Counter(event.cluster for event in shelf.events.values()) == {"prod": 6, "staging": 3}
    assert {key: mark.events for key, mark in shelf.marks.items()} == {
        ("prod", "firehose"): 6,
        ("staging", "firehose"): 3,
    }
    with (tmp_path / "firehose").open("ab") as file:
        file.write(entry(9, "staging") + entry(10, "elsewhere"))
    collected(tmp_path, shelf, clusters)
    assert {key: mark.events for key, mark in shelf.marks.items()} == {
        ("prod", "firehose"): 6,
        ("staging", "firehose"): 4,
    }
    assert [skipped.reason for skipped in shelf.skipped] == ["of elsewhere, which is no cluster of the configuration"]


def test_a_log_that_two_clusters_list_and_that_names_neither_is_a_loss_and_told_of_none(tmp_path: Path) -> None:
    events = [audit_event(1, "patch"), audit_event(2, "get"), audit_event(3, "delete")]
    (tmp_path / "audit.log").write_bytes(b"".join(line + b"\n" for line in event_lines(events)))
    shelf = collected(tmp_path, clusters=[ClusterConfig(name, audit=("audit.log",)) for name in ("prod", "staging")])
    (mark,) = shelf.marks.values()
    assert (mark.events, mark.undecodable, mark.foreign) == (0, 2, 1)
    assert {skipped.reason for skipped in shelf.skipped} == {"of prod or staging: give each its own files"}
    assert sum(mark.account.values()) == (tmp_path / "audit.log").stat().st_size


def test_an_unreadable_and_a_missing_source_are_told_and_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_bytes(TEXT)
    clusters = [ClusterConfig("prod", audit=("gone/", "audit.log", "gone*.gz"))]
    shelf = collected(tmp_path, clusters=clusters)
    assert shelf.mark("audit.log").events == 60
    assert shelf.mark("gone/").problem == "gone/ does not exist."
