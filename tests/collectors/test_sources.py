"""Where sources lie, and how their bytes come."""

import bz2
import functools
import gzip
import io
import lzma
import os
import random
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import fsspec
import pytest
import zstandard

from auditor.collectors.files.source_files import open_content, read_content, source_files
from auditor.collectors.files.sources import Missing, Source, expand, open_stream
from auditor.collectors.files.streams import Section, decompressed, plain_size, skip
from auditor.errors import SourceError


def content(data: bytes, size: int = 1000) -> tuple[bytes, str]:
    """What a stream gives, and its damage."""
    stream = decompressed(io.BytesIO(data))
    found = b""
    while block := stream.read(size):
        assert len(block) <= size
        found += block
    return found, stream.damage


def names(folder: Path, *patterns: str) -> list[str]:
    return [found.name for found in expand(folder, patterns)]


def test_a_name_that_is_no_utf_8_is_told_in_text_that_can_be_stored(tmp_path: Path) -> None:
    place = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.log")
    try:
        Path(place).write_bytes(b"x")
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    (found,) = expand(tmp_path, ["."])
    assert found.name == "\\xff\\xfe.log"
    assert isinstance(found, Source)
    assert Path(found.location).read_bytes() == b"x"
    (file,) = source_files(tmp_path, ["."])
    assert file.name == found.name


