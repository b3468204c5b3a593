"""Reports as files: rendered whole before anything is written, and put in place in one step."""

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from auditor import registry
from auditor.config import Config
from auditor.errors import RenderError
from auditor.model.case import Case

if TYPE_CHECKING:
    from reports.contract.options import Options
    from reports.contract.report import Renderer, Report


def report_options(config: Config) -> "Options":
    """What the configuration tells a report."""
    from reports.contract.options import Options

    return Options(config.report.zone, config.report.title, version("auditor"))


def report_named(name: str) -> "Report":
    """The report of a name; a usage error where there is none."""
    known = {report.name: report for report in registry.reports()}
    if name not in known:
        raise typer.BadParameter(f"there is no report {name!r}; there are: {', '.join(sorted(known))}.")
    return known[name]


def renderer_for(report: "Report", form: str) -> "Renderer":
    """The renderer of a format that the report has; a usage error for another."""
    known = {renderer.name: renderer for renderer in registry.renderers() if renderer.name in report.formats}
    if form not in known:
        has = ", ".join(sorted(known))
        raise typer.BadParameter(f"the report {report.name} has no format {form!r}; it has: {has}.")
    return known[form]


def form_of(report: "Report", form: str | None, output: Path | None) -> str:
    """The format that is asked for, or that a file's ending stands for; html where nothing says.

    A usage error for an ending of no format, and for one of another format than the one asked for.
    """
    if output is None or not output.suffix or output.is_dir():
        return form or "html"
    known = {renderer.suffix: renderer.name for renderer in registry.renderers() if renderer.name in report.formats}
    meant = known.get(output.suffix)
    if form is None and meant is None:
        ends = f"{output.name} ends in {output.suffix}, and the report {report.name} in {', '.join(sorted(known))}"
        raise typer.BadParameter(f"{ends}: name another file, or its format by --format.", param_hint="--output")
    if form is not None and meant not in (None, form):
        said = f"{output.name} ends as {meant}, and --format asks for {form}: leave one of them out"
        raise typer.BadParameter(f"{said}.", param_hint="--output")
    return form or meant or "html"


@dataclass(frozen=True, slots=True)
class WrittenReports:
    """The files that were written, and what kept the first of the others from being so."""

    paths: tuple[Path, ...]
    problem: RenderError | None


def write_reports(case: Case, config: Config, name: str, forms: Sequence[str], folder: Path) -> WrittenReports:
    """One file a format, named as the report; a format that cannot be made (no Pango) keeps no other from it."""
    report = report_named(name)
    paths, problem = [], None
    for renderer in [renderer_for(report, form) for form in forms]:
        path = folder / f"{name}{renderer.suffix}"
        try:
            write_file(path, renderer.render(report, case, report_options(config)))
            paths.append(path)
        except RenderError as error:
            problem = problem or error
    return WrittenReports(tuple(paths), problem)


def put(content: bytes, output: Path | None, usual: str) -> None:
    """To a file, or to stdout without one; `usual` is its name where `output` is a folder. Says where it is."""
    if output is None or str(output) == "-":
        sys.stdout.buffer.write(content)
        return
    path = output / usual if output.is_dir() else output
    if not path.parent.is_dir():
        raise RenderError(f"There is no folder {path.parent}.", "Make it, or name another place by --output.")
    write_file(path, content)
    typer.echo(str(path))


def write_file(path: Path, content: bytes) -> None:
    """The whole file or none, readable by its owner alone. A device or pipe is written to, and stays what it is."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise RenderError(f"{path} cannot be written: {error.strerror}.", "Name another place by --output.") from error
