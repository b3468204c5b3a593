from dataclasses import replace
from pathlib import Path
from typing import Any

from auditor.config import ArgoCDConfig, ClusterConfig, Config, RepositoryConfig
from auditor.correlate.coverage import as_of, coverage
from auditor.model.facts import Skipped, SourceMark
from tests.factories import SHOP, app_state, history, mark

CONFIG = Config(
    Path(),
    clusters=(ClusterConfig("prod", max_lag="30m"),),
    argocds=(ArgoCDConfig("argocd", "prod"),),
    repositories=(RepositoryConfig("http://git.acme.example/deploy.git"),),
)
AUDIT = replace(mark("audit", 0, 60, "prod"), levels={"RequestResponse": 9})
WHOLE = (AUDIT, mark("argocd", 0, 60, "argocd"), mark("git", 0, 60), mark("announcements", 0, 60))


def sentences(*marks: SourceMark, config: Config = CONFIG, told: bool = True, **state: Any) -> list[str]:
    histories = {SHOP: history(app_state(0, **state))}
    return [gap.sentence for gap in coverage(config, marks, (), histories, told).gaps]


def test_records_of_every_kind_leave_no_gap() -> None:
    assert sentences(*WHOLE) == []


def test_an_audit_log_without_bodies_says_what_is_then_unknown() -> None:
    (said,) = sentences(replace(AUDIT, levels={"Metadata": 9}), *WHOLE[1:])
    assert said == "The audit log of prod holds no bodies: who and when are known, the fields and values are not."


def test_a_cluster_without_an_audit_log_is_named() -> None:
    assert "No audit log of cluster prod" in sentences(*WHOLE[1:])[0]


def test_an_audit_log_that_ends_too_early_is_late_by_its_own_limit() -> None:
    late = replace(AUDIT, last_at=mark("audit", 0, 20).last_at)
    assert "later than its max_lag allows" in sentences(late, *WHOLE[1:])[0]
    soon = replace(AUDIT, last_at=mark("audit", 0, 40).last_at)
    assert sentences(soon, *WHOLE[1:]) == []


def test_no_audit_log_is_late_by_a_committers_clock() -> None:
    ahead = replace(WHOLE[2], last_at=mark("git", 0, 600).last_at)
    ends = replace(as_of(WHOLE), git=WHOLE[2].last_at)
    marks = (*WHOLE[:2], ahead, WHOLE[3])
    assert sentences(*marks) == [
        f"The audit log of prod ends {AUDIT.last_at:%Y-%m-%d %H:%M:%S} UTC, later than its max_lag allows."
    ]
    assert coverage(CONFIG, marks, (), {SHOP: history(app_state(0))}, True, ends).gaps == ()


def test_without_what_argo_cd_said_edits_in_its_ui_have_no_person() -> None:
    assert sentences(*WHOLE, told=False) == [
        "No Argo CD Events or server log: edits in its UI cannot be joined to a person."
    ]


def test_events_that_were_asked_for_in_a_quiet_hour_are_no_gap() -> None:
    quiet = replace(mark("argocd", 0, 60, "argocd"), format="events", events=0)
    assert sentences(*WHOLE, quiet, told=False) == []


def test_a_repository_that_is_not_configured_is_named_with_its_applications() -> None:
    (said,) = sentences(*WHOLE, config=replace(CONFIG, repositories=()))
    assert "http://git.acme.example/deploy.git of shop-prod is not configured" in said


def test_of_an_application_whose_repository_no_record_names_that_is_said() -> None:
    (said,) = sentences(*WHOLE, sources=(replace(app_state(0).sources[0], repo_url=""),))
    assert said == "No record names a repository of shop-prod: whether git has a value of theirs is unknown."


def test_a_repository_is_the_same_by_ssh_and_by_https() -> None:
    by_ssh = replace(CONFIG, repositories=(RepositoryConfig("ssh://git@git.acme.example/deploy.git"),))
    assert sentences(*WHOLE, config=by_ssh) == []


def test_a_destination_that_no_cluster_has_is_one_warning() -> None:
    (said,) = sentences(*WHOLE, cluster="", destination_server="https://other.example")
    assert said.startswith("The destination https://other.example of shop-prod is not a configured cluster")


def test_foreign_records_are_no_gap_and_unreadable_ones_are_counted() -> None:
    broken = replace(AUDIT, source="audit/audit.log", foreign=9, undecodable=2)
    assert sentences(broken, *WHOLE[1:]) == ["audit/audit.log: 2 records could not be read."]


def test_records_that_could_not_be_read_say_why_where_one_reason_holds_for_all() -> None:
    marks = (replace(AUDIT, source="audit/audit.log", undecodable=2), *WHOLE[1:])
    alike, other = (Skipped("audit", "prod", "audit/audit.log", 5, 9, reason) for reason in ("cut off", "not JSON"))
    (gap,) = coverage(CONFIG, marks, (alike, alike), {}, True).gaps
    assert gap.sentence == "audit/audit.log: 2 records could not be read: cut off."
    (gap,) = coverage(CONFIG, marks, (alike, other), {}, True).gaps
    assert gap.sentence == "audit/audit.log: 2 records could not be read."


def test_an_audit_log_that_was_cut_is_a_source_that_failed() -> None:
    cut = Skipped("audit", "prod", "audit/audit.log.gz", 2_553_154, 0, "the gzip data ends too early")
    (gap,) = coverage(CONFIG, WHOLE, (cut,), {}, True).gaps
    assert gap.failed
    assert gap.sentence == (
        "audit/audit.log.gz could be read to byte 2,553,154 and not beyond: the gzip data ends too early."
    )


def test_a_source_that_could_not_be_read_says_why() -> None:
    missing = SourceMark("audit", "prod", "audit/gone.log", "", "", problem="no such file")
    assert "audit/gone.log: no such file." in sentences(*WHOLE, missing)
