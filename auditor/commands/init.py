"""`auditor init`: a commented configuration, filled in with what a folder holds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands import START, Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from auditor.console.recognise import Recognised


def init(
    source: Annotated[
        Path | None, typer.Option("--from", metavar="FOLDER", help="Recognise what lies in this folder.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="[default: auditor.toml here, or in the folder given]."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a configuration that is there.")] = False,
) -> None:
    """Write an auditor.toml, filled in with what a folder holds."""
    from auditor.config import Config
    from auditor.config_file import FILE_NAME, parse
    from auditor.console.first_config import config_text
    from auditor.console.recognise import UNNAMED, configuration, recognise
    from auditor.errors import ConfigError

    folder = source or Path()
    path = output or folder / FILE_NAME
    if path.exists() and not force:
        raise ConfigError(f"{path} is there already.", "Use --force to replace it, or name another by --output.")
    found = recognise(folder) if source else ()
    config = configuration(folder, found) if found else Config(folder)
    text = config_text(config)
    parse(text, path, {})
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.", "Name another place by --output.") from error
    for one in found:
        typer.echo(f"{one.kind:<9} {one.path!r}", err=True)
    for sentence in _left_to_do(found, {repository.path for repository in config.repositories}):
        typer.echo(sentence, err=True)
    if found and any(cluster.name == UNNAMED for cluster in config.clusters):
        typer.echo(f"The cluster is called {UNNAMED!r}: call it by its own name before the first collect.", err=True)
        if len(logs := [one.path for one in found if one.kind == "audit"]) > 1:
            typer.echo(
                f"{_and(logs)} are taken for one cluster's: give each cluster a [[cluster]] of its own.", err=True
            )
    if source and not found:
        typer.echo(f"Nothing in {source} was recognised; the sections are there as comments.", err=True)
    typer.echo(str(path))


def _and(paths: list[str]) -> str:
    """Some paths in a sentence."""
    shown = [repr(path) for path in paths[:4]]
    rest = [f"{len(paths) - 4} more"] if len(paths) > 4 else []
    *first, last = [*shown, *rest]
    return f"{', '.join(first)} and {last}"


def _left_to_do(found: "Iterable[Recognised]", taken: set[str]) -> "Iterator[str]":
    for one in found:
        if one.kind in ("bundle", "clone") and one.path not in taken:
            yield f"Of which repository {one.path!r} is a copy, nothing says: fill in a [[repository]]."
        if one.kind == "packed":
            yield f"Unpack {one.path!r} and run init again: out of archives only logs and Slack's exports are read."


COMMAND = Command("init", init, START, 2, "auditor init --from records")
