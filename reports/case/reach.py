"""Where the audit logs end before the window that was asked for, or begin after it: then silence means nothing."""

from datetime import datetime

from reports.case.dossier import Dossier
from reports.words.rich import Text, strong, words
from reports.words.wording import count, middle_cut


def beyond(dossier: Dossier) -> Text:
    """`The records end before this window begins`, with when; () where any audit log reaches into it."""
    scope, ends, begins = dossier.case.scope, _ends(dossier), _begins(dossier)
    if scope.since is not None and ends and max(ends.values()) < scope.since:
        return _sentence(dossier, "The audit log ends before this window begins", max(ends.values()))
    if scope.until is not None and begins and min(begins) > scope.until:
        return _sentence(dossier, "The audit log begins after this window ends", min(begins))
    return ()


def short_lines(dossier: Dossier) -> list[str]:
    """One line for the clusters whose audit log ends before the window that was asked for does."""
    until = dossier.case.scope.until or dossier.case.scope.since
    early = {name: end for name, end in _ends(dossier).items() if until is not None and end < until}
    if not early:
        return []
    name, end = min(early.items(), key=lambda one: (one[1], one[0]))
    whose = f"of {middle_cut(name, 20)} " if name else ""
    more = f", and {count(len(early) - 1, 'more')} end early" if len(early) > 1 else ""
    return [f"The audit log {whose}ends at {dossier.clock.utc(end)}, before the window does{more}"]


def _sentence(dossier: Dossier, said: str, at: datetime) -> Text:
    return words(strong(said), ", at ", dossier.clock.time(at), " UTC: what was changed past git in it cannot be told.")


def _ends(dossier: Dossier) -> dict[str, datetime]:
    """The last moment of the audit log of each cluster that was asked for."""
    asked = dossier.case.scope.clusters
    ends = dossier.case.coverage.as_of.audit
    return {name: at for name, at in ends.items() if not asked or name in asked}


def _begins(dossier: Dossier) -> list[datetime]:
    asked = dossier.case.scope.clusters
    return [
        mark.first_at
        for mark in dossier.case.coverage.marks
        if mark.kind == "audit" and mark.first_at is not None and (not asked or mark.cluster in asked)
    ]
