"""The nightly digest of the recorded incident."""

from dataclasses import replace

from reports.contract.document import Table
from reports.words.rich import plain
from tests.reports.incident import incident
from tests.reports.rendering import document


def test_the_digest_says_by_what_each_thing_differs() -> None:
    told = document("drift", incident())
    assert plain(told.first.lead) == (
        "7 things are not as git says, in 4 applications; the next sync undoes 2 changes."
    )
    assert [(one.number, plain(one.text)) for one in told.first.questions[0].answers] == [
        ("6", "a hand"),
        ("1", "an unfinished sync"),
    ]
    tables = [
        one for one in next(one for one in told.sections if one.anchor == "drift").blocks if isinstance(one, Table)
    ]
    assert plain(tables[0].caption).startswith("payments-prod 3 entries")


def test_what_no_application_owns_is_not_counted_into_the_applications() -> None:
    case = incident()
    first, *rest = case.drift
    told = document("drift", replace(case, drift=(replace(first, application=None), *rest)))
    assert plain(told.first.lead).startswith("7 things are not as git says: 6 in 3 applications, 1 of no application;")
