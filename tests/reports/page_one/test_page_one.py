"""Page one is one page, its counts add up, and it has the answers as text."""

import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from auditor.model.application import ApplicationHistory, Freeze
from auditor.model.case import Case
from auditor.model.coverage import AsOf, Coverage, Gap
from auditor.model.episode import Episode
from auditor.model.facts import Skipped
from auditor.model.verdict import FieldVerdict
from reports import render
from reports.contract.document import Document, Items
from reports.contract.options import Options
from reports.contract.page_one import Question
from reports.words.rich import plain
from tests.reports.cases import NOON, actor, app, cluster, empty, generated, git, mark
from tests.reports.incident import finding, incident
from tests.reports.rendering import BERLIN, HOSTILE, document, laid_out, renderer, report, weasyprint

FAR = Options("America/Argentina/Buenos_Aires", "", "0.0.0")


@cache
def crowded(text: str) -> Case:
    """Every list of page one at its fullest: shared credentials, unproven writes, freezes, episodes, gaps, findings."""
    case = generated(300, clusters=9, hostile=text)
    changes = list(case.changes)
    for place in range(0, 60, 2):
        one = changes[place]
        changes[place] = replace(
            one, write=replace(one.write, actor=actor("kubernetes-admin" + text, "shared-credential"))
        )
    for place in range(60, 90):
        one = changes[place]
        changes[place] = replace(
            one, write=replace(one.write, fields=(), fields_known=False, actor=actor("", "unknown"))
        )
    for place in range(90, 120):
        changes[place] = replace(changes[place], write=replace(changes[place].write, persisted="unproven"))
    freezes = {
        key: ApplicationHistory(
            key, (), (), (Freeze(key, "automated-removed", NOON, actor("dave"), None, None, False, "", "", ()),)
        )
        for key in case.applications
    }
    episodes = tuple(
        Episode(f"e{place}", key, ("dave",), NOON, None, (), (), None, None, None, None)
        for place, key in enumerate(freezes)
    )
    gaps = tuple(Gap("audit", "c", None, None, f"Nothing is known of {text} " * 4, "") for _ in range(30))
    skipped = tuple(Skipped("audit", "c", "a.log", place, 1, "cut") for place in range(30))
    late = {name: at - timedelta(minutes=place) for place, (name, at) in enumerate(case.coverage.as_of.audit.items())}
    ends = replace(case.coverage.as_of, audit=late)
    unfinished = finding(
        "unfinished-sync", "high", "x" + text, "Half of it is applied " + text, "", "07:00:00", "07:00:01"
    )
    return replace(
        case,
        changes=tuple(changes),
        writes=tuple(change.write for change in changes),
        applications=freezes,
        episodes=episodes,
        findings=(unfinished, unfinished),
        coverage=Coverage(case.coverage.marks, skipped, ends, gaps),
    )


CASES = {
    "nothing": lambda: empty(),
    "one": lambda: generated(1),
    "twenty": lambda: generated(20),
    "sixty": lambda: generated(60),
    "four hundred": lambda: generated(400),
    "five clusters": lambda: generated(60, clusters=5),
    "hostile": lambda: generated(60, clusters=5, hostile=HOSTILE),
    "wide": lambda: generated(300, clusters=9, hostile="W" * 200),
    "wordy": lambda: generated(300, clusters=9, hostile=" a name with many words" * 12),
    "Chinese": lambda: generated(300, clusters=9, hostile="変更記録" * 40),
    "crowded": lambda: crowded(""),
    "crowded and hostile": lambda: crowded(HOSTILE),
    "incident": incident,
}


@pytest.mark.parametrize("name", CASES)
def test_page_one_is_one_page_whatever_the_case_holds(name: str) -> None:
    assert first_page_after(document("postmortem", CASES[name](), FAR)) == 1


@pytest.mark.parametrize("name", ["nothing", "crowded and hostile"])
@pytest.mark.parametrize("kind", ["drift", "register", "staging"])
def test_page_one_of_the_other_reports_is_one_page_too(kind: str, name: str) -> None:
    assert first_page_after(document(kind, CASES[name](), FAR)) == 1


