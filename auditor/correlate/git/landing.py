"""When commits landed, as far as records of revisions show it: the upper end of the landing interval."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from datetime import datetime

from auditor.model.application import ApplicationState, RevisionSeen
from auditor.model.desired import GitReader, Landing


class FirstSeen:
    """When a commit of an application's line was first seen to have landed, from records of revisions that have it."""

    def __init__(self, seen: Iterable[RevisionSeen]) -> None:
        # Thousands of records show the same revision: only the first one counts.
        self._records: dict[tuple[str, str, str], datetime] = {}
        for record in seen:
            key = (record.repo_url, record.tracked, record.revision)
            self._records[key] = min(record.at, self._records.get(key, record.at))
        self._lines: dict[object, LineSeen] = {}

    def on(self, state: ApplicationState, git: GitReader) -> "LineSeen":
        """The records of what one application follows."""
        follows = tuple((source.repo_url, source.target_revision) for source in state.sources)
        if follows not in self._lines:
            self._lines[follows] = LineSeen(self._line(state, git))
        return self._lines[follows]

    def _line(self, state: ApplicationState, git: GitReader) -> dict[str, tuple[list[int], list[datetime]]]:
        reached: dict[str, dict[int, datetime]] = {}
        for (repo_url, tracked, revision), at in self._records.items():
            found = git.reached(state, repo_url, tracked, revision)
            if found is not None:
                line = reached.setdefault(found[0], {})
                line[found[1]] = min(at, line.get(found[1], at))
        return {url: _earliest_from(line) for url, line in reached.items()}


class LineSeen:
    """When each position of an application's lines was first seen."""

    def __init__(self, lines: Mapping[str, tuple[list[int], list[datetime]]]) -> None:
        """By repository: positions, and for each the first record of it or of anything after it."""
        self._lines = lines

    def of(self, landing: Landing) -> datetime | None:
        """The first record that shows a landing, None where none does."""
        positions, times = self._lines.get(landing.repo_url, ([], []))
        place = bisect_left(positions, landing.position)
        return times[place] if place < len(times) else None


def _earliest_from(reached: Mapping[int, datetime]) -> tuple[list[int], list[datetime]]:
    """Positions, and for each the first record of it or of anything after it."""
    positions = sorted(reached)
    times = [reached[position] for position in positions]
    for place in range(len(times) - 2, -1, -1):
        times[place] = min(times[place], times[place + 1])
    return positions, times
