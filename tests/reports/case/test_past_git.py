"""Every report says with the same words what went past git, and which part of it it counts."""

from dataclasses import replace

import pytest

from auditor.model.case import Case
from reports.words.rich import plain
from tests.reports.cases import change, generated, target
from tests.reports.rendering import document

ALL = (
    "Past git in all: 3 changes of what is deployed; 1 change of the GitOps tool’s own objects; 1 write not shown to "
    "have changed anything."
)


def mixed() -> Case:
    case = generated(4)
    doubtful = replace(case.changes[0], write=replace(case.changes[0].write, persisted="unproven"))
    own = target("Application", "argocd", "shop", group="argoproj.io")
    setting = change(replace(case.changes[0].write, id="setting", object=own), None)
    return replace(case, changes=(doubtful, *case.changes[1:], setting))


@pytest.mark.parametrize(
    ("kind", "rest"),
    [
        ("postmortem", " The answers count the first; the rest is listed apart."),
        ("register", " All of it is listed here."),
        ("drift", " Counted is what differs now, by field or whole object."),
    ],
)
def test_a_report_says_what_it_counts_of_all_that_went_past_git(kind: str, rest: str) -> None:
    assert plain(document(kind, mixed()).first.remark) == ALL + rest


def test_the_register_counts_what_is_proven_and_the_rest_apart() -> None:
    told = document("register", mixed())
    assert plain(told.first.lead) == "4 changes and 0 deployments are in the records; 4 went past git."
    numbers = [(one.number, plain(one.text)) for one in told.first.questions[0].answers]
    assert numbers[1] == ("4", "past git")
    assert numbers[-1] == ("1", "not shown to have changed anything, and counted in none of these")


@pytest.mark.parametrize("kind", ["postmortem", "drift"])
def test_where_nothing_is_apart_nothing_is_said_of_it(kind: str) -> None:
    assert document(kind, generated(4)).first.remark == ()
