"""What the documentation says is so."""

import dataclasses
import re
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer

from auditor import config_file, registry
from auditor.cli import app, run
from auditor.config_file import parse
from auditor.console import wire
from tests.conftest import ROOT, Demo

PAGES = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.M | re.S)


def commands(page: Path) -> list[str]:
    return [line for block in blocks(page) for line in block.splitlines() if line.strip()]


def test_the_readme_has_two_commands_for_whoever_sees_it_first() -> None:
    makefile = (ROOT / "Makefile").read_text()
    told = re.findall(r"(?:^|`)make ([a-z-]+)(?:$|`)", (ROOT / "README.md").read_text(), re.M)
    assert told == ["demo", "test"]
    for target in told:
        assert re.search(rf"^{target}:", makefile, re.M), target


LINES = dict.fromkeys(
    [*(line for line in commands(ROOT / "README.md") if line.startswith("auditor "))]
    + [command.example for command in registry.commands() if command.name != "demo"]  # whose folder this is
)


@pytest.mark.parametrize("line", LINES)
def test_every_command_that_is_shown_works(
    line: str, demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(demo.folder)
    monkeypatch.setenv("PATH", "")
    arguments = shlex.split(line)[1:]
    if arguments[0] == "init":
        arguments = ["init", "--from", ".", "--output", str(tmp_path / "auditor.toml")]
    elif "--config" in arguments:
        arguments[arguments.index("--config") + 1] = "auditor.toml"
    elif "--output" in arguments:
        place = arguments.index("--output") + 1
        arguments[place] = str(tmp_path / arguments[place])
    status = run(partial(app(), arguments))
    assert status == (3 if arguments[0] == "run" else 0), capsys.readouterr().err
    assert capsys.readouterr().out or arguments[0] == "collect"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_page_on_configuration_has_every_key_and_no_other() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    kinds = {**config_file._TABLES, **{name: kind for name, (kind, _) in config_file._LISTS.items()}}
    sections = re.findall(r"^## `\[+(\w+)\]+`\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    told = {name: set(re.findall(r"^\| `(\w+)` \|", text, re.M)) for name, text in sections}
    assert told == {name: {field.name for field in dataclasses.fields(kind)} for name, kind in kinds.items()}


def test_the_page_on_json_has_every_key_of_a_change() -> None:
    from auditor.store import Recorded
    from tests.factories import change, field, verdict

    page = (ROOT / "docs" / "json.md").read_text()
    section = page.split("## `auditor/changes/1`")[1].split("\n## ")[0]
    one = change("a", 0, field())
    entry = wire.change(Recorded(one.write, one, verdict("a", ("reflected", "standing"))))
    assert re.findall(r"^\| `(\w+)` \|", section, re.M) == list(entry)
    for key in (*entry["fields"][0]["git"], *entry["fields"][0]["cluster"]):  # type: ignore[index,call-overload,misc]
        assert f"`{key}`" in section


def test_the_page_on_tables_has_every_column_of_the_store(tmp_path: Path) -> None:
    from auditor.store import open_store

    told = dict(re.findall(r"^\| `(\w+)` \| .* \| (`.*`) \|$", (ROOT / "docs" / "sql.md").read_text(), re.M))
    with open_store("sqlite:///auditor.db", folder=tmp_path) as store:
        names = [row[0] for row in store.ask("SELECT name FROM sqlite_master WHERE type = 'table'")[1]]
        assert set(told) == set(names)
        for name in names:
            columns, _ = store.ask(f'SELECT * FROM "{name}"')
            assert told[name] == ", ".join(f"`{column}`" for column in columns)


def test_the_sample_configuration_is_one() -> None:
    sample = ROOT / "data" / "incident" / "auditor.toml"
    assert parse(sample.read_text(), sample, {}).clusters[0].name == "acme"


def test_the_changelog_is_one() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(r"^## \[Unreleased\]$", text, re.M)
    for heading in re.findall(r"^### (.+)$", text, re.M):
        assert heading in {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    for command in registry.commands():
        assert f"`{command.name}`" in text


def test_the_page_of_commands_is_what_the_command_line_says() -> None:
    from scripts.commands import PAGE, page

    assert PAGE.read_text() == page(), "run `make docs`"


def test_every_option_is_explained() -> None:
    program: Any = typer.main.get_command(app())
    for name, command in program.commands.items():
        for parameter in command.params:
            assert parameter.name == "help" or len(parameter.help or "") > 8, f"{name} {parameter.name}"


def test_one_name_means_one_thing_in_every_command() -> None:
    """A letter stands for the same option everywhere, and an option for the same kind of value."""
    program: Any = typer.main.get_command(app())
    letters: dict[str, str] = {}
    for command in program.commands.values():
        for parameter in command.params:
            short = [name for name in parameter.opts if len(name) == 2 and name.startswith("-")]
            long = [name for name in parameter.opts if name.startswith("--")]
            for letter in short:
                assert letters.setdefault(letter, long[0]) == long[0], letter
