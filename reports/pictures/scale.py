"""The scale of time under a drawing, and the sheet on which its lanes are set."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from reports.case.dossier import Dossier
from reports.contract.document import Shape
from reports.pictures.drawing import label, line

LEFT, RIGHT, WIDTH = 124.0, 700.0, 720.0
SMALL = 10.5
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


@dataclass(frozen=True, slots=True)
class Scale:
    """Time on a line from `LEFT` to `RIGHT`."""

    first: datetime
    last: datetime

    def x(self, at: datetime) -> float:
        """Where a moment stands, within the lane."""
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
        """Begin a lane at the current height."""
        self.shapes.append(line(0, self.y, WIDTH, self.y, "e"))
        self.shapes.append(label(0, self.y + 16, name, size=11, bold=True))

    def row(self, name: str, y: float) -> None:
        """Name a row within a lane."""
        self.shapes.append(label(112, y + 3.5, name, "2", anchor="end"))


def tick_label(written: str, ticks: Sequence[datetime]) -> str:
    """A tick without what all ticks share: whole minutes need no seconds, long spans no year."""
    seconds = any(tick.second for tick in ticks)
    parts = written.split(" ")
    time = parts[-1] if seconds else parts[-1][:5]
    return " ".join([*parts[:2], time]) if len(parts) > 2 else time
