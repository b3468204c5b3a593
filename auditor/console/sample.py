"""Where the sample incident lies: beside the program, in a checkout and in an installed wheel alike."""

from pathlib import Path

import auditor


def sample() -> Path:
    """The folder of the incident. Not found by importing `data`: another folder of that name may be nearer."""
    return Path(auditor.__file__).parent.parent / "data" / "incident"


def shipped_caches() -> tuple[Path, ...]:
    """Rendered states and history of the incident, by content: a machine without renderers or git finds them here."""
    return (sample() / "cache",)
