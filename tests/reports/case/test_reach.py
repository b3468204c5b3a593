"""A window where the audit log does not reach: silence is not told as an all-clear."""

from dataclasses import replace
from datetime import timedelta

import pytest

from auditor.model.case import Case, Scope
from reports.words.rich import plain
from tests.reports.cases import NOON, generated
from tests.reports.rendering import document, laid_out

LAST = NOON + timedelta(seconds=72)
"""The end of the audit log of `generated(4)`."""


def silent(scope: Scope) -> Case:
    return replace(generated(4), scope=scope, changes=(), writes=(), verdicts={})


@pytest.mark.parametrize("kind", ["postmortem", "register"])
def test_a_window_after_the_records_is_said_to_be_untold(kind: str) -> None:
    told = document(kind, silent(Scope(since=NOON + timedelta(days=32))))
    assert plain(told.first.lead) == (
        "The audit log ends before this window begins, at 30 Nov 2026 07:01:12 UTC: what was changed past git in it "
        "cannot be told."
    )
    assert "The audit log of acme ends at 30 Nov 2026 07:01:12, before the window does" in map(plain, told.first.gaps)
    assert dict(told.first.scope)["Window"][0].text == "from "
    assert "00:00–00:00" not in told.running


def test_the_changes_of_a_window_after_the_records_are_not_said_to_be_none() -> None:
    told = document("postmortem", silent(Scope(since=NOON + timedelta(days=32))))
    section = next(one for one in told.sections if one.anchor == "changes")
    assert plain(section.blocks[0].text).startswith("The audit log ends before this window begins")  # type: ignore[union-attr]


def test_a_window_before_the_records_is_said_to_be_untold() -> None:
    scope = Scope(since=NOON - timedelta(days=2), until=NOON - timedelta(days=1))
    lead = plain(document("postmortem", silent(scope)).first.lead)
    assert lead.startswith("The audit log begins after this window ends, at ")


def test_a_window_that_outlasts_the_audit_log_has_that_among_its_gaps() -> None:
    told = document("postmortem", replace(generated(4), scope=Scope(since=NOON, until=LAST + timedelta(hours=1))))
    assert plain(told.first.lead).startswith("4 changes went past git")
    assert plain(told.first.gaps[0]) == "The audit log of acme ends at 07:01:12, before the window does"


def test_a_window_within_the_records_has_no_such_gap() -> None:
    for scope in (Scope(), Scope(since=NOON), Scope(since=NOON, until=LAST)):
        told = document("postmortem", silent(scope))
        assert plain(told.first.lead) == "No change past git is in the records of this window."
        assert "before the window" not in " ".join(map(plain, told.first.gaps))


def test_page_one_of_such_a_window_is_one_page() -> None:
    told = document("postmortem", silent(Scope(since=NOON + timedelta(days=32))))
    short = replace(told, sections=tuple(replace(one, blocks=()) for one in told.sections))
    assert told.sections[0].anchor in laid_out(short).pages[1].anchors
