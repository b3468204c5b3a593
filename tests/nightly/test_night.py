"""New, known, resolved, accepted: one night beside the nights before it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from auditor.config import AcceptedFinding
from auditor.detectors.conclusion import conclude
from auditor.model.case import Case
from auditor.model.coverage import Gap
from auditor.model.finding import Finding, Severity
from auditor.model.night import Night, NightEntry, NightState, Shown
from auditor.nightly.digest import details, groups, heading, left_out, remarks
from auditor.nightly.night import Bounds, compare, remembered
from auditor.nightly.outcome import outcome
from auditor.store import Store, open_store
from tests.detectors.cases import case
from tests.factories import SHOP, app_state, coverage, freeze, history, mark, minute, thing

ACCEPTED = AcceptedFinding("freeze-not-lifted", "migration", "team-shop", "2026-12-01", "shop-*")


def frozen(name: str = "", severity: Severity = "high") -> Finding:
    return conclude(
        "freeze-not-lifted", severity, "shop-prod is still frozen.", "Lift it.", key=("x", name),
        application=SHOP, subject=thing(), first_at=minute(1),
    )  # fmt: skip


def night_of(*findings: Finding, until: float = 60, lifted: bool = False, gaps: tuple[Gap, ...] = ()) -> Case:
    told = history(app_state(0), freezes=(freeze(1, 30 if lifted else None),))
    covered = coverage(mark("audit", -60, until, "prod"), mark("argocd", -60, until), gaps=gaps)
    return replace(case(histories=[told], coverage=covered), findings=findings)


class Nights:
    """Runs one after the other on one store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def run(self, of: Case, *accepted: AcceptedFinding, baseline: bool = False) -> Night:
        shown = tuple(self.store.nights.shown())
        as_of = of.coverage.as_of.moment
        night = compare(of, shown, self.store.nights.before(as_of), accepted)
        self.store.nights.save(as_of, remembered(night, shown, baseline=baseline))
        return night


@pytest.fixture
def nights(tmp_path: Path) -> Iterator[Nights]:
    with open_store("sqlite:///a.db", folder=tmp_path) as store:
        yield Nights(store)


def states(night: Night) -> list[str]:
    return [entry.state for entry in night.entries]


def test_the_first_night_has_all_as_new_and_says_so_again_on_the_same_records(nights: Nights) -> None:
    first = nights.run(night_of(frozen()))
    assert states(first) == ["new"]
    assert outcome(first, "low") == "findings"
    assert nights.run(night_of(frozen())) == first


def test_an_unchanged_night_has_nothing_new(nights: Nights) -> None:
    nights.run(night_of(frozen()))
    second = nights.run(night_of(frozen(), until=120))
    assert states(second) == ["known"]
    assert second.before == minute(60)
    assert outcome(second, "low") == "nothing-new"
    assert nights.run(night_of(frozen(), until=120)) == second


def test_what_ended_is_resolved_once_with_when_and_by_whom(nights: Nights) -> None:
    nights.run(night_of(frozen()))
    second = nights.run(night_of(until=120, lifted=True))
    assert states(second) == ["resolved"]
    (sentence,) = details(second.entries[0])
    assert sentence == "Resolved: the freeze was lifted by alice@acme.example, 2026-11-30 09:30:00 UTC."
    assert nights.run(night_of(until=120, lifted=True)) == second
    third = nights.run(night_of(until=180, lifted=True))
    assert (states(third), third.over) == ([], 1)
    assert outcome(third, "low") == "clean"


def test_a_rule_that_says_nothing_any_more_resolves_nothing(nights: Nights) -> None:
    nights.run(night_of(frozen()))
    second = nights.run(night_of(until=120))
    assert states(second) == ["not-checked"]
    assert outcome(second, "low") == "nothing-new"
    assert states(nights.run(night_of(frozen(), until=180))) == ["known"]


def test_what_comes_back_is_new(nights: Nights) -> None:
    nights.run(night_of(frozen()))
    nights.run(night_of(until=120, lifted=True))
    assert states(nights.run(night_of(frozen(), until=180))) == ["new"]


def test_a_baseline_is_known_from_then_on_and_in_the_same_night_too(nights: Nights) -> None:
    nights.run(night_of(frozen()), baseline=True)
    assert states(nights.run(night_of(frozen()))) == ["known"]
    assert states(nights.run(night_of(frozen(), frozen("other"), until=120))) == ["new", "known"]


def test_an_accepted_finding_is_printed_and_new_once_its_acceptance_expired(nights: Nights) -> None:
    first = nights.run(night_of(frozen()), ACCEPTED)
    assert states(first) == ["accepted"]
    assert list(details(first.entries[0])) == ["Accepted by team-shop until 2026-12-01: migration."]
    assert outcome(first, "low") == "nothing-new"
    later = nights.run(night_of(frozen(), until=3 * 24 * 60), ACCEPTED)
    assert states(later) == ["new"]
    assert "The acceptance by team-shop expired on 2026-12-01: migration." in details(later.entries[0])


def test_an_acceptance_that_nothing_answers_to_is_told() -> None:
    night = compare(night_of(), (), None, [replace(ACCEPTED, ident="sync-loop")])
    (said,) = remarks(night)
    assert said.endswith("sync-loop of shop-*, accepted by team-shop until 2026-12-01.")


