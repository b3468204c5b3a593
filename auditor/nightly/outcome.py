"""The one word for a night that decides the exit status."""

from typing import Literal, TypeAlias

from auditor.model.finding import SEVERITIES, Severity
from auditor.model.night import Night

Outcome: TypeAlias = Literal["findings", "not-checked", "partly-checked", "nothing-new", "clean"]


def outcome(night: Night, fail_on: Severity) -> Outcome:
    """New findings say most, then what could not be checked, then that something is still open."""
    least = SEVERITIES.index(fail_on)
    if any(entry.state == "new" and SEVERITIES.index(entry.finding.severity) >= least for entry in night.entries):
        return "findings"
    if not night.checked:
        return "not-checked"
    if night.failures:
        return "partly-checked"
    return "nothing-new" if any(entry.state != "resolved" for entry in night.entries) else "clean"
