"""Text from records, made safe to print: nothing in it can move a cursor, write a title or turn a line around."""

import re

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""C0, C1 and delete; directional and zero-width marks; line separators; tags."""


def visible(text: str) -> str:
    """The text on one line, each control character as a picture (`␛`) or its number (`<U+202E>`)."""
    return _UNSAFE.sub(_picture, text)


def escaped(json_text: str) -> str:
    """JSON text with the same characters as `\\uXXXX`: they occur in its strings only."""
    return _UNSAFE.sub(_escape, json_text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code in (0x0A, 0x0D, 0x09):  # between tokens: inside a string they are escaped already
        return match[0]
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
