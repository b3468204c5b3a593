"""`auditor who`: the object may be named as answers print it."""

import json

import pytest

from auditor.console.status import Status
from tests.commands.asking import Ask, ask

__all__ = ["ask"]


def objects(ask: Ask, *named: str) -> set[str]:
    said = ask("who", *named, "--format", "json")
    assert said.status == Status.CLEAN
    found = [change["object"] for change in json.loads(said.out)["changes"]]
    return {f"{thing['kind']} {thing['namespace']}/{thing['name']}" for thing in found}


def test_a_namespace_and_a_name_are_all_objects_of_that_name(ask: Ask) -> None:
    assert objects(ask, "shop-prod/api") == {"Deployment shop-prod/api", "Service shop-prod/api"}


@pytest.mark.parametrize(
    "named",
    [("Deployment", "shop-prod/worker"), ("Deployment shop-prod/worker/scale",), ("Deployment/worker/scale",)],
)
def test_an_object_is_named_as_answers_print_it(ask: Ask, named: tuple[str, ...]) -> None:
    assert "Deployment shop-prod/worker" in objects(ask, *named)


def test_what_is_not_recorded_is_told_as_it_was_asked(ask: Ask) -> None:
    said = ask("who", "shop-prod/deployment/apii")
    assert said.status == Status.NOT_FOUND
    assert "No write to shop-prod/deployment/apii is recorded. Objects called so or much like it: api." in said.err


def test_of_many_writes_the_latest_are_shown_and_the_others_counted(ask: Ask) -> None:
    whole = json.loads(ask("who", "shop-prod/deployment/web", "--format", "json").out)["changes"]
    said = ask("who", "shop-prod/deployment/web", "--limit", "2").out
    assert f"{len(whole) - 2} earlier writes are not shown: --limit {len(whole)} has all." in said
    assert [change["id"][:12] in said for change in whole] == [False] * (len(whole) - 2) + [True] * 2
    assert "not shown" not in ask("who", "shop-prod/deployment/web").out


def test_for_programs_all_writes_are_there_unless_a_limit_is_given(ask: Ask) -> None:
    whole = json.loads(ask("who", "shop-prod/api", "--format", "json").out)
    latest = json.loads(ask("who", "shop-prod/api", "--format", "json", "--limit", "1").out)
    assert {change["object"]["kind"] for change in latest["changes"]} == {"Deployment", "Service"}
    assert len(latest["changes"]) == 2 < len(whole["changes"])
    assert latest["fields"] == whole["fields"]
