"""The lane of changes: marks that would touch stack upwards."""

from collections.abc import Iterable, Sequence

from reports.case.dossier import Numbered
from reports.contract.document import Shape
from reports.pictures.drawing import circle, label, line, path, rect
from reports.pictures.scale import LEFT, Sheet

NUMBERED = 40
"""Above so many changes the marks lose their numbers …"""
BARS = 120
"""… and above so many they become one bar a slice of time."""
LEVELS = 7


def cluster_lane(sheet: Sheet) -> None:
    """A mark a change; many lose their numbers, very many become bars."""
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
