"""`auditor notify`: says what is new to a chat, or as the body of a pull-request comment."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import NIGHTLY, Command
from auditor.console import options

if TYPE_CHECKING:
    from auditor.config import Config
    from auditor.console.workspace import Workspace
    from auditor.model.case import Case
    from auditor.model.night import Night
    from auditor.nightly.night import Bounds
    from auditor.progress import Progress
    from auditor.store import Store


class Medium(StrEnum):
    """For whom the digest is written."""

    SLACK = "slack"
    MARKDOWN = "markdown"


def notify(
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    medium: Annotated[
        Medium,
        typer.Option("--format", "-f", metavar="slack|markdown", help="To the webhook, or a pull-request comment."),
    ] = Medium.SLACK,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what was shown before, and what is accepted.")
    ] = False,
    app: options.OnlyAppOption = None,
    cluster: options.OnlyClusterOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where the comment goes; - for stdout [default: stdout]."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the message, and post nothing.")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Say what is new to a chat, or as a pull-request comment.

    What `auditor run` says about the same records, as a message to the webhook of the configuration, or as Markdown.
    Without a webhook nothing is ever posted.
    """
    from auditor.console.computed import gathered
    from auditor.console.names import check
    from auditor.console.talk import talk
    from auditor.console.workspace import workspace
    from auditor.model.case import Scope
    from auditor.nightly.night import Bounds

    if output is not None and medium is Medium.SLACK:
        raise typer.BadParameter("only a comment goes to a file: --format markdown.", param_hint="--output")
    with talk(quiet) as progress:
        place = workspace(config, store, progress)
        if medium is Medium.SLACK and not dry_run:
            _webhook(place)
        with place.store() as opened:
            bounds = Bounds(tuple(app or ()), tuple(cluster or ()))
            case = gathered(place, opened, Scope())
            check(bounds, case)
            night = on_these_records(opened, case, place.config, bounds)
        if medium is Medium.SLACK and not dry_run:
            deliver(night, place.config, progress, everything=everything)
            return
    _print(night, place.config, medium, output, everything)


def on_these_records(store: "Store", case: "Case", config: "Config", bounds: "Bounds") -> "Night":
    """The night as `auditor run` says it; nothing is remembered of it."""
    from auditor.nightly.night import compare

    before = store.nights.before(case.coverage.as_of.moment)
    return compare(case, tuple(store.nights.shown()), before, config.accepted, bounds)


def deliver(night: "Night", config: "Config", progress: "Progress", *, everything: bool = False) -> None:
    """Post the night where a webhook is configured; without news nothing, unless `everything` is asked for."""
    from auditor.console.delivery import post
    from auditor.nightly.news import has_news
    from auditor.nightly.slack import message

    if not config.notify.webhook:
        return
    if not (everything or has_news(night)):
        progress.note("Nothing new: nothing was posted.")
        return
    host = post(config.notify.webhook, message(night, title(config), everything=everything))
    progress.note(f"Posted to {host}.")


def title(config: "Config") -> str:
    """What heads a digest."""
    return config.report.title or "auditor"


def _webhook(place: "Workspace") -> None:
    from auditor.errors import ConfigError

    if not place.config.notify.webhook:
        raise ConfigError(
            "No webhook is configured.",
            "Set webhook in [notify] or AUDITOR_NOTIFY_WEBHOOK; --dry-run and --format markdown need none.",
        )


def _print(night: "Night", config: "Config", medium: Medium, output: Path | None, everything: bool) -> None:
    from auditor.console.json_text import escaped
    from auditor.console.reporting import write_file
    from auditor.nightly.comment import comment
    from auditor.nightly.slack import message

    if medium is Medium.SLACK:
        import msgspec

        payload = msgspec.json.encode(message(night, title(config), everything=everything))
        typer.echo(escaped(msgspec.json.format(payload, indent=2).decode()))
        return
    text = comment(night, title(config), everything=everything)
    if output is None or str(output) == "-":
        typer.echo(text, nl=False)
        return
    write_file(output, text.encode("utf-8", "replace"))
    typer.echo(str(output))


COMMAND = Command("notify", notify, NIGHTLY, 5, "auditor notify --format markdown --output comment.md")
