"""What a report is told beside its case."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What a report is told beside its case: never asked of the host."""

    zone: str = "UTC"
    """IANA name of the reader's zone."""
    title: str = ""
    """"" lets the report name itself."""
    version: str = ""
    """Of the program, as the foot of a page shows it."""
