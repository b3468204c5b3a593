"""Values that hold records in an array, and are too large to be read whole.

`[{...}, ...]`, `{"items": [...]}`, `{"hits": {"hits": [...]}}`: such a value is entered, and its elements are records
of their own. The brackets that are open are all that a scan must remember to go on in the middle.
"""

import re

import msgspec

from auditor.collectors.kube_audit.values import CUT, skip_blank, skip_separators, value_end

_ARRAYS = frozenset({"items", "events", "logEvents", "records", "results", "hits", "result", "entries", "logs"})
_OBJECTS = frozenset({"hits", "data"})
_KEY = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:\s*')
_SAYING = frozenset({"logGroup", "logStream", "messageType", "owner", "kind", "apiVersion"})


def begins_container(text: bytes, start: int) -> bool:
    """Whether the value at `start`, of which the end is not at hand, can be entered."""
    if text[start : start + 1] == b"[":
        return text[skip_blank(text, start + 1) :][:1] in (b"{", b"")
    at = skip_separators(text, start + 1)
    while (member := member_at(text, at)) is not None:
        key, value = member
        if enters(key, text, value):
            return text[value : value + 1] == b"[" or begins_container(text, value)
        end = value_end(text, value)
        if end < 0 or end >= len(text):
            return False
        at = skip_separators(text, end)
    return False


def member_at(text: bytes, at: int) -> tuple[str, int] | None:
    """The key of the member that begins at `at`, and where its value begins; None where there is none, or not yet."""
    found = _KEY.match(text, at)
    if found is None or found.end() >= len(text):
        return None
    try:
        return msgspec.json.decode(b'"' + found[1] + b'"', type=str), found.end()
    except msgspec.DecodeError:
        return None


def enters(key: str, text: bytes, value: int) -> bool:
    """Whether records lie inside this member."""
    opening = text[value : value + 1]
    return (opening == b"[" and key in _ARRAYS) or (opening == b"{" and key in _OBJECTS)


def says(key: str) -> bool:
    """Whether a member of the container is told with each of its records."""
    return key in _SAYING


def signature(element: bytes) -> bytes:
    """How elements like this one begin: the way back into an array after a damaged element."""
    colon = element.find(b":", 0, 64)
    if colon < 0:
        return b""
    return element[: colon + 24] if b'"kind"' in element[:colon] else element[: colon + 1]


def next_element(text: bytes, start: int, sign: bytes) -> int:
    """Where the next element after a damaged one begins, CUT where none does in `text`."""
    at = start
    while sign and (at := text.find(sign, at + 1)) > 0:
        if text[max(start, at - 64) : at].rstrip()[-1:] == b",":
            return at
    return CUT
