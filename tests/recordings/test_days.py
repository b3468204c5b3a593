"""Recorded days of a cluster with Argo CD: what was done is what the program says, act by act, and nothing else."""

import json
import os
import tarfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import app, run
from auditor.desired.tools import find_tools

HERE = Path(__file__).parent
TOOLS = HERE.parents[1] / ".tools" / "bin"
STEPS = {"freeze": "froze", "change": "changed", "announce": "announced", "git": "git", "unfreeze": "unfroze"}
DAYS = sorted(path.name.partition(".")[0] for path in (HERE / "days").glob("*.tar.xz"))
CLOCK = timedelta(seconds=1)
Told = dict[str, Any]


@pytest.fixture(params=DAYS)
def day(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording in a folder of its own, with its configuration."""
    monkeypatch.setenv("PATH", str(TOOLS), prepend=os.pathsep)
    tools = find_tools([TOOLS])
    if tools.helm is None or (tools.kustomize is None and tools.kubectl is None):
        pytest.skip("needs helm and kustomize: make tools")
    with tarfile.open(HERE / "days" / f"{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_act_is_told_and_nothing_else(day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    acts: list[Told] = json.loads((day / "truth.json").read_text())
    run(partial(app(), ["collect", "--quiet"]))
    changes, findings, episodes = (_asked(name, capsys) for name in ("changes", "findings", "episodes"))
    pairs = _asked("staging", capsys, "pairs")
    complaints = [*_of_acts(acts, changes), *_of_findings(acts, findings), *_of_episodes(acts, episodes)]
    assert [*complaints, *_of_staging(acts, pairs)] == []


def _asked(name: str, capsys: pytest.CaptureFixture[str], listed: str = "") -> list[Told]:
    capsys.readouterr()
    run(partial(app(), [name, "--format", "json", "--quiet"]))
    found: list[Told] = json.loads(capsys.readouterr().out)[listed or name]
    return found


def _of_acts(acts: list[Told], changes: list[Told]) -> Iterator[str]:
    left = {change["id"]: change for change in changes if change["object"]["group"] != "argoproj.io"}
    tools = {writer for act in acts for writer in act.get("writers", ())}
    for act in (act for act in acts if act.get("out_of_band")):
        found = next((change for change in left.values() if _is_of(act, change)), None)
        if found is None:
            yield f"{act['id']} is not told"
        else:
            del left[found["id"]]
            yield from _compared(act["id"], dict(_expected(act)), dict(_said(found)))
    for change in left.values():
        if change["actor"]["name"] not in tools:
            yield f"invented: {change['at']} {change['actor']['name']} {change['object']}"


def _is_of(act: Told, change: Told) -> bool:
    of = change["object"]
    same = [f"{of['group']}/{of['kind']}", of["namespace"], of["name"]] == act["object"]
    at = datetime.fromisoformat(change["at"])
    begun, ended = (datetime.fromisoformat(act[key]) for key in ("begin", "end"))
    return same and change["actor"]["name"] == act["actor"] and begun - CLOCK <= at <= ended + CLOCK


def _expected(act: Told) -> Iterator[tuple[str, Any]]:
    yield "cause", act.get("cause", "out-of-band")
    yield "kind", act["actor_kind"]
    yield "acting as", act.get("acting_as")
    yield "application", act["app"]
    yield "channel", act.get("channel", "*")
    if "whole" in act:
        yield "operation", {"created": "create", "deleted": "delete"}[act["whole"]]
    if "whole" in act or not act["fields"]:
        yield from (("git", act["git"]), ("cluster", act.get("cluster", "*")))
    for field in act.get("fields", ()):
        for key in ("before", "after", "git", "cluster", "commit", "author", "pull_request", "authored", "by"):
            yield f"{field['path']} {key}", field.get(key, "*")


def _said(change: Told) -> Iterator[tuple[str, Any]]:
    yield from (("cause", change["cause"]), ("kind", change["actor"]["kind"]))
    yield from (("acting as", change["actor"]["acting_as"]), ("application", change["application"]))
    yield from (("channel", change["channel"]), ("operation", change["operation"]))
    yield from (("git", change["git"]), ("cluster", change["cluster_state"]))
    for field in change["fields"]:
        git, cluster = field["git"], field["cluster"]
        told = {key: field[key] for key in ("before", "after")}
        told |= {key: git[key] for key in ("commit", "author", "pull_request")}
        told |= {"git": git["verdict"], "authored": (git["authored"] or {}).get("commit")}
        told |= {"cluster": cluster["verdict"], "by": cluster["by"]}
        yield from ((f"{field['path']} {key}", value) for key, value in told.items())


def _compared(name: str, expected: Told, said: Told) -> Iterator[str]:
    for key, wanted in expected.items():
        if wanted != "*" and said.get(key) != wanted:
            yield f"{name} {key}: {said.get(key)!r} and not {wanted!r}"
    if "operation" not in expected:
        yield from (f"{name}: {key} besides" for key in said if key.endswith(" before") and key not in expected)


def _of_findings(acts: list[Told], findings: list[Told]) -> Iterator[str]:
    told = {(finding["ident"], finding["application"]) for finding in findings}
    wanted = {(act["finding"], act["app"]) for act in acts if "finding" in act}
    allowed = wanted | {(act["may_find"], act["app"]) for act in acts if "may_find" in act}
    watched = {ident for ident, _ in allowed} | {"sync-loop", "second-writer", "shared-ownership", "unfinished-sync"}
    yield from (f"not found: {ident} of {of}" for ident, of in sorted(wanted - told))
    yield from (f"invented: {one} of {of}" for one, of in told - allowed if one in watched)


def _of_episodes(acts: list[Told], episodes: list[Told]) -> Iterator[str]:
    for act in (act for act in acts if act["id"].startswith("episode-")):
        mine = [each for each in episodes if each["application"] == act["app"] and each["began_at"] <= act["end"]]
        steps = next((each["steps"] for each in mine if (each["ended_at"] or act["end"]) >= act["begin"]), None)
        for step, key in STEPS.items():
            state = steps[step]["state"] if steps else "no episode"
            if act[key] not in ("*", state):
                yield f"{act['id']} {step}: {state} and not {act[key]}"


def _of_staging(acts: list[Told], pairs: list[Told]) -> Iterator[str]:
    for act in (act for act in acts if "staging" in act):
        mine = [pair["differences"] for pair in pairs if [pair["staging"], pair["production"]] == act["staging"]]
        told = {_place(each["object"]["name"], each): each for each in (mine or [[]])[0]}
        for wanted in act["differences"]:
            place = _place(wanted["object"][1], wanted)
            found = told.get(place, {"staging": "not told", "production": "not told", "causes": []})
            if not set(wanted["causes"]) <= set(found["causes"]):
                yield f"{place} causes: {found['causes']} and not {wanted['causes']}"
            for side in ("staging", "production"):
                if found[side] != wanted[side]:
                    yield f"{place} {side}: {found[side]!r} and not {wanted[side]!r}"


def _place(name: str, difference: Told) -> str:
    return f"{name} {difference['path']}"
