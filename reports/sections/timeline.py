"""The course of events in at most fifteen rows, each with its source, under a picture of all of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from auditor.correlate.bearing import cited_in, names, names_one
from auditor.model.application import Freeze, SyncRecord
from auditor.model.change import Actor, Evidence
from auditor.model.facts import Announcement
from reports.case.course import announcements, freezes, holding, landings, syncs
from reports.case.describe import named, short_object, what
from reports.case.dossier import Dossier, Numbered, has_audit, marks, sides
from reports.contract.document import Block, Column, Paragraph, Row, Section, Table
from reports.pictures.picture import lanes
from reports.words.rich import Text, code, soft, words
from reports.words.wording import cut, duration, grouped, listed, middle_cut

ROWS = 15
TOGETHER = timedelta(seconds=60)
"""Changes of one application that follow each other within so long share a row."""

Lane: TypeAlias = Literal["Cluster", "Argo CD", "Git", "Announced"]


@dataclass(frozen=True, slots=True)
class Moment:
    """One row of the timeline. The lower its rank, the sooner it is kept when there are too many."""

    at: datetime
    lane: Lane
    text: Text
    evidence: tuple[Evidence, ...]
    rank: int


def timeline_section(dossier: Dossier) -> Section:
    """The picture and the rows; one sentence where nothing has a time."""
    found = moments(dossier)
    if not found:
        return Section("timeline", "Timeline", (Paragraph(words(_nothing(dossier))),))
    shown = _kept(found)
    rest = len(found) - len(shown)
    note = f"the {len(shown)} that matter most of {grouped(len(found))} moments" if rest else ""
    table = Table(
        words("The same in words ", note) if note else words("The same in words"),
        (
            Column(dossier.clock.heading, "8.6rem" if dossier.clock.foreign else "5.4rem"),
            Column(words("Lane"), "5.2rem"),
            Column(words("What")),
            Column(words("Source"), "6.6rem"),
        ),
        tuple(_row(dossier, one) for one in shown),
        "times",
        stacked=True,
    )
    picture = lanes(dossier)
    blocks: list[Block] = [picture] if picture is not None else []
    return Section("timeline", "Timeline", (*blocks, table))


def _nothing(dossier: Dossier) -> str:
    kinds = (("audit", "an audit log"), ("argocd", "records of Argo CD"), ("git", "a git repository"))
    read = {mark.kind for mark in dossier.case.coverage.marks if not mark.problem}
    missing = [name for kind, name in (*kinds, ("announcements", "announcements")) if kind not in read]
    unread = f" Not read: {', '.join(missing)}." if missing else ""
    return f"No change, sync, commit or message of this window is recorded.{unread}"


def _row(dossier: Dossier, one: Moment) -> Row:
    """Cited here, so that the appendix has no record of a moment that is not shown."""
    source = dossier.cited.all(one.evidence, one.at) or words("–")
    return Row((dossier.clock.both(one.at), words(one.lane), one.text, source))


def moments(dossier: Dossier) -> list[Moment]:
    """All moments of the window, oldest first."""
    found = [*_changes(dossier), *_freezes(dossier), *_syncs(dossier), *_git(dossier), *_announced(dossier)]
    order = ("Announced", "Git", "Argo CD", "Cluster")
    return sorted(found, key=lambda one: (one.at, order.index(one.lane), one.rank))


def _kept(found: list[Moment]) -> list[Moment]:
    if len(found) <= ROWS:
        return found
    best = sorted(range(len(found)), key=lambda place: (found[place].rank, place))[:ROWS]
    return [found[place] for place in sorted(best)]


def _changes(dossier: Dossier) -> list[Moment]:
    groups: list[list[Numbered]] = []
    for one in dossier.counted:
        last = groups[-1][-1] if groups else None
        near = last is not None and one.write.at - last.write.at <= TOGETHER
        if near and last is not None and last.change.application == one.change.application:
            groups[-1].append(one)
        else:
            groups.append([one])
    return [_change_moment(dossier, tuple(group)) for group in groups]


def _change_moment(dossier: Dossier, group: tuple[Numbered, ...]) -> Moment:
    people = named([one.write.actor.name for one in group])
    if len(group) == 1:
        only = group[0]
        said = words(short_object(only.write.object, dossier.clusters), " ", what(only.change))
    else:
        objects = list(dict.fromkeys(short_object(one.write.object, dossier.clusters) for one in group))
        said = words(
            f"{', '.join(objects[:2])}" + (f" and {grouped(len(objects) - 2)} more" if len(objects) > 2 else "")
        )
    sources = tuple(evidence for one in group[:4] for evidence in one.write.evidence[:1])
    ranks = {"act": 0, "stand": 1, "git": 1, "unknown": 2, "untraced": 2, "back": 3}
    rank = min(ranks[one.state] for one in group)
    text = words(marks(group, 6), " ", said, "; ", people)
    return Moment(group[0].write.at, "Cluster", text, sources, rank)


def _freezes(dossier: Dossier) -> list[Moment]:
    found: list[Moment] = []
    for freeze, name in _together(dossier):
        by = _by(freeze.began_by)
        end = _ending(freeze)
        inside = dossier.first_at is None or freeze.began_at >= dossier.first_at
        if inside:
            thing, done, how = FORMS[freeze.form]
            said = f"{thing} of {name} {done}{by}{how}"
            brief = freeze.ended_at is not None and freeze.ended_at - freeze.began_at < TOGETHER / 4
            found.append(
                Moment(freeze.began_at, "Argo CD", words(said, f"; {end}" if brief else ""), freeze.evidence[:1], 0)
            )
            if brief:
                continue
        if freeze.ended_at is not None:
            ending = (freeze.evidence[1:] or freeze.evidence)[:1]
            said = f"Freeze of {name} {end}"
            found.append(Moment(freeze.ended_at, "Argo CD", words(said), ending, 0))
    return found


def _together(dossier: Dossier) -> Iterator[tuple[Freeze, str]]:
    """Freezes, and of which applications: one that a single write put on many is one moment."""
    alike: dict[tuple[object, ...], list[Freeze]] = {}
    for freeze in freezes(dossier):
        key = (freeze.form, freeze.began_at, freeze.ended_at, freeze.undone, freeze.evidence)
        alike.setdefault(key, []).append(freeze)
    for group in alike.values():
        yield group[0], listed([middle_cut(dossier.called(freeze.app), 40) for freeze in group], 2)


FORMS = {
    "automated-removed": ("Auto-sync", "switched off", ""),
    "automated-disabled": ("Auto-sync", "switched off", " (enabled: false)"),
    "self-heal-off": ("Self-heal", "switched off", ", half a freeze"),
    "sync-window": ("Syncs", "denied", " (sync window)"),
    "skip-reconcile": ("Reconciling", "switched off", " (skip-reconcile)"),
    "controller-scaled": ("The controller", "scaled to 0", ", a freeze"),
    "rollback": ("Auto-sync", "switched off", " (rollback)"),
    "suspended": ("Reconciling", "suspended", ""),
    "reconcile-disabled": ("Reconciling", "switched off", " (one object)"),
}


def _ending(freeze: Freeze) -> str:
    if freeze.ended_at is None:
        return "not ended when the records end"
    length = duration((freeze.ended_at - freeze.began_at).total_seconds())
    if freeze.undone:
        return f"undone by {middle_cut(freeze.undone_by or 'another controller', 50)} after {length}"
    return f"ended{_by(freeze.ended_by)} after {length}"


def _by(actor: Actor | None) -> str:
    """Whose hand it was. The controller's only brought what git declares."""
    if actor is None or not actor.name:
        return ""
    return " through git" if actor.kind == "gitops" else f" by {middle_cut(actor.name, 50)}"


