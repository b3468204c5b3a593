"""The timeline as a drawing: lanes for cluster, Argo CD, git and announcements over one scale of time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from auditor.model.application import Freeze, SyncRecord
from auditor.model.change import AppKey
from reports.course import announcements, freezes, holding, landings, syncs
from reports.document import Picture, Shape
from reports.dossier import Dossier, Numbered, State, sides
from reports.drawing import circle, diamond, label, line, path, rect, text_width
from reports.rich import Span, Text, words
from reports.wording import count, duration, middle_cut

LEFT, RIGHT, WIDTH = 124.0, 700.0, 720.0
NUMBERED = 40
"""Above so many changes the marks lose their numbers …"""
BARS = 120
"""… and above so many they become one bar a slice of time."""
LEVELS = 7
COMBS = 4
SMALL = 10.5
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


@dataclass(frozen=True, slots=True)
class Scale:
    """Time on a line from `LEFT` to `RIGHT`."""

    first: datetime
    last: datetime

    def x(self, at: datetime) -> float:
        share = (at - self.first) / (self.last - self.first)
        return round(LEFT + (RIGHT - LEFT) * min(max(share, 0.0), 1.0), 1)

    @property
    def ticks(self) -> list[datetime]:
        """Round moments, at most nine."""
        seconds = (self.last - self.first).total_seconds()
        step = next((step for step in STEPS if seconds / step <= 8), 86400 * (int(seconds // (86400 * 8)) + 1))
        begin = -(-int(self.first.timestamp()) // step) * step
        found = (datetime.fromtimestamp(begin + step * number, UTC) for number in range(10))
        return [tick for tick in found if tick <= self.last]


@dataclass(slots=True)
class Sheet:
    """The drawing as it grows downwards."""

    scale: Scale
    dossier: Dossier
    y: float = 44.0
    shapes: list[Shape] = field(default_factory=list)

    def lane(self, name: str) -> None:
        self.shapes.append(line(0, self.y, WIDTH, self.y, "e"))
        self.shapes.append(label(0, self.y + 16, name, size=11, bold=True))

    def row(self, name: str, y: float) -> None:
        self.shapes.append(label(112, y + 3.5, name, "2", anchor="end"))


def lanes(dossier: Dossier) -> Picture | None:
    """The picture of the window; None where there is no window to draw."""
    if dossier.first_at is None or dossier.last_at is None:
        return None
    sheet = Sheet(Scale(*_extent(dossier, dossier.first_at, dossier.last_at)), dossier)
    _cluster(sheet)
    _argocd(sheet)
    _git(sheet)
    _announced(sheet)
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


def tick_label(written: str, ticks: Sequence[datetime]) -> str:
    """A tick without what all ticks share: whole minutes need no seconds, long spans no year."""
    seconds = any(tick.second for tick in ticks)
    parts = written.split(" ")
    time = parts[-1] if seconds else parts[-1][:5]
    return " ".join([*parts[:2], time]) if len(parts) > 2 else time


def _bands(sheet: Sheet) -> list[Shape]:
    found: list[Shape] = []
    names: list[Shape] = []
    edge = 0.0
    for episode in sheet.dossier.case.episodes:
        x = sheet.scale.x(episode.began_at)
        end = sheet.scale.x(episode.ended_at or sheet.scale.last)
        found.append(rect(x, 26, max(end - x, 3), sheet.y - 26, "w"))
        name = middle_cut(episode.application.name, 22)
        if x + 4 >= edge and x + text_width(name, SMALL) < WIDTH:
            names.append(label(x + 4, 38, name, size=SMALL, bold=True))
            edge = x + 10 + text_width(name, SMALL)
    return [*found, *names]


def _cluster(sheet: Sheet) -> None:
    sheet.lane("Cluster")
    changes = sheet.dossier.counted
    if len(changes) > BARS:
        _bars(sheet, changes)
        return
    size = 16.5 if len(changes) <= NUMBERED else 9.0
    levels = _levels([sheet.scale.x(one.write.at) for one in changes], size - 1.0)
    height = max(max(levels, default=0) + 1, 2) * size + 22
    base = sheet.y + height - 10
    for one, level in zip(changes, levels, strict=True):
        x, y = sheet.scale.x(one.write.at), base - 6 - level * size
        if level == 0:
            sheet.shapes.append(line(x, base + 1, x, sheet.y + height - 1, "2"))
        sheet.shapes += _mark(one, x, y) if len(changes) <= NUMBERED else _small_mark(one, x, y)
    sheet.y += height


def _levels(places: Iterable[float], gap: float) -> list[int]:
    """Upward rows, so that marks that would touch do not."""
    ends: list[float] = []
    found: list[int] = []
    for x in places:
        level = next((number for number, end in enumerate(ends) if x - end >= gap), None)
        if level is None and len(ends) < LEVELS:
            ends.append(x)
            level = len(ends) - 1
        elif level is None:
            level = min(range(len(ends)), key=lambda number: ends[number])
        ends[level] = x
        found.append(level)
    return found


def _mark(one: Numbered, x: float, y: float) -> list[Shape]:
    number = str(one.number)
    if one.state == "git":
        return [circle(x, y, 7.7, "g"), label(x, y + 3.6, number, "p", 9.6, "middle", True)]
    if one.state == "act":
        return [
            rect(x - 7.2, y - 7.2, 14.4, 14.4, "a", radius=1.5),
            label(x, y + 3.6, number, "p", 9.6, "middle", True),
        ]
    if one.state == "stand":
        box = rect(x - 6.4, y - 6.4, 12.8, 12.8, "p", "1", 1.8, 1)
        return [box, label(x, y + 3.6, number, "1", 9.6, "middle", True)]
    box = rect(x - 6.7, y - 6.7, 13.4, 13.4, "p", "e", 1, 1)
    if one.state in ("unknown", "untraced"):
        d = f"M{x - 6.7:g} {y - 6.7:g}h13.4v13.4h-13.4z"
        box = path(d, "2", 1, "p", dashed=True)
    return [box, label(x, y + 3.6, number, "2", 9.6, "middle")]


def _small_mark(one: Numbered, x: float, y: float) -> list[Shape]:
    if one.state == "git":
        return [circle(x, y, 3.6, "g")]
    if one.state == "act":
        return [rect(x - 3.6, y - 3.6, 7.2, 7.2, "a")]
    return [
        rect(x - 3.1, y - 3.1, 6.2, 6.2, "p", "1" if one.state == "stand" else "e", 1.6 if one.state == "stand" else 1)
    ]


def _bars(sheet: Sheet, changes: Sequence[Numbered]) -> None:
    """One bar a slice: below what git has, then what stands, then what is gone."""
    slices: dict[int, list[Numbered]] = {}
    for one in changes:
        slices.setdefault(int((sheet.scale.x(one.write.at) - LEFT) // 8), []).append(one)
    most = max(len(row) for row in slices.values())
    base = sheet.y + 84
    for place, row in sorted(slices.items()):
        y = base
        for fill, states in (
            ("g", ("git",)),
            ("a", ("act",)),
            ("1", ("stand",)),
            ("e", ("back", "unknown", "untraced")),
        ):
            height = 64 * sum(one.state in states for one in row) / most
            y -= height
            if height:
                sheet.shapes.append(rect(LEFT + place * 8 + 0.5, round(y, 1), 7, round(height, 1), fill))
    sheet.shapes.append(label(112, sheet.y + 26, f"at most {most} a bar", "2", anchor="end"))
    sheet.y += 92


def _argocd(sheet: Sheet) -> None:
    sheet.lane("Argo CD")
    y = _combs(sheet, _syncs(sheet, _frozen(sheet, sheet.y + 16)))
    sheet.y = max(y, sheet.y + 26)


def _frozen(sheet: Sheet, y: float) -> float:
    found = freezes(sheet.dossier)
    if not found:
        return y
    sheet.row("auto-sync off", y)
    ends: list[float] = []
    for freeze in found[:24]:
        x = sheet.scale.x(freeze.began_at)
        end = max(sheet.scale.x(freeze.ended_at or sheet.scale.last), x + 3)
        words_beside = _freeze_label(freeze)
        reach = end + 8 + text_width(words_beside)
        level = next((number for number, used in enumerate(ends) if x >= used), len(ends))
        if level >= 4:
            continue
        ends[level : level + 1] = [reach]
        _hatched(sheet, x, end, y - 5 + level * 15)
        left = reach > WIDTH
        at = (x - 5, "end") if left else (end + 5, "start")
        sheet.shapes.append(label(at[0], y + 3.5 + level * 15, words_beside, anchor=at[1]))
    return y + 17 + 15 * (len(ends) - 1)


def _freeze_label(freeze: Freeze) -> str:
    name = middle_cut(freeze.app.name, 24)
    if freeze.ended_at is None:
        return f"{name}, not ended"
    if freeze.undone:
        return f"{name}, undone by {middle_cut(freeze.undone_by or 'another controller', 20)}"
    return f"{name}, {duration((freeze.ended_at - freeze.began_at).total_seconds())}"


def _hatched(sheet: Sheet, x: float, end: float, y: float) -> None:
    sheet.shapes.append(rect(x, y, end - x, 10, "p", "1", 1.1))
    step = 4.0
    strokes: list[str] = []
    position = x + step
    while position < end + 10 and len(strokes) < 200:
        top, bottom = min(position, end), max(position - 10, x)
        if top > bottom:
            strokes.append(f"M{top:g} {y + position - top:g}L{bottom:g} {y + position - bottom:g}")
        position = round(position + step, 1)
    if strokes and end - x > step:
        sheet.shapes.append(path("".join(strokes), "1", 0.8))


def _syncs(sheet: Sheet, y: float) -> float:
    shown = [sync for sync in syncs(sheet.dossier) if sync.origin != "self-heal" and not sync.dry_run]
    if not shown:
        return y
    sheet.row("syncs", y)
    places = [sheet.scale.x(sync.started_at) for sync in shown]
    taken: list[tuple[float, float]] = []
    for sync, x in sorted(zip(shown, places, strict=True), key=lambda pair: (_plain(pair[0]), pair[1])):
        sheet.shapes.append(_sync_shape(sync, x, y))
        said = _sync_label(sync)
        end = x + 9 + text_width(said)
        free = not any(x < other < end + 6 for other in places) and not any(
            x < last and first < end for first, last in taken
        )
        if free and end < WIDTH:
            sheet.shapes.append(label(x + 9, y + 3.5, said))
            taken.append((x, end))
    return y + 18


def _plain(sync: SyncRecord) -> bool:
    """Whether a sync is of the usual kind: the others are labelled first."""
    return sync.origin != "manual" and sync.phase not in ("Failed", "Error")


def _sync_shape(sync: SyncRecord, x: float, y: float) -> Shape:
    if sync.phase in ("Failed", "Error"):
        return path(f"M{x - 4:g} {y - 4:g}l8 8m0-8-8 8", "1", 1.8)
    return diamond(x, y, "p", 5.5, 1.4) if sync.origin == "manual" else diamond(x, y, "1")


def _sync_label(sync: SyncRecord) -> str:
    name = middle_cut(sync.app.name, 24)
    if sync.phase in ("Failed", "Error"):
        return f"{name}, {sync.phase.lower()}"
    if sync.origin == "manual":
        return f"{name} by hand" + (f", {middle_cut(sync.initiated_by, 20)}" if sync.initiated_by else "")
    return name


def _combs(sheet: Sheet, y: float) -> float:
    """Self-heal, a comb an application: the most writes first kept, then by time."""
    by_application: dict[AppKey, list[datetime]] = {}
    for sync in syncs(sheet.dossier):
        if sync.origin == "self-heal":
            by_application.setdefault(sync.app, []).append(sync.started_at)
    if not by_application:
        return y
    most = sorted(by_application, key=lambda app: (-len(by_application[app]), str(app)))[:COMBS]
    sheet.row("self-heal", y)
    for app in sorted(most, key=lambda app: (by_application[app][0], str(app))):
        _comb(sheet, [sheet.scale.x(at) for at in by_application[app]], middle_cut(app.name, 24), y)
        y += 13
    rest = len(by_application) - len(most)
    if rest:
        sheet.shapes.append(label(LEFT, y + 1, f"and {count(rest, 'more application')}", "2"))
        y += 13
    return y + 2


def _comb(sheet: Sheet, places: list[float], name: str, y: float) -> None:
    teeth = "".join(f"M{x:g} {y - 4.5:g}v9" for x in dict.fromkeys(places))
    last = places[-1]
    sheet.shapes.append(path(f"{teeth}M{places[0]:g} {y + 4.5:g}H{last:g}", "1", 1.2))
    fits = last + 6 + text_width(name) < WIDTH
    sheet.shapes.append(label(last + 6 if fits else places[0] - 6, y + 3.5, name, anchor="start" if fits else "end"))


def _git(sheet: Sheet) -> None:
    sheet.lane("Git")
    y = sheet.y + 26
    landed, held = landings(sheet.dossier), holding(sheet.dossier)
    if landed:
        sheet.row("tracked", y)
        sheet.shapes.append(line(LEFT, y, WIDTH, y, "1", 1.3))
    edge = LEFT - 20
    for one in landed[:200]:
        x, has = sheet.scale.x(one.at), any(change.state == "git" for change in held.get(one.sha, ()))
        colour = "g" if has else "1"
        sheet.shapes.append(circle(x, y, 4.2 if has else 3.4, colour))
        said = f"#{one.pull_request}" if one.pull_request else ""
        if said and x - text_width(said) / 2 > edge:
            sheet.shapes.append(label(x, y - 9, said, colour, anchor="middle", bold=has))
            edge = x + text_width(said) / 2 + 3
    below = _branches(sheet, y) if sheet.dossier.counted else 0
    sheet.y = y + 14 + below


def _branches(sheet: Sheet, y: float) -> float:
    """Commits that have a value and are not merged."""
    seen: dict[str, tuple[datetime, str]] = {}
    for one in sheet.dossier.counted:
        for git, _ in sides(one.verdict):
            if git.verdict == "on-branch" and git.commit and git.at is not None:
                seen.setdefault(git.commit, (git.at, git.branch or ""))
    edge = 0.0
    for at, branch in sorted(seen.values())[:12]:
        x = sheet.scale.x(at)
        sheet.shapes.append(path(f"M{x - 9:g} {y:g}C{x - 3:g} {y:g} {x - 7:g} {y + 18:g} {x:g} {y + 18:g}", "1", 1.2))
        sheet.shapes.append(circle(x, y + 18, 3, "p", "1", 1.4))
        said = f"{middle_cut(branch, 30)}, not merged"
        if x > edge:
            sheet.shapes.append(
                label(x + 8, y + 22, said) if x + text_width(said) < 700 else label(x - 12, y + 22, said, anchor="end")
            )
            edge = x + 12 + text_width(said)
    if seen:
        sheet.row("branches", y + 18)
    return 16 if seen else 0


def _announced(sheet: Sheet) -> None:
    sheet.lane("Announced")
    y = sheet.y + 9
    messages = announcements(sheet.dossier)[:200]
    for number, one in enumerate(messages):
        x = sheet.scale.x(one.at)
        sheet.shapes.append(path(f"M{x - 4:g} {y:g}h11v8.5h-6.5l-3 3.4v-3.4h-1.5z", "1", 1.2, "p"))
        following = sheet.scale.x(messages[number + 1].at) if number + 1 < len(messages) else WIDTH
        said = middle_cut(one.channel, 26)
        if said and x + 12 + text_width(said) < min(following - 4, WIDTH):
            sheet.shapes.append(label(x + 12, y + 9, said))
    sheet.y += 30
