"""Talk and progress on stderr: bars where a person looks on, nothing but notes where none does."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from auditor.progress import SILENT, Progress
from reports.words.rich import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


class Notes:
    """Lines of talk, for a log."""

    def begin(self, name: str, total: int | None) -> None:
        """A step's name is talk too."""

    def advance(self, amount: int) -> None:
        """Nothing: a log needs no bars."""

    def note(self, text: str) -> None:
        """One line."""
        print(visible(text), file=sys.stderr)  # noqa: T201


class LiveBars:
    """One bar at a time, redrawn in place."""

    def __init__(self, bars: "Bars") -> None:
        self._bars = bars
        self._task: TaskID | None = None

    def begin(self, name: str, total: int | None) -> None:
        """A new bar takes the place of the one before."""
        from rich.markup import escape

        self._clear()
        self._task = self._bars.add_task(escape(visible(name)), total=total)

    def advance(self, amount: int) -> None:
        """The bar grows."""
        if self._task is not None:
            self._bars.advance(self._task, amount)

    def note(self, text: str) -> None:
        """One line above the bar."""
        from rich.text import Text

        self._bars.console.print(Text(visible(text)))

    def _clear(self) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)


@contextmanager
def talk(quiet: bool) -> Iterator[Progress]:
    """What a command gives to long steps."""
    if quiet:
        yield SILENT
    elif not sys.stderr.isatty():
        yield Notes()
    else:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
            yield LiveBars(bars)
