"""Where a report goes, and in which format."""

from pathlib import Path

import pytest

from auditor.console.status import Status
from tests.commands.asking import Ask, ask

__all__ = ["ask"]


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("q.md", b"# "),
        ("q.json", b"{"),
        ("q.csv", b"at,"),
        ("q.html", b"<!DOCTYPE"),
        ("q", b"<!DOCTYPE"),
        ("q.parquet", b"PAR1"),
        ("q.xlsx", b"PK"),
    ],
)
def test_the_ending_of_a_file_says_its_format(ask: Ask, name: str, begins: bytes) -> None:
    assert ask("report", "register", "--output", name).status == Status.CLEAN
    assert Path(name).read_bytes().startswith(begins)


def test_a_format_that_is_asked_for_comes_before_the_ending(ask: Ask) -> None:
    assert ask("report", "register", "--format", "json", "--output", "q.txt").status == Status.CLEAN
    assert Path("q.txt").read_bytes().startswith(b"{")


def test_an_ending_that_stands_for_no_format_is_a_usage_error(ask: Ask) -> None:
    said = ask("report", "postmortem", "--output", "q.docx")
    assert said.status == Status.USAGE
    assert "q.docx ends in .docx" in said.err
    assert not Path("q.docx").exists()