def test_a_long_title_does_not_break_page_one() -> None:
    told = document("postmortem", crowded(HOSTILE), replace(FAR, title=HOSTILE * 9))
    assert first_page_after(told) == 1


def first_page_after(told: Document) -> int:
    """The number of pages before the first section."""
    short = replace(told, sections=tuple(replace(one, blocks=()) for one in told.sections))
    pages = laid_out(short).pages
    return next(place for place, page in enumerate(pages) if told.sections[0].anchor in page.anchors)


@pytest.mark.parametrize("name", CASES)
def test_the_counts_of_each_question_add_up_to_the_changes(name: str) -> None:
    told = document("postmortem", CASES[name]())
    total = sum(numbers(told.first.questions[0]))
    assert sum(numbers(told.first.questions[1])) == total
    git = told.first.questions[2]
    assert sum(numbers(git)) == total
    inner = [int(one.number.replace("\u202f", "")) for one in git.answers if one.inner]
    absent = next(one for one in git.answers if plain(one.text).startswith("not in git"))
    assert sum(inner) == int(absent.number.replace("\u202f", ""))


def numbers(question: Question) -> list[int]:
    return [int(one.number.replace("\u202f", "")) for one in question.answers if not one.inner]


def test_the_incident_is_told_in_three_sentences() -> None:
    first = document("postmortem", incident()).first
    assert plain(first.lead) == (
        "20 changes went past git; 3 are in git now. 9 stand without it, of which the next sync of payments-prod "
        "undoes 2. 8 were put back or overwritten."
    )
    assert [[one.number for one in question.answers] for question in first.questions] == [
        ["18", "2"],
        ["20", "0"],
        ["3", "17", "2", "7", "8", "0"],
    ]


def test_the_lead_counts_what_is_not_traced_as_neither_put_back_nor_standing() -> None:
    case = incident()
    lost = next(one.id for one in case.changes if case.verdicts[one.id].cluster.verdict == "reverted-by-gitops")
    answer = case.verdicts[lost]
    gone = cluster("unknown")
    fields = tuple(replace(field, cluster=gone) for field in answer.fields)
    hidden = replace(case, verdicts={**case.verdicts, lost: replace(answer, cluster=gone, fields=fields)})
    before, after = (plain(document("postmortem", each).first.lead) for each in (case, hidden))
    assert "is not recorded" not in before
    assert "What became of 1 is not recorded." in after
    assert "put back" not in after or before.split(" put back")[0] != after.split(" put back")[0]


def test_a_sync_is_not_said_to_undo_the_field_that_it_leaves() -> None:
    case = incident()
    undone = next(one for one in case.changes if case.verdicts[one.id].prospect.startswith("undone-"))
    field, answer = undone.write.fields[0], case.verdicts[undone.id]
    unseen = replace(field, path=("data", "unseen"))
    both = (replace(answer.fields[0], git=git("not-declared"), prospect="invisible"), answer.fields[0])
    case = replace(
        case,
        changes=tuple(
            replace(one, write=replace(one.write, fields=(unseen, field))) if one is undone else one
            for one in case.changes
        ),
        verdicts={**case.verdicts, undone.id: replace(answer, fields=both)},
    )
    hot = next(group for group in document("postmortem", case).first.unresolved if group.hot)
    assert "unseen" not in plain(hot.rows[0].text)
    assert "and 1 more" not in plain(hot.rows[0].text)


def test_the_unresolved_list_has_eight_rows_at_most_and_the_most_urgent_first() -> None:
    for make in CASES.values():
        groups = document("postmortem", make()).first.unresolved
        assert sum(len(group.rows) for group in groups) <= 8
        assert "Still frozen" in [group.title for group in groups]
    hot = document("postmortem", incident()).first.unresolved[0]
    assert (hot.title, hot.note, hot.hot) == ("Next sync undoes it", "payments-prod, synced by hand", True)


