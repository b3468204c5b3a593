"""A log is watched over as a whole: what no statement cites too."""

import gzip
from dataclasses import replace
from pathlib import Path

from auditor.config import ClusterConfig, Config
from auditor.console import evidence as records
from auditor.console.log_chains import LogStanding, log_places, log_standings
from tests.collectors.kube_audit.deliveries import event_lines, story
from tests.collectors.kube_audit.reading import Shelf, collected

LINES = [line + b"\n" for line in event_lines(story())]
TEXT = b"".join(LINES)


def config_of(folder: Path) -> Config:
    return Config(folder, clusters=(ClusterConfig("prod", audit=(".",)),))


def standings(folder: Path, shelf: Shelf) -> list[LogStanding]:
    marks = list(shelf.marks.values())
    return list(log_standings(marks, log_places(config_of(folder), marks)))


def told(folder: Path, shelf: Shelf) -> dict[str, tuple[str, int | None]]:
    return {one.source: (one.standing, one.changed_from) for one in standings(folder, shelf)}


def test_a_read_that_was_taken_out_of_a_log_is_told(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(TEXT)
    shelf = collected(tmp_path)
    assert told(tmp_path, shelf) == {"audit.log": ("unchanged", None)}
    reads = [line for line in LINES if b'"verb":"list"' in line]
    log.write_bytes(TEXT.replace(reads[0], b""))
    assert told(tmp_path, shelf) == {"audit.log": ("changed", 0)}


def test_a_log_that_grew_was_rotated_and_compressed_is_still_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_bytes(TEXT)
    shelf = collected(tmp_path)
    (tmp_path / "audit.log.1.gz").write_bytes(gzip.compress(TEXT + LINES[0]))
    (tmp_path / "audit.log").write_bytes(LINES[7])
    assert told(tmp_path, shelf) == {"audit.log": ("unchanged", None)}


def test_a_record_of_a_log_that_was_rotated_and_compressed_is_found_where_it_is_now(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(TEXT)
    shelf = collected(tmp_path)
    origins = {fact.origin for fact in shelf.events.values()}
    (tmp_path / "audit.log.1.gz").write_bytes(gzip.compress(TEXT))
    log.write_bytes(LINES[7])
    places = log_places(config_of(tmp_path), list(shelf.marks.values()))
    assert records.standings(tmp_path, origins, places) == dict.fromkeys(origins, "unchanged")
    log.unlink()
    (tmp_path / "audit.log.1.gz").write_bytes(gzip.compress(TEXT.replace(b'"verb"', b'"Verb"')))
    places = log_places(config_of(tmp_path), list(shelf.marks.values()))
    assert set(records.standings(tmp_path, origins, places).values()) == {"gone"}


def test_a_log_that_expired_is_gone_and_standard_input_was_never_kept(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_bytes(TEXT)
    shelf = collected(tmp_path)
    (tmp_path / "audit.log").unlink()
    assert told(tmp_path, shelf) == {"audit.log": ("gone", None)}
    [mark] = shelf.marks.values()
    of_stdin = [replace(mark, source="-")]
    [piped] = log_standings(of_stdin, log_places(Config(tmp_path), of_stdin))
    assert piped.standing == "not-kept"
    [one] = standings(tmp_path, shelf)
    assert (one.bytes, one.cluster, len(one.sha256)) == (len(TEXT), "prod", 64)
