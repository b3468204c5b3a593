"""`auditor sources`: one of them, or all below a folder, with the year of what they cover."""

import pytest

from auditor.console.status import Status
from tests.commands.asking import Ask, ask

__all__ = ["ask"]


@pytest.mark.parametrize("folder", ["argocd", "argocd/", "argocd/end"])
def test_a_folder_is_all_sources_below_it(ask: Ask, folder: str) -> None:
    said = ask("sources", folder)
    assert said.status == Status.CLEAN
    assert "argocd/end/events.yaml kind argocd" in said.out
    assert "argocd/end/appprojects.yaml kind argocd" in said.out
    assert "audit/" not in said.out


def test_the_end_of_a_name_will_do(ask: Ask) -> None:
    assert ask("sources", "audit.log").out.startswith("audit/audit.log kind audit")


def test_what_a_source_covers_has_its_year(ask: Ask) -> None:
    assert "slack/ slack 4 2026-11-30 07:00 – 07:07" in ask("sources").out
