"""The lanes of commits and of messages."""

from datetime import datetime

from reports.case.course import announcements, holding, landings
from reports.case.dossier import sides
from reports.pictures.drawing import circle, label, line, path, text_width
from reports.pictures.scale import LEFT, WIDTH, Sheet
from reports.words.wording import middle_cut


def git_lane(sheet: Sheet) -> None:
    """Commits on tracked branches; those that hold a counted change are set apart."""
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


def announced_lane(sheet: Sheet) -> None:
    """A bubble a message."""
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
