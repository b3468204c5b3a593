"""Items of lists of which only the keys are said: `ports: [{containerPort: 8080}]`, `imagePullSecrets: [{name: x}]`.

The API server fills such an item in (`protocol: TCP`). What it filled in comes and goes with the item only, so that a
change of nothing else is one of the item.
"""

from collections.abc import Sequence

from auditor.model.change import FieldChange
from auditor.model.resource import ABSENT, Leaf, ListItem, ObjectId, Path, leaf
from auditor.objects.defaults import is_defaultable

BARE = leaf({})
"""A bare item as a leaf."""


def stood_for(fields: Sequence[FieldChange], subject: ObjectId) -> tuple[FieldChange, ...]:
    """The change that each field of a write stands for: of the bare item that it was filled into, else its own."""
    said = {item for each in fields if not is_filled_in(each, subject) for item in _items_of(each.path)}
    return tuple(
        _of_item(each) if is_filled_in(each, subject) and each.path[:-1] not in said else each for each in fields
    )


def is_filled_in(field: FieldChange, subject: ObjectId) -> bool:
    """Whether a default came from nothing into an item of a list, or went to nothing there: so did the item."""
    sides = (field.before, field.after)
    values = [side.value for side in sides if side.state == "value"]
    if ABSENT not in sides or len(values) != 1 or not isinstance(next(iter(field.path[-2:-1]), None), ListItem):
        return False
    return is_defaultable(subject.group, subject.kind, field.path, values[0])


def is_bare(field: FieldChange) -> bool:
    """Whether a change adds a bare item."""
    return isinstance(next(iter(field.path[-1:]), None), ListItem) and (field.before, field.after) == (ABSENT, BARE)


def as_leaf(path: Path, found: Leaf, subject: ObjectId) -> Leaf:
    """A list item as a leaf: without its keys and what the API server fills in beside them; anything else as it is."""
    if not path or not isinstance(path[-1], ListItem) or not isinstance(found.value, dict):
        return found
    keys = {key for key, _ in path[-1].keys}
    said = {
        key: value
        for key, value in found.value.items()
        if key not in keys and not is_defaultable(subject.group, subject.kind, (*path, key), value)
    }
    return leaf(said)


def _items_of(path: Path) -> list[Path]:
    return [path[: place + 1] for place, segment in enumerate(path) if isinstance(segment, ListItem)]


def _of_item(field: FieldChange) -> FieldChange:
    before, after = (BARE if side.state == "value" else ABSENT for side in (field.before, field.after))
    return FieldChange(field.path[:-1], before, after)
