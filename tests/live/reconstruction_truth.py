"""What an act did to the objects of a cluster, told from the objects alone.

Deliberately knows nothing of the program: plain JSON before and after, a short table of merge keys, and for every act
the paths that its request names, written by hand.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

Key = tuple[str, str, str]
"""Kind, namespace, name."""
World = dict[Key, dict[str, Any]]

_KEYS = {
    "containers": ("name",),
    "initContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "imagePullSecrets": ("name",),
    "secrets": ("name",),
    "webhooks": ("name",),
    "variables": ("name",),
    "matchConditions": ("name",),
    "volumeMounts": ("mountPath",),
    "hostAliases": ("ip",),
    "ownerReferences": ("uid",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
}
_CUSTOM = ("Widget",)
_NEVER = re.compile(
    r"(status|apiVersion|kind)\b|metadata\.(name|namespace|generateName|uid|resourceVersion|generation|managedFields"
    r"|creationTimestamp|deletionTimestamp|deletionGracePeriodSeconds)\b"
    r'|metadata\.annotations\["(kubectl\.kubernetes\.io/last-applied-configuration|kubernetes\.io/change-cause'
    r"|deployment\.kubernetes\.io/revision"
    r'|deprecated\.daemonset\.template\.generation|argocd\.argoproj\.io/(tracking|installation)-id)"\]'
)
ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Expected:
    """One change of one object: `object` is `Kind/namespace/name`, the name may be a glob."""

    operation: str
    object: str
    names: tuple[str, ...] = ()
    """Paths that the request names; what differs below them is the actor's."""
    beside: tuple[str, ...] = ()
    """Paths that differ though the request does not name them: defaults, allocations, admission."""
    channel: str = ""
    """Where it is not the channel of the act."""


def created(*objects: str) -> tuple[Expected, ...]:
    return tuple(Expected("create", each) for each in objects)


def deleted(*objects: str) -> tuple[Expected, ...]:
    return tuple(Expected("delete", each) for each in objects)


def updated(name: str, *names: str, beside: tuple[str, ...] = ()) -> tuple[Expected, ...]:
    return (Expected("update", name, names, beside),)


class UnexpectedError(AssertionError):
    """The act did something else than what was written of it."""


def told(expected: tuple[Expected, ...], before: World, after: World) -> list[dict[str, Any]]:
    """The changes of an act; raises `UnexpectedError` where the objects do not bear out what was expected."""
    touched = {key for key in {*before, *after} if _substance(before.get(key)) != _substance(after.get(key))}
    changes = []
    for each in expected:
        found = sorted(key for key in touched if fnmatchcase("/".join(key), each.object))
        if len(found) != 1:
            raise UnexpectedError(f"{each.operation} of {each.object}: {found or 'nothing'} among {sorted(touched)}")
        changes.append(_change(each, found[0], before.get(found[0]), after.get(found[0])))
    missed = touched - {(each["kind"], each["namespace"], each["name"]) for each in changes}
    if missed:
        raise UnexpectedError(f"also touched: {sorted(missed)}")
    return changes


def _substance(document: dict[str, Any] | None) -> Any:
    """The object without what is never a field, and with what tells one life of it from the next."""
    if document is None:
        return None
    metadata = document["metadata"]
    return (metadata["uid"], metadata.get("deletionTimestamp"), dict(_fields(document)))


def _change(each: Expected, key: Key, before: Any, after: Any) -> dict[str, Any]:
    _check_life(each, before, after)
    kind, namespace, name = key
    fields = []
    if each.operation == "update":
        for path, old, new in differences(before, after):
            if _under(path, each.names):
                fields.append(_field(path, old, new, kind))
            elif after is not None and not _under(path, each.beside):
                raise UnexpectedError(f"{each.object}: {path} differs: {old!r} -> {new!r}")
        if not fields:
            raise UnexpectedError(f"{each.object}: no field differs")
    return {
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "operation": each.operation,
        "channel": each.channel,
        "fields": fields,
    }


