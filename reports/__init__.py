"""Reports: a Case worded and ordered for people, in one file a format.

A report is found by its constant `REPORT`, a format by its `RENDERER`; `render` puts the two together.
"""

from auditor.errors import RenderError
from auditor.model.case import Case
from reports.contract.options import Options
from reports.contract.report import Renderer, Report

__all__ = ["Options", "Renderer", "Report", "render"]


def render(report: Report, renderer: Renderer, case: Case, options: Options) -> bytes:
    """The whole file, or a RenderError: nothing is written, so that a failed report leaves none."""
    if renderer.name not in report.formats:
        formats = ", ".join(report.formats)
        raise RenderError(f"The report {report.name} has no format {renderer.name}.", f"It has: {formats}.")
    return renderer.render(report, case, options)
