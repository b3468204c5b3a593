"""Nothing goes wrong, and nobody is woken: the whole chain on generated routine.

A small estate for two days by default; AUDITOR_QUIET_WEEK=1 takes all of it, a week of 300 applications (minutes).
"""

import os
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import pytest
import typer

from auditor.commands.run import run
from auditor.config_file import load
from auditor.console.status import Status
from auditor.model.finding import Finding
from auditor.store import open_store
from tests.quiet_week.cluster import KUBECTL
from tests.quiet_week.generate import MONDAY, Week, weeks

WHOLE = bool(os.environ.get("AUDITOR_QUIET_WEEK"))
DAYS, APPLICATIONS = (7, 300) if WHOLE else (2, 30)


Night: TypeAlias = tuple[int, tuple[Finding, ...]]


def tonight(folder: Path) -> int:
    with pytest.raises(typer.Exit) as ended:
        run(config=folder / "auditor.toml", output=folder / "reports", form=["json"], quiet=True)
    return ended.value.exit_code


def findings(folder: Path) -> tuple[Finding, ...]:
    config = load(folder / "auditor.toml")
    with open_store(config.store, create=False, folder=config.folder) as store:
        return tuple(store.results.findings())


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> list[Night]:
    """Each night's exit status and findings."""
    folder = tmp_path_factory.mktemp("quiet") / "records"
    return [(tonight(folder), findings(folder)) for _ in weeks(folder, DAYS, APPLICATIONS)]


def test_no_night_has_a_finding_above_info(nights: list[Night]) -> None:
    loud = [finding.message for _, found in nights for finding in found if finding.severity != "info"]
    assert loud == []


def test_each_night_ends_with_nothing_new(nights: list[Night]) -> None:
    assert [status for status, _ in nights] == [Status.NOTHING_NEW] * DAYS


def test_what_is_for_information_is_there(nights: list[Night]) -> None:
    """Else the records would not have been understood at all."""
    idents = {finding.ident for finding in nights[-1][1]}
    assert {"out-of-band-change", "break-glass-access", "records-gap"} <= idents
    assert any("by ci-deploy with Argo CD UI or CLI" in finding.message for finding in nights[-1][1])


def test_the_same_days_are_the_same_bytes(tmp_path: Path) -> None:
    for name, days in (("one", 1), ("two", 2)):
        for _ in weeks(tmp_path / name, days, 8):
            pass
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "audit").iterdir()} for name in ("one", "two")
    )
    assert first.items() <= second.items()
    assert len(second) == 2


def test_one_hand_among_all_the_routine_is_found_alone(tmp_path: Path) -> None:
    def scale(week: Week) -> None:
        app = week.apps[5]
        patch = {"spec": {"replicas": 5}}
        week.on(
            MONDAY + timedelta(hours=20),
            lambda at: week.api.patch(at, "alice@acme.example", app.manifests()[0], patch, agent=KUBECTL) and None,
        )

    folder = tmp_path / "records"
    (status,) = [tonight(folder) for _ in weeks(folder, 1, 12, beside=scale)]
    assert status == Status.FINDINGS
    loud = [finding for finding in findings(folder) if finding.severity != "info"]
    assert {finding.ident for finding in loud} == {"not-in-git", "out-of-band-change"}
    assert {actor for finding in loud for actor in finding.actors} == {"alice@acme.example"}
    assert {str(finding.application) for finding in loud} == {"team06-svc006"}
