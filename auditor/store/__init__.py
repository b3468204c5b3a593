"""Facts and results in SQLite or PostgreSQL. The only package that knows SQL."""

from auditor.store.names import Named, Names
from auditor.store.pruning import Cited, Pruned, Span
from auditor.store.results import Overview, Query, Recorded, Results, Stamp
from auditor.store.store import Store, Written, open_store

__all__ = [
    "Cited",
    "Named",
    "Names",
    "Overview",
    "Pruned",
    "Query",
    "Recorded",
    "Results",
    "Span",
    "Stamp",
    "Store",
    "Written",
    "open_store",
]
