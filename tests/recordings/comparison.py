"""What the program says of a recording, held against what the acts did: nothing invented, nothing wrong."""

import copy
import gzip
import json
import random
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import app, run
from auditor.console.status import Status

Change = dict[str, Any]
Lines = list[str]

CONFIGURATION = """
[store]
url = "sqlite:///auditor.db"

[redaction]
key_file = "redaction.key"

[[cluster]]
name = "prod"
audit = ["audit.jsonl"]
"""
_NO_EVENT = ("", None)
"""The actor of a write of which only managedFields tell: a create that was taken out of the log."""
_CAUSES = {"gitops": "gitops", "autoscaler": "controller", "control-plane": "controller"}


def saved(folder: Path) -> tuple[Lines, list[dict[str, Any]]]:
    """The recording that lies here: the lines of the audit log, and one entry an act."""
    lines = gzip.decompress((folder / "acts.audit.jsonl.gz").read_bytes()).decode().splitlines()
    _, *entries = gzip.decompress((folder / "acts.truth.jsonl.gz").read_bytes()).decode().splitlines()
    return lines, [json.loads(entry) for entry in entries]


def without_responses(lines: Lines) -> Lines:
    """The log at level Request."""
    return _altered(lines, "Request", "responseObject")


def without_bodies(lines: Lines) -> Lines:
    """The log at level Metadata."""
    return _altered(lines, "Metadata", "responseObject", "requestObject")


def _altered(lines: Lines, level: str, *dropped: str) -> Lines:
    events = [json.loads(line) for line in lines]
    kept = [{key: value for key, value in event.items() if key not in dropped} | {"level": level} for event in events]
    for event in kept if level == "Metadata" else ():
        marks = event.get("annotations", {})
        event["annotations"] = {key: value for key, value in marks.items() if not key.startswith("patch.webhook")}
    return [json.dumps(event) for event in kept]


def shuffled(lines: Lines) -> Lines:
    """The log out of order."""
    mixed = copy.copy(lines)
    random.Random(7).shuffle(mixed)
    return mixed


def doubled(lines: Lines) -> Lines:
    """The log twice over, as overlapping files have it."""
    return [*lines, *lines]


def told(folder: Path, lines: Iterable[str], capsys: pytest.CaptureFixture[str]) -> list[Change]:
    """What `auditor changes` says of a log, with no Argo CD and no git beside it."""
    (folder / "auditor.toml").write_text(CONFIGURATION)
    (folder / "audit.jsonl").write_text("\n".join(lines) + "\n")
    config = str(folder / "auditor.toml")
    assert run(partial(app(), ["collect", "--config", config])) == Status.CLEAN
    capsys.readouterr()
    run(partial(app(), ["changes", "--config", config, "--format", "json", "--cause", "all"]))
    changes: list[Change] = json.loads(capsys.readouterr().out)["changes"]
    return changes


FieldCheck = Callable[[dict[str, Any], list[Change]], Iterable[str]]


def after_creates(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The acts without the creates that `without_creates` took out of the log."""
    return [
        entry | {"changes": [each for each in entry["changes"] if each["operation"] != "create"]} for entry in entries
    ]


def complaints(changes: list[Change], entries: list[dict[str, Any]], check: FieldCheck) -> list[str]:
    """All in which the program is wrong, in words; `check` compares the fields of one change.

    Where bodies are missing a record may not tell an object's name, its kind or the sub-command of kubectl.
    """
    left = [each for each in changes if each["actor"]["name"] not in ("system:apiserver", *_NO_EVENT)]
    found = []
    for entry in entries:
        for truth in entry["changes"]:
            place = f"{entry['act'][:150]} ({truth['kind']}/{truth['namespace']}/{truth['name']})"
            mine = next((each for each in left if _is_of(each, truth, entry)), None)
            if mine is None:
                found.append(f"{place}: {truth['operation']} is missing")
                continue
            if mine["object"]["name"] or truth["operation"] == "create":
                left.remove(mine)
            found += [f"{place}: {each}" for each in (*_misnamed(mine, truth, entry), *check(truth, mine["fields"]))]
    return found + [_invented(each, entries) for each in left if each["persisted"] == "proven"]


def _is_of(change: Change, truth: dict[str, Any], entry: dict[str, Any]) -> bool:
    subject = change["object"]
    same = subject["namespace"] == truth["namespace"] and subject["name"] in (truth["name"], "")
    same = same and subject["kind"] in (truth["kind"], f"{truth['kind'].lower()}s")
    return same and entry["begin"] <= _padded(change["at"]) <= entry["end"]


def _padded(at: str) -> str:
    whole, _, fraction = at.removesuffix("Z").partition(".")
    return f"{whole}.{fraction:0<6}Z"


def _misnamed(change: Change, truth: dict[str, Any], entry: dict[str, Any]) -> Iterable[str]:
    actor = {key: change["actor"][key] for key in ("name", "kind")}
    cause = _CAUSES.get(entry["actor"]["kind"], "out-of-band")
    pairs = [(actor, entry["actor"]), (change["cause"], cause)]
    pairs += [(change["operation"], truth["operation"])]
    pairs += [(change["channel"], truth["channel"])] if change["channel"] != "kubectl" else []
    yield from (f"{mine} is not {real}" for mine, real in pairs if mine != real)


def _invented(change: Change, entries: list[dict[str, Any]]) -> str:
    act = next((each["act"] for each in entries if each["begin"] <= _padded(change["at"]) <= each["end"]), "no act")
    fields = [(field["path"], field["before"], field["after"]) for field in change["fields"]]
    return f"invented: {change['operation']} of {change['object']} in {act[:150]}: {fields}"


def exactly(truth: dict[str, Any], fields: list[Change]) -> Iterable[str]:
    """All fields, with both values."""
    mine = {field["path"]: field for field in fields}
    real = {field["path"]: field for field in truth["fields"]}
    yield from (f"{path} is missing" for path in sorted(real.keys() - mine.keys()))
    yield from (f"{path} is invented: {_values(mine[path])}" for path in sorted(mine.keys() - real.keys()))
    for path in sorted(mine.keys() & real.keys()):
        for side in ("before", "after"):
            if not _agrees(mine[path], real[path], side):
                yield f"{path} {side}: {_values(mine[path])} is not {_values(real[path])}"


def without_creates(lines: Lines) -> Lines:
    """A log that begins when all objects are there."""
    return [line for line in lines if json.loads(line)["verb"] != "create" and '"code":201' not in line]


def nothing_wrong(truth: dict[str, Any], fields: list[Change]) -> Iterable[str]:
    """No field that did not differ, unless what was there before is unknown, and no wrong value."""
    real = {field["path"]: field for field in truth["fields"]}
    for field in fields:
        path = field["path"]
        if path not in real:
            if field["before_state"] != "unknown" and field["after_state"] != "unknown":
                yield f"{path} is invented: {_values(field)}"
            continue
        for side in ("before", "after"):
            if field[f"{side}_state"] != "unknown" and not _agrees(field, real[path], side):
                yield f"{path} {side}: {_values(field)} is not {_values(real[path])}"


def _values(field: Change) -> tuple[Any, ...]:
    return tuple(
        field[side] if field[f"{side}_state"] == "value" else field[f"{side}_state"] for side in ("before", "after")
    )


def _agrees(mine: Change, real: Change, side: str) -> bool:
    if mine[side] in (None, []) and real[side] in (None, []):
        return True  # an absent list is an empty list
    if mine[f"{side}_state"] != real[f"{side}_state"]:
        return False
    return real[side] == "hidden" or mine[side] == real[side]
