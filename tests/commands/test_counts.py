"""What a list counts and what page one counts are told in the same words."""

import json

from tests.commands.asking import Ask, ask
from tests.conftest import Demo

__all__ = ["ask"]

PARTS = (
    "19 changes of what is deployed; 14 changes of the GitOps tool’s own objects; 1 write not shown to have changed "
    "anything."
)


def test_the_list_of_changes_says_which_of_them_the_postmortem_counts(ask: Ask) -> None:
    listed = f"34 changes. The records end 2026-11-30 07:13:02 UTC. Past git: {PARTS} The postmortem counts the first."
    assert ask("changes").out.endswith(listed)
    assert f"Past git in all: {PARTS}" in ask("report", "postmortem", "--format", "markdown").out


def test_what_was_asked_for_beside_it_is_no_part_of_what_went_past_git(ask: Ask) -> None:
    assert f"Past git: {PARTS}" in ask("changes", "--cause", "all").out
    assert "Past git" not in ask("changes", "--attempts").out
    assert "Past git" not in ask("changes", "--app", "shop-prod", "--git", "reflected").out


def test_what_programs_read_holds_changes_alone(ask: Ask) -> None:
    assert len(json.loads(ask("changes", "--format", "json").out)["changes"]) == 34
    assert "Past git" not in ask("changes", "--format", "csv").out


def test_the_demo_says_what_its_list_leaves_out_as_page_one_does(demo: Demo) -> None:
    caption = "Unresolved most urgent first; without [11]: a restart leaves no more than its time"
    assert caption in demo.stdout.splitlines()
