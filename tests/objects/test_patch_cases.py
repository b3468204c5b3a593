"""Patches applied here give what a real API server gave; the cases and their origin are in `patch_cases.jsonl.gz`."""

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from auditor.model.change import FieldChange
from auditor.objects import patch, paths
from auditor.objects.defaults import filled_by
from auditor.objects.leaves import differences

FIXTURE = Path(__file__).parent / "patch_cases.jsonl.gz"


@cache
def cases() -> list[dict[str, Any]]:
    origin, *lines = gzip.decompress(FIXTURE.read_bytes()).decode().splitlines()
    assert json.loads(origin)["origin"].startswith("kube-apiserver v1.34")
    return [json.loads(line) for line in lines]


def case_id(case: dict[str, Any]) -> str:
    return f"{case['note']}-{case['patch_type']}"


def missed(case: dict[str, Any], result: dict[str, Any] | None) -> list[str]:
    """What differs from the server's answer and is no allocation of its own."""
    changes = differences(result, case["after"], case["group"], case["kind"])
    return [shown(change) for change in changes if not _allocated(case, change)]


def _allocated(case: dict[str, Any], change: FieldChange) -> bool:
    how = filled_by(case["group"], case["kind"], change.path, change.after.value)
    return change.before.state == "absent" and how == "allocation"


def shown(change: FieldChange) -> str:
    return f"{paths.text(change.path)}: {change.before.value!r} -> {change.after.value!r}"


def applied(case: dict[str, Any]) -> patch.Patched:
    return patch.apply(
        case["before"],
        case["request"],
        case["patch_type"],
        case["group"],
        case["kind"],
        case["subresource"],
        case["manager"],
    )


def asked(case: dict[str, Any]) -> patch.Named:
    return patch.named(
        case["request"],
        case["patch_type"],
        case["before"],
        case["group"],
        case["kind"],
        case["subresource"],
        case["manager"],
    )


@pytest.mark.parametrize("case", cases(), ids=case_id)
def test_a_patch_gives_what_the_api_server_gives(case: dict[str, Any]) -> None:
    before = json.dumps(case, sort_keys=True)
    result = applied(case)
    assert missed(case, result.document) == []
    assert json.dumps(case, sort_keys=True) == before, "an argument was changed"


@pytest.mark.parametrize("case", cases(), ids=case_id)
def test_what_differs_after_a_patch_is_named_by_it_or_filled_in_by_the_server(case: dict[str, Any]) -> None:
    named = asked(case)
    unnamed = [
        shown(change)
        for change in differences(case["before"], case["after"], case["group"], case["kind"])
        if not named.covers(change.path) and not _filled(case, change)
    ]
    assert unnamed == []


def _filled(case: dict[str, Any], change: FieldChange) -> bool:
    side, document = (change.after, case["after"]) if change.after.state == "value" else (change.before, case["before"])
    return filled_by(case["group"], case["kind"], change.path, side.value, document) is not None


PATCHES = [case for case in cases() if not case["subresource"] and case["patch_type"] != "put"]


@pytest.mark.parametrize("case", PATCHES, ids=case_id)
def test_the_patch_type_is_told_by_shape_and_result(case: dict[str, Any]) -> None:
    query = "&force=true" if case["patch_type"] == "apply" else ""
    found = patch.classify(
        "patch",
        case["request"],
        case["manager"],
        bool(query),
        f"/x?fieldManager={case['manager']}{query}",
        200,
        case["group"],
        case["kind"],
        case["before"],
        case["after"],
    )
    if found != case["patch_type"]:
        guessed = patch.apply(case["before"], case["request"], found, case["group"], case["kind"])
        assert missed(case, guessed.document) == [], "the guess reads the request differently"


def test_there_are_cases_of_every_kind_of_patch() -> None:
    kinds = Counter(case["patch_type"] for case in cases())
    assert all(kinds[name] >= 20 for name in ("strategic", "merge", "json-patch", "apply", "put"))
    assert len(cases()) >= 300
