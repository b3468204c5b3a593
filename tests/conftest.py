"""What several tests look at: the wheel, and the demo as an installed program runs it."""

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Demo:
    """One run of `auditor demo` from the unpacked wheel, with nothing on the search path."""

    folder: Path
    stdout: str
    stderr: str


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return next(place.glob("*.whl"))


@pytest.fixture(scope="session")
def demo(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo, run outside the checkout."""
    place = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "site")
    done = subprocess.run(
        [sys.executable, "-m", "auditor", "demo", "incident"],
        cwd=place,
        env={"PYTHONPATH": str(place / "site"), "PATH": "", "HOME": "/nonexistent", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Demo(place / "incident", done.stdout, done.stderr)
