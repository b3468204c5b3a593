"""What a report and a renderer are: one frozen record each, found by the constants `REPORT` and `RENDERER`."""

from collections.abc import Callable
from dataclasses import dataclass

from auditor.model.case import Case
from reports.contract.document import Document
from reports.contract.options import Options
from reports.contract.records import Records


@dataclass(frozen=True, slots=True)
class Report:
    """One kind of report: its words for people, and its records for programs."""

    name: str
    summary: str
    formats: tuple[str, ...]
    document: Callable[[Case, Options], Document]
    records: Callable[[Case, Options], Records]


@dataclass(frozen=True, slots=True)
class Renderer:
    """One format. `render` returns the whole file or raises a RenderError; it writes nothing."""

    name: str
    suffix: str
    render: Callable[[Report, Case, Options], bytes]
