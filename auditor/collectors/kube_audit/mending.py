"""Records that are JSON and that the decoder refuses whole for one value in them.

A client chooses the bodies of its requests, and the API server, whose decoder takes more than this program's, records
them as they came: half of a surrogate pair in a text, a thousand brackets in each other. So that no body hides who did
what and when, what cannot be read is taken out, and all else is read.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Raw

from auditor.collectors.kube_audit.events import LEFT_OUT
from auditor.collectors.kube_audit.salvage import was_cut
from auditor.collectors.kube_audit.syntax import syntax_end
from auditor.collectors.kube_audit.values import BROKEN, CUT, skip_blank, skip_separators

_BODIES = frozenset({"requestObject", "responseObject", "request", "response"})
_DEEPEST = 12
"""Levels in which a value is looked for that can be read; each is one more look at the bytes."""
_HALF = re.compile("[\ud800-\udfff]")
_raw = msgspec.json.Decoder(Raw).decode
_value = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class Mended:
    """A text with one value that can be decoded, and the offset after it in the text that it was made of.

    `end` is CUT where that text ends before the value does: what is left of it then ends as a delivery that cut it.
    """

    text: bytes
    end: int


def mended(text: bytes) -> Mended:
    """The value that `text` begins with: bodies that cannot be decoded are left out, other values null, texts mended.

    A text keeps all but what is no character, which is U+FFFD as Kubernetes itself reads it.
    """
    end = syntax_end(text, 0)
    if end > 0:
        return Mended(_readable(text[:end], "", 0), end)
    if end == BROKEN or text[:1] != b"{":
        return Mended(b"", BROKEN)
    cut = b'"":"[Truncated...]' if was_cut(text) else b'"":"'
    return Mended(b"{" + b",".join((*_mended_members(text, 0), cut)), CUT)


def _readable(value: bytes, key: str, depth: int) -> bytes:
    """A value as it is where it can be decoded."""
    if key in _BODIES:
        return value if _takes(_raw, value) else LEFT_OUT
    if _takes(_value, value):
        return value
    if value[:1] == b'"':
        return msgspec.json.encode(_text(value))
    if value[:1] == b"{" and depth < _DEEPEST:
        return b"{" + b",".join(_mended_members(value, depth)) + b"}"
    if value[:1] == b"[" and depth < _DEEPEST:
        return b"[" + b",".join(_readable(each, "", depth + 1) for each in _elements(value)) + b"]"
    return b"null"


def _mended_members(value: bytes, depth: int) -> Iterator[bytes]:
    for key, member in _members(value):
        yield msgspec.json.encode(key) + b":" + _readable(member, key, depth + 1)


def _members(value: bytes) -> Iterator[tuple[str, bytes]]:
    """The members of an object, up to one that is not whole."""
    at = skip_blank(value, 1)
    while value[at : at + 1] == b'"' and (key_end := syntax_end(value, at)) > 0:
        start = skip_blank(value, skip_blank(value, key_end) + 1)
        end = syntax_end(value, start)
        if end < 0 or end == len(value):
            return
        yield _text(value[at:key_end]), value[start:end]
        at = skip_separators(value, end)


def _elements(value: bytes) -> Iterator[bytes]:
    at = skip_blank(value, 1)
    while (end := syntax_end(value, at)) > 0:
        yield value[at:end]
        at = skip_separators(value, end)


def _text(string: bytes) -> str:
    """What a JSON string says, U+FFFD for what is no character."""
    return _HALF.sub("\ufffd", json.loads(string.decode("utf-8", "replace")))


def _takes(decode: Callable[[bytes], Any], value: bytes) -> bool:
    try:
        decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
