"""Findings on a terminal: what needs a person first, each change under the finding that says most about it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from auditor.console.answer import block, console, tally, text
from auditor.model.finding import Finding
from auditor.nightly.folding import BARE, folded

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {"high": "bold yellow", "medium": "yellow", "low": "", "info": "dim"}


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


def _heading(finding: Finding) -> "Text":
    from rich.text import Text

    place = f"  application {finding.called}" if finding.application else ""
    severity = text(f"{finding.severity:<7}", _STYLES[finding.severity])
    return Text.assemble(severity, text(finding.ident, "bold"), text(place))


def _changes(finding: Finding, also: Sequence[Finding]) -> str:
    """What `auditor show` takes."""
    first, *others = finding.changes
    more = f" and {len(others)} more" if others else ""
    return f"change {first[:12]}{more}{f', also {BARE}' if also else ''}"
