"""Events whose keys a store flattened with dots: `user.username`, `kubernetes.audit.objectRef.name`, `sourceIPs[0]`.

Tables do so (Kibana, CloudWatch Insights, LogScale), and Elasticsearch's `fields`, where each value is a list besides.
Bodies do not come back: their own keys may have dots, and their lists lost their order. They stay unknown.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from auditor.collectors.kube_audit.delivery import Members

_WHOLE = re.compile(
    r"(?:^|\.)(?:annotations|labels|extra|requestObject|responseObject|(?<=protoPayload\.)re(?:quest|sponse))(?=\.|$)"
)
"""Maps with keys of their own: what follows is one key."""
_BODIES = frozenset({"requestObject", "responseObject", "request", "response"})
_INDEX = re.compile(r"\[(\d+)\]")
_NUMBER = re.compile(r"\d{1,4}")
_ABSENT = ("", "-", None)
"""What tables write for a field that a record lacks."""
_JOINED = frozenset({"groups", "sourceIPs"})
_PARTS = 12
"""Parts of the longest key of an event, and some for what it is inside of."""


def is_flattened(members: Members) -> bool:
    """Whether the keys are those of a flattened event, or of a flattened entry of Cloud Logging."""
    return any(key.endswith((".username", ".methodName", ".verb")) for key in members)


def nested(members: Members) -> tuple[bytes, bool]:
    """The object that the keys were taken from, and whether it had a body: that one is left out."""
    tree: dict[str, Any] = {}
    cut = False
    for key, raw in members.items():
        path = _path(key)
        if len(path) > 1 and not _BODIES.isdisjoint(path[:-1]):
            cut = True
        elif (value := _only(msgspec.json.decode(raw))) not in _ABSENT:
            _put(tree, path, value)
    return msgspec.json.encode(_with_lists(tree)), cut


def _path(key: str) -> list[str]:
    found = _WHOLE.search(key)
    head, tail = (key[: found.end()], key[found.end() + 1 :]) if found else (key, "")
    path = _INDEX.sub(r".\1", head).split(".", _PARTS)
    if not tail:
        return path
    name, _, number = _INDEX.sub(r".\1", tail).rpartition(".")
    return [*path, name, number] if name and _NUMBER.fullmatch(number) else [*path, tail]


def _only(value: Any) -> Any:
    """The value of a list of one, and what a cell of a table holds as JSON."""
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value
    return value


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        inner = tree.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    joined = path[-1] in _JOINED and isinstance(value, str)
    tree.setdefault(path[-1], value.split(", ") if joined else value)


def _with_lists(tree: Mapping[str, Any]) -> Any:
    """Maps whose keys count from 0 are lists."""
    inner = {key: _with_lists(value) if isinstance(value, dict) else value for key, value in tree.items()}
    if inner and all(_NUMBER.fullmatch(key) for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def columns(names: tuple[str, ...]) -> bool:
    """Whether a table with these columns holds flattened events."""
    return is_flattened(dict.fromkeys(names, Raw(b"null")))
