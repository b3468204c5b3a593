"""The change register: complete, and what it counts."""

from reports.case.dossier import dossier
from reports.contract.document import Table
from reports.register import listed, reconciliation
from reports.words.rich import plain
from tests.reports.cases import generated
from tests.reports.incident import incident
from tests.reports.rendering import BERLIN, document


def test_the_register_reconciles_with_the_records_that_were_read() -> None:
    for case in (incident(), generated(20)):
        parts = reconciliation(dossier(case, BERLIN))
        assert sum(number for _, number, _ in parts[:-1]) == parts[-1][1]
    assert parts[-1][1] == 5000


def test_what_went_past_git_has_the_postmortems_number_and_its_id_in_the_register() -> None:
    case = incident()
    told = document("register", case)
    numbered = dossier(case, BERLIN)
    rows = next(one for one in told.sections if one.anchor == "changes").blocks[0]
    assert isinstance(rows, Table)
    assert [plain(row.cells[0]) for row in rows.rows] == [
        numbered.by_id[each.id].label if each.id in numbered.by_id else "–" for each in listed(numbered)
    ]
    assert all(
        numbered.idents[each.id] in plain(row.cells[1]) for each, row in zip(listed(numbered), rows.rows, strict=True)
    )
    anchors = {name for row in rows.rows for name in (row.anchor, *row.also)}
    cited = [one.href for gap in told.first.gaps for one in gap if one.kind == "mark"]
    assert cited
    assert all(href.removeprefix("#") in anchors for href in cited)


def test_the_register_says_where_to_look_for_what_it_leaves_out() -> None:
    answer = document("register", incident()).first.questions[2].answers[0]
    assert plain(answer.text) == "audit records were read; Reconciliation says where each went"
    assert [one.href for one in answer.text if one.kind == "ref"] == ["#reconciliation"]


def test_the_register_lists_all_causes_and_the_syncs() -> None:
    case = incident()
    told = document("register", case)
    answers = told.first.questions[0].answers
    assert [one.number for one in answers] == ["0", "19", "1", "0"]
    assert plain(told.first.lead) == "20 changes and 32 deployments are in the records; 20 went past git."
