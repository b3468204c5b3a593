"""What ends a finding, and the silence that does not."""

from dataclasses import replace
from typing import Any

import pytest

from auditor.detectors import (
    freeze_not_lifted,
    not_in_git,
    phantom_diff,
    records_gap,
    second_writer,
    shared_ownership,
    sync_loop,
    unfinished_sync,
    useless_ignore,
)
from auditor.model.case import Case
from auditor.model.coverage import Coverage, Gap
from auditor.model.finding import Finding
from auditor.nightly.endings import EVENTS, ending
from tests.detectors.cases import AUTOSCALER, CONTROLLER, PIPELINE, case, found, result, sync
from tests.factories import (
    SHOP,
    app_state,
    change,
    coverage,
    field,
    freeze,
    history,
    mark,
    minute,
    verdict,
)

RESOURCE = ("apps", "Deployment", "shop-prod", "web", "OutOfSync")
SYNCED = (*RESOURCE[:4], "Synced")


def one(detector: Any, of: Case) -> Finding:
    (finding,) = found(detector.DETECTOR, of)
    return finding


def frozen() -> Finding:
    return one(freeze_not_lifted, case(histories=[history(app_state(0), freezes=(freeze(1, None),))]))


def test_a_freeze_ends_when_it_is_lifted_and_by_whom() -> None:
    end = ending(frozen(), case(histories=[history(app_state(0), freezes=(freeze(1, 9),))]))
    assert end is not None
    assert (end.at, end.by) == (minute(9), "alice@acme.example")


def test_another_freeze_that_was_lifted_ends_nothing() -> None:
    two = history(app_state(0), freezes=(freeze(1, None), freeze(2, 3)))
    assert ending(frozen(), case(histories=[two])) is None


def test_an_application_that_tonights_records_do_not_hold_ends_nothing() -> None:
    assert ending(frozen(), case()) is None


def test_the_end_of_the_application_ends_what_was_said_of_it() -> None:
    end = ending(frozen(), case(histories=[history(app_state(0), removed_at=minute(30))]))
    assert end is not None
    assert end.because == "the application shop-prod was deleted"


def test_a_value_that_landed_in_git_ends_its_finding_under_the_commit() -> None:
    done = change("c", 1, field())
    finding = one(not_in_git, case(done, verdicts=[verdict("c", ("not-reflected", "standing"))]))
    landed = verdict("c", ("reflected", "standing"), commit="abcdef1234567", author="Erin <e@x>", at=minute(50))
    end = ending(finding, case(done, verdicts=[landed]))
    assert end is not None
    assert (end.at, end.by, end.because) == (minute(50), "Erin <e@x>", "commit abcdef123 has the value")


@pytest.mark.parametrize("word", ["unknown", "not-reflected", "on-branch"])
def test_a_verdict_that_cannot_be_told_tonight_ends_nothing(word: str) -> None:
    done = change("c", 1, field())
    finding = one(not_in_git, case(done, verdicts=[verdict("c", ("not-reflected", "standing"))]))
    assert ending(finding, case(done, verdicts=[verdict("c", (word, "standing"))])) is None
    assert ending(finding, case()) is None


def test_only_the_field_of_a_finding_decides_of_it() -> None:
    done = change("c", 1, field("spec.replicas"), field("spec.paused", False, True))
    open_ends = verdict("c", ("not-reflected", "standing"), ("not-reflected", "standing"))
    first, second = found(not_in_git.DETECTOR, case(done, verdicts=[open_ends]))
    half = case(done, verdicts=[verdict("c", ("reflected", "standing"), ("not-reflected", "standing"))])
    assert ending(first, half) is not None
    assert ending(second, half) is None


def test_a_later_full_sync_ends_an_unfinished_one() -> None:
    failed = sync(1, "Failed", resources=(result("api", "SyncFailed"),))
    finding = one(unfinished_sync, case(histories=[history(app_state(0), syncs=(failed,))]))
    later = history(app_state(0), syncs=(failed, sync(30, initiated_by="bob")))
    end = ending(finding, case(histories=[later]))
    assert end is not None
    assert end.by == "bob"
    selective = history(app_state(0), syncs=(failed, sync(30, extent="selective")))
    assert ending(finding, case(histories=[selective])) is None


def loop_of(*at: float) -> list[Any]:
    pushes = [change(f"push-{t}", t, field(before=1, after=3), actor=AUTOSCALER, cause="controller") for t in at]
    pulls = [change(f"pull-{t}", t + 0.1, field(before=3, after=1), actor=CONTROLLER, cause="gitops") for t in at]
    return [each for pair in zip(pushes, pulls, strict=True) for each in pair]


