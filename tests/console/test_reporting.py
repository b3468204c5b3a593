"""Where a report goes: a whole file or none, and what is no file stays what it is."""

import os
import threading
from pathlib import Path

import pytest
import typer

from auditor.console.reporting import form_of, report_named, write_file
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


@pytest.mark.parametrize(
    ("form", "output", "is_in"),
    [
        (None, None, "html"),
        (None, "incident", "html"),
        (None, "incident.pdf", "pdf"),
        ("pdf", "incident.pdf", "pdf"),
        ("markdown", "incident.txt", "markdown"),
        ("json", None, "json"),
    ],
)
def test_a_report_is_in_the_format_that_is_named_or_that_its_file_ends_in(
    form: str | None, output: str | None, is_in: str
) -> None:
    assert form_of(report_named("postmortem"), form, Path(output) if output else None) == is_in


@pytest.mark.parametrize(("form", "output"), [("html", "incident.pdf"), (None, "incident.docx")])
def test_a_file_that_ends_as_another_format_is_not_written(form: str | None, output: str) -> None:
    with pytest.raises(typer.BadParameter, match="ends"):
        form_of(report_named("postmortem"), form, Path(output))
