"""The timeline as a drawing: lanes for cluster, Argo CD, git and announcements over one scale of time."""

from datetime import datetime, timedelta

from reports.case.course import announcements, freezes, landings, syncs
from reports.case.dossier import Dossier, State
from reports.contract.document import Picture, Shape
from reports.pictures.drawing import label, line, rect, text_width
from reports.pictures.lane_argocd import argocd_lane
from reports.pictures.lane_cluster import cluster_lane
from reports.pictures.lane_git import announced_lane, git_lane
from reports.pictures.scale import SMALL, WIDTH, Scale, Sheet, tick_label
from reports.words.rich import Span, Text, words
from reports.words.wording import count, middle_cut


def lanes(dossier: Dossier) -> Picture | None:
    """The picture of the window; None where there is no window to draw."""
    if dossier.first_at is None or dossier.last_at is None:
        return None
    sheet = Sheet(Scale(*_extent(dossier, dossier.first_at, dossier.last_at)), dossier)
    for lane in (cluster_lane, argocd_lane, git_lane, announced_lane):
        lane(sheet)
    sheet.shapes.append(line(0, sheet.y, WIDTH, sheet.y, "e"))
    shapes = (*_bands(sheet), *_axis(sheet), *sheet.shapes)
    clock = dossier.clock
    span = f"{clock.utc(dossier.first_at)} to {clock.utc(dossier.last_at)} UTC"
    return Picture(
        "timeline-picture",
        _caption(dossier),
        f"Timeline of {count(len(dossier.counted), 'change')}, of Argo CD, git and announcements, {span}",
        _description(dossier),
        int(sheet.y) + (22 if clock.foreign else 8),
        shapes,
    )


def _extent(dossier: Dossier, first: datetime, last: datetime) -> tuple[datetime, datetime]:
    """The window, drawn in to what happened in it and never narrower than a second."""
    happened = [one.write.at for one in dossier.counted]
    happened += [freeze.began_at for freeze in freezes(dossier)]
    happened += [freeze.ended_at for freeze in freezes(dossier) if freeze.ended_at is not None]
    happened += [one.at for one in announcements(dossier)]
    if happened and (last - first) > 4 * (max(happened) - min(happened)) > timedelta():
        room = (max(happened) - min(happened)) / 4
        first, last = max(first, min(happened) - room), min(last, max(happened) + room)
    margin = max((last - first) / 60, timedelta(seconds=1))
    return first - margin, last + margin


def _caption(dossier: Dossier) -> Text:
    shapes: tuple[tuple[State, str], ...] = (
        ("git", "in git"),
        ("act", "the next sync undoes it"),
        ("stand", "stands"),
        ("back", "put back or overwritten"),
    )
    legend: list[Span | str] = []
    for state, said in shapes:
        legend += [Span("mark", "n", said, "", state), f" {said}, " if state != "back" else f" {said}. "]
    how = (
        "A shaded band is an episode, hatching is auto-sync off, an open diamond is a sync by hand, a cross is a sync "
        "that did not succeed, a comb is self-heal."
    )
    unknown: tuple[Span | str, ...] = ()
    if any(one.state == "unknown" for one in dossier.counted):
        unknown = (Span("mark", "n", "cannot be told", "", "unknown"), " git cannot be told. ")
    return words(*legend, *unknown, how)


def _description(dossier: Dossier) -> str:
    frozen = len(freezes(dossier))
    return (
        f"Four lanes. Cluster: {count(len(dossier.counted), 'change')}. "
        f"Argo CD: {count(frozen, 'freeze')}, {count(len(syncs(dossier)), 'sync', 'syncs')}. "
        f"Git: {count(len(landings(dossier)), 'commit')} on tracked branches. "
        f"Announcements: {count(len(announcements(dossier)), 'message')}. The table below says the same in words."
    )


def _axis(sheet: Sheet) -> list[Shape]:
    clock, bottom = sheet.dossier.clock, sheet.y
    found = [label(0, 14, "UTC", "2", SMALL)]
    if clock.foreign:
        found.append(label(0, bottom + 16, middle_cut(clock.place, 18), "3", SMALL))
    ticks = sheet.scale.ticks
    for tick in ticks:
        x = sheet.scale.x(tick)
        found += [
            line(x, 44, x, bottom, "r", 0.6),
            line(x, 19, x, 23, "e", 0.9),
            line(x, bottom, x, bottom + 4, "e", 0.9),
        ]
        found.append(label(x, 14, tick_label(clock.utc(tick), ticks), "2", SMALL, "middle"))
        if clock.foreign:
            found.append(label(x, bottom + 16, tick_label(clock.local(tick), ticks), "3", SMALL, "middle"))
    return found


def _bands(sheet: Sheet) -> list[Shape]:
    found: list[Shape] = []
    names: list[Shape] = []
    edge = 0.0
    for episode in sheet.dossier.case.episodes:
        x = sheet.scale.x(episode.began_at)
        end = sheet.scale.x(episode.ended_at or sheet.scale.last)
        found.append(rect(x, 26, max(end - x, 3), sheet.y - 26, "w"))
        name = middle_cut(sheet.dossier.called(episode.application), 22)
        if x + 4 >= edge and x + text_width(name, SMALL) < WIDTH:
            names.append(label(x + 4, 38, name, size=SMALL, bold=True))
            edge = x + 10 + text_width(name, SMALL)
    return [*found, *names]
