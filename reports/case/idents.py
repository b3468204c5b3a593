"""How few characters of a change's id tell it from all others: what a page prints and `auditor show` takes."""

from collections.abc import Iterable
from itertools import pairwise

SHORTEST = 8


def short_idents(idents: Iterable[str]) -> dict[str, str]:
    """Each id by how it begins: eight characters, more where another id begins so too."""
    ordered = sorted(set(idents))
    needed = [SHORTEST] * len(ordered)
    for place, (one, other) in enumerate(pairwise(ordered)):
        alike = _alike(one, other) + 1
        needed[place] = max(needed[place], alike)
        needed[place + 1] = max(needed[place + 1], alike)
    return {one: one[:length] for one, length in zip(ordered, needed, strict=True)}


def _alike(one: str, other: str) -> int:
    """Characters that both begin with."""
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))
