"""Where a report goes: a whole file or none, and what is no file stays what it is."""

import os
import threading
from pathlib import Path

import pytest

from auditor.console.reporting import write_file
from auditor.errors import RenderError


def test_a_file_is_replaced_whole_and_is_its_owner_s_alone(tmp_path: Path) -> None:
    place = tmp_path / "reports" / "drift.md"
    write_file(place, b"one")
    write_file(place, b"two")
    assert place.read_bytes() == b"two"
    assert place.stat().st_mode & 0o777 == 0o600
    assert os.listdir(place.parent) == ["drift.md"]


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    place = tmp_path / "pipe"
    os.mkfifo(place)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(place.read_bytes()))
    reader.start()
    write_file(place, b"report")
    reader.join(5)
    assert read == [b"report"]
    assert place.is_fifo()


def test_a_folder_in_the_way_is_an_error_for_people(tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="cannot be written"):
        write_file(tmp_path, b"x")
