"""Reports on records of Argo CD alone: what there is, and what is missing for more."""

from dataclasses import replace
from datetime import timedelta

from auditor.model.application import SyncRecord
from auditor.model.case import Case
from auditor.model.coverage import AsOf, Coverage
from auditor.model.facts import SourceMark
from reports.contract.document import Table
from reports.words.rich import plain
from tests.factories import SHOP, app_state, evidence, history, minute
from tests.reports.cases import app, empty, generated
from tests.reports.rendering import document, section

ASTRAY = (("apps", "Deployment", "shop-prod", "web", "OutOfSync"), ("", "Service", "shop-prod", "web", "Synced"))


def sync(at: float, origin: str = "automated") -> SyncRecord:
    began = minute(at)
    return SyncRecord(
        SHOP, began, began + timedelta(seconds=2), "Succeeded", ("a" * 40,), (), origin, "full", "", None, False, False,
        None, 0, "", (), (), (evidence("history"),),
    )  # type: ignore[arg-type]  # fmt: skip


def argocd_alone(*syncs: SyncRecord) -> Case:
    """Two applications, one of them out of sync and synced by hand."""
    quiet = app("quiet")
    states = (
        app_state(30, quiet, sync_status="Synced", health="Healthy"),
        app_state(30, sync_status="OutOfSync", health="Healthy", automated=False, resources=ASTRAY),
    )
    histories = {SHOP: replace(history(states[1]), syncs=syncs), quiet: history(states[0], key=quiet)}
    mark = SourceMark("argocd", "argocd", "argocd/applications.yaml", "", "yaml", events=2, last_at=minute(30))
    coverage = Coverage((mark,), (), AsOf({}, minute(30), None, None, None), ())
    return empty(applications=histories, coverage=coverage)


def rows(case: Case) -> list[list[str]]:
    table = next(block for block in section("applications", case).blocks if isinstance(block, Table))
    return [[plain(cell) for cell in row.cells] for row in table.rows]


def test_each_application_is_told_as_its_last_record_has_it_those_astray_first() -> None:
    first, second = rows(argocd_alone(sync(5), sync(10)))
    assert first[0] == "shop-prod"
    assert first[1] == "OutOfSync, Healthy Deployment web"
    assert first[3:5] == ["by hand", f"Succeeded {minute(10):%H:%M:%S}"]
    assert (second[0], second[4]) == ("quiet", "none recorded")


def test_what_an_application_set_rolls_out_is_not_said_to_be_synced_by_hand() -> None:
    rolled = history(app_state(30, automated=False, rolled_out_by="shops"))
    ((_, _, _, how, *_),) = rows(replace(argocd_alone(), applications={SHOP: rolled}))
    assert how == "as the ApplicationSet shops starts it"


def test_the_lead_says_what_argo_cd_says_beside_what_cannot_be_told() -> None:
    for kind, cannot in (("postmortem", "No audit log was read, so "), ("drift", "No git repository was read, so ")):
        lead = plain(document(kind, argocd_alone()).first.lead)
        assert lead.startswith(cannot)
        assert lead.endswith(" By their own records 1 of 2 applications is not in sync.")


def test_drift_that_nobody_could_compare_is_not_said_to_be_none() -> None:
    told = document("drift", argocd_alone())
    assert [(one.number, plain(one.text)) for one in told.first.questions[0].answers] == [("–", "cannot be told")]
    assert "cannot be told" in plain(section("drift", argocd_alone(), "drift").blocks[0].text)  # type: ignore[union-attr]


def test_the_syncs_of_the_history_are_the_timeline_and_begin_the_window() -> None:
    told = document("postmortem", argocd_alone(sync(5), sync(10)))
    table = next(one for one in section("timeline", argocd_alone(sync(5), sync(10))).blocks if isinstance(one, Table))
    assert [plain(row.cells[2]) for row in table.rows] == ["Sync of shop-prod automated"] * 2
    assert f"{minute(5):%H:%M:%S}–{minute(30):%H:%M:%S} UTC" in plain(told.first.scope[1][1])


def test_a_timeline_without_a_row_says_which_records_were_not_read() -> None:
    said = plain(section("timeline", argocd_alone()).blocks[0].text)  # type: ignore[union-attr]
    assert said == (
        "No change, sync, commit or message of this window is recorded."
        " Not read: an audit log, a git repository, announcements."
    )


def test_nothing_is_said_to_be_thawed_that_no_audit_log_shows() -> None:
    groups = {one.title: plain(one.rows[0].text) for one in document("postmortem", argocd_alone()).first.unresolved}
    assert groups["Still frozen"] == "not recorded; 1 of 2 applications syncs by hand alone"


def test_with_an_audit_log_the_report_is_about_changes() -> None:
    assert "applications" not in [one.anchor for one in document("postmortem", generated(3)).sections]
