"""`auditor run` from night to night, on the sample incident."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
import typer

from auditor.commands.run import run
from auditor.console.options import Severity
from auditor.console.status import Status

INCIDENT = Path(__file__).parents[2] / "data" / "incident"


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The incident after its first night."""
    folder = tmp_path_factory.mktemp("nights") / "records"
    shutil.copytree(INCIDENT, folder)
    assert tonight(folder) == Status.FINDINGS
    return folder


@pytest.fixture
def records(before: Path, tmp_path: Path) -> Path:
    """A copy that a test may go on with."""
    shutil.copytree(before, tmp_path / "records")
    return tmp_path / "records"


def said_by(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, as it was before it was set in lines of eighty columns."""
    return " ".join(capsys.readouterr().out.split())


def tonight(folder: Path, **given: object) -> int:
    with pytest.raises(typer.Exit) as ended:
        run(config=folder / "auditor.toml", output=folder / "reports", form=["json"], quiet=True, **given)  # type: ignore[arg-type]
    return ended.value.exit_code


def write_audit(folder: Path, user: str, body: dict[str, object], at: datetime) -> None:
    """One more patch of Deployment shop-prod/web, in a log of its own."""
    event = {
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": f"later-{at:%H%M}",
        "stage": "ResponseComplete", "verb": "patch", "user": {"username": user, "groups": ["system:authenticated"]},
        "requestURI": "/apis/apps/v1/namespaces/shop-prod/deployments/web?fieldManager=kubectl-patch",
        "userAgent": "kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07",
        "objectRef": {
            "resource": "deployments", "namespace": "shop-prod", "name": "web", "apiGroup": "apps", "apiVersion": "v1",
        },
        "responseStatus": {"code": 200}, "requestObject": body,
        "requestReceivedTimestamp": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}", "stageTimestamp": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}",
    }  # fmt: skip
    (folder / "audit" / f"audit-{at:%H%M}.log").write_bytes(orjson.dumps(event) + b"\n")


def later(hour: int) -> datetime:
    return datetime(2026, 11, 30, hour, tzinfo=UTC)


def read_only_evening(folder: Path) -> None:
    """The audit log goes on, and nothing in it matters."""
    write_audit(folder, "system:node:worker-1", {"metadata": {"labels": {}}}, later(20))


def test_the_same_records_say_the_same_twice(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tonight(records) == Status.FINDINGS
    first = capsys.readouterr().out
    assert tonight(records) == Status.FINDINGS
    assert capsys.readouterr().out == first
    assert " new. No earlier run to compare with." in first


def test_that_no_record_is_newer_than_those_of_an_earlier_run_is_told(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit):
        run(config=records / "auditor.toml", output=records / "reports", form=["json"], app=["shop-*"])
    assert "No record is newer than those of an earlier run" in capsys.readouterr().err
    read_only_evening(records)
    with pytest.raises(typer.Exit):
        run(config=records / "auditor.toml", output=records / "reports", form=["json"])
    assert "No record is newer" not in capsys.readouterr().err


def test_a_later_night_without_news_says_nothing_new(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_only_evening(records)
    assert tonight(records) == Status.NOTHING_NEW
    said = said_by(capsys)
    assert "Compared with the run as of 2026-11-30 07:1" in said
    assert "known high second-writer" in said
    assert " new" not in said.partition("Compared")[0]


def test_a_new_hand_is_the_only_new_finding(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "registry.acme.example/x:9"}]}}}}
    write_audit(records, "mallory@acme.example", body, later(21))
    assert tonight(records, fail_on=Severity.HIGH) in (Status.NOTHING_NEW, Status.FINDINGS)
    news = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  new ")]
    assert news
    assert all("shop-prod" not in line for line in news)


def test_a_source_that_fails_makes_a_partial_night(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_only_evening(records)
    (records / "deploy.bundle").write_bytes(b"not a bundle")
    assert tonight(records) == Status.PARTLY_CHECKED
    said = said_by(capsys)
    assert "Partly checked: " in said
    assert " resolved " not in said


def test_an_accepted_finding_is_printed_and_no_reason_to_fail(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = records / "auditor.toml"
    accept = '[[accept]]\nident = "second-writer"\napplication = "catalog-*"\nreason = "moves"\nowner = "catalog"'
    config.write_text(f"{config.read_text()}\n{accept}\n")
    tonight(records)
    said = said_by(capsys)
    assert "accepted high second-writer" in said
    assert "Accepted by catalog: moves." in said


def test_a_baseline_takes_the_first_night_as_known(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(before, tmp_path / "records", ignore=shutil.ignore_patterns("auditor.db*"))
    assert tonight(tmp_path / "records", baseline=True) == Status.NOTHING_NEW
    assert tonight(tmp_path / "records") == Status.NOTHING_NEW


def test_bounds_decide_what_is_said(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tonight(records, app=["search-*"], fail_on=Severity.HIGH) == Status.NOTHING_NEW
    said = said_by(capsys)
    assert "application search-prod" in said
    assert "catalog-prod" not in said


def test_a_run_on_the_very_records_of_the_last_one_says_the_same_and_correlates_nothing(
    records: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tonight(records) == Status.FINDINGS
    first, report = said_by(capsys), (records / "reports" / "postmortem.json").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("auditor.console.computed.gathered", None)
        assert tonight(records) == Status.FINDINGS
    assert (said_by(capsys), (records / "reports" / "postmortem.json").read_bytes()) == (first, report)


def test_a_report_that_is_not_as_it_was_written_is_written_again(records: Path) -> None:
    tonight(records)
    report = records / "reports" / "postmortem.json"
    content = report.read_bytes()
    report.write_bytes(b"")
    tonight(records)
    assert report.read_bytes() == content


def test_a_run_that_is_asked_something_else_is_answered_anew(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tonight(records)
    everything = said_by(capsys)
    tonight(records, app=["ledger-*"])
    assert said_by(capsys) != everything
