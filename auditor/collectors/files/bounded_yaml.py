"""YAML that others wrote, read as the JSON values that Kubernetes makes of it, within bounds.

Nothing is constructed but maps, lists, text, numbers, booleans and null. Depth, the number of nodes and what aliases
expand to are bounded, and reading stops where a bound is passed: a "billion laughs" costs what its text costs.
"""

import math
import re
import struct
from collections.abc import Collection
from decimal import Decimal
from typing import TypeAlias

import yaml

from auditor.model.resource import Json

MAX_DEPTH = 100
MAX_NODES = 1_000_000
"""Of one document, aliases expanded."""

_Loader: TypeAlias = "type[yaml.CSafeLoader] | type[yaml.SafeLoader]"
_LOADER: _Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_STANDARD = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset({"!", *(_STANDARD + name for name in ("str", "int", "float", "bool", "null"))})
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON"})
_FALSE = frozenset({"false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF"})
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_BASED = re.compile(r"[-+]?0(?:x[0-9a-fA-F]+|o?[0-7]+|b[01]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_MAYBE_NUMBER = frozenset("+-.0123456789")
_INT64 = 1 << 63


class MalformedYamlError(ValueError):
    """The text is no YAML, or passes a bound."""


def load(text: bytes, texts: Collection[str] = ()) -> Json:
    """The first document of `text`, None where there is none. MalformedYamlError says what is wrong with it.

    `texts` are keys whose values are text however they look: `no` and `0123` may be names.
    """
    builder = _Builder(texts)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
            if isinstance(event, yaml.DocumentEndEvent):
                break
    except yaml.YAMLError as error:
        raise MalformedYamlError(_reason(error)) from error
    except UnicodeDecodeError as error:
        raise MalformedYamlError("not UTF-8") from error
    return builder.root


class _Builder:
    """Puts parser events together. `take` is called once an event; `root` is the document."""

    def __init__(self, texts: Collection[str]) -> None:
        self.root: Json = None
        self._texts = texts
        self._open: list[dict[str, Json] | list[Json]] = []
        self._keys: list[str | None] = []
        self._anchors: dict[str, tuple[Json, int]] = {}
        self._anchor_starts: list[tuple[str | None, int]] = []
        self._nodes = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._start({}, event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start([], event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if self._expects_key():
            self._count(1)
            self._keys[-1] = _key(event)
            return
        value = _scalar(event)
        if value is not None and self._is_text():
            value = event.value
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._place(value, 1)

    def _is_text(self) -> bool:
        """Whether what comes is text, by its own key or that of the list that it is in."""
        in_list = len(self._open) > 1 and isinstance(self._open[-1], list)
        return bool(self._open) and self._keys[-2 if in_list else -1] in self._texts

    def _start(self, value: dict[str, Json] | list[Json], event: yaml.CollectionStartEvent) -> None:
        if self._expects_key():
            raise MalformedYamlError("a key that is no text")
        if len(self._open) >= MAX_DEPTH:
            raise MalformedYamlError("nested too deep")
        if event.tag and event.tag not in (_STANDARD + "map", _STANDARD + "seq"):
            raise MalformedYamlError(f"tag {event.tag}")
        self._place(value, 1)
        self._open.append(value)
        self._keys.append(None)
        self._anchor_starts.append((event.anchor, self._nodes))

    def _end(self) -> None:
        value = self._open.pop()
        self._keys.pop()
        anchor, nodes = self._anchor_starts.pop()
        if anchor:
            self._anchors[anchor] = (value, self._nodes - nodes + 1)

    def _alias(self, event: yaml.AliasEvent) -> None:
        # An alias inside its own anchor is not in the table yet: a document cannot contain itself.
        if self._expects_key() or event.anchor not in self._anchors:
            raise MalformedYamlError(f"alias *{event.anchor} of nothing before it")
        value, size = self._anchors[event.anchor]
        self._place(value, size)

    def _expects_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1], dict) and self._keys[-1] is None

    def _place(self, value: Json, size: int) -> None:
        self._count(size)
        if not self._open:
            self.root = value
            return
        parent = self._open[-1]
        if isinstance(parent, list):
            parent.append(value)
        else:
            parent[self._keys[-1] or ""] = value
            self._keys[-1] = None

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise MalformedYamlError(f"more than {MAX_NODES} nodes")


def _key(event: yaml.ScalarEvent) -> str:
    """A key as Kubernetes reads it: an unquoted `on` is the key "true", and `1.10` the key "1.1"."""
    value = _scalar(event)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _shortest(value) if isinstance(value, float) else event.value if value is None else str(value)


def _shortest(number: float) -> str:
    """A float in the fewest digits that are the same one in 32 bits, as Go's `strconv.FormatFloat(f, 'g', -1, 32)`."""
    try:
        told = struct.pack("f", number)
    except OverflowError:
        return str(number)
    written = (f"{number:.{digits}e}" for digits in range(9))
    text = next((each for each in written if struct.pack("f", float(each)) == told), f"{number:.8e}")
    mantissa, exponent = text.split("e")
    return f"{Decimal(text):f}" if -5 < int(exponent) < 6 else f"{mantissa}e{exponent}"


def _scalar(event: yaml.ScalarEvent) -> Json:
    text: str = event.value
    if event.tag and event.tag not in _SCALAR_TAGS:
        raise MalformedYamlError(f"tag {event.tag}")
    is_text = event.tag == _STANDARD + "str" or (event.style and not event.tag)
    return text if is_text else _plain(text)


def _plain(text: str) -> Json:
    """An unquoted scalar as Kubernetes reads it: YAML 1.1, except that dates and times of day stay text."""
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    return _number(text) if text[0] in _MAYBE_NUMBER else text


def _number(text: str) -> Json:
    found = _digits(text.replace("_", ""))
    return text if found is None else found


def _digits(text: str) -> int | float | None:
    """The number that is written so, None where none is."""
    if _INTEGER.match(text) and len(text) < 300:
        value = int(text)
        return value if -_INT64 <= value < 2 * _INT64 else float(value)
    if _BASED.match(text) and len(text) < 20:
        digits = re.sub(r"^([-+]?)0([0-7])", r"\g<1>0o\2", text)
        return int(digits, 0)
    if not _FLOAT.match(text) or len(text) > 300:
        return None
    decimal = float(text)
    return decimal if math.isfinite(decimal) else None


def _reason(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "malformed"
    mark = getattr(error, "problem_mark", None)
    return f"not YAML: {problem}" + (f" (line {mark.line + 1} of it)" if mark else "")
