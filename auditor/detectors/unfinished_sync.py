"""A sync that left the cluster between two revisions: failed, half applied, stuck, selective for good."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import argument, conclude, span, times
from auditor.model.application import ApplicationHistory, SyncRecord, SyncResource
from auditor.model.case import Case
from auditor.model.finding import Finding

STUCK_AFTER = timedelta(minutes=30)
"""An operation that still runs so long after its start is worth a line: Argo CD has no time limit of its own."""

REFUSED = frozenset({"Failed", "Error"})


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each revision of an application that did not arrive whole and that nothing completed since."""
    end = case.coverage.as_of.moment
    for history in case.applications.values():
        if history.removed_at is not None:
            continue
        syncs = [sync for sync in history.syncs if not sync.dry_run]
        for number, sync in enumerate(syncs):
            later = syncs[number + 1 :]
            if _is_refused(sync) and not _taken_up(sync, later):
                yield _refused(case, history, _attempts(sync, syncs[: number + 1]))
            elif _stuck(sync, end, later):
                yield _running(case, history, sync, end)
            elif _left_partial(history, sync, later):
                yield _selective(case, history, sync)


def _is_refused(sync: SyncRecord) -> bool:
    """Failed for good, or between two attempts: Argo CD calls an operation that waits for its retry Running."""
    return sync.phase in REFUSED or (sync.phase == "Running" and any(r.status == "SyncFailed" for r in sync.resources))


def _taken_up(sync: SyncRecord, later: Sequence[SyncRecord]) -> bool:
    """Whether a later sync completed it, or tried the same again (and then stands for it)."""
    return any(
        (after.phase == "Succeeded" and after.extent == "full")
        or (_is_refused(after) and after.revisions == sync.revisions)
        or (after.phase == "Succeeded" and _covers(after, sync))
        for after in later
    )


def _covers(after: SyncRecord, sync: SyncRecord) -> bool:
    wanted = {(r.group, r.kind, r.name) for r in sync.resources if r.status == "SyncFailed"}
    return bool(wanted) and wanted <= {(r.group, r.kind, r.name) for r in after.resources if r.status == "Synced"}


def _attempts(sync: SyncRecord, until_now: Sequence[SyncRecord]) -> list[SyncRecord]:
    return [each for each in until_now if _is_refused(each) and each.revisions == sync.revisions]


def _names(resources: Sequence[SyncResource], status: str) -> list[str]:
    return [f"{each.kind} {each.name}" for each in resources if each.status == status]


def _refused(case: Case, history: ApplicationHistory, attempts: Sequence[SyncRecord]) -> Finding:
    sync = attempts[-1]
    applied, failed = _names(sync.resources, "Synced"), _names(sync.resources, "SyncFailed")
    what = f"applied: {', '.join(applied) or 'nothing'}; refused: {', '.join(failed) or 'not recorded'}"
    said = next((r.message for r in sync.resources if r.status == "SyncFailed" and r.message), sync.message)
    tried = len(attempts) + max(each.retries for each in attempts)
    return conclude(
        "unfinished-sync",
        "high" if applied and failed else "medium",
        f"{case.called(history.key)} is {'partly ' if applied and failed else 'not '}at {_revision(sync)}: "
        f"the sync {_end(sync)} (tried {times(tried)}); {what}. Argo CD says: {said[:300]}",
        "Mend the manifest that was refused and sync again, or take the commit back; the applied half stays.",
        key=(sync.revisions, attempts[0].started_at.isoformat()),
        application=history.key,
        values=tuple(failed),
        actors=filter(None, (sync.initiated_by,)),
        first_at=attempts[0].started_at,
        last_at=sync.finished_at or sync.started_at,
        count=tried,
        evidence=tuple(evidence for each in attempts for evidence in each.evidence),
    )


def _end(sync: SyncRecord) -> str:
    return "waits for a retry" if sync.phase == "Running" else f"ended {sync.phase}"


def _stuck(sync: SyncRecord, end: datetime | None, later: Sequence[SyncRecord]) -> bool:
    waits = sync.phase in ("Running", "Terminating") and sync.finished_at is None
    return waits and not later and end is not None and end - sync.started_at > STUCK_AFTER


def _running(case: Case, history: ApplicationHistory, sync: SyncRecord, end: datetime | None) -> Finding:
    lasted = span((end - sync.started_at).total_seconds()) if end else "unknown time"
    return conclude(
        "unfinished-sync",
        "medium",
        f"A sync of {case.called(history.key)} to {_revision(sync)} is {sync.phase} for {lasted} when the records end.",
        f"See what it waits for, or end it: argocd app terminate-op {argument(case, history.key)}",
        key=(sync.started_at.isoformat(),),
        application=history.key,
        first_at=sync.started_at,
        evidence=sync.evidence,
    )


def _left_partial(history: ApplicationHistory, sync: SyncRecord, later: Sequence[SyncRecord]) -> bool:
    """A selective sync by hand after which the application stayed OutOfSync and nobody completed it.

    Selective on purpose is no finding: then the application is Synced, or something completed it later.
    """
    if sync.origin != "manual" or sync.extent != "selective" or sync.phase != "Succeeded":
        return False
    completed = any(after.phase == "Succeeded" and after.extent == "full" for after in later)
    last = history.states[-1] if history.states else None
    return not completed and last is not None and last.sync_status == "OutOfSync" and last.at >= sync.started_at


def _selective(case: Case, history: ApplicationHistory, sync: SyncRecord) -> Finding:
    chosen = ", ".join(f"{kind} {name}" for _, kind, name in sync.selected) or "some objects"
    return conclude(
        "unfinished-sync",
        "low",
        f"A sync of {case.called(history.key)} to {_revision(sync)} took {chosen} only; the rest was never synced and "
        "the application is OutOfSync when the records end.",
        f"Sync the rest: argocd app sync {argument(case, history.key)}",
        key=(sync.started_at.isoformat(), "selective"),
        confidence="medium",
        application=history.key,
        actors=filter(None, (sync.initiated_by,)),
        first_at=sync.started_at,
        evidence=sync.evidence,
    )


def _revision(sync: SyncRecord) -> str:
    return ", ".join(each[:9] for each in sync.revisions if each) or "a revision that is not recorded"


DETECTOR = Detector("unfinished-sync", "a revision did not arrive whole", detect)