def test_a_source_that_failed_makes_a_night_without_news_a_partial_one() -> None:
    gap = Gap("git", "", None, None, "deploy.git: cannot be read.", "", failed=True)
    night = compare(night_of(gaps=(gap,)), (), None)
    assert outcome(night, "low") == "partly-checked"
    assert list(remarks(night)) == ["Partly checked: deploy.git: cannot be read."]
    assert outcome(compare(night_of(frozen(), gaps=(gap,)), (), None), "low") == "findings"
    assert outcome(compare(night_of(gaps=(replace(gap, failed=False),)), (), None), "low") == "clean"


def test_without_any_record_nothing_is_checked() -> None:
    empty = replace(case(coverage=coverage(mark("git", 0, 1))), findings=())
    assert outcome(compare(empty, (), None), "low") == "not-checked"


@pytest.mark.parametrize(
    ("severity", "fail_on", "said"),
    [("info", "low", "nothing-new"), ("info", "info", "findings"), ("medium", "high", "nothing-new")],
)
def test_the_threshold_decides_which_new_finding_matters(severity: Severity, fail_on: Severity, said: str) -> None:
    assert outcome(compare(night_of(frozen(severity=severity)), (), None), fail_on) == said


def test_bounds_leave_out_other_applications_and_keep_what_is_known_of_them() -> None:
    elsewhere = Shown(replace(frozen("other"), application=replace(SHOP, name="search-prod")), minute(0), None)
    night = compare(night_of(frozen()), (elsewhere,), minute(0), (), Bounds(("shop-*",)))
    assert [entry.finding for entry in night.entries] == [frozen()]
    assert compare(night_of(frozen()), (), None, (), Bounds((), ("staging",))).entries == ()


def test_an_application_has_one_group_with_a_cap_and_the_rest_is_counted() -> None:
    many = [frozen(str(number)) for number in range(20)]
    night = compare(night_of(*many), (), None)
    (group,) = groups(night, cap=5)
    assert (group.application, len(group.entries), group.rest) == (SHOP, 5, 15)
    assert heading(night) == "Findings as of 2026-11-30 10:00:00 UTC: 20 new. No earlier run to compare with."


def about(ident: str, severity: Any, *changes: str) -> Finding:
    return conclude(ident, severity, "m", "", key=(ident, *changes), application=SHOP, subject=None, changes=changes)


def test_the_bare_fact_of_a_change_is_counted_where_another_entry_says_more_of_it() -> None:
    told = (about("not-in-git", "low", "a"), about("out-of-band-change", "low", "a"))
    night = Night(minute(60), None, tuple(NightEntry(one, "new") for one in told), 0, (), True)
    (group,) = groups(night)
    assert [entry.finding.ident for entry in group.entries] == ["not-in-git"]
    assert list(left_out(group)) == ["1 that says only that a change was made past git is not listed"]


def test_what_is_known_does_not_tell_of_what_is_new() -> None:
    entries = (
        NightEntry(about("not-in-git", "low", "a"), "known"),
        NightEntry(about("out-of-band-change", "low", "a"), "new"),
    )
    (group,) = groups(Night(minute(60), None, entries, 0, (), True))
    assert len(group.entries) == 2


def test_the_most_severe_of_what_is_new_or_over_comes_first_then_the_most_severe_of_what_was_shown() -> None:
    states: tuple[tuple[NightState, Any], ...] = (
        ("new", "low"), ("known", "medium"), ("not-checked", "high"), ("resolved", "high"),
    )  # fmt: skip
    entries = tuple(NightEntry(about(state, severity), state) for state, severity in states)
    (group,) = groups(Night(minute(60), None, entries, 0, (), True))
    assert [entry.state for entry in group.entries] == ["resolved", "new", "not-checked", "known"]


def test_of_one_severity_the_gitops_tools_own_objects_come_last() -> None:
    root = thing("root", "Application", "argocd", "argoproj.io")
    told = [
        conclude("not-in-git", severity, "m", "", key=(name,), application=None, subject=subject)
        for name, severity, subject in (("a", "medium", root), ("b", "medium", thing()), ("c", "high", root))
    ]
    (group,) = groups(Night(minute(60), None, tuple(NightEntry(one, "new") for one in told), 0, (), True))
    assert [(one.finding.severity, one.finding.object) for one in group.entries] == [
        ("high", root), ("medium", thing()), ("medium", root),
    ]  # fmt: skip


def test_a_baseline_compares_with_no_run() -> None:
    said = heading(Night(minute(60), None, (NightEntry(about("a", "low"), "known"),), 0, (), True, baseline=True))
    assert said == "Findings as of 2026-11-30 10:00:00 UTC, all taken for shown from now on: 1 known."


def test_an_acceptance_is_never_cut() -> None:
    many = [frozen(str(number)) for number in range(20)]
    night = compare(night_of(*many), (), None, [ACCEPTED])
    assert sum(len(group.entries) for group in groups(night, cap=5)) == 20


def test_a_run_on_older_records_is_as_if_the_later_one_had_not_been(nights: Nights) -> None:
    nights.run(night_of(frozen(), until=120))
    assert states(nights.run(night_of(frozen(), until=60))) == ["new"]
