"""What the statements of a case rest on: what pruning must leave alone, and what is told after it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from auditor.model.case import Case
from auditor.model.change import AppKey, Change, Evidence, Write
from auditor.model.coverage import Gap
from auditor.model.finding import Finding
from auditor.model.night import Shown
from auditor.model.resource import ObjectId
from auditor.model.verdict import Verdict
from auditor.store import Cited, Span

_PAST_GIT = ("out-of-band", "bypass")
_AROUND = timedelta(hours=1)
"""What an application was and did so long before and after a statement stays known."""
_NOTHING_SAID = ("no-op", "dry-run")
"""Outcomes of writes that no answer shows."""


def cited(case: Case, shown: Iterable[Shown]) -> Cited:
    """Of changes past git, attempts, accesses, findings (earlier runs' too), episodes, drift and unequal pairs."""
    findings = [*case.findings, *(one.finding for one in shown if one.ended_as_of is None)]
    objects = frozenset(_objects(case, findings))
    evidence = [*_statements(case, findings)]
    evidence += [one for write in case.writes if write.object in objects for one in write.evidence]
    return Cited(
        events=frozenset(one.event_id for one in evidence if one.event_id),
        by_people=frozenset(
            one.event_id for write in case.writes if write.cause in _PAST_GIT for one in write.evidence if one.event_id
        ),
        records=frozenset((one.origin.source, one.origin.offset) for one in evidence if one.origin),
        objects=objects,
        applications=_spans(case, findings),
    )


def since_pruned(case: Case, before: datetime) -> Case:
    """The case after records older than `before` were let go.

    What is left of those serves statements, and as a last known state: such a write is judged without what led to it,
    so it is told of only where a statement is about it. That is no finding, as somebody asked for it; yet the records
    begin later since.
    """
    named = _named_changes(case, case.findings)

    def told(write: Write) -> bool:
        return write.at >= before or write.cause in _PAST_GIT or write.id in named

    sentence = (
        f"The records begin {before:%Y-%m-%d %H:%M:%S} UTC: of older ones, pruning has left what changes past git,"
        " findings and episodes rest on."
    )
    gap = Gap("audit", "", None, before, sentence, "")
    return replace(
        case,
        changes=tuple(change for change in case.changes if told(change.write)),
        writes=tuple(write for write in case.writes if told(write)),
        coverage=replace(case.coverage, gaps=(*case.coverage.gaps, gap)),
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


def _spans(case: Case, findings: Iterable[Finding]) -> dict[AppKey, tuple[Span, ...]]:
    """When something is said of each application, with what led to it and what came of it."""
    found: dict[AppKey, list[Span]] = {}
    for key, begins, ends in _told(case, findings):
        found.setdefault(key, []).append((begins - _AROUND, ends + _AROUND))
    return {key: _merged(spans) for key, spans in found.items()}


def _told(case: Case, findings: Iterable[Finding]) -> Iterator[tuple[AppKey, datetime, datetime]]:
    moments = {change.id: [*_moments(change, case.verdicts.get(change.id))] for change in case.changes}
    for change in case.changes:
        if change.write.cause in _PAST_GIT:
            yield from ((key, at, at) for key in change.owners for at in moments[change.id])
    for finding in findings:
        if finding.application is None:
            continue
        times = [at for ident in finding.changes for at in moments.get(ident, ())]
        if times:
            yield from ((finding.application, at, at) for at in times)
        elif finding.first_at is not None:
            yield finding.application, finding.first_at, finding.last_at or finding.first_at
    for episode in case.episodes:
        for at in (episode.began_at, episode.ended_at, *(step.at for step in episode.steps)):
            if at is not None:
                yield episode.application, at, at
    for one in case.drift:
        if one.application and one.at:
            yield one.application, one.at, one.at
    for history in case.applications.values():
        for freeze in history.freezes:
            yield from ((history.key, at, at) for at in (freeze.began_at, freeze.ended_at) if at is not None)


def _moments(change: Change, verdict: Verdict | None) -> Iterator[datetime]:
    """When a change was made, and when it was undone."""
    yield change.write.at
    if verdict is not None:
        ends = (verdict.cluster.at, *(field.cluster.at for field in verdict.fields))
        yield from (at for at in ends if at is not None)


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    whole: list[Span] = []
    for begins, ends in sorted(spans):
        if whole and begins <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(ends, whole[-1][1]))
        else:
            whole.append((begins, ends))
    return tuple(whole)
