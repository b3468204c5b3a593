"""Parquet and Excel have what CSV has, typed, the same bytes each time, and nothing that a program would run."""

import io
import sys
import time
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from openpyxl import load_workbook
from pyarrow import parquet as arrow

from auditor import registry
from auditor.errors import RenderError
from auditor.model.resource import Json
from reports import render
from reports.formats import typed_tables
from reports.formats.typed_tables import parquet, xlsx
from tests.reports.incident import incident
from tests.reports.rendering import BERLIN, HOSTILE, renderer, report

NAMES = ("at", "ended_at", "count", "seconds_frozen", "live")
ROWS: list[list[Json]] = [
    ["2026-11-30T07:00:34.5Z", "0001-01-01T00:00:00Z", 3, 1.5, True],
    ["9999-12-31T23:59:59Z", None, None, None, ["a", 1]],
    ["2026-11-30T07:00:34Z", None, 1 << 60, 2, None],
]


def read(content: bytes) -> Any:
    return arrow.read_table(io.BytesIO(content))


def cells(content: bytes) -> list[Sequence[Any]]:
    """Header and rows."""
    return list(load_workbook(io.BytesIO(content)).active.iter_rows(values_only=True))


def test_parquet_has_typed_columns_and_nulls() -> None:
    first, second, third = read(parquet(NAMES, ROWS)).to_pylist()
    assert first == {
        "at": datetime(2026, 11, 30, 7, 0, 34, 500_000, UTC),
        "ended_at": datetime(1, 1, 1, tzinfo=UTC),
        "count": 3,
        "seconds_frozen": 1.5,
        "live": "true",
    }
    assert (second["at"].year, second["count"], second["live"]) == (9999, None, '["a", 1]')
    assert (third["count"], third["seconds_frozen"], third["live"]) == (1 << 60, 2.0, None)


def test_a_column_has_its_type_whatever_the_rows_hold() -> None:
    full = read(parquet(NAMES, ROWS)).schema
    assert read(parquet(NAMES, [[None] * len(NAMES)])).schema.equals(full)
    assert read(parquet(NAMES, [])).schema.equals(full)
    assert str(full.field("at").type) == "timestamp[us, tz=UTC]"
    assert str(full.field("count").type) == "int64"


def test_excel_has_times_as_text_and_numbers_as_numbers() -> None:
    head, first, second, _ = cells(xlsx("episodes", NAMES, ROWS))
    assert head == NAMES
    assert first == ("2026-11-30T07:00:34.5Z", "0001-01-01T00:00:00Z", 3, 1.5, "true")
    assert second == ("9999-12-31T23:59:59Z", None, None, None, '["a", 1]')


@pytest.mark.parametrize("formula", ["=1+1", "+cmd", "-2", "@SUM(A1)", "\t=1", "\r=1", "  =cmd"])
def test_a_workbook_has_no_formula_and_parquet_the_text_as_it_is(formula: str) -> None:
    cell = load_workbook(io.BytesIO(xlsx("x", ["name"], [[formula]]))).active["A2"]
    assert cell.data_type == "s"
    assert cell.value.startswith("'")
    if formula.isprintable():
        assert read(parquet(["name"], [[formula]])).to_pylist() == [{"name": formula}]


def test_excel_is_told_that_an_escape_in_a_record_is_text() -> None:
    written = xlsx("x", ["name"], [["a_x003D_b"]])
    with zipfile.ZipFile(io.BytesIO(written)) as archive:
        assert b">a_x005F_x003D_b<" in archive.read("xl/worksheets/sheet1.xml")


@pytest.mark.parametrize("text", [HOSTILE, "\ud83d", "\x00\x0b\x1f\ufffe\uffff", "\U000e0041"])
def test_hostile_text_breaks_no_file_and_keeps_no_control_character(text: str) -> None:
    [row] = read(parquet(["name"], [[text]])).to_pylist()
    _, (cell,) = cells(xlsx("x", ["name"], [[text]]))
    assert row["name"].isprintable()
    assert cell.isprintable()


@pytest.mark.parametrize("letter", ["a", "\U0001f4a5"])
def test_what_a_cell_of_excel_cannot_hold_is_cut_and_says_so(letter: str) -> None:
    _, (cell,) = cells(xlsx("x", ["name"], [[letter * 40_000]]))
    assert len(cell.encode("utf-16-le")) // 2 in (32_766, 32_767)
    assert cell.endswith(f"{letter}… (cut: a cell of Excel holds no more)")


def test_what_a_sheet_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_tables, "_SHEET_ROWS", 3)
    assert len(cells(xlsx("x", ["name"], [["a"]] * 2))) == 3
    with pytest.raises(RenderError, match="cannot hold 3 rows") as raised:
        xlsx("x", ["name"], [["a"]] * 3)
    assert "parquet" in raised.value.hint


@pytest.mark.parametrize("form", ["parquet", "xlsx"])
def test_the_same_register_gives_the_same_bytes(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = render(report("register"), renderer(form), incident(), BERLIN)
    monkeypatch.setenv("TZ", "Pacific/Chatham")
    monkeypatch.setattr(time, "time", lambda: 1.9e9)
    time.tzset()
    try:
        assert render(report("register"), renderer(form), incident(), BERLIN) == first
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_workbook_is_dated_by_no_clock() -> None:
    book = load_workbook(io.BytesIO(xlsx("x", ["name"], [])))
    assert book.properties.created == book.properties.modified == datetime(1980, 1, 1)  # noqa: DTZ001


def test_the_register_has_the_rows_and_columns_of_its_csv() -> None:
    records = report("register").records(incident(), BERLIN)
    table = read(render(report("register"), renderer("parquet"), incident(), BERLIN))
    sheet = cells(render(report("register"), renderer("xlsx"), incident(), BERLIN))
    assert tuple(table.column_names) == sheet[0] == records.columns
    assert table.num_rows == len(sheet) - 1 == len(records.rows)
    assert str(table.schema.field("reverted_at").type) == "timestamp[us, tz=UTC]"


def test_the_register_alone_is_a_typed_table() -> None:
    assert [one.name for one in registry.reports() if {"parquet", "xlsx"} & set(one.formats)] == ["register"]


@pytest.mark.parametrize(
    ("form", "library", "extra"), [("parquet", "pyarrow", "auditor[parquet]"), ("xlsx", "openpyxl", "auditor[excel]")]
)
def test_without_its_library_a_format_names_the_extra(
    form: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(RenderError, match=library) as raised:
        render(report("register"), renderer(form), incident(), BERLIN)
    assert extra in raised.value.hint
