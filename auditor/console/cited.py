"""What the statements of a case rest on: what pruning must leave alone."""

from collections.abc import Iterable, Iterator

from auditor.model.case import Case
from auditor.model.change import AppKey, Evidence
from auditor.model.finding import Finding
from auditor.model.night import Shown
from auditor.model.resource import ObjectId
from auditor.store import Cited

_PAST_GIT = ("out-of-band", "bypass")
_NOTHING_SAID = ("no-op", "dry-run")
"""Outcomes of writes that no answer shows."""


def cited(case: Case, shown: Iterable[Shown]) -> Cited:
    """Of changes past git, attempts, accesses, findings (earlier runs' too), episodes, drift and unequal pairs."""
    findings = [*case.findings, *(one.finding for one in shown if one.ended_as_of is None)]
    objects = frozenset(_objects(case, findings))
    applications = frozenset(_applications(case, findings))
    evidence = [*_statements(case, findings)]
    evidence += [one for write in case.writes if write.object in objects for one in write.evidence]
    return Cited(
        events=frozenset(one.event_id for one in evidence if one.event_id),
        records=frozenset((one.origin.source, one.origin.offset) for one in evidence if one.origin),
        objects=objects,
        applications=applications,
    )


def _statements(case: Case, findings: Iterable[Finding]) -> Iterator[Evidence]:
    """The evidence of what is said outright."""
    named = _named_changes(case, findings)
    for write in case.writes:
        if write.id in named or (write.cause in _PAST_GIT and write.outcome not in _NOTHING_SAID):
            yield from write.evidence
    for finding in findings:
        yield from finding.evidence
    for episode in case.episodes:
        for step in episode.steps:
            yield from step.evidence


def _named_changes(case: Case, findings: Iterable[Finding]) -> set[str]:
    differences = (difference for pair in case.staging for difference in pair.differences)
    return {
        *(ident for finding in findings for ident in finding.changes),
        *(ident for difference in differences for ident in difference.changes),
        *(one.change for one in case.drift if one.change),
    }


def _objects(case: Case, findings: Iterable[Finding]) -> Iterator[ObjectId]:
    named = _named_changes(case, findings)
    for change in case.changes:
        if change.write.cause in _PAST_GIT or change.id in named:
            yield change.write.object
    yield from (finding.object for finding in findings if finding.object)
    yield from (one.object for one in case.drift)


def _applications(case: Case, findings: Iterable[Finding]) -> Iterator[AppKey]:
    for change in case.changes:
        if change.write.cause in _PAST_GIT:
            yield from change.owners
    yield from (finding.application for finding in findings if finding.application)
    yield from (one.application for one in case.drift if one.application)
    yield from (episode.application for episode in case.episodes)
    for pair in case.staging:
        if any(difference.causes[:1] != ("overlay",) for difference in pair.differences):
            yield from (pair.staging, pair.production)
