"""The cache file: what it keeps, and what a crash or a bad disk makes of it."""

from pathlib import Path

from auditor.desired.pack import Pack

ONE, TWO, THREE = (bytes([number]) * 32 for number in (1, 2, 3))


def filled(folder: Path) -> Path:
    pack = Pack(folder)
    pack.put(ONE, {"a": [1]})
    pack.put(TWO, {"b": "x" * 100})
    pack.close()
    return folder / "rendered.pack"


def test_what_was_put_is_there_in_the_next_run(tmp_path: Path) -> None:
    filled(tmp_path)
    pack = Pack(tmp_path)
    assert (pack.get(ONE), pack.get(TWO), pack.get(THREE)) == ({"a": [1]}, {"b": "x" * 100}, None)
    pack.close()


def test_a_record_that_a_killed_run_left_half_written_is_not_there_and_is_written_over(tmp_path: Path) -> None:
    file = filled(tmp_path)
    file.write_bytes(file.read_bytes()[:-5])
    pack = Pack(tmp_path)
    assert (pack.get(ONE), pack.get(TWO)) == ({"a": [1]}, None)
    pack.put(THREE, 3)
    pack.close()
    again = Pack(tmp_path)
    assert (again.get(ONE), again.get(TWO), again.get(THREE)) == ({"a": [1]}, None, 3)
    again.close()


def test_a_record_that_the_disk_changed_is_not_there(tmp_path: Path) -> None:
    file = filled(tmp_path)
    content = bytearray(file.read_bytes())
    content[-8] ^= 0xFF
    file.write_bytes(bytes(content))
    pack = Pack(tmp_path)
    assert (pack.get(ONE), pack.get(TWO)) == ({"a": [1]}, None)
    pack.close()


def test_shipped_packs_are_read_and_not_written(tmp_path: Path) -> None:
    shipped = filled(tmp_path / "shipped")
    before = shipped.read_bytes()
    pack = Pack(tmp_path / "own", (tmp_path / "shipped",))
    assert pack.get(ONE) == {"a": [1]}
    pack.put(THREE, 3)
    pack.close()
    assert shipped.read_bytes() == before
    assert (tmp_path / "own" / "rendered.pack").is_file()
