"""PDF by WeasyPrint, from the same page as the HTML. Nothing is fetched; the same records give the same bytes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import NoReturn

from auditor.errors import RenderError
from auditor.model.case import Case
from reports.contract.options import Options
from reports.contract.report import Renderer, Report
from reports.formats.html_page import page

_HINT = (
    "Install Pango (Debian and Ubuntu: apt-get install libpango-1.0-0 libpangoft2-1.0-0; macOS: brew install pango), "
    "or use --format html and print it."
)


def _render(report: Report, case: Case, options: Options) -> bytes:
    html = page(report.document(case, options))
    return pdf(html)


def pdf(html: str) -> bytes:
    """The page as a PDF. RenderError where WeasyPrint or its libraries are missing, or a page cannot be set."""
    try:
        from weasyprint import HTML  # type: ignore[import-untyped,unused-ignore]
    except OSError as error:
        raise RenderError("A PDF needs Pango, which is not installed.", _HINT) from error
    identifier = sha256(html.encode("utf-8", errors="replace")).hexdigest()[:32].encode()
    with _fixed_date():
        written = HTML(string=html, url_fetcher=_refuse).write_pdf(pdf_identifier=identifier)
    if not isinstance(written, bytes):
        raise RenderError("The PDF came out empty.", "Use --format html and print it.")
    return written


def _refuse(url: str, *_: object, **__: object) -> NoReturn:
    raise ValueError(f"a report loads nothing: {url}")


@contextmanager
def _fixed_date() -> Iterator[None]:
    """Dates that the libraries write come from the records' side, never from the clock."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ["SOURCE_DATE_EPOCH"]
        else:
            os.environ["SOURCE_DATE_EPOCH"] = before


RENDERER = Renderer("pdf", ".pdf", _render)
