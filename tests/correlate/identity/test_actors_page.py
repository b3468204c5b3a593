"""docs/actors.md says what the program does: its tables are the rules and the channels."""

from pathlib import Path

from auditor.correlate.identity.actor_rules import RULES, Rule
from auditor.correlate.identity.channels import CHANNELS

PAGE = Path(__file__).parents[3] / "docs" / "actors.md"


def row(rule: Rule) -> str:
    patterns = [*rule.users, *(f"group {group}" for group in rule.groups)]
    narrowed = [
        *(f"user agent {agent}" for agent in rule.agents),
        *(f"impersonating {user}" for user in rule.impersonated),
    ]
    shown = ", ".join(f"`{pattern.replace('system:serviceaccount:', 'sa:')}`" for pattern in patterns)
    also = "".join(f"; {pattern}" for pattern in narrowed)
    return f"| `{rule.ident}` | {rule.kind} | {rule.who} | {shown}{also} |"


def test_the_page_lists_the_rules_in_their_order() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows[: len(RULES)] == [row(rule) for rule in RULES]


def test_the_page_lists_the_channels() -> None:
    text = PAGE.read_text()
    listed = text[text.index("## Channels") :]
    assert [channel for channel in CHANNELS if f"`{channel}`" not in listed] == []