def _syncs(dossier: Dossier) -> list[Moment]:
    """Syncs by hand, those that did not succeed, and those that put a counted change back."""
    found: list[Moment] = []
    for sync in syncs(dossier):
        if sync.origin == "self-heal" or sync.dry_run:
            continue
        undid = _undone_by(dossier, sync)
        odd = sync.phase in ("Failed", "Error") or sync.local_manifests or sync.rollback_to is not None
        if sync.origin != "manual" and not odd and not undid and has_audit(dossier):
            continue  # where nothing else is recorded, every sync is worth its row
        found.append(_sync_moment(dossier, sync, undid, 1 if odd or undid else 4))
    return found


def _sync_moment(dossier: Dossier, sync: SyncRecord, undid: tuple[Numbered, ...], rank: int) -> Moment:
    how = "by hand" if sync.origin == "manual" else sync.origin
    who = sync.initiated_by or (sync.requested_by.name if sync.requested_by is not None else "")
    by = f", {middle_cut(who, 40)}" if who and sync.origin == "manual" else ""
    said = words(f"Sync of {middle_cut(dossier.called(sync.app), 40)} {how}{by}")
    if sync.phase in ("Failed", "Error"):
        said = words(said, f": {sync.phase.lower()}, {cut(sync.message, 90)}" if sync.message else f": {sync.phase}")
    gone = tuple(one for one in undid if one.state not in ("act", "stand"))
    partly = tuple(one for one in undid if one.state in ("act", "stand"))
    if gone:
        said = words(said, ": ", marks(gone, 6), " put back or overwritten")
    if partly:
        said = words(said, "; " if gone else ": ", marks(partly, 6), " put back or overwritten in part")
    return Moment(sync.started_at, "Argo CD", said, sync.evidence[:2], rank)


