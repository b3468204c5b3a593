"""What shows that a finding is over. Positive evidence only: that nothing is said any more ends nothing."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial

from auditor.model.application import ApplicationHistory, ApplicationState
from auditor.model.case import Case
from auditor.model.change import Change
from auditor.model.coverage import Coverage
from auditor.model.finding import Finding
from auditor.model.night import Ending
from auditor.model.resource import Json, JsonObject
from auditor.model.verdict import FieldVerdict, Verdict
from auditor.objects import ignore, paths

QUIET: Mapping[str, timedelta] = {"sync-loop": timedelta(minutes=40), "second-writer": timedelta(days=14)}
"""So long without another round, in covered time, and it is over: a self-heal backs off to 5 minutes at most, and a
pipeline that still applies does so within two weeks."""

EVENTS = frozenset({"break-glass-access", "freeze-did-not-hold", "identity-mismatch", "late-detection"})
"""These tell of a moment: over as soon as they are told."""

_OF_CHANGES = frozenset({"not-from-branch", "not-in-git", "out-of-band-change"})
"""These rest on changes, and are over when the changes are."""


def ending(finding: Finding, case: Case, changes: Mapping[str, Change] | None = None) -> Ending | None:
    """The record that ended a finding; None while it is open, or where tonight's records cannot tell.

    `changes` are the case's by id, for who asks of many findings.
    """
    gone = _application_deleted(finding, case)
    if gone is not None:
        return gone
    if finding.ident in EVENTS:
        return Ending(finding.last_at, "", "it happened once and is past")
    if finding.ident in _OF_CHANGES:
        return _settled(finding, case, by_id(case) if changes is None else changes)
    rule = _RULES.get(finding.ident)
    return rule(finding, case) if rule else None


def by_id(case: Case) -> Mapping[str, Change]:
    """The changes of a case by their ids."""
    return {change.id: change for change in case.changes}


def _application_deleted(finding: Finding, case: Case) -> Ending | None:
    history = _history(finding, case)
    if history is None or history.removed_at is None:
        return None
    if finding.first_at is not None and history.removed_at < finding.first_at:
        return None
    return Ending(history.removed_at, "", f"the application {history.key} was deleted")


def _history(finding: Finding, case: Case) -> ApplicationHistory | None:
    return case.applications.get(finding.application) if finding.application else None


def _later_states(finding: Finding, case: Case) -> tuple[ApplicationState, ...]:
    """The states that were recorded after the finding was last seen."""
    history, since = _history(finding, case), finding.last_at
    if history is None or since is None:
        return ()
    return tuple(state for state in history.states if state.at > since)


def _lifted(finding: Finding, case: Case) -> Ending | None:
    history = _history(finding, case)
    for freeze in history.freezes if history else ():
        if freeze.began_at == finding.first_at and freeze.ended_at is not None:
            by = freeze.undone_by or (freeze.ended_by.name if freeze.ended_by else "")
            return Ending(freeze.ended_at, by, "the freeze was lifted")
    return None


def _settled(finding: Finding, case: Case, changes: Mapping[str, Change]) -> Ending | None:
    """All changes it rests on have landed in git or left the cluster; the last of them to do so is what ended it."""
    verdicts = [case.verdicts.get(ident) for ident in finding.changes]
    if not verdicts:
        return None
    ends: list[Ending] = []
    for ident, verdict in zip(finding.changes, verdicts, strict=True):
        if verdict is None:
            return None
        for field in _judged(changes.get(ident), verdict, finding):
            end = _of_field(field)
            if end is None:
                return None
            ends.append(end)
    return max(ends, key=lambda end: end.at.isoformat() if end.at else "", default=None)


def _judged(change: Change | None, verdict: Verdict, finding: Finding) -> Iterator[FieldVerdict]:
    """The verdicts of the fields that a finding is about: one path, or the change as a whole."""
    if not verdict.fields or finding.path is None:
        yield from verdict.fields or (FieldVerdict(verdict.git, verdict.cluster),)
        return
    for field, judged in zip(change.write.fields if change else (), verdict.fields, strict=False):
        if paths.text(field.path) == finding.path:
            yield judged


def _of_field(field: FieldVerdict) -> Ending | None:
    git, cluster = field.git, field.cluster
    if git.verdict in ("reflected", "already"):
        commit = f"commit {git.commit[:9]}" if git.commit else "git"
        return Ending(git.landed_at, git.author or "", f"{commit} has the value")
    if cluster.verdict not in ("standing", "unknown"):
        return Ending(cluster.at, cluster.by or "", f"the value left the cluster ({cluster.verdict})")
    return None


def _quiet(ident: str, finding: Finding, case: Case) -> Ending | None:
    """No further round in so much time for which the cluster's audit log was read and was not silent itself."""
    cluster = finding.object.cluster if finding.object else ""
    last, end = finding.last_at, case.coverage.as_of.audit.get(cluster)
    if last is None or end is None or _failed(case.coverage, cluster, last):
        return None
    if _covered(case.coverage, cluster, last) < QUIET[ident]:
        return None
    return Ending(last, "", f"no further round until {end:%Y-%m-%d %H:%M} UTC, in time that the audit log covers")


def _failed(coverage: Coverage, cluster: str, since: datetime) -> bool:
    """Whether a source of this cluster's audit log failed or came late after `since`."""
    return any(
        gap.failed
        and gap.kind == "audit"
        and gap.cluster in ("", cluster)
        and (gap.last_at is None or gap.last_at > since)
        for gap in coverage.gaps
    )


