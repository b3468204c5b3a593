"""Where a JSON value ends, however deep it is and whatever its texts escape: by RFC 8259's grammar and nothing else."""

import re

from auditor.collectors.kube_audit.values import BROKEN, CUT

_TOKEN = re.compile(
    rb'[ \t\r\n]*+(?:([\[\]{}:,])|("(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")'
    rb"|(-?[0-9]++(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null|NaN|-?Infinity))"
)
_UNFINISHED = re.compile(
    rb'[ \t\r\n]*+(?:"(?:[^"\\\x00-\x1f]++|\\.)*+(?:\\u?[0-9a-fA-F]{0,3})?|[-+.\w]*+)\Z', re.DOTALL
)
_VALUE = {b"{": "first key", b"[": "first item", b"text": "after", b"": "after"}
_GRAMMAR = {
    "value": _VALUE,
    "first item": _VALUE | {b"]": "after"},
    "first key": {b"text": "colon", b"}": "after"},
    "key": {b"text": "colon"},
    "colon": {b":": "value"},
    "after": {b",": "next", b"]": "after", b"}": "after"},
}
"""What may come in each place, and in which place one is then."""
_OPENED_BY = {b"]": ord("["), b"}": ord("{")}


def syntax_end(text: bytes, at: int) -> int:
    """The offset after the JSON value that begins at `at`; else CUT or BROKEN. Looks at each byte once.

    Numbers that no machine holds, halves of surrogate pairs and bytes that are no UTF-8 are no matter to it.
    """
    opened = bytearray()
    place = "value"
    while found := _TOKEN.match(text, at):
        kind = found[1] or (b"text" if found[2] else b"")
        place = _GRAMMAR[place].get(kind, "")
        if not place or (kind in _OPENED_BY and opened.pop() != _OPENED_BY[kind]):
            return BROKEN
        if kind in _VALUE and place.startswith("first"):
            opened += kind
        at = found.end()
        if place == "next":
            place = "key" if opened[-1:] == b"{" else "value"
        elif place == "after" and not opened:
            return at
    return CUT if _UNFINISHED.match(text, at) else BROKEN
