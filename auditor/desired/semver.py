"""Version ranges over tags, as Argo CD and Helm read them (Masterminds/semver): `1.x`, `^1.2`, `~1.2.3`, `>=1.0 <2`."""

import re
from dataclasses import dataclass
from typing import TypeAlias

_VERSION = re.compile(r"v?(\d+)(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?\Z")
_TERM = re.compile(r"\s*(=|==|!=|>=|=>|<=|=<|>|<|~>|~|\^)?\s*(v?[0-9xX*][0-9A-Za-z.*+-]*)\s*,?")
_HYPHEN = re.compile(r"(\S+)\s+-\s+(\S+)")

Key: TypeAlias = tuple[int, int, int, tuple[tuple[int, int, str], ...]]


@dataclass(frozen=True, slots=True)
class Bound:
    """One comparison that a version must pass."""

    operator: str
    version: Key


Range: TypeAlias = list[list[Bound]]
"""Alternatives of bounds that must all hold."""


def version_key(text: str) -> Key | None:
    """A key that orders versions as semver does; None for what is no full version."""
    found = _VERSION.match(text)
    if found is None or any(part in ("x", "X", "*") for part in found.groups()[1:3]):
        return None
    return int(found[1]), int(found[2] or 0), int(found[3] or 0), _prerelease(found[4])


def _prerelease(text: str | None) -> tuple[tuple[int, int, str], ...]:
    if text is None:
        return ((2, 0, ""),)
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in text.split("."))


def is_range(text: str) -> bool:
    """Whether the text asks for a range of versions rather than for one name."""
    return version_key(text) is None and parse_range(text) is not None


def parse_range(text: str) -> Range | None:
    """The range; None for text that is no range."""
    alternatives = []
    for part in text.split("||"):
        bounds = _bounds(_HYPHEN.sub(r">=\1 <=\2", part.strip()))
        if bounds is None:
            return None
        alternatives.append(bounds)
    return alternatives


def _bounds(text: str) -> list[Bound] | None:
    bounds: list[Bound] = []
    place = 0
    while place < len(text):
        term = _TERM.match(text, place)
        made = _term(term[1] or "", term[2]) if term else None
        if term is None or made is None:
            return None
        bounds += made
        place = term.end()
    return bounds or None


def _term(operator: str, text: str) -> list[Bound] | None:
    if text in ("*", "x", "X"):
        return [Bound(">=", (0, 0, 0, _prerelease(None)))]
    found = _VERSION.match(text)
    if found is None:
        return None
    numbers = [int(part) for part in found.groups()[:3] if part and part.isdigit()]
    major, minor, patch = [*numbers, 0, 0][:3]
    key: Key = (major, minor, patch, _prerelease(found[4]))
    if operator == "^":
        return [Bound(">=", key), Bound("<", _above(numbers, _caret_place(numbers)))]
    if operator in ("~", "~>"):
        return [Bound(">=", key), Bound("<", _above(numbers, min(1, len(numbers) - 1)))]
    if operator in ("", "=", "==") and len(numbers) < 3:
        return [Bound(">=", key), Bound("<", _above(numbers, len(numbers) - 1))]
    return [Bound({"=>": ">=", "=<": "<=", "": "=", "==": "="}.get(operator, operator), key)]


def _caret_place(numbers: list[int]) -> int:
    """The leftmost number that is not zero: a caret allows what does not change it."""
    return next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)


def _above(numbers: list[int], place: int) -> Key:
    raised = [*numbers[:place], numbers[place] + 1, 0, 0, 0]
    # Below the prereleases of the bound as well: `^1.2` does not take 2.0.0-rc.1.
    return raised[0], raised[1], raised[2], ()


def matches(text: str, wanted: Range) -> bool:
    """Whether a tag's name is a version in the range. Prereleases only where a bound names one."""
    key = version_key(text)
    if key is None:
        return False
    is_prerelease = key[3] != _prerelease(None)
    for bounds in wanted:
        names_one = any(bound.version[3] not in (_prerelease(None), ()) for bound in bounds)
        if (names_one or not is_prerelease) and all(_holds(key, bound) for bound in bounds):
            return True
    return False


def _holds(key: Key, bound: Bound) -> bool:
    match bound.operator:
        case "=":
            return key == bound.version
        case "!=":
            return key != bound.version
        case ">":
            return key > bound.version
        case "<":
            return key < bound.version
        case ">=":
            return key >= bound.version
        case _:
            return key <= bound.version