def test_the_unresolved_list_names_the_field_that_stands_and_no_other() -> None:
    """Of LOG_LEVEL and DB_POOL the one went back at the sync, the other is in no manifest."""
    told = document("postmortem", incident()).first.unresolved
    row = next(plain(row.text) for group in told for row in group.rows if "DB_POOL" in plain(row.text))
    assert "LOG_LEVEL" not in row
    assert "absent → 50" in row


def test_the_half_applied_row_names_an_application_of_any_length_and_says_what_is_wrong() -> None:
    key = app("a" * 150 + "z" * 103)
    one = finding(
        "unfinished-sync", "high", key.name, f"{key.name} is partly at 85726c7a8: it waits.", "", "07:00:00", "07:00:01"
    )
    groups = document("postmortem", replace(generated(1), findings=(one,))).first.unresolved
    said = next(plain(group.rows[0].text) for group in groups if group.title == "Half applied")
    assert said.startswith("aaaaa")
    assert said.endswith("zzz is partly at 85726c7a8: it waits.")


def test_a_folded_row_counts_what_it_does_not_name() -> None:
    rows = [plain(row.text) for group in document("postmortem", generated(400)).first.unresolved for row in group.rows]
    assert all(row.endswith(" more") for row in rows if row.count(" and ") == 2)
    assert any(row.count(" and ") == 2 for row in rows)


def test_a_restart_is_nothing_to_resolve_and_the_list_says_so() -> None:
    told = document("postmortem", incident())
    assert "a restart" not in "".join(plain(row.text) for group in told.first.unresolved for row in group.rows)
    assert plain(told.first.unresolved_caption) == (
        "Unresolved most urgent first; without 11: a restart leaves no more than its time"
    )
    assert plain(document("postmortem", generated(1)).first.unresolved_caption) == "Unresolved most urgent first"


def test_every_change_that_stands_is_in_the_unresolved_list_or_named_as_left_out() -> None:
    first = document("postmortem", incident()).first
    git = first.questions[2].answers
    standing = {one.text for row in git if row.inner for one in row.marks if one.state in ("act", "stand")}
    shown = {one.text for group in first.unresolved for row in group.rows for one in row.text if one.kind == "mark"}
    left_out = {one.text for one in first.unresolved_caption if one.kind == "mark"}
    assert standing == shown | left_out


def test_an_unresolved_row_leads_to_its_action_item() -> None:
    told = document("postmortem", incident())
    items = next(block for one in told.sections if one.anchor == "actions" for block in one.blocks)
    assert isinstance(items, Items)
    said = {f"#{item.anchor}": plain(item.text) for item in items.items if item.anchor}
    rows = {plain(row.text): row.action for group in told.first.unresolved for row in group.rows}
    assert said[rows["8 Deployment payments-prod, limits.cpu 500m → 750m; on a branch"]].startswith(
        "Before the next sync of payments-prod"
    )
    assert all(action in said for action in rows.values() if action)
    assert sum(not action for action in rows.values()) == 1, "nothing is frozen, so nothing is to do about it"


def test_the_changes_that_are_known_in_full_add_up() -> None:
    texts = [plain(one.text) for one in document("postmortem", incident()).first.questions[0].answers]
    assert texts[0] == "known in full: 17 fields in 16 changes, before and after; 2 whole objects"
    assert plain(document("postmortem", generated(3)).first.questions[0].answers[0].text) == (
        "known in full: 3 fields, before and after"
    )


def test_where_git_is_unknown_for_all_no_number_is_claimed_to_be_in_git() -> None:
    case = generated(3)
    verdicts = {
        ident: replace(one, git=git("unknown"), fields=(FieldVerdict(git("unknown"), cluster("standing")),))
        for ident, one in case.verdicts.items()
    }
    lead = plain(document("postmortem", replace(case, verdicts=verdicts)).first.lead)
    assert lead == "3 changes went past git; whether git has them cannot be told."


def test_a_lead_that_rests_on_few_proven_changes_counts_the_unproven_ones() -> None:
    case = generated(5)
    doubtful = [replace(one, write=replace(one.write, persisted="unproven")) for one in case.changes[1:]]
    lead = plain(document("postmortem", replace(case, changes=(case.changes[0], *doubtful))).first.lead)
    assert lead.endswith(" 4 more writes may have changed something, which no record shows.")


