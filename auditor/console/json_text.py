"""JSON text, made safe to print: nothing in it can move a cursor, write a title or turn a line around."""

import codecs
import io
import re
from typing import TextIO

_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")
"""Delete and C1; directional and zero-width marks; line separators; tags. JSON itself escapes C0."""


def escaped(json_text: str) -> str:
    """JSON text with such characters as `\\uXXXX`: they occur in its strings only."""
    return _UNSAFE.sub(lambda match: _escape(match[0]), json_text)


def keep_all_characters(stream: TextIO) -> None:
    """Make a stream write those that its encoding has not as `\\uXXXX`: it carries JSON."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=_ESCAPING)


def _not_encoded(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_escape, error.object[error.start : error.end])), error.end


_ESCAPING = "escape-in-json"
codecs.register_error(_ESCAPING, _not_encoded)


def _escape(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
