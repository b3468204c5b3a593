"""`auditor episodes`: break-glass incidents and their five steps."""

from typing import TYPE_CHECKING

from auditor.commands import QUESTIONS, Command
from auditor.console import options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from auditor.model.episode import Episode

_STEPS = ("freeze", "change", "announce", "git", "unfreeze")
CSV_COLUMNS = (
    "id", "application", "actors", "began_at", "ended_at", *(f"steps.{step}.state" for step in _STEPS),
    "seconds_to_announce", "seconds_to_git", "seconds_frozen", "seconds_exposed", "changes",
)  # fmt: skip
MARKS = {"done": "✓", "missing": "☐", "late": "◷", "out-of-order": "⇅", "not-recorded": "?", "not-needed": "–"}


def episodes(
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    since: options.SinceOption = None,
    until: options.UntilOption = None,
    as_of: options.AsOfOption = None,
    app: options.AppOption = None,
    limit: options.LimitOption = None,
    form: options.TabularFormatOption = options.TabularFormat.TABLE,
    output: options.OutputOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """Break-glass incidents, and which of the five steps are recorded."""
    from auditor.console import wire
    from auditor.console.computed import computed
    from auditor.console.tables import check, say_rows

    check(form, output)
    with computed(config, store, quiet, as_of) as answers:
        query = answers.query(since, until, app=app, limit=limit)
        found = answers.store.results.episodes(query)
        if form is options.TabularFormat.TABLE:
            show_episodes(found, answers.times(query))
        else:
            say_rows(form, output, "episodes", CSV_COLUMNS, answers.overview.as_of, map(wire.episode, found))


def show_episodes(found: "Iterable[Episode]", times: str) -> None:
    """Each with its five steps."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from auditor.console.answer import console, tally, text

    out, count = console(), 0
    for episode in found:
        out.print(
            Text.assemble(
                text(episode.application.name, "bold"), "  ", text(_span(episode)), "  ", text(episode.id, "dim")
            )
        )
        steps = Table.grid(padding=(0, 2, 0, 0))
        for _ in range(3):
            steps.add_column(no_wrap=True)
        steps.add_column(overflow="fold")
        for step in episode.steps:
            at = f"{step.at:%H:%M:%S}" if step.at else ""
            style = "cyan" if step.state == "done" else "yellow" if step.state in ("missing", "late") else ""
            state = text(f"{MARKS[step.state]} {step.state}", style)
            said = text(" ".join(part for part in (step.by or "", step.detail) if part))
            steps.add_row(text(step.name), state, text(at), said)
        out.print(Padding(steps, (0, 0, 1, 2)))
        count += 1
    out.print(text(tally(count, "episode", "episodes", times), "dim"))


def _span(episode: "Episode") -> str:
    began, ended = episode.began_at, episode.ended_at
    if ended is None:
        return f"since {began:%Y-%m-%d %H:%M:%S} UTC, open"
    same_day = began.date() == ended.date()
    return f"{began:%Y-%m-%d %H:%M:%S} to {ended:{'%H:%M:%S' if same_day else '%Y-%m-%d %H:%M:%S'}} UTC"


COMMAND = Command("episodes", episodes, QUESTIONS, 9, "auditor episodes --app shop-prod --since 7d")
