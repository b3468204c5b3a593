"""The objects in a YAML or JSON file, one at a time, each with the bytes that it was read from.

kubectl writes thousands of objects as one list. Such a list is split by its layout before anything is parsed, so that
every object has its own place in the file and only one is in memory at a time.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec
import orjson

from auditor.collectors.files import bounded_yaml
from auditor.collectors.files.bounded_yaml import MAX_DEPTH, MalformedYamlError
from auditor.model.resource import Json, JsonObject

MAX_DOCUMENT = 8 << 20
"""Bytes of one object. The API server stores none above 1.5 MiB; managed fields and indentation add to that."""

_MARKER = re.compile(rb"^(?:---|\.\.\.)(?=[ \t\r\n]|\Z)[^\n]*\n?", re.M)
_ITEMS = re.compile(rb"^items:[ \t]*\r?\n(?:[ \t]*(?:#[^\n]*)?\n)*( *)-(?=[ \t\r\n])", re.M)
_KUBERNETES = re.compile(rb"^(?:- |  )?(?:apiVersion|kind|items|metadata|spec)[ \t]*:", re.M)
_BLANK = re.compile(r"[\s\x1e,]*")


@dataclass(frozen=True, slots=True)
class Document:
    """One object and the bytes `[start, end)` it was read from."""

    value: JsonObject
    start: int
    end: int
    list_number: int | None
    """Objects of one list were read at one moment and share a number; None for an object of its own."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Bytes that hold no object, and why."""

    start: int
    end: int
    reason: str


class _Envelope(msgspec.Struct):
    kind: str = ""
    items: msgspec.Raw = msgspec.Raw(b"")


def recognise(head: bytes) -> Literal["json", "yaml", ""]:
    """What the beginning of a file holds: JSON values, Kubernetes objects in YAML, or neither."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start in (b"{", b"["):
        return "json"
    return "yaml" if _KUBERNETES.search(head) else ""


def documents(content: bytes) -> Iterator[Document | Malformed]:
    """The objects of a file in their order. What cannot be read is a `Malformed`, and the next one is read."""
    if recognise(content) == "json":
        return _json_documents(content)
    return _yaml_documents(content)


def as_utf8(content: bytes) -> bytes | None:
    """UTF-16 content (as PowerShell redirects write it) as UTF-8, None where it is none: offsets then differ."""
    if content[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        return None
    try:
        return content.decode("utf-16").encode()
    except UnicodeDecodeError:
        return None


def _json_documents(content: bytes) -> Iterator[Document | Malformed]:
    start = len(content) - len(content.removeprefix(b"\xef\xbb\xbf").lstrip())
    end = len(content.rstrip())
    if _is_one_value(content[start:end]):
        yield from _json_value(content, start, end, 0)
    else:
        yield from _json_values(content, start)


def _is_one_value(raw: bytes) -> bool:
    """Whether the text is one JSON value: told without building it, as a list may hold thousands of objects."""
    try:
        _raw_items(raw)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True


def _json_values(content: bytes, start: int) -> Iterator[Document | Malformed]:
    """Several values one after the other, with or without line ends between them."""
    # Latin-1 maps bytes to characters one by one: the decoder's positions are then offsets in the file.
    text = content.decode("latin-1")
    decoder = json.JSONDecoder()
    position = _end_of_blank(text, start)
    number = 0
    while position < len(text):
        try:
            _, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            yield Malformed(position, len(content), _json_reason(error))
            return
        yield from _json_value(content, position, end, number)
        position = _end_of_blank(text, end)
        number += 1


def _end_of_blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _json_reason(error: Exception) -> str:
    return "nested too deep" if isinstance(error, RecursionError) else f"not JSON: {error}"


def _json_value(content: bytes, start: int, end: int, number: int) -> Iterator[Document | Malformed]:
    """A value as one document, or as the items of the list that it is."""
    raw = content[start:end]
    try:
        items = _raw_items(raw)
    except (msgspec.MsgspecError, RecursionError):
        items = None
    if items is None:
        yield _json_document(raw, start, None)
        return
    position = 0
    for item in items:
        text = bytes(item)
        position = raw.find(text, position)
        yield _json_document(text, start + position, number)
        position += len(text)


def _raw_items(raw: bytes) -> list[msgspec.Raw] | None:
    if raw.startswith(b"["):
        return msgspec.json.decode(raw, type=list[msgspec.Raw])
    envelope = msgspec.json.decode(raw, type=_Envelope)
    if not bytes(envelope.items) or not envelope.kind.endswith("List"):
        return None
    return msgspec.json.decode(envelope.items, type=list[msgspec.Raw])


def _json_document(raw: bytes, start: int, number: int | None) -> Document | Malformed:
    end = start + len(raw)
    if len(raw) > MAX_DOCUMENT:
        return Malformed(start, end, f"larger than {MAX_DOCUMENT >> 20} MiB")
    try:
        value: Json = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return Malformed(start, end, f"not JSON: {error}")
    if _deeper_than(value, MAX_DEPTH):
        return Malformed(start, end, "nested too deep")
    return Document(value, start, end, number) if isinstance(value, dict) else Malformed(start, end, "not an object")


def _deeper_than(value: Json, limit: int) -> bool:
    level: list[Json] = [value]
    for _ in range(limit):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: Json) -> list[Json]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _yaml_documents(content: bytes) -> Iterator[Document | Malformed]:
    start, number = 0, 0
    for marker in _MARKER.finditer(content):
        yield from _yaml_document(content, start, marker.start(), number)
        start, number = marker.end(), number + 1
    yield from _yaml_document(content, start, len(content), number)


def _yaml_document(content: bytes, start: int, end: int, number: int) -> Iterator[Document | Malformed]:
    first = _ITEMS.search(content, start, end)
    if first is None:
        yield from _yaml_value(content, start, end, None)
        return
    indent, begin = first.group(1), first.start(1)
    item = re.compile(rb"^" + indent + rb"-(?=[ \t\r\n])", re.M)
    # The list ends at the first line that is indented no deeper than its items and is none.
    closing = re.compile(rb"^ {0,%d}(?=[^\s#-])" % len(indent), re.M).search(content, begin, end)
    stop = closing.start() if closing else end
    starts = [match.start() for match in item.finditer(content, begin, stop)]
    for position, following in zip(starts, [*starts[1:], stop], strict=True):
        yield from _yaml_value(content, position, following, number)


def _yaml_value(content: bytes, start: int, end: int, number: int | None) -> Iterator[Document | Malformed]:
    if end - start > MAX_DOCUMENT:
        yield Malformed(start, end, f"larger than {MAX_DOCUMENT >> 20} MiB")
        return
    try:
        value = bounded_yaml.load(content[start:end])
    except MalformedYamlError as error:
        yield Malformed(start, end, str(error))
        return
    if number is not None and isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        yield Document(value, start, end, number)
    elif value is not None:
        yield Malformed(start, end, "not an object")
