"""Answers hold what records say, and nothing in a record becomes more than text."""

import csv
import io
import json
import re
from typing import Any

import pytest

from auditor.console.answer import Column, Trimmed, block, console, say_csv, say_json, say_table, text
from auditor.console.change_list import change_lines, explanation
from auditor.store import Recorded
from tests.factories import actor, change, field, verdict

HOSTILE = "a\x1b[31m[bold]b[/bold]\x9b2J\u202ec\r\n:smile: \x07"


def test_json_is_one_object_with_its_rows(capsys: pytest.CaptureFixture[str]) -> None:
    say_json("auditor/x/1", {"git": None}, "rows", iter([{"a": 1}, {"a": [None, "ü"]}]), more=[1])
    said = json.loads(capsys.readouterr().out)
    assert said == {
        "schema": "auditor/x/1",
        "as_of": {"git": None},
        "more": [1],
        "rows": [{"a": 1}, {"a": [None, "ü"]}],
    }


def test_json_without_rows_is_still_whole(capsys: pytest.CaptureFixture[str]) -> None:
    say_json("auditor/x/1", {}, "rows", ())
    assert json.loads(capsys.readouterr().out)["rows"] == []


def test_json_keeps_hostile_text_and_prints_none_of_it_raw(capsys: pytest.CaptureFixture[str]) -> None:
    say_json("auditor/x/1", {}, "rows", [{HOSTILE: HOSTILE}, {"tag": "\U000e0041"}])
    out = capsys.readouterr().out
    assert json.loads(out)["rows"] == [{HOSTILE: HOSTILE}, {"tag": "\U000e0041"}]
    assert not {"\x1b", "\x9b", "\u202e", "\x07", "\r", "\U000e0041"} & set(out)


@pytest.mark.parametrize("formula", ["=1+1", "+cmd", "-2", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(formula: str, capsys: pytest.CaptureFixture[str]) -> None:
    say_csv(("a", "b.c"), [{"a": formula, "b": {"c": 3}}])
    [head, row] = csv.reader(io.StringIO(capsys.readouterr().out))
    assert head == ["a", "b_c"]
    assert row[0][0] not in "=+-@\t\r"
    assert row[1] == "3"


def test_an_absent_key_is_an_empty_cell(capsys: pytest.CaptureFixture[str]) -> None:
    say_csv(("a.b", "c"), [{"a": None, "c": None}])
    assert capsys.readouterr().out == "a_b,c\n,\n"


def printed(capsys: pytest.CaptureFixture[str], *lines: Any) -> str:
    out = console()
    for line in lines:
        out.print(line)
    return capsys.readouterr().out


def test_record_text_is_neither_markup_nor_emoji_nor_control(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, text(HOSTILE), text("env[name=DB_POOL].value renovate[bot]"))
    assert "[bold]b[/bold]" in out
    assert ":smile:" in out
    assert "env[name=DB_POOL].value renovate[bot]" in out
    assert not {"\x1b", "\x9b", "\u202e", "\x07", "\r"} & set(out)
    assert len(out.splitlines()) == 2


def test_a_block_keeps_its_lines_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, block("a: 1\nb:\x1b[2J")).startswith("a: 1\nb:\\x1b[2J")


def test_a_change_is_shown_with_both_verdicts_within_the_columns_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = field("spec.template.spec.containers[name=app].image", "registry.acme.example/" + "a" * 90, HOSTILE)
    one = change("0123456789abcdef", 0, field(), long, actor=actor(HOSTILE, acting_as="admin"))
    judged = verdict(one.id, ("reflected", "standing"), ("not-declared", "reverted"), commit="b648bbc3f0000")
    recorded = Recorded(one.write, one, judged)
    out = printed(capsys, *change_lines(recorded), *explanation(recorded))
    assert "spec.replicas: 3 → 6" in out
    assert "● git: reflected b648bbc3f" in out
    assert "● git: not-declared" in out
    assert "as admin" in out
    assert "evidence: audit 0123456789abcdef audit.log at byte 0, 1 bytes" in out
    assert "\x1b" not in out
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.parametrize("columns", [None, "", "0", "wide"])
def test_where_no_terminal_bounds_it_nothing_is_wrapped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str | None
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    sentence = "a sentence of some length " * 40
    assert printed(capsys, text(sentence)).splitlines() == [sentence.rstrip()]


def test_a_change_without_fields_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    one = change("a", 0, fields_known=False, persisted="unproven", application=None)
    out = printed(capsys, *change_lines(Recorded(one.write, one, verdict("a", ("unknown", "unknown")))))
    assert "the audit level keeps no bodies" in out
    assert "unproven" in out
    assert "no application" in out


def test_no_line_ends_in_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.padding import Padding
    from rich.table import Table

    table = Table.grid()
    table.add_column(min_width=20)
    table.add_row(text("short"))
    out = printed(capsys, table, Padding(text("word " * 30), (0, 0, 0, 4)), text("end   ", "bold"))
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


def test_colours_end_where_the_text_does() -> None:
    stream = io.StringIO()
    Trimmed(stream).write("\x1b[1mword   \x1b[0m\n\x1b[2mtwo\x1b[0m   \nlast")
    assert stream.getvalue() == "\x1b[1mword\x1b[0m\n\x1b[2mtwo\x1b[0m\nlast"


COLUMNS = (Column("source"), Column("records", number=True))
ROW = [text("audit/" + "a" * 80 + ".log"), text("12")]


def test_a_cell_stays_whole_where_no_terminal_bounds_it(capsys: pytest.CaptureFixture[str]) -> None:
    say_table(console(), COLUMNS, [ROW])
    assert re.fullmatch(r"source +records\naudit/a{80}\.log +12\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("brief", "shown"),
    [
        (True, ["audit/audit.log", "  jsonl, 12 records"]),
        (False, ["source   audit/audit.log", "format   jsonl", "records  12", ""]),
    ],
)
def test_on_a_narrow_terminal_the_cells_are_stacked(brief: bool, shown: list[str]) -> None:
    from rich.console import Console

    stream: Any = Trimmed(io.StringIO())
    out = Console(file=stream, width=30, force_terminal=True, color_system=None)
    columns = (Column("source"), Column("format"), Column("records", number=True))
    say_table(out, columns, [[text("audit/audit.log"), text("jsonl"), text("12")]], brief=brief)
    assert re.sub(r"\x1b\[[\d;]*m", "", stream.getvalue()).splitlines() == shown


def test_numbers_stand_on_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    say_table(console(), COLUMNS, [[text("a"), text("1")], [text("b"), text("1,000")]])
    assert capsys.readouterr().out == "source  records\na             1\nb         1,000\n"
