"""The night as a mail has it: one group an application, capped, with a count of the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from auditor.model.change import AppKey
from auditor.model.night import Ending, Night, NightEntry, NightState

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


def groups(night: Night, cap: int = CAP) -> tuple[Group, ...]:
    """In the order of their most urgent entries. New, resolved and accepted ones come before known ones in a group,
    so that the cap cuts what was shown before; an acceptance is always printed.
    """
    by_application: dict[AppKey | None, list[NightEntry]] = {}
    for entry in night.entries:
        by_application.setdefault(entry.finding.application, []).append(entry)
    return tuple(_group(key, entries, cap) for key, entries in by_application.items())


def _group(key: AppKey | None, entries: Sequence[NightEntry], cap: int) -> Group:
    news = [entry for entry in entries if entry.state in ("new", "resolved")]
    old = [entry for entry in entries if entry.state in ("known", "not-checked")]
    accepted = [entry for entry in entries if entry.state == "accepted"]
    listed = [*news, *old][:cap]
    return Group(key, (*listed, *accepted), len(news) + len(old) - len(listed))


def heading(night: Night) -> str:
    """`Findings as of …: 2 new, 12 known. Compared with the run as of …`."""
    as_of = f"{night.as_of:%Y-%m-%d %H:%M:%S} UTC" if night.as_of else "no moment: there are no records"
    counts = [f"{night.count(state)} {state.replace('-', ' ')}" for state in _COUNTED if night.count(state)]
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
