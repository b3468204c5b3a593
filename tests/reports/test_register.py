"""The change register: complete, and what it counts."""

from reports.case.dossier import dossier
from reports.register import reconciliation
from reports.words.rich import plain
from tests.reports.cases import generated
from tests.reports.incident import incident
from tests.reports.rendering import BERLIN, document


def test_the_register_reconciles_with_the_records_that_were_read() -> None:
    for case in (incident(), generated(20)):
        parts = reconciliation(dossier(case, BERLIN))
        assert sum(number for _, number, _ in parts[:-1]) == parts[-1][1]
    assert parts[-1][1] == 5000


def test_the_register_lists_all_causes_and_the_syncs() -> None:
    case = incident()
    told = document("register", case)
    answers = told.first.questions[0].answers
    assert [one.number for one in answers] == ["0", "19", "1", "0"]
    assert plain(told.first.lead) == "20 changes and 32 deployments are in the records; 20 went past git."
