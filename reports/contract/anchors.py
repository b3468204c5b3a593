"""Links that lead somewhere: a report keeps those whose target it has, the others become plain text."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from reports.contract.document import Document
from reports.words.rich import Span

_Part = TypeVar("_Part")
_PAGE_ONE = ("title", "answers", "unresolved")


def reachable(document: Document) -> Document:
    """The same document without links to sections, rows and blocks that it does not have."""
    known = {f"#{name}" for section in document.sections for name in (section.anchor, *_anchors(section.blocks))}
    return _pruned(document, frozenset(known | {f"#{name}" for name in _PAGE_ONE}))


def _anchors(part: Any) -> Iterator[str]:
    if isinstance(part, tuple):
        for one in part:
            yield from _anchors(one)
    elif is_dataclass(part) and not isinstance(part, Span):
        yield from (getattr(part, "anchor", ""), *getattr(part, "also", ()))
        for field in fields(part):
            yield from _anchors(getattr(part, field.name))


def _pruned(part: _Part, known: frozenset[str]) -> _Part:
    if isinstance(part, tuple):
        return tuple(_pruned(one, known) for one in part)  # type: ignore[return-value]
    if not is_dataclass(part) or isinstance(part, type):
        return part
    changed: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name in ("href", "page", "action"):
            changed[field.name] = value if value in known else ""
        elif isinstance(value, tuple) or is_dataclass(value):
            changed[field.name] = _pruned(value, known)
    return replace(part, **changed) if changed else part
