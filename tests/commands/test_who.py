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
