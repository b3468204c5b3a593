"""Days of routine, pruned to their last hours: most of it goes, and every statement is what it was."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.commands.collect import collect
from auditor.commands.prune import prune
from auditor.config_file import load
from auditor.console.computed import compute
from auditor.console.workspace import Workspace
from auditor.model.case import Case
from auditor.model.change import Change
from auditor.store import Query, open_store
from tests.quiet_week.generate import weeks

DAYS, APPLICATIONS = 3, 12


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pruned") / "records"
    for _ in weeks(folder, DAYS, APPLICATIONS):
        pass
    collect(config=folder / "auditor.toml", quiet=True)
    return folder


def case(folder: Path) -> tuple[Case, int]:
    """All that is concluded, and how many audit events it is concluded from."""
    config = load(folder / "auditor.toml")
    with open_store(config.store, create=False, folder=config.folder) as store:
        return compute(Workspace(config), store), sum(1 for _ in store.audit_events())


def unplaced(change: Change) -> Change:
    """Its place among the writes of its object counts those that are gone."""
    return replace(change, write=replace(change.write, position=0))


@pytest.mark.parametrize("rounds", [("6h",), ("1d", "6h")], ids=["at once", "day by day"])
def test_fewer_records_make_the_same_statements(
    records: Path, tmp_path: Path, rounds: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "records"
    shutil.copytree(records, folder)
    before, had = case(folder)
    for keep in rounds:
        prune(keep, config=folder / "auditor.toml", quiet=True)
    after, has = case(folder)
    assert has < had / 2
    assert after.findings == before.findings
    assert after.episodes == before.episodes
    assert after.drift == before.drift
    past_git = [change for change in before.changes if change.write.cause in Query().causes]
    assert [change for change in after.changes if change.write.cause in Query().causes] == past_git
    assert all(after.verdicts[change.id] == before.verdicts[change.id] for change in past_git)
    told = {change.id: unplaced(change) for change in before.changes}
    assert [told[change.id] for change in after.changes] == [unplaced(change) for change in after.changes]
    capsys.readouterr()
    prune(rounds[-1], config=folder / "auditor.toml", quiet=True)
    assert "There was nothing to let go." in capsys.readouterr().out