def _covered(coverage: Coverage, cluster: str, since: datetime) -> timedelta:
    """How much time after `since` the log covers: of several API servers, what the least covered one does."""
    spans: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for mark in coverage.marks:
        if mark.kind == "audit" and mark.cluster == cluster:
            for stream, told in mark.streams.items():
                spans[stream].update(told)
    totals = [_total(told, since) for told in spans.values()]
    return min((total for total in totals if total), default=timedelta())


def _total(spans: Iterable[tuple[str, str]], since: datetime) -> timedelta:
    """The length of all spans after a moment, each minute once."""
    total, reached = timedelta(), since
    for first, last in sorted(spans):
        begin, end = (datetime.fromisoformat(f"{minute}:00+00:00") for minute in (first, last))
        total += max(end - max(begin, reached), timedelta())
        reached = max(reached, end)
    return total


def _completed(finding: Finding, case: Case) -> Ending | None:
    history, since = _history(finding, case), finding.first_at
    if history is None or since is None:
        return None
    for sync in history.syncs:
        if sync.started_at > since and sync.phase == "Succeeded" and sync.extent == "full" and not sync.dry_run:
            who = sync.initiated_by or (sync.requested_by.name if sync.requested_by else "")
            revision = next((each[:9] for each in sync.revisions if each), "a revision that is not recorded")
            return Ending(sync.finished_at or sync.started_at, who, f"a full sync to {revision} succeeded")
    return None


def _in_sync(finding: Finding, case: Case) -> Ending | None:
    """Argo CD compared again, and says Synced of the object or, without one, of the application."""
    subject = finding.object
    for state in _later_states(finding, case):
        place = (subject.group, subject.kind, subject.namespace, subject.name) if subject else None
        said = [status for *where, status in state.resources if tuple(where) == place]
        if "Synced" in said if subject else state.sync_status == "Synced":
            return Ending(state.reconciled_at or state.at, "", "Argo CD says Synced")
    return None


def _watched(finding: Finding, case: Case) -> Ending | None:
    for state in _later_states(finding, case):
        if not state.waits_for_a_hand:
            by = "by itself" if state.automated else f"as the ApplicationSet {state.rolled_out_by} starts it"
            return Ending(state.at, "", f"the application syncs {by}")
    return _in_sync(finding, case)


def _rule_gone(finding: Finding, case: Case) -> Ending | None:
    later = _later_states(finding, case)
    rule = next((value for value in finding.values if isinstance(value, dict)), None)
    if not later or rule is None:
        return None
    stored = [_stored(each) for each in later[-1].ignore_differences]
    if _stored(rule) not in stored:
        return Ending(later[-1].at, "", "the rule is gone from the Application")
    if "hides" in finding.message and "RespectIgnoreDifferences=true" in later[-1].sync_options:
        return Ending(later[-1].at, "", "RespectIgnoreDifferences=true is set")
    return None


def _stored(rule: JsonObject) -> dict[str, Json]:
    """A rule as the API server keeps it."""
    return {key: value for key, value in rule.items() if key in ignore.KNOWN_KEYS}


def _one_owner(finding: Finding, case: Case) -> Ending | None:
    """Each of the applications was read again, and at most one still lists the object."""
    subject, since = finding.object, finding.first_at
    if subject is None or since is None:
        return None
    place = (subject.group, subject.kind, subject.namespace, subject.name)
    last = [history.states[-1] for history in case.applications.values() if history.states]
    mine = [state for state in last if state.key.name in finding.values and state.at > since]
    if len(mine) < len(finding.values):
        return None
    listing = [state for state in mine if any(tuple(where) == place for *where, _ in state.resources)]
    if len(listing) > 1:
        return None
    return Ending(max(state.at for state in mine), "", "one application lists the object")


def _agree(finding: Finding, case: Case) -> Ending | None:
    """The pair was compared again, with the object's live state known, and the field does not differ."""
    pair = next((pair for pair in case.staging if pair.production == finding.application), None)
    live = case.live.get(finding.object) if finding.object else None
    if pair is None or live is None or not live.complete:
        return None
    for one in pair.differences:
        if one.object == finding.object and (paths.text(one.path) if one.path else None) == finding.path:
            return None
    return Ending(live.at, "", "staging and production agree")


def _filled(finding: Finding, case: Case) -> Ending | None:
    kind, cluster = (*finding.values, "", "")[:2]
    for mark in case.coverage.marks:
        if mark.kind == kind and (not cluster or mark.cluster == cluster) and mark.events and not mark.problem:
            said = [gap.sentence for gap in case.coverage.gaps]
            return None if finding.message in said else Ending(mark.last_at, "", f"{mark.source} was read")
    return None


_RULES: Mapping[str, Callable[[Finding, Case], Ending | None]] = {
    "drift-not-watched": _watched,
    "freeze-not-lifted": _lifted,
    "phantom-diff": _in_sync,
    "records-gap": _filled,
    "second-writer": partial(_quiet, "second-writer"),
    "shared-ownership": _one_owner,
    "staging-drift": _agree,
    "sync-loop": partial(_quiet, "sync-loop"),
    "unfinished-sync": lambda finding, case: _completed(finding, case) or _in_sync(finding, case),
    "useless-ignore": _rule_gone,
}
