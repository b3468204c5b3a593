"""Writes docs/commands.md: every command with its options, as the command line itself knows them."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from auditor import registry
from auditor.cli import app

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
HEAD = """\
# Commands

Written by `make docs` from the command line itself. `auditor COMMAND --help` says the same. `--config` and `--store`
may also stand before the command; the statuses that commands exit with are on [their own page](exit-codes.md), the
answers of `--format json` on [theirs](json.md).
"""


def page() -> str:
    """The whole page."""
    program: Any = typer.main.get_command(app())
    parts = [HEAD]
    for command in registry.commands():
        parts += _section(command.name, program.commands[command.name], command.example)
    return "\n".join(parts)


def _section(name: str, command: Any, example: str) -> Iterator[str]:
    said = re.sub(r"\s*\n\s*\n\s*", "\n\n", command.help.strip())
    said = re.sub(r"(?<!\n)\n +", "\n", said)
    yield f"## `auditor {name}`\n\n{said}\n\n```text\n{example}\n```\n"
    yield "| option | |\n|---|---|"
    for parameter in command.params:
        if parameter.name != "help":
            yield f"| {_names(parameter)} | {_words(parameter)} |"
    yield ""


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar.strip('[]')}`"
    value = "" if parameter.is_flag else f" {parameter.metavar}"
    return ", ".join(f"`{name}{value}`" for name in sorted(parameter.opts, key=len, reverse=True)).replace("|", "\\|")


def _words(parameter: Any) -> str:
    words = str(parameter.help or "").replace("|", "\\|")
    if parameter.required:
        words += " Required."
    if parameter.envvar:
        words += f" Also `{parameter.envvar}`."
    return words


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    sys.stdout.write(f"{PAGE}\n")
