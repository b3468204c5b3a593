"""The lane of the GitOps controller."""

from datetime import datetime

from auditor.model.application import Freeze, SyncRecord
from auditor.model.change import AppKey
from reports.case.course import freezes, syncs
from reports.contract.document import Shape
from reports.pictures.drawing import diamond, label, path, rect, text_width
from reports.pictures.scale import LEFT, WIDTH, Sheet
from reports.words.wording import count, duration, middle_cut

COMBS = 4
FREEZES = 24
LEVELS = 4


def argocd_lane(sheet: Sheet) -> None:
    """Freezes hatched, syncs as diamonds, self-heal as a comb an application."""
    sheet.lane("Argo CD")
    y = _combs(sheet, _syncs(sheet, _frozen(sheet, sheet.y + 16)))
    sheet.y = max(y, sheet.y + 26)


def _frozen(sheet: Sheet, y: float) -> float:
    found = freezes(sheet.dossier)
    if not found:
        return y
    sheet.row("auto-sync off", y)
    ends: list[float] = []
    for freeze in found[:FREEZES]:
        x = sheet.scale.x(freeze.began_at)
        end = max(sheet.scale.x(freeze.ended_at or sheet.scale.last), x + 3)
        words_beside = _freeze_label(sheet, freeze)
        reach = end + 8 + text_width(words_beside)
        level = next((number for number, used in enumerate(ends) if x >= used), len(ends))
        if level >= LEVELS:
            continue
        ends[level : level + 1] = [reach]
        _hatched(sheet, x, end, y - 5 + level * 15)
        left = reach > WIDTH
        at = (x - 5, "end") if left else (end + 5, "start")
        sheet.shapes.append(label(at[0], y + 3.5 + level * 15, words_beside, anchor=at[1]))
    return y + 17 + 15 * (len(ends) - 1)


def _freeze_label(sheet: Sheet, freeze: Freeze) -> str:
    name = middle_cut(sheet.dossier.called(freeze.app), 24)
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
        said = _sync_label(sheet, sync)
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


def _sync_label(sheet: Sheet, sync: SyncRecord) -> str:
    name = middle_cut(sheet.dossier.called(sync.app), 24)
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
        name = middle_cut(sheet.dossier.called(app), 24)
        _comb(sheet, [sheet.scale.x(at) for at in by_application[app]], name, y)
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
