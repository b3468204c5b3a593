"""Whole files as a person sees them. After a change that is meant: UPDATE_GOLDEN=1 pytest tests/reports."""

import os
from pathlib import Path

import pytest

from tests.reports.incident import incident
from tests.reports.rendering import rendered

GOLDEN = Path(__file__).parent.parent / "golden"
FILES = (
    ("postmortem", "html", "postmortem.html"),
    ("postmortem", "markdown", "postmortem.md"),
    ("drift", "markdown", "drift.md"),
    ("staging", "markdown", "staging.md"),
    ("register", "markdown", "register.md"),
    ("register", "csv", "register.csv"),
)


@pytest.mark.parametrize(("name", "form", "file"), FILES)
def test_a_report_looks_as_it_did(name: str, form: str, file: str) -> None:
    text = rendered(name, form, incident())
    path = GOLDEN / file
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    assert text.encode() == path.read_bytes()
