"""The command line: all commands under one name, and the only place that turns an error into text and a status."""

import errno
import io
import os
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from auditor.console.options import ConfigOption, StoreOption
from auditor.console.status import Status
from auditor.console.workspace import BEFORE_THE_COMMAND, GivenBefore
from auditor.errors import (
    AuditorError,
    ConfigError,
    DeliveryError,
    NotCheckedError,
    NotFoundError,
    RenderError,
    SourceError,
    StoreError,
    StoreLockedError,
)
from reports.words.rich import visible

_STATUSES: tuple[tuple[type[AuditorError], Status], ...] = (
    (StoreLockedError, Status.LOCKED),
    (StoreError, Status.STORE),
    (ConfigError, Status.CONFIG),
    (SourceError, Status.SOURCE),
    (RenderError, Status.RENDER),
    (DeliveryError, Status.DELIVERY),
    (NotCheckedError, Status.NOT_CHECKED),
    (NotFoundError, Status.NOT_FOUND),
)
"""The first that an error is decides."""


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What a full disk says, wherever it is met."""


class ByPanel(TyperGroup):
    """Help that shows the commands by panel. Typer's own way to do so loads Rich, which takes longer than all else."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One section a panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            summary = command.get_short_help_str(formatter.width)
            panels.setdefault(command.rich_help_panel, []).append((name, summary))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows, col_max=12)

    def invoke(self, ctx: Any) -> Any:
        """A word that is none of a closed list is told without the validator's own words before it."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


@cache
def app() -> typer.Typer:
    """All commands, ready to run."""
    from auditor import registry

    assembled = typer.Typer(
        name="auditor",
        cls=ByPanel,
        rich_markup_mode=None,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    assembled.callback()(_before_the_command)
    for command in registry.commands():
        example = f"Example:\n\n\b\n  {command.example}"
        assembled.command(command.name, rich_help_panel=command.panel, epilog=example)(command.run)
    return assembled


def main() -> NoReturn:
    """What the `auditor` program runs. Python has no stdout where the caller closed it: what is said goes nowhere.

    A character that the terminal's encoding has not is a question mark there, as on stderr it is an escape sequence.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the program runs
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    sys.exit(run(partial(app(), prog_name="auditor")))


def run(program: Callable[[], object]) -> int:
    """The status of one run. An `AuditorError` becomes one sentence and a hint on stderr; all else is a bug."""
    try:
        _to_the_end(program)
    except AuditorError as error:
        print(f"auditor: {visible(error.message)}", file=sys.stderr)  # noqa: T201
        for line in error.hint.splitlines():
            print(f"  {visible(line)}", file=sys.stderr)  # noqa: T201
        return next(status for kind, status in _STATUSES if isinstance(error, kind))
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # as Typer and Rich end then
            return _reader_gone()
        return end.code if isinstance(end.code, int) else Status.CLEAN
    except KeyboardInterrupt:
        print("auditor: interrupted; what was collected stays.", file=sys.stderr)  # noqa: T201
        return Status.INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        _close_stdout()
        place = visible(error.filename or "The answer")
        print(f"auditor: {place} cannot be written: {error.strerror}.", file=sys.stderr)  # noqa: T201
        return Status.RENDER
    return Status.CLEAN


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"auditor {version('auditor')}")
        raise typer.Exit


def _before_the_command(
    config: ConfigOption = None,
    store: StoreOption = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """What changed in the clusters, who changed it, and does git reflect it now: answered from records."""
    BEFORE_THE_COMMAND.set(GivenBefore(config, store))


def _to_the_end(program: Callable[[], object]) -> None:
    """With all that it said out of our hands: at exit it is too late for a status."""
    try:
        program()
    except SystemExit:
        sys.stdout.flush()
        raise
    sys.stdout.flush()


def _reader_gone() -> Status:
    """The reader of a pipe wants no more, as `head` does."""
    _close_stdout()
    return Status.PIPE_CLOSED


def _close_stdout() -> None:
    """Nothing more is said, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
