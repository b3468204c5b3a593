"""Tables as JSON, the columns once and then rows of values: Log Analytics, Data Explorer, Splunk, OpenSearch."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from auditor.collectors.kube_audit.delivery import Members
from auditor.collectors.kube_audit.events import as_text

_NAMED = ("fields", "columns", "Columns", "schema")
_ROWS = ("rows", "Rows", "datarows")
_NAMES = ("name", "ColumnName", "alias")
_LONGEST = 256
"""Characters of a column's name: a longer one is no field of a record, and would be written with each of its rows."""


def is_table(members: Members) -> bool:
    """Whether an object is a table."""
    return any(key in members for key in _NAMED) and (any(key in members for key in _ROWS) or _by_column(members))


def rows(members: Members) -> Iterator[bytes]:
    """The rows as objects; one with another number of cells as the list that it is: which cell is whose is unknown."""
    names = [_name(column) for column in _list(next(members[key] for key in _NAMED if key in members))]
    for row in _rows(members):
        if isinstance(row, list | tuple):
            whole = len(row) == len(names)
            yield msgspec.json.encode(dict(zip(names, row, strict=True)) if whole else row)


def _rows(members: Members) -> Iterator[Any]:
    for key in _ROWS:
        yield from _list(members.get(key))
    if _by_column(members):
        yield from zip(*(column for column in _list(members["columns"]) if isinstance(column, list)), strict=False)


def _by_column(members: Members) -> bool:
    """Whether it is Splunk's `json_cols`: a list a column."""
    return "fields" in members and "columns" in members


def _list(raw: Raw | None) -> list[Any]:
    value = msgspec.json.decode(raw) if raw is not None and bytes(raw)[:1] == b"[" else []
    return value if isinstance(value, list) else []


def _name(column: Any) -> str:
    if isinstance(column, dict):
        return next((text for key in _NAMES if (text := _short(column.get(key)))), "")
    return _short(column)


def _short(name: Any) -> str:
    text = as_text(name)
    return text if len(text) <= _LONGEST else ""


def cells(text: bytes) -> bytes:
    """A row of CloudWatch Insights, a list of field and value, as an object."""
    row = msgspec.json.decode(text, type=list[dict[str, Any]])
    return msgspec.json.encode({as_text(cell.get("field")): cell.get("value") for cell in row})
