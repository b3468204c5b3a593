"""`auditor report NAME`: one report in one format."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import QUESTIONS, Command
from auditor.console import options
from auditor.console.workspace import Workspace
from auditor.errors import NotCheckedError, NotFoundError
from auditor.model.case import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from auditor.model.episode import Episode
    from auditor.store import Store


_BINARY = (b"%PDF-", b"PAR1", b"PK\x03\x04")
"""What a PDF, a Parquet file and a workbook begin with."""


def report(
    name: Annotated[str, typer.Argument(metavar="NAME", help="postmortem, drift, register or staging.")],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="html, pdf, markdown, json or csv; for register parquet or xlsx [default: as --output ends, html].",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to; - for stdout [default: stdout, on a terminal NAME.html]."
        ),
    ] = None,
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    episode: Annotated[
        str | None, typer.Option("--episode", metavar="ID", help="One break-glass episode (see `auditor episodes`).")
    ] = None,
    since: options.SinceOption = None,
    until: options.UntilOption = None,
    as_of: options.AsOfOption = None,
    cluster: options.ClusterOption = None,
    app: options.AppOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """One report, for all records or for one incident.

    An incident is an episode, or applications and a time. Without --output the report goes to stdout, and on a
    terminal to a file.
    """
    from auditor.console.computed import gathered, up_to_date
    from auditor.console.moment import moment
    from auditor.console.names import recorded
    from auditor.console.reporting import form_of, renderer_for, report_named, report_options
    from auditor.console.talk import talk
    from auditor.console.window import outside
    from auditor.console.workspace import workspace

    asked = report_named(name)
    renderer = renderer_for(asked, form_of(asked, form, output))
    with talk(quiet) as progress:
        place = workspace(config, store, progress)
        with place.store() as opened:
            fresh = up_to_date(place, opened)
            times = opened.results.overview().as_of.moment, place.config.report.zone, progress.note
            scope = Scope(
                since=moment(since, *times),
                until=moment(until, *times),
                clusters=recorded(cluster, "cluster", (opened.names,)),
                applications=_applications(opened, app or ()),
                episode=_episode(opened, episode),
                as_of=moment(as_of, *times),
            )
            if scope == Scope() and name == "postmortem":
                _offer(place, list(opened.results.episodes()))
            case = fresh if fresh is not None and scope == Scope() else gathered(place, opened, scope)
            if not case.changes and (why := outside(case.coverage.marks, scope.since, scope.until, scope.as_of)):
                raise NotCheckedError(why, "No report was made: it would read as if nothing had happened.")
            content = renderer.render(asked, case, report_options(place.config))
    _put(content, output, f"{name}{renderer.suffix}")


def _applications(store: "Store", given: "Sequence[str]") -> tuple[str, ...]:
    """The recorded names that were asked for; `namespace/name` stays, as it tells applications of one name apart."""
    from auditor.console.names import recorded

    plain = recorded([one for one in given if "/" not in one], "application", (store.names,))
    qualified = [one for one in given if "/" in one]
    recorded(qualified, "application", (store.names,))
    return (*plain, *qualified)


def _episode(store: "Store", wanted: str | None) -> str | None:
    """The id that begins as wanted. Raises `NotFoundError`, with those that it may be, where that is not one."""
    if wanted is None:
        return None
    known = list(store.results.episodes())
    found = [one for one in known if one.id.startswith(wanted)]
    if len(found) == 1:
        return found[0].id
    said = "More than one episode has" if found else "No episode has"
    listed = _listed(found or known)
    raise NotFoundError(f"{said} an id that begins with {wanted!r}.", f"There are:\n{listed}")


def _offer(place: Workspace, episodes: "Sequence[Episode]") -> None:
    """Without a scope the report covers everything: say what there is to choose from."""
    if len(episodes) > 1:
        place.progress.note(f"This report covers all {len(episodes)} episodes. For one of them, --episode ID:")
        for line in _listed(episodes).splitlines():
            place.progress.note(line)


def _listed(episodes: "Sequence[Episode]") -> str:
    from reports.words.rich import visible

    rows = (f"  {one.id}  {one.began_at:%Y-%m-%d %H:%M:%S} UTC  {visible(str(one.application))}" for one in episodes)
    return "\n".join(rows) or "  none"


def _put(content: bytes, output: Path | None, usual: str) -> None:
    from auditor.console.reporting import put

    if output is None and sys.stdout.isatty():
        output = Path(usual)
    if str(output) == "-" and content.startswith(_BINARY) and sys.stdout.isatty():
        raise typer.BadParameter(
            f"a terminal cannot show {Path(usual).suffix[1:]}: name a file.", param_hint="--output"
        )
    put(content, output, usual)


COMMAND = Command("report", report, QUESTIONS, 6, "auditor report postmortem --format html --output incident.html")