def test_what_another_program_recorded_is_no_gap() -> None:
    case = generated(1)
    skipped = (Skipped("argocd", "argocd", "events.yaml", 3, 9, "Event: not of Argo CD"),)
    event = mark("argocd", "events.yaml", "argocd", "07:00:00", "07:00:01", foreign=1)
    told = replace(case, coverage=replace(case.coverage, marks=(*case.coverage.marks, event), skipped=skipped))
    assert "skipped" not in "".join(map(plain, document("postmortem", told).first.gaps))
    broken = replace(event, undecodable=1)
    told = replace(case, coverage=replace(case.coverage, marks=(*case.coverage.marks, broken), skipped=skipped))
    assert "skipped" in "".join(map(plain, document("postmortem", told).first.gaps))


def test_what_is_still_frozen_is_named_with_its_beginning() -> None:
    key = app("shop-prod")
    freeze = Freeze(key, "automated-removed", NOON, actor("dave"), None, None, False, "", "", ())
    case = replace(generated(1), applications={key: ApplicationHistory(key, (), (), (freeze,))})
    rows = {group.title: plain(group.rows[0].text) for group in document("postmortem", case).first.unresolved}
    assert rows["Still frozen"] == "shop-prod since 07:00:00"


def test_without_an_audit_log_nothing_is_said_to_be_unchanged() -> None:
    told = document("postmortem", empty())
    assert "No audit log was read" in plain(told.first.lead)
    page = render(report("postmortem"), renderer("markdown"), empty(), FAR).decode()
    assert "No person changed an application" not in page
    assert "No change made past git can be told: no audit log was read." in page


def test_without_argo_cd_what_is_frozen_is_not_known() -> None:
    groups = document("postmortem", empty()).first.unresolved
    assert plain(groups[-1].rows[0].text) == "not known: no record of Argo CD was read"


def test_as_of_says_of_each_kind_of_record_how_far_it_reaches() -> None:
    rows = {row.record: plain(row.until) for row in document("postmortem", incident()).first.as_of}
    assert rows == {
        "Audit, acme": "07:13:02",
        "Argo CD": "07:12:58",
        "Git": "07:10:52",
        "Announcements": "07:07:25",
        "Live objects": "07:12:59",
    }


def test_a_cluster_whose_log_ends_early_is_named() -> None:
    case = generated(4, clusters=3)
    ends = {"cluster-0": NOON, "cluster-1": NOON + timedelta(hours=1), "cluster-2": NOON + timedelta(hours=1)}
    late = replace(case, coverage=replace(case.coverage, as_of=AsOf(ends, None, None, None, None)))
    row = document("postmortem", late).first.as_of[0]
    assert (row.record, plain(row.until)) == ("Audit, 3 clusters", "08:00:00")
    assert "cluster-0 until 07:00:00" in plain(row.holds)


def test_writes_that_may_have_changed_nothing_are_counted_in_nothing() -> None:
    case = generated(4)
    doubtful = replace(case.changes[0], write=replace(case.changes[0].write, persisted="unproven"))
    told = document("postmortem", replace(case, changes=(doubtful, *case.changes[1:])))
    assert sum(numbers(told.first.questions[0])) == 3
    assert "1 write not shown to have changed anything" in plain(told.first.remark)
    assert "Unproven writes" in [section.title for section in told.sections]


def test_the_first_page_of_sixty_changes_has_the_answers_as_text(tmp_path: Path) -> None:
    weasyprint()
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed")
    path = tmp_path / "report.pdf"
    path.write_bytes(render(report("postmortem"), renderer("pdf"), generated(60), BERLIN))
    run = subprocess.run(["pdftotext", "-l", "1", "-layout", path, "-"], capture_output=True, text=True, check=True)
    for words in (
        "in git",
        "not in git",
        "cannot be told",
        "the next sync undoes",
        "Still frozen",
        "Gaps in the records",
    ):
        assert words in run.stdout
