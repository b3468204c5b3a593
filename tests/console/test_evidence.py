"""Records are hashed again where they lie."""

import gzip
import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path

from auditor.console.evidence import chain, named, standings
from auditor.model.facts import Origin

CONTENT = b"first line\nsecond line\nthird\n"


def origin(source: str, offset: int, length: int) -> Origin:
    return Origin(source, offset, length, hashlib.sha256(CONTENT[offset : offset + length]).hexdigest())


def test_unchanged_records_are_found_in_any_order_and_inside_one_another(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(CONTENT)
    (tmp_path / "packed").write_bytes(gzip.compress(CONTENT))
    wanted = [origin(name, *place) for name in ("plain", "packed") for place in ((23, 5), (0, 28), (11, 11), (0, 10))]
    assert standings(tmp_path, wanted, {}) == dict.fromkeys(wanted, "unchanged")


def test_an_export_is_hashed_as_it_lies_there_and_a_log_as_its_records_are_read(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "logs.tar", "w") as archive:
        member = tarfile.TarInfo("audit.log")
        member.size = len(CONTENT)
        archive.addfile(member, io.BytesIO(CONTENT))
    (tmp_path / "applications.yaml").write_bytes(b"kind: List\nitems: []\n")
    digest = hashlib.sha256(b"kind: List").hexdigest()
    wanted = [origin("logs.tar", 11, 11), Origin("applications.yaml", 0, 10, digest)]
    logs = {"logs.tar": named(tmp_path, "logs.tar")}
    assert standings(tmp_path, wanted, logs) == dict.fromkeys(wanted, "unchanged")


def test_a_changed_byte_is_told_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(CONTENT.replace(b"second", b"sec0nd"))
    first, second = origin("plain", 0, 10), origin("plain", 11, 11)
    assert standings(tmp_path, [first, second], {}) == {first: "unchanged", second: "changed"}


def test_what_was_never_a_file_is_not_said_to_be_gone(tmp_path: Path) -> None:
    live, piped = origin("live:acme/apps/deployments", 0, 10), origin("-", 0, 10)
    assert standings(tmp_path, [live, piped], {}) == {live: "not-kept", piped: "not-kept"}


def test_the_chain_is_of_all_records_in_whatever_order_they_are_cited() -> None:
    first, second, third = origin("a", 0, 10), origin("a", 11, 11), origin("b", 0, 10)
    whole = chain([first, second, third])
    assert whole == chain([third, first, second, first])
    assert len({whole, chain([first, second]), chain([first, third]), chain([])}) == 4
    assert chain([first, second, replace(third, sha256="0" * 64)]) != whole
    assert chain([first]) == hashlib.sha256(f"a\x000\x0010\x00{first.sha256}".encode()).hexdigest()


def test_a_source_that_is_gone_or_short_is_told(tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(CONTENT[:15])
    here, cut, gone = origin("short", 0, 10), origin("short", 11, 11), origin("nowhere", 0, 5)
    assert standings(tmp_path, [here, cut, gone], {}) == {here: "unchanged", cut: "gone", gone: "gone"}
