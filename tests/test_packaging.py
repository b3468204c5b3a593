"""What is installed is complete: it runs outside the checkout, and nothing in it is a surprise."""

import re
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, Demo

LARGEST = 3 << 20
REPORTS = ("html", "pdf", "md", "json")


def test_the_wheel_holds_the_program_its_templates_and_the_sample(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    folders = {name.split("/")[0] for name in names}
    assert folders == {"auditor", "reports", "templates", "data", "auditor-0.1.0.dist-info"}
    for wanted in (
        "auditor/py.typed",
        "auditor/objects/built_in.json",
        "templates/__init__.py",
        "templates/report.html.j2",
        "data/incident/auditor.toml",
        "data/incident/deploy.bundle",
        "data/incident/cache/rendered.pack",
    ):
        assert wanted in names
    assert not [name for name in names if name.endswith((".pyc", ".db", "commands.jsonl"))]


def test_the_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < LARGEST


def test_every_module_of_the_checkout_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for package in ("auditor", "reports", "templates"):
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert path.relative_to(ROOT).as_posix() in names


def test_the_demo_runs_from_the_wheel_with_nothing_on_the_search_path(demo: Demo) -> None:
    assert "rendered anew" not in demo.stderr
    for question in ("What changed?", "Who changed it?", "Does git reflect it now?"):
        assert question in demo.stdout
    assert "[10] Service payments-prod, targetPort 8080 → 9090" in demo.stdout
    assert "Still frozen" in demo.stdout
    assert [line.split()[1] for line in demo.stdout.splitlines()[-len(REPORTS) :]] == [
        f"incident/reports/postmortem.{suffix}" for suffix in REPORTS
    ]
    for suffix in REPORTS:
        assert (demo.folder / "reports" / f"postmortem.{suffix}").stat().st_size > 10_000


def test_the_demo_writes_nothing_that_others_can_read(demo: Demo) -> None:
    for path in (*demo.folder.glob("auditor.db*"), *(demo.folder / "reports").iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("name", ["run.txt", "dev.txt"])
def test_the_lock_pins_everything_with_hashes_and_names_no_index(name: str) -> None:
    lock = (ROOT / "requirements" / name).read_text()
    entries = re.split(r"\n(?=\S)", lock.strip())
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+==[^ ]+ ", entry), entry
        assert "--hash=sha256:" in entry
    assert "://" not in lock
    assert "index" not in lock


def test_every_dependency_is_locked() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lock = (ROOT / "requirements" / "dev.txt").read_text()
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    for requirement in wanted:
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        assert name is not None
        assert f"\n{name[0].lower()}==" in f"\n{lock}"


def test_the_oldest_python_is_the_one_that_is_declared() -> None:
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text()
    assert sys.version_info >= (3, 11)
