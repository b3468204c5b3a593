"""Names that a question gives: those that the records hold, or an error for what is none of them.

An answer of nothing to a question about a name that there is not would read as all clear.
"""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Protocol

import typer

from auditor.console.kinds import spellings
from auditor.errors import NotFoundError

if TYPE_CHECKING:
    from auditor.model.case import Case
    from auditor.nightly.night import Bounds
    from auditor.store import Named


class Names(Protocol):
    """Something that knows which names there are."""

    def has(self, what: "Named", name: str) -> bool:
        """Whether there is something of that name."""
        ...

    def all(self, what: "Named") -> frozenset[str]:
        """All of them."""
        ...


_LISTED = 8
"""Names that an error lists; the rest is counted."""
_MOST = 10_000
"""Names that a glob may be: databases bound what one statement takes."""


def one_of(given: Iterable[str] | None, known: Sequence[str], option: str) -> tuple[str, ...]:
    """Values of a closed list; a usage error that names the list for any other."""
    asked = tuple(given or ())
    for one in asked:
        if one not in known:
            meant = near(one, known)[:1]
            guess = f" Did you mean {meant[0]!r}?" if meant else ""
            raise typer.BadParameter(f"{one!r} is none of {', '.join(known)}.{guess}", param_hint=option)
    return asked


def recorded(given: Iterable[str] | None, what: "Named", places: Sequence[Names]) -> tuple[str, ...]:
    """The recorded names that were asked for, globs written out. Raises `NotFoundError` for what stands for none.

    A name is looked for in all `places`, as records and what was computed of them may lie apart. An application may be
    called `namespace/name`, as reports tell those of one name apart.
    """
    found: dict[str, None] = {}
    for one in given or ():
        spelled = spellings(one) if what == "kind" else (one.rpartition("/")[2] if what == "application" else one,)
        exact = [name for name in spelled if any(place.has(what, name) for place in places)]
        found.update(dict.fromkeys(exact or _by_glob(one, what, spelled, places)))
    return tuple(found)


def check(bounds: "Bounds", case: "Case") -> None:
    """Raise `NotFoundError` where a run is narrowed to what no record names; records must have been read."""
    held = OfCase(case)
    if held.all("cluster") or held.all("application"):
        recorded(bounds.applications, "application", (held,))
        recorded(bounds.clusters, "cluster", (held,))


class OfCase:
    """The applications and clusters of a case."""

    def __init__(self, case: "Case") -> None:
        told = [*case.applications, *(one.application for one in case.findings if one.application)]
        marks = [mark.cluster for mark in case.coverage.marks if mark.kind in ("audit", "objects")]
        self._names: dict[Named, frozenset[str]] = {
            "application": frozenset(key.name for key in told),
            "cluster": frozenset([*marks, *(one.object.cluster for one in case.findings if one.object)]),
        }

    def has(self, what: "Named", name: str) -> bool:
        """Whether the case has it."""
        return name in self._names[what]

    def all(self, what: "Named") -> frozenset[str]:
        """All that the case has."""
        return self._names[what]


def _by_glob(given: str, what: "Named", spelled: Sequence[str], places: Sequence[Names]) -> list[str]:
    known = sorted({name for place in places for name in place.all(what)})
    if found := [name for name in known if any(fnmatchcase(name, pattern) for pattern in spelled)]:
        if len(found) > _MOST:
            raise typer.BadParameter(f"{given!r} is {len(found):,} names of {len(known):,}: a filter takes {_MOST:,}.")
        return found
    asked = given if what == "kind" else spelled[0]
    raise NotFoundError(f"No {what} {given!r} is in the records.", _there_are(asked, known))


def _there_are(given: str, known: Sequence[str]) -> str:
    if not known:
        return "They name none at all: `auditor sources` says what they cover."
    first = near(given, known)
    others = [name for name in known if name not in first]
    listed = [*first, *others][:_LISTED]
    rest = len(known) - len(listed)
    globs = f" A part of a name is written as a glob: '*{given}*'." if any(given in name for name in known) else ""
    return f"There are: {', '.join(listed)}{f' and {rest} more' if rest else ''}.{globs}"


def near(given: str, known: Collection[str]) -> list[str]:
    """Those that hold what was given, then those that are written much like it."""
    asked = given.lower().strip("*")
    holding = [name for name in known if asked and asked in name.lower()]
    return list(dict.fromkeys([*holding, *get_close_matches(given, known, n=_LISTED, cutoff=0.6)]))
