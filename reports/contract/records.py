"""A report as data: what its JSON and CSV hold."""

from collections.abc import Mapping
from dataclasses import dataclass

from auditor.model.resource import Json


@dataclass(frozen=True, slots=True)
class Records:
    """Rows under one documented, numbered schema. Unknown is None, never a made-up value."""

    schema: str
    """`auditor/register/1` …: a key is added freely, none is renamed or dropped without a new number."""
    list_name: str
    """The key under which JSON has the rows."""
    columns: tuple[str, ...]
    """Keys of a row that CSV shows, in its order."""
    rows: tuple[Mapping[str, Json], ...]
    head: Mapping[str, Json]
    """What JSON has beside the rows: scope, as-of, totals."""
