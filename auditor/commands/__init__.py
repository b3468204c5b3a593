"""Commands: one file each. A module's `COMMAND` puts it on the command line; its docstring is the help."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One command: a Typer function, and where the help shows it."""

    name: str
    run: Callable[..., None]
    panel: str
    rank: int
    """Place in the help, from 1."""
    example: str
    """A command line, as the help shows it; a test runs it."""


START, NIGHTLY, QUESTIONS, CARE = "Begin", "Every night", "Questions", "Records and evidence"
"""Panels of the help."""