def _undone_by(dossier: Dossier, sync: SyncRecord) -> tuple[Numbered, ...]:
    """Counted changes of the application that a write within this sync ended."""
    end = (sync.finished_at or sync.started_at) + timedelta(seconds=2)
    return tuple(
        one
        for one in dossier.counted
        if one.change.application == sync.app
        and any(
            cluster.verdict in ("reverted-by-gitops", "overwritten")
            and cluster.at is not None
            and sync.started_at - timedelta(seconds=1) <= cluster.at <= end
            for _, cluster in sides(one.verdict)
        )
    )


def _git(dossier: Dossier) -> list[Moment]:
    by_commit = holding(dossier)
    found: list[Moment] = []
    for landing in landings(dossier):
        about = tuple(by_commit.get(landing.sha, ()))
        pull = f"#{landing.pull_request}, " if landing.pull_request else ""
        author = cut(landing.author.split(" <", 1)[0], 40)
        said = words(
            pull,
            code(landing.sha[:9]),
            f", {author}: {cut(landing.subject, 70)}",
            " " if about else "",
            marks(about, 6),
        )
        found.append(Moment(landing.at, "Git", said, (Evidence("commit", landing.sha, None),), 1 if about else 6))
    return found


def _announced(dossier: Dossier) -> list[Moment]:
    told = cited_in(dossier.case.episodes)
    mine = names(dossier.case.scope)
    found: list[Moment] = []
    for one in announcements(dossier):
        channel = f" in {middle_cut(one.channel, 40)}" if one.channel else ""
        said = words(f"{middle_cut(one.author, 40)}{channel}: “{cut(one.text, 90)}”")
        if mine and one.origin not in told and not names_one(one, mine):
            said = words(said, soft("; names no application"))
        rank = 2 if one.origin in told or len(told) < 2 else 5
        found.append(Moment(one.at, "Announced", said, (_announced_in(one),), rank))
    return found


def _announced_in(one: Announcement) -> Evidence:
    return Evidence("announcement", f"{one.channel} {one.at.isoformat()}", one.origin)