def read_until(*spans: tuple[float, float], gaps: tuple[Gap, ...] = (), stream: str = "") -> Coverage:
    """An audit log that was never silent in these minutes."""
    said = tuple((f"{minute(first):%Y-%m-%dT%H:%M}", f"{minute(last):%Y-%m-%dT%H:%M}") for first, last in spans)
    log = replace(mark("audit", spans[0][0], spans[-1][1], "prod"), streams={stream: said})
    return coverage(log, gaps=gaps)


def test_a_loop_is_over_when_covered_time_is_quiet() -> None:
    finding = one(sync_loop, case(*loop_of(1, 2, 3), coverage=read_until((-60, 10))))
    for spans in [((-60, 30),), ((-60, 10), (600, 620)), ((-60, 4), (700, 701))]:
        assert ending(finding, case(*loop_of(1, 2, 3), coverage=read_until(*spans))) is None, spans
    for spans in [((-60, 90),), ((-60, 20), (600, 640))]:
        end = ending(finding, case(*loop_of(1, 2, 3), coverage=read_until(*spans)))
        assert end is not None, spans
        assert end.at == minute(3.1)


def test_of_two_api_servers_both_must_be_covered() -> None:
    finding = one(sync_loop, case(*loop_of(1, 2, 3)))
    first, second = read_until((-60, 90), stream="one"), read_until((-60, 20), stream="two")
    both = replace(first, marks=(*first.marks, *second.marks))
    assert ending(finding, case(*loop_of(1, 2, 3), coverage=both)) is None
    assert ending(finding, case(*loop_of(1, 2, 3), coverage=first)) is not None


def test_a_loop_is_not_over_where_the_audit_log_failed() -> None:
    finding = one(sync_loop, case(*loop_of(1, 2, 3)))
    gap = Gap("audit", "prod", None, None, "audit/: permission denied", "", failed=True)
    assert ending(finding, case(*loop_of(1, 2, 3), coverage=read_until((0, 90), gaps=(gap,)))) is None
    other = replace(gap, cluster="staging")
    assert ending(finding, case(*loop_of(1, 2, 3), coverage=read_until((0, 90), gaps=(other,)))) is not None


def test_a_second_writer_is_over_after_two_covered_quiet_weeks() -> None:
    applied = [change(f"a{at}", at, field(), actor=PIPELINE, channel="kubectl apply") for at in (1, 2)]
    finding = one(second_writer, case(*applied))
    week = 7 * 24 * 60
    assert ending(finding, case(coverage=read_until((0, week)))) is None
    assert ending(finding, case(coverage=read_until((0, 3 * week)))) is not None


def test_an_object_that_one_application_gave_up_is_shared_no_more() -> None:
    other = replace(SHOP, name="shop-edge")

    def told(at: float, of_other: tuple[Any, ...]) -> Case:
        states = ((SHOP, (SYNCED,)), (other, of_other))
        return case(histories=[history(app_state(at, key, resources=has), key=key) for key, has in states])

    finding = one(shared_ownership, told(1, (SYNCED,)))
    assert ending(finding, told(1, ())) is None, "the same export says nothing new"
    assert ending(finding, told(60, ())) is not None


def test_a_phantom_difference_ends_when_argocd_says_synced_of_the_object() -> None:
    from tests.detectors.test_applications import phantom_case

    finding = one(phantom_diff, phantom_case())
    later = case(histories=[history(app_state(2), app_state(60, resources=(SYNCED,)))])
    assert ending(finding, later) is not None
    assert ending(finding, case(histories=[history(app_state(2), app_state(60, resources=(RESOURCE,)))])) is None


def test_a_useless_rule_ends_when_the_application_has_it_no_more() -> None:
    rule = {"group": "apps", "kind": "Deployment"}
    finding = one(useless_ignore, case(histories=[history(app_state(0, ignore_differences=(rule,)))]))
    kept = history(app_state(0, ignore_differences=(rule,)), app_state(30, ignore_differences=(rule,)))
    gone = history(app_state(0, ignore_differences=(rule,)), app_state(30))
    assert ending(finding, case(histories=[kept])) is None
    assert ending(finding, case(histories=[gone])) is not None


def test_a_gap_ends_when_a_source_of_its_kind_was_read() -> None:
    gap = Gap("announcements", "", None, None, "No announcements were read.", "")
    finding = one(records_gap, case(coverage=coverage(gaps=(gap,))))
    assert ending(finding, case(coverage=coverage(mark("audit", 0, 9, "prod")))) is None
    assert ending(finding, case(coverage=coverage(mark("announcements", 0, 9)))) is not None


def test_what_happened_once_is_over_when_it_is_told() -> None:
    for ident in sorted(EVENTS):
        end = ending(replace(frozen(), ident=ident, application=None), case())
        assert end is not None, ident
