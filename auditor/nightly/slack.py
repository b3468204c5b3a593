"""A night as a message for a Slack-compatible webhook.

At most 50 blocks, a section of at most 3,000 characters, a header of at most 150
(https://docs.slack.dev/reference/block-kit/blocks). All blocks are plain text: nothing in a record formats, links or
mentions. What takes no blocks shows `text`.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

from auditor.model.night import Night, NightEntry
from auditor.model.resource import JsonObject
from auditor.nightly.digest import details, groups, heading, left_out, remarks
from auditor.nightly.news import news
from reports.words.rich import visible

BLOCKS = 50
SECTION = 3000
_HEADER = 150
_CAP = 5
"""Findings of one application; a channel is no report."""
_REMARKS = 5
_REST = 20
"""Characters in which `text` says how much it leaves out."""

_Counted: TypeAlias = tuple[JsonObject, int]
"""A block, and how many findings it tells of."""


def message(night: Night, title: str, *, everything: bool = False) -> JsonObject:
    """The payload: a heading, one group an application, then what could not be checked. `title` heads it.

    Entries are those that are news, unless `everything` is asked for.
    """
    told = night if everything else news(night)
    opening = [_header(title), _section(heading(night))]
    closing = [_section(sentence) for sentence in remarks(night)][:_REMARKS]
    return {
        "text": _text(night, told, title),
        "blocks": [*opening, *_bounded(list(_grouped(told)), BLOCKS - len(opening) - len(closing)), *closing],
    }


def _bounded(listed: list[_Counted], room: int) -> list[JsonObject]:
    """As many blocks as there is room for; the last says how many findings the others would have told of."""
    if len(listed) <= room:
        return [block for block, _ in listed]
    kept = listed[: room - 1]
    while kept and kept[-1][0]["type"] == "header":
        kept.pop()
    left = sum(count for _, count in listed[len(kept) :])
    return [*(block for block, _ in kept), _section(f"{left} more are not shown here.")]


def _grouped(night: Night) -> Iterator[_Counted]:
    for group in groups(night, _CAP):
        yield _header(group.title), 0
        for entry in group.entries:
            yield _section("\n".join([_headline(entry), entry.finding.message, *details(entry)])), 1
        if said := "\n".join(left_out(group)):
            yield _section(said), group.rest + group.folded


def _text(night: Night, told: Night, title: str) -> str:
    """The beginning of it, for what takes no blocks and for a notification: whole entries, and a count of the rest."""
    lines = [_cut(_unmarked(line), SECTION // 4) for line in (title, heading(night), *remarks(night))]
    entries = [(group, entry) for group in groups(told, _CAP) for entry in group.entries]
    room, above, shown = SECTION - len("\n".join(lines)) - _REST, "", 0
    for group, entry in entries:
        said = [_unmarked(f"{_headline(entry)}: {entry.finding.message}")]
        if group.title != above:
            said.insert(0, _unmarked(group.title))
        room -= sum(len(line) + 1 for line in said)
        if room < 0:
            break
        above, shown, lines = group.title, shown + 1, [*lines, *said]
    left = len(told.entries) - shown
    return _cut("\n".join([*lines, *([f"and {left} more"] if left else [])]))


def _headline(entry: NightEntry) -> str:
    return f"{entry.state}, {entry.finding.severity}: {entry.finding.ident}"


def _header(text: str) -> JsonObject:
    return {"type": "header", "text": _plain(text, _HEADER)}


def _section(text: str) -> JsonObject:
    return {"type": "section", "text": _plain(text, SECTION)}


def _plain(text: str, limit: int) -> JsonObject:
    shown = "\n".join(visible(line) for line in text.split("\n"))
    return {"type": "plain_text", "text": _cut(shown, limit), "emoji": False}


def _unmarked(line: str) -> str:
    """What Slack takes for no link and no mention, and others for no mention."""
    shown = visible(line).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"(?<!\w)@(?=\w)", "@\u200b", shown)


def _cut(text: str, limit: int = SECTION) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
