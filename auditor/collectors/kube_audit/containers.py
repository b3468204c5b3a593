"""Values that hold records in an array, and are too large to be read whole.

`[{...}, ...]`, `{"items": [...]}`, `{"hits": {"hits": [...]}}`: such a value is entered, and its elements are records
of their own. The brackets that are open are all that a scan must remember to go on in the middle.
"""

import re

import msgspec

from auditor.collectors.kube_audit.records import NOT_JSON, TOO_LONG, UNREADABLE, Records
from auditor.collectors.kube_audit.values import BROKEN, CUT, skip_blank, skip_separators, value_end
from auditor.collectors.kube_audit.window import LIMIT

_ARRAYS = frozenset({"items", "events", "logEvents", "records", "results", "hits", "result", "entries", "logs"})
_OBJECTS = frozenset({"hits", "data"})
_KEY = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:\s*')
_SAYING = frozenset({"logGroup", "logStream", "messageType", "owner", "kind", "apiVersion"})


def begins_container(text: bytes, start: int) -> bool:
    """Whether the value at `start`, of which the end is not at hand, can be entered."""
    if text[start : start + 1] == b"[":
        return text[skip_blank(text, start + 1) :][:1] in (b"{", b"")
    at = skip_separators(text, start + 1)
    while (member := _member_at(text, at)) is not None:
        key, value = member
        if _enters(key, text, value):
            return text[value : value + 1] == b"[" or begins_container(text, value)
        end = value_end(text, value)
        if end < 0 or end >= len(text):
            return False
        at = skip_separators(text, end)
    return False


def _member_at(text: bytes, at: int) -> tuple[str, int] | None:
    """The key of the member that begins at `at`, and where its value begins; None where there is none, or not yet."""
    found = _KEY.match(text, at)
    if found is None or found.end() >= len(text):
        return None
    try:
        return msgspec.json.decode(b'"' + found[1] + b'"', type=str), found.end()
    except msgspec.DecodeError:
        return None


def _enters(key: str, text: bytes, value: int) -> bool:
    """Whether records lie inside this member."""
    opening = text[value : value + 1]
    return (opening == b"[" and key in _ARRAYS) or (opening == b"{" and key in _OBJECTS)


def _says(key: str) -> bool:
    """Whether a member of the container is told with each of its records."""
    return key in _SAYING


def _signature(element: bytes) -> bytes:
    """How elements like this one begin: the way back into an array after a damaged element."""
    colon = element.find(b":", 0, 64)
    if colon < 0:
        return b""
    return element[: colon + 24] if b'"kind"' in element[:colon] else element[: colon + 1]


def _next_element(text: bytes, start: int, sign: bytes) -> int:
    """Where the next element after a damaged one begins, CUT where none does in `text`."""
    at = start
    while sign and (at := text.find(sign, at + 1)) > 0:
        if text[max(start, at - 64) : at].rstrip()[-1:] == b",":
            return at
    return CUT


class Container:
    """Scans inside a value that was entered; `state.stack` has its open brackets."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def enter(self, start: int) -> None:
        """Go into the value at `start`."""
        self._push(start)
        self._records.state.members, self._records.state.signature = {}, ""

    def _push(self, at: int) -> None:
        self._records.state.stack += self._records.window.text[at : at + 1].decode()
        self._records.advance(at + 1)

    def scan(self) -> None:
        """Go through what is at hand, until something is not whole or the value ends."""
        window = self._records.window
        while self._records.state.stack:
            self._records.advance(skip_separators(window.text, window.at))
            if not window.left:
                return
            before = window.offset
            if window.text[window.at] in b"]}":
                self._records.state.stack = self._records.state.stack[:-1]
                self._records.advance(window.at + 1)
            elif self._records.state.stack[-1] == "[":
                self._element()
            else:
                self._member()
            if window.offset == before:
                return

    def _element(self) -> None:
        window = self._records.window
        end = value_end(window.text, window.at)
        if end == CUT and window.left <= LIMIT:
            return
        sign = _signature(window.text[window.at : window.at + 128])
        if end > 0:
            try:
                self._records.take(window.at, end)
                self._records.state.signature = self._records.state.signature or sign.decode("utf-8", "replace")
            except UNREADABLE:
                if self._records.take_mended(window.at, window.text[window.at : end]) < 0:
                    self._records.give_up(end, NOT_JSON)
            return
        if end == BROKEN or window.ended:
            end = self._records.take_mended(window.at, window.text[window.at :][:LIMIT])
            if end > 0 or (end == CUT and window.left <= LIMIT and not window.ended):
                return
        self._resume_after_damage(TOO_LONG if end == CUT else NOT_JSON)

    def _resume_after_damage(self, reason: str) -> None:
        """Go to the next element that begins like those before, or to where it may begin."""
        window = self._records.window
        offset, length = window.offset, 0
        sign = self._records.state.signature.encode() or b'{"'
        while (at := _next_element(window.text, window.at, sign)) < 0:
            step = window.left if window.ended else max(window.left - 256, 0)
            length += step
            window.advance(window.at + step)
            if not window.grow():
                step = window.left
                length += step
                window.advance(len(window.text))
                self._records.state.stack = ""
                break
        else:
            length += at - window.at
            window.advance(at)
        self._records.sink.undecodable(offset, length, reason)

    def _member(self) -> None:
        """A member of an object that was entered: entered too, remembered or passed over."""
        window = self._records.window
        member = _member_at(window.text, window.at)
        if member is None:
            if window.ended or window.left > LIMIT:
                self._resume_after_damage(NOT_JSON)
            return
        key, value = member
        if _enters(key, window.text, value):
            self._push(value)
            return
        end = value_end(window.text, value)
        if end > 0 and (end < len(window.text) or window.ended):
            if _says(key):
                self._records.state.members[key] = window.text[value:end].strip().decode("utf-8", "replace")
            self._records.advance(end)
        elif end == BROKEN or window.left > LIMIT:
            self._resume_after_damage(NOT_JSON)
