"""One run beside the runs before it: what to say, and what to remember of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from auditor.config import AcceptedFinding
from auditor.model.case import Case
from auditor.model.change import Change
from auditor.model.finding import SEVERITIES, Finding
from auditor.model.night import Night, NightEntry, NightState, Shown
from auditor.nightly.acceptance import acceptance, covers, words
from auditor.nightly.endings import by_id, ending

_ORDER: Mapping[NightState, int] = {"new": 0, "known": 1, "not-checked": 2, "resolved": 3, "accepted": 4}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which findings a run is about. () means all; names may be globs."""

    applications: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()

    def hold(self, finding: Finding) -> bool:
        """Whether the finding lies within. One without an application or object lies within no narrower bounds."""
        name = str(finding.application or "")
        cluster = finding.object.cluster if finding.object else ""
        return _named(name, self.applications) and _named(cluster, self.clusters)


def _named(name: str, wanted: Sequence[str]) -> bool:
    return not wanted or any(fnmatchcase(name, one) for one in wanted)


def compare(
    case: Case,
    shown: Iterable[Shown],
    before: datetime | None,
    accepted: Sequence[AcceptedFinding] = (),
    bounds: Bounds = Bounds(),
) -> Night:
    """The night of a case. `shown` is what runs have shown, `before` the as-of of the last one that is earlier.

    What a run of this as-of or a later one remembered is as if it had not been, so that the same records give the
    same answer however often they are asked.
    """
    as_of = case.coverage.as_of.moment
    known = {one.finding.id: one for one in shown if _earlier(one.first_as_of, as_of) and bounds.hold(one.finding)}
    found = [finding for finding in case.findings if bounds.hold(finding)]
    changes = by_id(case)
    entries = [_entry(finding, known.get(finding.id), case, changes, accepted) for finding in found]
    present = {finding.id for finding in found}
    entries += [_absent(one, case, changes, accepted) for ident, one in sorted(known.items()) if ident not in present]
    told = [entry for entry in entries if entry is not None]
    return Night(
        as_of=as_of,
        before=before,
        entries=tuple(sorted(told, key=_rank)),
        over=len(entries) - len(told),
        failures=tuple(gap.sentence for gap in case.coverage.gaps if gap.failed),
        checked=any(mark.kind in ("audit", "argocd") and mark.events for mark in case.coverage.marks),
        unused=tuple(words(one) for one in accepted if not any(covers(one, finding) for finding in case.findings)),
    )


def remembered(night: Night, shown: Iterable[Shown], *, baseline: bool = False) -> tuple[Shown, ...]:
    """What the store should hold of the night's findings. An accepted one is not shown: it is new on its expiry.

    `baseline`: all that is open counts as known from now on.
    """
    kept = {one.finding.id: one for one in shown}
    return tuple(
        _memory(entry, kept.get(entry.finding.id), night.as_of, baseline)
        for entry in night.entries
        if entry.state not in ("accepted", "not-checked")
    )


def _earlier(moment: datetime | None, as_of: datetime | None) -> bool:
    return moment is None or (as_of is not None and moment < as_of)


def _was_over(known: Shown, case: Case) -> bool:
    as_of = case.coverage.as_of.moment
    return known.ended_as_of is not None and as_of is not None and known.ended_as_of < as_of


def _entry(
    finding: Finding,
    known: Shown | None,
    case: Case,
    changes: Mapping[str, Change],
    accepted: Sequence[AcceptedFinding],
) -> NightEntry | None:
    """None for what was shown and over before: it is not repeated."""
    end = ending(finding, case, changes)
    if known is not None and _was_over(known, case):
        if end is not None:
            return None
        known = None  # it came back
    taken = acceptance(finding, accepted, case.coverage.as_of.moment)
    if taken is not None and not taken.expired:
        return NightEntry(finding, "accepted", end, taken)
    if known is None:
        return NightEntry(finding, "new", end, taken)
    return NightEntry(finding, "resolved" if end else "known", end, taken)


def _absent(
    known: Shown, case: Case, changes: Mapping[str, Change], accepted: Sequence[AcceptedFinding]
) -> NightEntry | None:
    """No rule says it any more: over where a record shows so, else open as far as anybody knows."""
    if _was_over(known, case):
        return None
    end = ending(known.finding, case, changes)
    taken = acceptance(known.finding, accepted, case.coverage.as_of.moment)
    return NightEntry(known.finding, "resolved" if end else "not-checked", end, taken)


def _memory(entry: NightEntry, kept: Shown | None, as_of: datetime | None, baseline: bool) -> Shown:
    ended = as_of if entry.ending is not None else None
    if baseline:
        return Shown(entry.finding, None, ended)
    if entry.state == "new" or kept is None:
        return Shown(entry.finding, as_of, ended)
    return Shown(entry.finding, kept.first_as_of, ended)


def _rank(entry: NightEntry) -> tuple[int, int, str, str, str]:
    finding = entry.finding
    when = finding.first_at.isoformat() if finding.first_at else ""
    severity = -SEVERITIES.index(finding.severity)
    return _ORDER[entry.state], severity, str(finding.application or ""), when, finding.id
