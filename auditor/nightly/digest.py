"""The night as a mail has it: one group an application, capped, with a count of the rest."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from auditor.model.change import AppKey
from auditor.model.finding import SEVERITIES
from auditor.model.night import Ending, Night, NightEntry, NightState
from auditor.nightly.folding import folded
from reports.case.dossier import is_own_object

CAP = 8
"""Entries of one application; the rest is counted."""

_COUNTED: tuple[NightState, ...] = ("new", "known", "not-checked", "resolved", "accepted")


@dataclass(frozen=True, slots=True)
class Group:
    """What a digest shows of one application."""

    application: AppKey | None
    entries: tuple[NightEntry, ...]
    rest: int
    """So many more are not listed."""
    folded: int = 0
    """So many say only that a change was made past git of which another entry says more."""

    @property
    def title(self) -> str:
        """`application shop-prod`, told apart where another has its name."""
        called = next((entry.finding.called for entry in self.entries if entry.finding.namesake), self.application)
        return f"application {called}" if called else "no application"


def groups(night: Night, cap: int = CAP) -> tuple[Group, ...]:
    """In the order of their most urgent entries, as are the entries of a group: first the new and resolved ones, so
    that the cap cuts what was shown before. An acceptance is always printed.
    """
    by_application: dict[AppKey | None, list[NightEntry]] = {}
    for entry in night.entries:
        by_application.setdefault(entry.finding.application, []).append(entry)
    return tuple(_group(key, entries, cap) for key, entries in by_application.items())


def _group(key: AppKey | None, entries: Sequence[NightEntry], cap: int) -> Group:
    told = [one for state in _COUNTED for one in _told([entry for entry in entries if entry.state == state])]
    news = _urgent_first(entry for entry in told if entry.state in ("new", "resolved"))
    old = _urgent_first(entry for entry in told if entry.state in ("known", "not-checked"))
    accepted = [entry for entry in told if entry.state == "accepted"]
    listed = [*news, *old][:cap]
    return Group(key, (*listed, *accepted), len(news) + len(old) - len(listed), len(entries) - len(told))


def _told(entries: Sequence[NightEntry]) -> Iterator[NightEntry]:
    """Those that say something: of one state, since what is known does not tell of what is new."""
    by_finding = {entry.finding.id: entry for entry in entries}
    return (by_finding[finding.id] for finding, _ in folded([entry.finding for entry in entries]))


def _urgent_first(entries: Iterable[NightEntry]) -> list[NightEntry]:
    """Of one severity, what is deployed before what deploys it: the cap would hide it behind a day of set-up."""
    return sorted(entries, key=lambda entry: (-SEVERITIES.index(entry.finding.severity), _deploys(entry)))


def _deploys(entry: NightEntry) -> bool:
    return entry.finding.object is not None and is_own_object(entry.finding.object)


def left_out(group: Group) -> Iterator[str]:
    """What stands below the entries of a group."""
    if group.rest:
        yield f"and {group.rest} more"
    if group.folded:
        said, kept = ("says", "is") if group.folded == 1 else ("say", "are")
        yield f"{group.folded} that {said} only that a change was made past git {kept} not listed"


def heading(night: Night) -> str:
    """`Findings as of …: 2 new, 12 known. Compared with the run as of …`."""
    as_of = f"{night.as_of:%Y-%m-%d %H:%M:%S} UTC" if night.as_of else "no moment: there are no records"
    counts = [f"{night.count(state)} {state.replace('-', ' ')}" for state in _COUNTED if night.count(state)]
    if night.baseline:
        return f"Findings as of {as_of}, all taken for shown from now on: {', '.join(counts) or 'none'}."
    against = (
        f"Compared with the run as of {night.before:%Y-%m-%d %H:%M:%S} UTC."
        if night.before
        else "No earlier run to compare with."
    )
    return f"Findings as of {as_of}: {', '.join(counts) or 'none'}. {against}"


def remarks(night: Night) -> Iterator[str]:
    """What stands below the groups: what failed, what is over, what accepts nothing."""
    if not night.checked:
        yield "Not checked: no audit log and no Argo CD record was read."
    for sentence in night.failures:
        yield f"Partly checked: {sentence}"
    if night.over:
        yield f"{night.over} shown before and over since are not repeated."
    for unused in night.unused:
        yield f"No finding answers to this acceptance: {unused}."


def details(entry: NightEntry) -> Iterator[str]:
    """The sentences below an entry: what to do, what ended it, who answers for it."""
    finding = entry.finding
    if entry.state == "new" and finding.remedy:
        yield finding.remedy
    yield from chain(_ended(entry), _accepted(entry))


def _ended(entry: NightEntry) -> Iterator[str]:
    if entry.ending is not None and entry.state == "resolved":
        yield f"Resolved: {ended(entry.ending)}."


def ended(ending: Ending) -> str:
    """`the freeze was lifted by alice at 2026-11-30 09:12:04 UTC`."""
    by = f" by {ending.by}" if ending.by else ""
    at = f", {ending.at:%Y-%m-%d %H:%M:%S} UTC" if ending.at else ""
    return f"{ending.because}{by}{at}"


def _accepted(entry: NightEntry) -> Iterator[str]:
    taken = entry.acceptance
    if taken is None:
        return
    if taken.expired:
        yield f"The acceptance by {taken.owner} expired on {taken.expires}: {taken.reason}."
    else:
        until = f" until {taken.expires}" if taken.expires else ""
        yield f"Accepted by {taken.owner}{until}: {taken.reason}."