def _check_life(each: Expected, before: Any, after: Any) -> None:
    gone = after is None or "deletionTimestamp" in after["metadata"]
    same = before is not None and after is not None and before["metadata"]["uid"] == after["metadata"]["uid"]
    fits = {"create": not same and after is not None, "delete": not same or gone, "update": same or after is None}
    if not fits[each.operation]:
        raise UnexpectedError(f"{each.object} was not {each.operation}d")


def _field(path: str, old: Any, new: Any, kind: str) -> dict[str, Any]:
    states = {side: "absent" if value is ABSENT else "value" for side, value in (("before", old), ("after", new))}
    if kind == "Secret":
        old, new = (ABSENT if value is ABSENT else "hidden" for value in (old, new))
    values = {"before": None if old is ABSENT else old, "after": None if new is ABSENT else new}
    return {"path": path, **values, **{f"{side}_state": state for side, state in states.items()}}


def _under(path: str, names: tuple[str, ...]) -> bool:
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for name in names)


def differences(before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    """The leaves that differ, in the order of their paths."""
    kind = (before or after)["kind"]
    for path, old, new in _walk(before or {}, after or {}, "", kind, ""):
        if not _NEVER.match(path):
            yield path, old, new


def _fields(document: Any) -> Iterator[tuple[str, str]]:
    for path, _, new in _walk({}, document, "", document["kind"], ""):
        if not _NEVER.match(path):
            yield path, json.dumps(new, sort_keys=True)


def _walk(old: Any, new: Any, path: str, kind: str, field: str) -> Iterator[tuple[str, Any, Any]]:
    if (
        old == new
        or (old in (ABSENT, []) and new in (ABSENT, []))
        or (field == "resources" and _says_nothing(old, new))
    ):
        return
    maps = isinstance(old, dict) or isinstance(new, dict)
    if maps and (isinstance(old, dict) or old is ABSENT) and (isinstance(new, dict) or new is ABSENT):
        one, other = ({} if side is ABSENT else side for side in (old, new))
        if not one and not other:
            yield path, old, new
        for key in sorted({*one, *other}):
            yield from _walk(one.get(key, ABSENT), other.get(key, ABSENT), _below(path, key), kind, key)
        return
    lists = [side if isinstance(side, list) else [] for side in (old, new)]
    keys = _keys(kind, field, lists)
    if not keys:
        yield path, old, new
        return
    sides = [{tuple(_text(item.get(key)) for key in keys): item for item in items} for items in lists]
    for identity in dict.fromkeys([*sides[0], *sides[1]]):
        pair = [_rest(items.get(identity), keys) for items in sides]
        place = path + "[" + ",".join(f"{key}={value}" for key, value in zip(keys, identity, strict=True)) + "]"
        yield from _walk(pair[0], pair[1], place, kind, "")


def _says_nothing(old: Any, new: Any) -> bool:
    """The API server writes `resources: {}` where there are none."""
    return old in (ABSENT, {}) and new in (ABSENT, {})


def _rest(item: Any, keys: tuple[str, ...]) -> Any:
    return ABSENT if item is None else {key: value for key, value in item.items() if key not in keys}


def _keys(kind: str, field: str, lists: list[list[Any]]) -> tuple[str, ...]:
    if kind in _CUSTOM or not all(isinstance(item, dict) for items in lists for item in items):
        return ()
    if (kind, field) == ("ServiceAccount", "imagePullSecrets"):  # no merge key there
        return ()
    keys = ("port" if kind == "Service" else "containerPort", "protocol") if field == "ports" else _KEYS.get(field, ())
    for items in lists:
        first = [_text(item.get(keys[0])) for item in items] if keys else []
        if len(first) != len(set(first)):
            return keys
    return keys[:1]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _below(path: str, key: str) -> str:
    if re.search(r'[.\[\]"\s\\]', key):
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key
