"""The recording of many acts, as the program tells it from each kind of record."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.recordings.comparison import (
    Lines,
    after_creates,
    complaints,
    doubled,
    exactly,
    nothing_wrong,
    saved,
    shuffled,
    told,
    without_bodies,
    without_creates,
    without_responses,
)

HERE = Path(__file__).parent


def test_every_field_of_every_act_is_told_where_both_bodies_are_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, entries = saved(HERE)
    assert complaints(told(tmp_path, lines, capsys), entries, exactly) == []


@pytest.mark.parametrize("lose", [without_responses, without_bodies])
def test_what_is_not_recorded_is_unknown_and_never_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lose: Callable[[Lines], Lines]
) -> None:
    lines, entries = saved(HERE)
    assert complaints(told(tmp_path, lose(lines), capsys), entries, nothing_wrong) == []


@pytest.mark.parametrize("lose", [list, without_responses, without_bodies])
def test_objects_that_were_there_before_the_log_began_have_no_made_up_past(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lose: Callable[[Lines], Lines]
) -> None:
    lines, entries = saved(HERE)
    changes = told(tmp_path, lose(without_creates(lines)), capsys)
    assert complaints(changes, after_creates(entries), nothing_wrong) == []


@pytest.mark.parametrize("lose", [list, without_responses, without_bodies])
def test_neither_the_order_of_the_lines_nor_a_second_copy_matters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lose: Callable[[Lines], Lines]
) -> None:
    lines = lose(saved(HERE)[0])
    told_once, told_mixed = tmp_path / "once", tmp_path / "mixed"
    for folder in (told_once, told_mixed):
        folder.mkdir()
    once = told(told_once, lines, capsys)
    shutil.copy(told_once / "redaction.key", told_mixed)
    mixed = told(told_mixed, shuffled(doubled(lines)), capsys)
    assert [_without_place(each) for each in mixed] == [_without_place(each) for each in once]


def _without_place(change: dict[str, object]) -> dict[str, object]:
    """A change without where in the file its record lies."""
    return {key: value for key, value in change.items() if key != "evidence"}