def test_folders_are_read_whole_globs_match_and_each_file_comes_once(tmp_path: Path) -> None:
    for name in ("audit/b.log", "audit/2026/11/30/a.log.gz", "audit/.hidden", "other.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    assert names(tmp_path, "audit/") == ["audit/2026/11/30/a.log.gz", "audit/b.log"]
    assert names(tmp_path, "audit/**/*.gz", "audit") == ["audit/2026/11/30/a.log.gz", "audit/b.log"]
    assert names(tmp_path, "*.log", str(tmp_path / "other.log")) == ["other.log"]


def test_what_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = list(expand(tmp_path, ["gone.log", "empty", "*.gz"]))
    assert all(isinstance(each, Missing) for each in found)
    assert [each.problem for each in found if isinstance(each, Missing)] == [
        "gone.log does not exist.",
        "empty holds no file.",
        "*.gz matches nothing.",
    ]


def test_object_stores_are_listed_and_streamed() -> None:
    store = fsspec.filesystem("memory")
    store.pipe("/logs/2026/11/30/a.log", b"one\n")
    store.pipe("/logs/2026/12/01/b.log.gz", gzip.compress(b"two\n"))
    found = list(expand(Path("/nowhere"), ["memory://logs"]))
    assert [each.name for each in found] == ["memory:///logs/2026/11/30/a.log", "memory:///logs/2026/12/01/b.log.gz"]
    streams = [open_stream(each) for each in found if isinstance(each, Source)]
    assert [stream.read(100) for stream in streams] == [b"one\n", b"two\n"]
    assert names(Path("/nowhere"), "memory://logs/*/12/*/*") == ["memory:///logs/2026/12/01/b.log.gz"]


def test_an_object_store_without_its_extra_says_what_to_install() -> None:
    (found,) = expand(Path("/nowhere"), ["nosuch://bucket/logs"])
    assert isinstance(found, Missing)
    assert found.problem == "nosuch:// is not known."


def test_standard_input_is_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(gzip.compress(b"from a pipe"))

    monkeypatch.setattr(sys, "stdin", Input())
    (source,) = expand(Path("/nowhere"), ["-"])
    assert isinstance(source, Source)
    assert open_stream(source).read(100) == b"from a pipe"


def test_a_window_leaves_dated_paths_and_rotated_names_outside_it_unopened(tmp_path: Path) -> None:
    inside = (
        "audit.log",
        "audit-2026-11-30T12-00-00.000.log.gz",
        "audit-2026-12-02T00-00-00.000.log",
        "eks/2026/11/30/11/000000.gz",
        "aks/y=2026/m=11/d=30/h=10/m=00/PT1H.json",
        "day/dt=2026-11-30/part-0.json",
        "day/2026-12-01.jsonl",
        "version-2.0.1/notes.log",
    )
    outside = (
        "audit-2026-11-29T12-00-00.000.log.gz",
        "eks/2026/11/28/11/000000.gz",
        "eks/2026/12/03/11/000000.gz",
        "aks/y=2026/m=11/d=20/h=10/m=00/PT1H.json",
        "day/dt=2026-12-05/part-0.json",
        "day/2026-11-01.jsonl",
    )
    for name in inside + outside:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    since, until = datetime(2026, 11, 30, 6, tzinfo=UTC), datetime(2026, 11, 30, 18, tzinfo=UTC)
    assert [each.name for each in expand(tmp_path, ["."], since, until)] == sorted(inside)


@pytest.mark.parametrize("size", [1, 7, 1000, 1 << 20])
def test_compression_is_recognised_by_content_and_nests(size: int) -> None:
    text = random.Random(3).randbytes(5000) + b"x" * 5000
    for data in (
        text,
        gzip.compress(text),
        gzip.compress(text[:3000]) + gzip.compress(b"") + gzip.compress(text[3000:]) + b"\0" * 512,
        zstandard.compress(text),
        zstandard.compress(text[:3000]) + zstandard.compress(text[3000:]),
        gzip.compress(zstandard.compress(gzip.compress(text))),
    ):
        assert content(data, size) == (text, "")


GZIP, BZ2, XZ, ZSTD = gzip.compress, bz2.compress, lzma.compress, zstandard.compress


@pytest.mark.parametrize(
    "layers", [(GZIP, BZ2, XZ), (XZ, GZIP, BZ2), (ZSTD, XZ, GZIP), (BZ2, BZ2, BZ2), (XZ, XZ, GZIP)]
)
def test_compressions_of_all_kinds_nest(layers: tuple[Callable[[bytes], bytes], ...], tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(functools.reduce(lambda data, pack: pack(data), layers, b"one\n"))
    with closing(open_stream(Source("a.log", str(tmp_path / "a.log")))) as stream:
        assert stream.read(100) == b"one\n"


@pytest.mark.parametrize("pack", [GZIP, BZ2, XZ, ZSTD])
def test_what_is_packed_too_often_is_refused_in_a_sentence(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(functools.reduce(lambda data, _: pack(data), range(4), b"one\n"))
    with pytest.raises(SourceError, match=r"a\.log is compressed more than 3 times over: decompress it\."):
        open_stream(Source("a.log", str(tmp_path / "a.log")))


def test_lzma_in_its_old_form_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(lzma.compress(b"one\n", format=lzma.FORMAT_ALONE))
    with pytest.raises(SourceError, match="unlzma"):
        open_stream(Source("a.log", str(tmp_path / "a.log")))


def test_a_process_without_standard_input_reads_files_and_says_so_of_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.log").write_bytes(b"one\n")
    monkeypatch.setattr(sys, "stdin", None)
    open_stream(Source("a.log", str(tmp_path / "a.log"))).close()
    with pytest.raises(SourceError, match="standard input is closed"):
        open_stream(Source("-", "-"))


def test_a_limit_asks_for_no_more_memory_than_the_file_needs(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"x" * (3 << 20))
    (tmp_path / "b.log").write_bytes(gzip.compress(b"x" * (3 << 20)))
    for name in ("a.log", "b.log"):
        tracemalloc.start()
        assert len(read_content(tmp_path / name, 1 << 29)) == 3 << 20
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 32 << 20
        with pytest.raises(SourceError, match="larger than 2 MiB"):
            read_content(tmp_path / name, 2 << 20)


def test_a_tiny_gzip_with_much_inside_comes_in_blocks() -> None:
    stream = decompressed(io.BytesIO(gzip.compress(b"\0" * (64 << 20))))
    assert len(stream.read(1 << 16)) <= 1 << 16
    assert sum(len(block) for block in iter(lambda: stream.read(1 << 16), b"")) > 63 << 20


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_as_utf_8(encoding: str) -> None:
    text = '{"name":"ünïcode 🙂"}\n' * 300
    found, damage = content(text.encode(encoding), 101)
    assert found.decode("utf-8-sig") == text
    assert damage == ""


def test_a_zstd_frame_that_wants_too_much_memory_or_is_cut_is_damage() -> None:
    data = zstandard.compress(b"x" * 100_000)
    found, damage = content(data[:-3] if len(data) > 10 else data)
    assert len(found) <= 100_000
    assert content(data[:6] + b"\xff" * 40)[1].startswith("the zstd data is damaged")
    assert damage == "" or "zstd" in damage


def test_skipping_goes_to_a_place_in_any_stream() -> None:
    text = bytes(range(256)) * 100
    for data in (text, gzip.compress(text), zstandard.compress(text)):
        stream = decompressed(io.BytesIO(data))
        assert skip(stream, 12_345)
        assert stream.read(10) == text[12_345:12_355]
    assert not skip(decompressed(io.BytesIO(gzip.compress(b"short"))), 100)


def test_a_source_that_cannot_be_opened_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="gone cannot be read"):
        open_stream(Source("gone", str(tmp_path / "gone")))


def test_a_file_that_a_link_leads_to_comes_once(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_bytes(b"x")
    (tmp_path / "current.log").symlink_to("audit.log")
    assert names(tmp_path, "*.log") == ["audit.log"]


def test_files_that_are_read_whole_are_read_as_utf_8_whatever_they_are_packed_in(tmp_path: Path) -> None:
    said = "kind: List\n" * 9000
    forms = {"plain": said.encode(), "wide": said.encode("utf-16"), "packed": gzip.compress(said.encode("utf-16"))}
    for name, form in forms.items():
        (tmp_path / name).write_bytes(form)
        assert read_content(tmp_path / name, 1 << 20).removeprefix(b"\xef\xbb\xbf").decode() == said
        with open_content(tmp_path / name) as stream:
            assert stream.readline().removeprefix(b"\xef\xbb\xbf") == b"kind: List\n"
    with pytest.raises(SourceError, match="plain is larger than 0 MiB"):
        read_content(tmp_path / "plain", 100)


def test_what_lies_before_the_damage_of_a_file_is_read_and_then_the_damage_is_told(tmp_path: Path) -> None:
    lines = b"".join(b"line %d\n" % number for number in range(50_000))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(lines)[:-4000])
    found: list[bytes] = []
    with open_content(tmp_path / "cut.gz") as stream, pytest.raises(OSError, match="ends too early"):
        found.extend(iter(stream.readline, b""))
    assert lines.startswith(b"".join(found))
    assert len(found) > 1000
    with pytest.raises(SourceError, match="ends too early"):
        read_content(tmp_path / "cut.gz", 1 << 30)


def test_what_is_no_file_is_told_where_only_files_are_read(tmp_path: Path) -> None:
    (missing,) = source_files(tmp_path, ["s3://bucket/argocd/"])
    assert isinstance(missing, Missing)
    assert missing.problem == "s3://bucket/argocd/ is no file; only audit logs are read from elsewhere."


@pytest.mark.parametrize("step", [1, 5, 17, 100])
def test_sections_of_a_file_hold_every_line_once(step: int, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"".join(b"%d" % number * (number % 7) + b"\n" for number in range(60)) + b"no newline")
    size = path.stat().st_size
    edges = [*range(0, size, step), size]
    found = b""
    for start, end in pairwise(edges):
        section = Section(path.open("rb"), start, end)
        found += b"".join(iter(lambda section=section: section.read(3), b""))  # type: ignore[misc]
        section.close()
    assert found == path.read_bytes()


def test_only_plain_files_can_be_read_in_sections() -> None:
    assert plain_size(io.BytesIO(b'{"kind"')) == 7
    for data in (gzip.compress(b"x"), zstandard.compress(b"x"), "{}".encode("utf-16")):
        assert plain_size(io.BytesIO(data)) == 0


def test_a_home_that_nobody_has_is_a_path_without_anything(tmp_path: Path) -> None:
    assert [type(found) for found in expand(tmp_path, ["~no-such-user/audit"])] == [Missing]
