"""What happened within the window of a report: freezes, syncs, landings and messages, oldest first."""

from datetime import datetime, timedelta

from auditor.model.application import Freeze, SyncRecord
from auditor.model.desired import Landing
from auditor.model.facts import Announcement
from reports.case.dossier import Dossier, Numbered, sides

NEAR = timedelta(seconds=60)


def freezes(dossier: Dossier) -> tuple[Freeze, ...]:
    """The freezes that touch the window."""
    first, last = dossier.first_at, dossier.last_at
    found = [
        freeze
        for history in dossier.case.applications.values()
        for freeze in history.freezes
        if (last is None or freeze.began_at <= last)
        and (freeze.ended_at is None or first is None or freeze.ended_at >= first)
    ]
    return tuple(sorted(found, key=lambda freeze: (freeze.began_at, str(freeze.app), freeze.form)))


def still_frozen(dossier: Dossier) -> tuple[Freeze, ...]:
    """The freezes that had not ended when the records end."""
    return tuple(freeze for freeze in freezes(dossier) if freeze.ended_at is None)


def syncs(dossier: Dossier) -> tuple[SyncRecord, ...]:
    """The syncs that began in the window."""
    found = [
        sync
        for history in dossier.case.applications.values()
        for sync in history.syncs
        if _inside(dossier, sync.started_at)
    ]
    return tuple(sorted(found, key=lambda sync: (sync.started_at, str(sync.app))))


def landings(dossier: Dossier) -> tuple[Landing, ...]:
    """What landed on tracked branches, each commit once."""
    found = {landing.sha: landing for row in dossier.case.landings.values() for landing in row}
    kept = [one for one in found.values() if _inside(dossier, one.at)]
    return tuple(sorted(kept, key=lambda one: (one.at, one.sha)))


def announcements(dossier: Dossier) -> tuple[Announcement, ...]:
    """The messages of the window and of the minute around it."""
    found = [one for one in dossier.case.announcements if _inside(dossier, one.at, NEAR)]
    return tuple(sorted(found, key=lambda one: (one.at, one.origin.source, one.origin.offset)))


def holding(dossier: Dossier) -> dict[str, list[Numbered]]:
    """Counted changes by the commit that their verdicts name."""
    found: dict[str, list[Numbered]] = {}
    for one in dossier.counted:
        for sha in dict.fromkeys(git.commit for git, _ in sides(one.verdict) if git.commit):
            found.setdefault(sha, []).append(one)
    return found


def _inside(dossier: Dossier, at: datetime, around: timedelta = timedelta()) -> bool:
    first, last = dossier.first_at, dossier.last_at
    return (first is None or at >= first - around) and (last is None or at <= last + around)
