"""Findings that somebody answers for: which `[[accept]]` section covers which, and until when."""

from collections.abc import Iterable
from datetime import datetime
from fnmatch import fnmatchcase

from auditor.config import AcceptedFinding
from auditor.model.finding import Finding
from auditor.model.night import Acceptance


def acceptance(finding: Finding, accepted: Iterable[AcceptedFinding], as_of: datetime | None) -> Acceptance | None:
    """The section that covers a finding: one in force before one that expired; None where there is none."""
    found = [_judged(one, as_of) for one in accepted if covers(one, finding)]
    return min(found, key=lambda one: one.expired, default=None)


def covers(one: AcceptedFinding, finding: Finding) -> bool:
    """Whether a section is about a finding; what it does not name is any. Application and object may be globs."""
    named = str(finding.object) if finding.object else ""
    return (
        one.ident == finding.ident
        and (not one.application or fnmatchcase(str(finding.application or ""), one.application))
        and (not one.object or fnmatchcase(named, one.object))
        and one.path in ("", finding.path)
    )


def words(one: AcceptedFinding) -> str:
    """A section as its reader knows it: `sync-loop of search-prod, accepted by team-search until 2026-12-31`."""
    where = " ".join(part for part in (one.application, one.object, one.path) if part)
    until = f" until {one.expires}" if one.expires else ""
    return f"{one.ident}{f' of {where}' if where else ''}, accepted by {one.owner}{until}"


def _judged(one: AcceptedFinding, as_of: datetime | None) -> Acceptance:
    """An acceptance holds up to its day, by the end of the records: the clock is never asked."""
    expired = bool(one.expires) and as_of is not None and as_of.date().isoformat() > one.expires
    return Acceptance(one.reason, one.owner, one.expires, expired)
