"""Answers as files: to a name or a pipe, never to a terminal, and refused before anything is computed."""

import io
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from pyarrow import parquet as arrow

from auditor.cli import app, run
from auditor.console.options import TabularFormat
from auditor.console.status import Status
from auditor.console.tables import put_table
from tests.conftest import Demo

ANSWERS = ("changes", "findings", "episodes", "drift", "staging")


def say(*arguments: str) -> int:
    return run(partial(app(), [*arguments, "--quiet"]))


@pytest.fixture
def folder(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(demo.folder)
    monkeypatch.setenv("PATH", "")
    return demo.folder


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_has_the_rows_and_columns_of_its_csv(
    name: str, folder: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert say(name, "--format", "csv") == Status.CLEAN
    head, *rows = _csv(capfdbinary.readouterr().out)
    for form in ("parquet", "xlsx"):
        assert say(name, "--format", form) == Status.CLEAN
        piped = capfdbinary.readouterr().out
        assert say(name, "--format", form, "--output", str(tmp_path)) == Status.CLEAN
        assert capfdbinary.readouterr().out.decode() == f"{tmp_path / name}.{form}\n"
        assert (tmp_path / f"{name}.{form}").read_bytes() == piped
    table = arrow.read_table(tmp_path / f"{name}.parquet")
    sheet = list(load_workbook(tmp_path / f"{name}.xlsx").active.iter_rows(values_only=True))
    assert table.column_names == list(sheet[0]) == head
    assert table.num_rows == len(sheet) - 1 == len(rows) > 0
    texts = [place for place, field in enumerate(table.schema) if "string" in str(field.type)]
    for row, cells, kept in zip(rows, sheet[1:], table.to_pylist(), strict=True):
        values = list(kept.values())
        assert [cells[place] or "" for place in texts] == [row[place] for place in texts]
        assert [values[place] or "" for place in texts] == [row[place].removeprefix("'") for place in texts]


def _csv(content: bytes) -> list[list[str]]:
    import csv

    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def test_a_list_stays_json_whatever_its_texts_hold(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"a": {"b": ["\u202e", "\x07", "\ud83d".encode("utf-8", "replace").decode()]}}]
    put_table(TabularFormat.PARQUET, "x", ("a.b", "c"), rows, tmp_path / "x")
    [row] = arrow.read_table(tmp_path / "x").to_pylist()
    assert json.loads(row["a_b"]) == rows[0]["a"]["b"]
    assert row["a_b"].isprintable()
    assert row["c"] is None


@pytest.mark.parametrize("more", [(), ("--output", "-")])
@pytest.mark.parametrize("form", ["parquet", "xlsx"])
def test_a_terminal_is_not_sent_bytes(
    form: str, more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert say("changes", "--format", form, *more) == Status.USAGE
    assert f"a terminal cannot show {form}" in capsys.readouterr().err


def test_text_goes_to_stdout_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert say("findings", "--format", "csv", "--output", "x.csv") == Status.USAGE
    assert "write > FILE" in capsys.readouterr().err


def test_a_missing_library_is_told_before_the_store_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert say("drift", "--format", "xlsx", "--output", "x.xlsx") == Status.RENDER
    assert "pip install 'auditor[excel]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
