"""A night as the body of a pull-request comment: Markdown of at most 65,536 characters."""

from collections.abc import Iterator

from auditor.model.night import Night, NightEntry
from auditor.nightly.digest import details, groups, heading, left_out, remarks
from auditor.nightly.news import news
from reports.formats.markdown_text import LIMIT, escaped


def comment(night: Night, title: str, *, everything: bool = False) -> str:
    """A heading, one section an application, then what could not be checked. What does not fit is counted.

    Entries are those that are news, unless `everything` is asked for.
    """
    head = f"## {escaped(title)}\n\n{escaped(heading(night))}\n"
    foot = "".join(f"\n> {escaped(sentence)}\n" for sentence in remarks(night))[: LIMIT // 4]
    room = LIMIT - len(head) - len(foot) - 100
    parts, left = [], 0
    for part, count in _parts(night if everything else news(night)):
        if left or len(part) > room:
            left += count
            continue
        room -= len(part)
        parts.append(part)
    rest = f"\n_{left} more do not fit into a comment._\n" if left else ""
    return "".join([head, *parts, rest, foot])


def _parts(night: Night) -> Iterator[tuple[str, int]]:
    """Pieces that stand or fall whole, and how many findings each tells of."""
    for group in groups(night):
        above = f"\n### {escaped(group.title)}\n\n"
        for entry in group.entries:
            yield above + _item(entry), 1
            above = ""
        for sentence, count in zip(left_out(group), filter(None, (group.rest, group.folded)), strict=True):
            yield f"\n{sentence}\n", count


def _item(entry: NightEntry) -> str:
    finding = entry.finding
    lines = [f"- **{entry.state}**, {finding.severity}: **{escaped(finding.ident)}**  "]
    lines += [f"  {escaped(said)}  " for said in (finding.message, *details(entry))]
    return "\n".join(lines).rstrip() + "\n"
