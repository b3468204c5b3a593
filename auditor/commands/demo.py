"""`auditor demo`: the bundled incident, end to end, without any configuration."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import START, Command
from auditor.console import options
from auditor.console.reporting import report_options

if TYPE_CHECKING:
    from rich.text import Text

    from auditor.config import Config
    from auditor.model.case import Case
    from reports.words.rich import Text as Spans

FORMATS = ("html", "pdf", "markdown", "json")


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Where the incident and its reports go.", show_default=False)
    ] = Path("auditor-demo"),
    quiet: options.QuietOption = False,
) -> None:
    """Answer the three questions about a recorded incident.

    Needs no cluster, no network and no configuration. The folder (auditor-demo unless another is given) is made, or
    one that an earlier demo made is used again; every other command can then be tried in it.
    """
    from auditor.commands.collect import read_sources
    from auditor.config_file import FILE_NAME
    from auditor.console.computed import compute
    from auditor.console.reporting import write_reports
    from auditor.console.talk import talk
    from auditor.console.workspace import workspace

    with talk(quiet) as progress:
        unpack(folder)
        place = workspace(folder / FILE_NAME, None, progress)
        with place.store(create=True) as opened, opened.exclusive():
            read_sources(place, opened)
            case = compute(place, opened)
        written = write_reports(case, place.config, "postmortem", _formats(), folder / "reports")
    show_answers(case, place.config)
    for path in written.paths:
        typer.echo(f"{path.suffix[1:]:<5} {path}")
    if written.problem:
        raise written.problem


def unpack(folder: Path) -> None:
    """Copy the sample incident; what is in a folder that it did not make is left alone."""
    from auditor.console.sample import sample
    from auditor.errors import ConfigError

    made_by_us = (folder / "truth.json").is_file()
    if folder.exists() and not made_by_us and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} is there and not empty.", "Name another folder: auditor demo FOLDER.")
    try:
        shutil.copytree(sample(), folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("cache"))
    except (OSError, shutil.Error) as error:
        raise ConfigError(f"The sample cannot be copied to {folder}: {error}.", "Name another folder.") from error


def show_answers(case: "Case", config: "Config") -> None:
    """The lead, the three answers and what is unresolved, as page one of the report has them."""
    from rich.padding import Padding
    from rich.table import Table

    from auditor.console.answer import console, text
    from reports.case.dossier import dossier
    from reports.page_one.answers import lead, questions
    from reports.page_one.unresolved import unresolved, unresolved_caption
    from reports.words.rich import plain

    told = dossier(case, report_options(config))
    out = console()
    out.print(text(plain(lead(told)), "bold"))
    for question in questions(told):
        out.print()
        out.print(text(question.text, "bold"))
        answers = Table.grid(padding=(0, 2, 0, 0))
        answers.add_column(justify="right", min_width=4)
        for answer in question.answers:
            marks = f" [{plain(answer.marks)}]" if answer.marks else ""
            inner = "  " if answer.inner else ""
            answers.add_row(text(answer.number), text(f"{inner}{plain(answer.text)}{marks}"))
        out.print(answers)
    out.print()
    out.print(_styled(unresolved_caption(told)))
    for group in unresolved(told):
        out.print(text(f"  {group.title}{f' ({group.note})' if group.note else ''}"))
        for row in group.rows:
            out.print(Padding(_styled(row.text), (0, 0, 0, 4)))
    out.print()


def _styled(said: "Spans") -> "Text":
    """What a report says, with the numbers of changes in brackets."""
    from rich.text import Text

    from auditor.console.answer import text

    shown = ((f"[{span.text}]" if span.kind == "mark" else span.text, span.kind) for span in said)
    return Text.assemble(*(text(words, "bold" if kind == "strong" else "") for words, kind in shown))


def _formats() -> tuple[str, ...]:
    from auditor import registry

    known = {renderer.name for renderer in registry.renderers()}
    return tuple(form for form in FORMATS if form in known)


COMMAND = Command("demo", demo, START, 1, "auditor demo incident")
