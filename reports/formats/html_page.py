"""HTML: one file without scripts, fonts or pictures from elsewhere."""

import re
from functools import cache
from typing import TYPE_CHECKING

from auditor.model.case import Case
from reports.contract.document import Document
from reports.contract.options import Options
from reports.contract.report import Renderer, Report
from reports.words.rich import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_RUN = 24
"""Characters without a place to break after which one is offered."""
_PIECES = re.compile(r"(?=[.\[/])")
_INNER = re.compile(r"(?<=[:@,=_-])")
_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
_RIGHT_TO_LEFT = re.compile(rf"({_TO_LEFT}+(?:[\s\-.,_]*{_TO_LEFT}+)*)")
"""A name or sentence in Hebrew, Arabic or the like."""


def page(document: Document) -> str:
    """The document as one HTML file."""
    return _environment().get_template("report.html.j2").render(report=document)


def _printed(value: object) -> object:
    """Whatever a template prints: text of a block to paste keeps its lines, and nothing has a control character."""
    if type(value) is not str:  # Markup went through `breakable`
        return value
    return value if value.isprintable() else "\n".join(visible(line) for line in value.split("\n"))


def breakable(text: str, path: bool = False) -> "Markup":
    """`text` escaped, with places to break in long words: before the parts of a path, and in runs that have none.

    What is written from right to left stands by itself, as it would else pull the number beside it to its other side.
    """
    from markupsafe import Markup

    runs = _RIGHT_TO_LEFT.split(visible(text))
    broken = [_broken(run, path) for run in runs]
    broken[1::2] = [Markup("<bdi>%s</bdi>") % run for run in broken[1::2]]
    return Markup("").join(broken)


def _broken(text: str, path: bool) -> "Markup":
    from markupsafe import Markup, escape

    words = (_pieces(word, path) for word in text.split(" "))
    return Markup(" ").join(Markup("<wbr>").join(escape(piece) for piece in word) for word in words)


def _pieces(word: str, path: bool) -> list[str]:
    if len(word) <= (12 if path else 30):
        return [word]
    found: list[str] = []
    for piece in _PIECES.split(word):
        inner = [piece] if len(piece) <= _RUN else _INNER.split(piece)
        found += [part[start : start + _RUN] for part in inner for start in range(0, len(part), _RUN)]
    return found


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("templates", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        finalize=_printed,
    )
    environment.filters["breakable"] = breakable
    return environment


def _render(report: Report, case: Case, options: Options) -> bytes:
    return page(report.document(case, options)).encode("utf-8", errors="replace")


RENDERER = Renderer("html", ".html", _render)
