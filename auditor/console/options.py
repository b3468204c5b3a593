"""The options that several commands share, declared once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How an answer is written on stdout."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class TabularFormat(StrEnum):
    """How an answer is written that has the same columns in each row."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    XLSX = "xlsx"


class Severity(StrEnum):
    """How much a finding matters, from the least."""

    INFO = "info"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def and_worse(self) -> "tuple[Severity, ...]":
        """This one, and all that matter more."""
        known = tuple(Severity)
        return known[known.index(self) :]


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", "-c", metavar="FILE", envvar="AUDITOR_CONFIG", help="The configuration [default: ./auditor.toml]."
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="The database, over what the configuration says: sqlite:///FILE."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no talk on stderr.")]
FormatOption = Annotated[
    Format,
    typer.Option("--format", "-f", metavar="table|json|csv", envvar="AUDITOR_FORMAT", help="How the answer looks."),
]
TabularFormatOption = Annotated[
    TabularFormat,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        envvar="AUDITOR_FORMAT",
        help="How the answer looks: table, json, csv, parquet or xlsx.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where Parquet and Excel go; - for stdout, as without it."),
]
SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="From then on: 2026-11-30T07:00Z; 2026-11-30 07:00, 2026-11-30, 07:00, today or yesterday, in the zone of"
        " [report]; or 2h30m before the records end.",
    ),
]
UntilOption = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before then; written as --since.")]
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", metavar="TIME", help="By the records up to then, and by git then; written as --since."),
]
ClusterOption = Annotated[list[str] | None, typer.Option("--cluster", metavar="GLOB", help="Of this cluster.")]
AppOption = Annotated[
    list[str] | None, typer.Option("--app", "-a", metavar="GLOB", help="Of this application; '*-prod' is of many.")
]
NamespaceOption = Annotated[
    list[str] | None, typer.Option("--namespace", "-n", metavar="GLOB", help="In this namespace.")
]
KindOption = Annotated[
    list[str] | None, typer.Option("--kind", metavar="KIND", help="Of objects of this kind, as deployment or deploy.")
]
NameOption = Annotated[list[str] | None, typer.Option("--name", metavar="GLOB", help="Of objects of this name.")]
OnlyAppOption = Annotated[
    list[str] | None,
    typer.Option("--app", "-a", metavar="GLOB", help="Only findings of these applications, as '*-prod'."),
]
OnlyClusterOption = Annotated[
    list[str] | None, typer.Option("--cluster", metavar="GLOB", help="Only findings in these clusters.")
]
LimitOption = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="At most so many.")]
ExitStatusOption = Annotated[
    bool, typer.Option("--exit-status", help="Let the exit status tell what was found (docs/exit-codes.md).")
]
