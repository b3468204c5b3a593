"""Reports: a Case worded and ordered for people, in one file a format.

`render` is all that commands need; it returns the whole file or raises, so that a failed report leaves none.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from auditor.errors import RenderError
from auditor.model.case import Case
from reports.contract import Renderer, Report
from reports.options import Options

__all__ = ["Options", "Renderer", "Report", "render", "renderers", "reports"]


@cache
def reports() -> dict[str, Report]:
    """All reports by name: the modules of this package that have a `REPORT`."""
    found = _constants("reports", __path__, "REPORT")
    return {one.name: one for one in found if isinstance(one, Report)}


@cache
def renderers() -> dict[str, Renderer]:
    """All renderers by the name of their format: the modules of `reports.formats` that have a `RENDERER`."""
    from reports import formats

    found = _constants("reports.formats", formats.__path__, "RENDERER")
    return {one.name: one for one in found if isinstance(one, Renderer)}


def render(name: str, form: str, case: Case, options: Options) -> bytes:
    """The report `name` as a whole file of the format `form`; RenderError says what cannot be done and why."""
    report, renderer = reports().get(name), renderers().get(form)
    if report is None:
        raise RenderError(f"There is no report {name!r}.", f"Reports: {', '.join(sorted(reports()))}.")
    if renderer is None or form not in report.formats:
        raise RenderError(f"The report {name} has no format {form!r}.", f"Formats: {', '.join(report.formats)}.")
    return renderer.render(report, case, options)


def _constants(package: str, path: object, constant: str) -> list[object]:
    names = sorted(module.name for module in iter_modules(list(path)))  # type: ignore[call-overload]
    modules = [import_module(f"{package}.{name}") for name in names]
    return [getattr(module, constant) for module in modules if hasattr(module, constant)]
