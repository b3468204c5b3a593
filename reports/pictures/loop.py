"""A sync loop as a drawing: a step line between two values, one mark a writer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from auditor.model.change import FieldChange, Write
from auditor.model.finding import Finding
from auditor.model.resource import Json, leaf
from auditor.objects import paths
from reports.case.course import landings
from reports.case.dossier import Dossier
from reports.contract.document import Picture, Shape
from reports.pictures.drawing import circle, diamond, label, line, path
from reports.pictures.scale import SMALL, Scale, tick_label
from reports.words.rich import words
from reports.words.wording import count, cut, duration, middle_cut, value_text

MOST = 160
"""Writes that are drawn."""
TOP, BOTTOM, FOOT = 46.0, 94.0, 116.0


@dataclass(frozen=True, slots=True)
class Beat:
    """One write of the field, and whether the GitOps controller made it."""

    at: datetime
    value: Json
    gitops: bool


def loop_picture(dossier: Dossier, finding: Finding, place: int) -> Picture | None:
    """The rounds of a loop with two values; None where the writes do not show both."""
    beats = _beats(dossier, finding)
    beats = _answered(beats, finding)
    values = _values(beats)
    if len(values) != 2 or len(beats) < 4 or beats[0].at == beats[-1].at:
        return None
    room = (beats[-1].at - beats[0].at) / 30
    scale = Scale(beats[0].at - room, beats[-1].at + room)
    shapes = [*_levels(values), *_axis(dossier, scale), *_commits(dossier, scale), *_steps(beats, values, scale)]
    return Picture(
        f"loop-{place + 1}",
        words(
            "Argo CD’s writes are diamonds, the other writer’s are circles; a tick of the line is what was asked for."
        ),
        f"{cut(finding.path or 'field', 80)}, {len(beats)} writes",
        f"A step line between {' and '.join(_shown(value) for value in values)} with {count(len(beats), 'write')}.",
        136,
        tuple(shapes),
    )


def _beats(dossier: Dossier, finding: Finding) -> list[Beat]:
    """What each write asked for the field, no-op writes included."""
    found = []
    for write in dossier.case.writes:
        near = (finding.first_at is None or write.at >= finding.first_at) and (
            finding.last_at is None or write.at <= finding.last_at
        )
        if not near or write.object != finding.object:
            continue
        field = _field(write, finding.path or "")
        if field is not None and field.after.state == "value":
            found.append(Beat(write.at, field.after.value, write.actor.kind == "gitops"))
    return found[:MOST]


def _answered(beats: list[Beat], finding: Finding) -> list[Beat]:
    """Against an admission webhook every write asks for one value and is answered with the other at once."""
    values = {value_text(leaf(beat.value)) for beat in beats}
    other = [value for value in finding.values if value_text(leaf(value)) not in values]
    if len(values) != 1 or len(other) != 1:
        return beats
    return [each for beat in beats for each in (beat, Beat(beat.at, other[0], False))]


def _field(write: Write, wanted: str) -> FieldChange | None:
    return next((field for field in (*write.fields, *write.asked) if paths.text(field.path) == wanted), None)


def _values(beats: Sequence[Beat]) -> list[Json]:
    """The controller's value first."""
    values: list[Json] = []
    for beat in sorted(beats, key=lambda beat: not beat.gitops):
        if beat.value not in values:
            values.append(beat.value)
    return values


def _shown(value: Json) -> str:
    return middle_cut(value_text(leaf(value)), 14)


def _levels(values: Sequence[Json]) -> list[Shape]:
    found = []
    for value, y, whose in ((values[1], TOP, "the other’s"), (values[0], BOTTOM, "git’s")):
        found.append(line(124, y, 720, y, "r", 1))
        found.append(label(112, y + 4, _shown(value), size=12, anchor="end", bold=True))
        found.append(label(112, y + 16, whose, "2", 9.8, "end"))
    return found


def _axis(dossier: Dossier, scale: Scale) -> list[Shape]:
    found = [line(124, FOOT, 720, FOOT, "e", 0.9), label(82, FOOT + 16, "UTC", "2", SMALL, "end")]
    for tick in scale.ticks:
        x = scale.x(tick)
        found.append(line(x, FOOT, x, FOOT + 4, "e", 0.9))
        found.append(label(x, FOOT + 16, tick_label(dossier.clock.utc(tick), scale.ticks), "2", SMALL, "middle"))
    return found


def _commits(dossier: Dossier, scale: Scale) -> list[Shape]:
    found = []
    for landing in landings(dossier):
        if not scale.first <= landing.at <= scale.last or not landing.pull_request:
            continue
        x = scale.x(landing.at)
        found.append(line(x, 16, x, FOOT, "e", 1.1, dashed=True))
        found.append(label(x - 4, 13, f"#{landing.pull_request}", "2", SMALL, "end"))
    return found[:24]


def _steps(beats: Sequence[Beat], values: Sequence[Json], scale: Scale) -> list[Shape]:
    heights = [BOTTOM if beat.value == values[0] else TOP for beat in beats]
    d = f"M{scale.x(beats[0].at):g} {heights[0]:g}"
    for beat, height in zip(beats[1:], heights[1:], strict=True):
        d += f"H{scale.x(beat.at):g}V{height:g}"
    found = [path(d + "H720", "1", 1.5)]
    for beat, height in zip(beats, heights, strict=True):
        x = scale.x(beat.at)
        found.append(diamond(x, height, "1") if beat.gitops else circle(x, height, 3.6, "p", "1", 1.4))
    return [*found, *_gaps(beats, scale)]


def _gaps(beats: Sequence[Beat], scale: Scale) -> list[Shape]:
    """The length of the pauses that have room for it."""
    found = []
    for beat, following in pairwise(beats):
        x1, x2 = scale.x(beat.at), scale.x(following.at)
        if x2 - x1 >= 34:
            seconds = (following.at - beat.at).total_seconds()
            found.append(label(round((x1 + x2) / 2, 1), 38, duration(seconds), size=SMALL, anchor="middle"))
    return found
