"""Detectors: one file a rule. Each looks at a `Case` and yields `Finding`s; none does I/O or keeps state."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from auditor.config import Config
from auditor.model.case import Case
from auditor.model.finding import SEVERITIES, Finding


@dataclass(frozen=True, slots=True)
class Detector:
    """A rule: its name, what it means in one line, and the function that applies it."""

    ident: str
    summary: str
    detect: Callable[[Case, Config], Iterator[Finding]]


def find(case: Case, config: Config, detectors: Iterable[Detector]) -> tuple[Finding, ...]:
    """All findings of a case: the most severe first, then by application, time and id."""
    found = [finding for detector in detectors for finding in detector.detect(case, config)]
    told = [_told_apart(finding, case) for finding in found] if case.namesakes else found
    return tuple(sorted(told, key=_order))


def _told_apart(finding: Finding, case: Case) -> Finding:
    name = case.namesakes.get(finding.application, "") if finding.application else ""
    return replace(finding, namesake=name) if name else finding


def _order(finding: Finding) -> tuple[int, str, str, str, str]:
    return (
        -SEVERITIES.index(finding.severity),
        str(finding.application or ""),
        finding.first_at.isoformat() if finding.first_at else "",
        finding.ident,
        finding.id,
    )
