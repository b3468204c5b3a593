"""Findings on a terminal: what needs a person first, each change under the finding that says most about it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from auditor.console.answer import block, console, tally, text
from auditor.model.finding import SEVERITIES, Finding

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {"high": "bold yellow", "medium": "yellow", "low": "", "info": "dim"}
_BARE = "out-of-band-change"
"""The rule that says no more than that a change was made past git: any other finding about the change says it too."""


def show_findings(found: Sequence[Finding], times: str) -> None:
    """Each with its message, its remedy and the block to paste; for none, what `times` were asked for."""
    from rich.padding import Padding

    out, shown = console(), 0
    for finding, also in folded(found):
        out.print(_heading(finding))
        out.print(Padding(text(finding.message), (0, 0, 0, 7)))
        if finding.remedy:
            out.print(Padding(text(finding.remedy, "cyan"), (0, 0, 0, 7)))
        if finding.snippet:
            out.print(Padding(block(finding.snippet, "dim"), (0, 0, 0, 9)))
        if finding.changes:
            out.print(Padding(text(_changes(finding, also), "dim"), (0, 0, 0, 7)))
        out.print()
        shown += 1
    out.print(text(tally(len(found), "finding", "findings", times), "dim"))
    if hidden := len(found) - shown:
        verb = "says" if hidden == 1 else "say"
        out.print(text(f"{hidden} of them {verb} only that a change above was made past git.", "dim"))


def folded(found: Sequence[Finding]) -> Iterator[tuple[Finding, list[Finding]]]:
    """The findings in their order, each with those that say no more than that its changes were made past git.

    Such a one goes to the first that is about all of its changes and no less severe; where there is none it stands for
    itself.
    """
    about: dict[str, list[int]] = {}
    for place, finding in enumerate(found):
        for change in finding.changes if finding.ident != _BARE else ():
            about.setdefault(change, []).append(place)
    also: dict[int, list[Finding]] = {}
    alone: set[int] = set()
    for place, finding in enumerate(found):
        near = about.get(finding.changes[0], []) if finding.ident == _BARE and finding.changes else []
        above = next((one for one in near if _covers(found[one], finding)), None)
        if above is None:
            alone.add(place)
        else:
            also.setdefault(above, []).append(finding)
    yield from ((found[place], also.get(place, [])) for place in sorted(alone))


def _covers(one: Finding, bare: Finding) -> bool:
    milder = SEVERITIES.index(one.severity) < SEVERITIES.index(bare.severity)
    return not milder and set(bare.changes) <= set(one.changes)


def _heading(finding: Finding) -> "Text":
    from rich.text import Text

    place = f"  application {finding.application}" if finding.application else ""
    severity = text(f"{finding.severity:<7}", _STYLES[finding.severity])
    return Text.assemble(severity, text(finding.ident, "bold"), text(place))


def _changes(finding: Finding, also: Sequence[Finding]) -> str:
    """What `auditor show` takes."""
    first, *others = finding.changes
    more = f" and {len(others)} more" if others else ""
    return f"change {first[:12]}{more}{f', also {_BARE}' if also else ''}"
