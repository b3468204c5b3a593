"""The recorded incident: what was done is what the program says, act by act."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import app, run
from tests.conftest import ROOT, Demo

SCORE = ROOT.parent / "shared" / "score" / "score.py"

Ask = Callable[..., Any]


@pytest.fixture
def ask(demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Asks the demo's store; the answer as JSON."""
    monkeypatch.chdir(demo.folder)
    monkeypatch.setenv("PATH", "")

    def answer(*arguments: str) -> Any:
        assert run(partial(app(), [*arguments, "--format", "json", "--quiet"])) == 0
        return json.loads(capsys.readouterr().out)

    return answer


def when(text: str) -> datetime:
    return datetime.fromisoformat(text)


def truth(folder: Path) -> list[dict[str, Any]]:
    acts: list[dict[str, Any]] = json.loads((folder / "truth.json").read_text())
    return acts


def acts_past_git(folder: Path) -> list[dict[str, Any]]:
    return [act for act in truth(folder) if act.get("out_of_band")]


def is_of(change: dict[str, Any], act: dict[str, Any]) -> bool:
    thing, second = change["object"], timedelta(seconds=1)
    return (
        [f"{thing['group']}/{thing['kind']}", thing["namespace"], thing["name"]] == act["object"]
        and when(act["begin"]) - second <= when(change["at"]) <= when(act["end"]) + second
        and change["cause"] == act.get("cause", "out-of-band")
    )


def test_every_act_is_found_with_its_actor_and_its_verdicts(ask: Ask, demo: Demo) -> None:
    changes = ask("changes")["changes"]
    for act in acts_past_git(demo.folder):
        found = [change for change in changes if is_of(change, act)]
        assert found, act["id"]
        change = found[0]
        assert change["actor"]["name"] == act["actor"], act["id"]
        assert change["actor"]["acting_as"] == act.get("acting_as"), act["id"]
        assert change["application"] == act["app"], act["id"]
        told = {field["path"]: field for field in change["fields"]}
        for field in act.get("fields", ()):
            mine = told[field["path"].replace("'", '"').lstrip(".")]
            assert mine["cluster"]["verdict"] in (field["cluster"], "*"), act["id"]
            words = field["git"] if isinstance(field["git"], list) else [field["git"]]
            assert mine["git"]["verdict"] in words, act["id"]


def test_no_change_of_a_workload_is_invented(ask: Ask, demo: Demo) -> None:
    acts = acts_past_git(demo.folder)
    writers = {name for act in truth(demo.folder) for name in act.get("writers", ())}
    for change in ask("changes")["changes"]:
        if change["object"]["group"] != "argoproj.io" and change["actor"]["name"] not in writers:
            assert any(is_of(change, act) for act in acts), change


def test_every_answer_has_its_schema_and_the_ends_of_its_records(ask: Ask) -> None:
    for name, rows in (
        ("changes", "changes"), ("findings", "findings"), ("episodes", "episodes"), ("staging", "pairs"),
        ("sources", "sources"),
    ):  # fmt: skip
        answer = ask(name)
        assert answer["schema"] == f"auditor/{name}/1"
        assert answer["as_of"]["audit"] == {"acme": "2026-11-30T07:13:02.575477Z"}
        assert answer["as_of"]["git"] == "2026-11-30T07:10:52Z"
        assert answer[rows]


@pytest.mark.skipif(not SCORE.is_file(), reason="the independent scorer is not beside this checkout")
def test_an_independent_scorer_agrees(ask: Ask, demo: Demo, tmp_path: Path) -> None:
    files = []
    for name in ("changes", "findings", "episodes", "staging"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(ask(name)))
        files += [f"--{name}", str(path)]
    score = [sys.executable, str(SCORE), str(demo.folder / "truth.json"), *files]
    done = subprocess.run(score, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_collecting_again_changes_nothing(ask: Ask, demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    before = ask("changes")
    assert run(partial(app(), ["collect", "--exit-status"])) == 6
    assert "Nothing new" in capsys.readouterr().err
    assert ask("changes") == before


def test_a_second_run_elsewhere_in_the_world_gives_the_same_bytes(demo: Demo, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "auditor", "run", "--output", str(tmp_path), "--store", f"sqlite:///{tmp_path}/a.db"],
        cwd=demo.folder,
        env={"PATH": "", "TZ": "Asia/Kolkata", "LC_ALL": "tr_TR.UTF-8", "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    for suffix in ("html", "pdf", "json"):
        name = f"postmortem.{suffix}"
        assert (tmp_path / name).read_bytes() == (demo.folder / "reports" / name).read_bytes(), suffix


def test_filters_narrow_the_answer(ask: Ask) -> None:
    whole = ask("changes")["changes"]
    by_dave = ask("changes", "--actor", "dave@acme.example")["changes"]
    assert by_dave == [change for change in whole if change["actor"]["name"] == "dave@acme.example"]
    early = ask("changes", "--until", "2026-11-30T07:01:00Z", "--app", "shop-prod")["changes"]
    assert early
    assert all(change["application"] == "shop-prod" for change in early)
    assert len(ask("changes", "--since", "5m")["changes"]) < len(whole)
    assert ask("changes", "--attempts")["changes"][0]["code"] == 403
    assert len(ask("changes", "--limit", "3")["changes"]) == 3


def test_findings_can_be_asked_for_by_how_much_they_matter(ask: Ask) -> None:
    whole = ask("findings")["findings"]
    grave = ask("findings", "--severity", "medium")["findings"]
    assert grave == [finding for finding in whole if finding["severity"] in ("medium", "high")]
    assert ask("findings", "--severity", "medium", "--limit", "3")["findings"] == grave[:3]
    assert ask("findings", "--severity", "medium", "--limit", str(len(whole)))["findings"] == grave


def test_who_tells_the_last_writer_of_each_field(ask: Ask) -> None:
    answer = ask("who", "shop-prod/deploy/api", "--explain")
    last = {row["path"]: row["actor"] for row in answer["fields"]}
    assert last["spec.template.spec.containers[name=api].env[name=DB_POOL].value"] == "dave@acme.example"
    assert {change["object"]["namespace"] for change in answer["changes"]} == {"shop-prod"}


def test_every_statement_rests_on_records_that_are_as_they_were_read(ask: Ask) -> None:
    answer = ask("verify")
    statements = answer["statements"]
    assert len({tuple(one["evidence"][key] for key in ("source", "offset")) for one in statements}) == answer["records"]
    assert len(answer["chain"]) == 64
    assert [log["standing"] for log in answer["logs"]] == ["unchanged"] * 3
    assert {one["standing"] for one in statements} == {"unchanged"}
    assert {one["evidence"]["kind"] for one in statements} >= {"audit", "application", "argocd-event"}


def test_one_source_can_be_asked_for_by_the_end_of_its_name(
    ask: Ask, demo: Demo, capsys: pytest.CaptureFixture[str]
) -> None:
    [source] = ask("sources", "audit.log")["sources"]
    assert (source["source"], sum(source["account"].values())) == ("audit/audit.log", source["bytes"])
    assert [len(span) for spans in source["streams"].values() for span in spans] == [2]
    assert run(partial(app(), ["sources", "nothing.log", "--quiet"])) == 7
    assert "no source is called 'nothing.log'" in capsys.readouterr().err


def test_show_gives_the_redacted_record(ask: Ask) -> None:
    change = ask("changes", "--actor", "dave@acme.example", "--app", "shop-prod")["changes"][0]
    [shown] = ask("show", change["id"][:12])["changes"]
    assert shown["records"][0]["audit_id"] == change["evidence"]["audit_id"]
    assert shown["records"][0]["request"]
