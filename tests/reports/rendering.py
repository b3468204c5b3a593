"""What the tests of reports share: rendering by name, a hostile text, and pages as WeasyPrint lays them out."""

from typing import Any

import pytest

from auditor import registry
from auditor.model.case import Case
from reports import render
from reports.contract.document import Document, Section
from reports.contract.options import Options
from reports.contract.report import Renderer, Report
from reports.formats.html_page import page

BERLIN = Options("Europe/Berlin", "", "0.0.0")
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e|`*_[x](http://e.vil/)@team'\"=2+2&amp;{{7*7}}{%raw%}" + "W" * 60


def report(name: str) -> Report:
    return next(one for one in registry.reports() if one.name == name)


def renderer(name: str) -> Renderer:
    return next(one for one in registry.renderers() if one.name == name)


def rendered(name: str, form: str, case: Case, options: Options = BERLIN) -> str:
    return render(report(name), renderer(form), case, options).decode()


def document(name: str, case: Case, options: Options = BERLIN) -> Document:
    return report(name).document(case, options)


def section(anchor: str, case: Case, kind: str = "postmortem") -> Section:
    return next(one for one in document(kind, case).sections if one.anchor == anchor)


def weasyprint() -> Any:
    """The library, or a skipped test where Pango is not installed."""
    try:
        import weasyprint
    except OSError as error:
        pytest.skip(f"WeasyPrint cannot load its libraries: {error}")
    return weasyprint


def laid_out(told: Document) -> Any:
    """The pages of a document."""
    return weasyprint().HTML(string=page(told)).render()
