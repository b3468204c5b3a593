"""Whether two paths are about one field. List items may be named by more or fewer of their keys."""

from auditor.model.resource import ListItem, Path, Segment


def holds(outer: Path, inner: Path) -> bool:
    """Whether `outer` is `inner` or one of its ancestors."""
    return len(outer) <= len(inner) and all(_alike(one, other) for one, other in zip(outer, inner, strict=False))


def same_place(one: Path, other: Path) -> bool:
    """Whether both are the same field."""
    return len(one) == len(other) and holds(one, other)


def may_overlap(one: Path, other: Path) -> bool:
    """Whether one may hold the other, where a position in a list may be that of any item."""
    return all(map(_may_be_alike, one, other))


def _may_be_alike(one: Segment, other: Segment) -> bool:
    in_list = not isinstance(one, str) and not isinstance(other, str)
    return (in_list and isinstance(one, int) != isinstance(other, int)) or _alike(one, other)


def _alike(one: Segment, other: Segment) -> bool:
    if isinstance(one, ListItem) and isinstance(other, ListItem):
        return set(one.keys) <= set(other.keys) or set(other.keys) <= set(one.keys)
    return one == other
