"""Where a JSON value ends, found without decoding it.

msgspec checks a whole value at the speed of C and says at which byte something follows it, or that the input was cut.
"""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

_check = msgspec.json.Decoder(Raw).decode
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_CUT = "Input data was truncated"
_BLANK = re.compile(rb"[ \t\r\n]*")
_SEPARATORS = re.compile(rb"[ \t\r\n,]*")

CUT = -1
"""The text ends before the value does."""
BROKEN = -2
"""No JSON value begins there."""


def value_end(text: bytes, start: int) -> int:
    """The offset after the JSON value that begins at `start`, blanks behind it included; else CUT or BROKEN."""
    try:
        _check(memoryview(text)[start:])
    except msgspec.DecodeError as error:
        said = str(error)
        if found := _TRAILING.search(said):
            return start + int(found[1]) - 1
        return CUT if said == _CUT else BROKEN
    except RecursionError:
        return BROKEN
    return len(text)


def values(text: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
    """The spans of values that follow each other in `text`; stops where none begins or one is cut."""
    while (start := skip_blank(text, start)) < len(text):
        end = value_end(text, start)
        if end < 0:
            return
        yield start, end
        start = end


def skip_blank(text: bytes, start: int) -> int:
    """The offset of the first byte at or after `start` that is not blank."""
    found = _BLANK.match(text, start)
    return found.end() if found else start


def skip_separators(text: bytes, start: int) -> int:
    """The same, past commas too."""
    found = _SEPARATORS.match(text, start)
    return found.end() if found else start
