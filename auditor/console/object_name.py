"""An object as a person names it: as kubectl takes it, as answers print it, or by its namespace and name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import typer

from auditor.console.kinds import spellings
from auditor.console.names import near

SUBRESOURCES = ("approval", "attach", "binding", "ephemeralcontainers", "eviction", "exec", "log", "portforward",
                "proxy", "scale", "status", "token")  # fmt: skip
"""What may stand behind a name, as answers print it: what was written through them was written to the object."""

_NEAR = 8
_SOURCES = "`auditor sources` says what the records cover."


@dataclass(frozen=True, slots=True)
class Named:
    """One way to understand a name."""

    kinds: tuple[str, ...]
    """In lower case; () for any."""
    namespace: str | None
    name: str


def readings(written: str, namespace: str | None = None) -> tuple[Named, ...]:
    """What `web`, `deployment/web`, `shop-prod/web`, `shop-prod/deployment/web` or `Deployment shop-prod/web` may name.

    The likeliest comes first. A sub-resource may stand behind the name. Raises a usage error for what names no object.
    """
    kind, _, place = " ".join(written.split()).rpartition(" ")
    kinds, parts = spellings(kind) if kind else (), place.strip("/").split("/")
    found = list(_read(kinds, parts, namespace)) if all(parts) else []
    if len(parts) > 1 and parts[-1] in SUBRESOURCES:
        found += _read(kinds, parts[:-1], namespace)
    if not found:
        raise typer.BadParameter(f"{written!r} is no object: write deployment/web or shop-prod/deployment/web.")
    return tuple(found)


def _read(kinds: tuple[str, ...], parts: list[str], namespace: str | None) -> Iterator[Named]:
    if len(parts) == 1:
        yield Named(kinds, namespace, parts[0])
    elif len(parts) == 2:
        if not kinds:
            yield Named(spellings(parts[0]), namespace, parts[1])
        yield Named(kinds, parts[0], parts[1])
    elif len(parts) == 3 and not kinds:
        yield Named(spellings(parts[1]), parts[0], parts[2])


def like_it(name: str, known: Iterable[str]) -> str:
    """What to ask for instead of an object that no record names, in a sentence."""
    found = near(name, sorted(known))[:_NEAR]
    return f"Objects called so or much like it: {', '.join(found)}." if found else _SOURCES
