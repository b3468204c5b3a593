"""Finds what is built of one file each: a module of the package that has the constant adds itself."""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auditor.collectors import Collector
    from auditor.commands import Command
    from auditor.detectors import Detector
    from reports.contract.report import Renderer, Report


@cache
def commands() -> "tuple[Command, ...]":
    """In the order of the help."""
    return tuple(sorted(_constants("auditor.commands", "COMMAND"), key=lambda command: command.rank))


@cache
def collectors() -> "tuple[Collector, ...]":
    """By name of their modules."""
    return tuple(_constants("auditor.collectors", "COLLECTOR"))


@cache
def detectors() -> "tuple[Detector, ...]":
    """By name of their modules."""
    return tuple(_constants("auditor.detectors", "DETECTOR"))


@cache
def reports() -> "tuple[Report, ...]":
    """By name of their modules."""
    return tuple(_constants("reports", "REPORT"))


@cache
def renderers() -> "tuple[Renderer, ...]":
    """By name of their modules."""
    return tuple(_constants("reports.formats", "RENDERER"))


def _constants(package: str, name: str) -> Iterator[Any]:
    for module in sorted(pkgutil.iter_modules(importlib.import_module(package).__path__), key=lambda found: found.name):
        constant = getattr(importlib.import_module(f"{package}.{module.name}"), name, None)
        if constant is not None:
            yield constant
