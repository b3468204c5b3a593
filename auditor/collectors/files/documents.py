"""The objects in a YAML or JSON file, one at a time, each with the bytes that it was read from.

kubectl writes thousands of objects as one list. Such a list is split by its layout before anything is parsed, so that
every object has its own place in the file and only one is in memory at a time.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
_LIST = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\n)*()-(?=[ \t\r\n])")
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
    api_version: str = msgspec.field(name="apiVersion", default="")
    items: msgspec.Raw = msgspec.Raw(b"")


_NO_LIST = _Envelope()


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
        return content.decode("utf-16").encode("utf-8", "replace")
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
        msgspec.json.decode(raw, type=list[msgspec.Raw] if raw.startswith(b"[") else _Envelope)
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
        envelope = _envelope(raw)
        items = msgspec.json.decode(envelope.items, type=list[msgspec.Raw]) if envelope else []
    except (msgspec.MsgspecError, RecursionError):
        envelope = None
    if envelope is None:
        yield from _json_document(raw, start, None, _NO_LIST)
        return
    position = 0
    for item in items:
        text = bytes(item)
        position = raw.find(text, position)
        yield from _json_document(text, start + position, number, envelope)
        position += len(text)


def _envelope(raw: bytes) -> _Envelope | None:
    """The list that a value is: an array, or an object with items. Argo CD's own API gives none a kind."""
    if raw.startswith(b"["):
        return _Envelope(items=msgspec.Raw(raw))
    envelope = msgspec.json.decode(raw, type=_Envelope)
    is_list = envelope.kind.endswith("List") or not envelope.kind
    return envelope if bytes(envelope.items)[:1] == b"[" and is_list else None


def _json_document(raw: bytes, start: int, number: int | None, within: _Envelope) -> Iterator[Document | Malformed]:
    end = start + len(raw)
    if len(raw) > MAX_DOCUMENT:
        yield Malformed(start, end, f"larger than {MAX_DOCUMENT >> 20} MiB")
        return
    try:
        value: Json = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        yield Malformed(start, end, f"not JSON: {error}")
        return
    if _deeper_than(value, MAX_DEPTH):
        yield Malformed(start, end, "nested too deep")
    else:
        yield from _objects(value, Document({}, start, end, number), within.kind, within.api_version)


def _objects(value: Json, at: Document, kind: str, version: str) -> Iterator[Document | Malformed]:
    """An object of a list of `kind`, or those of a list in the list. What a typed list leaves out is put back."""
    if not isinstance(value, dict):
        yield Malformed(at.start, at.end, "not an object")
        return
    own, items = value.get("kind"), value.get("items")
    if isinstance(own, str) and own.endswith("List") and isinstance(items, list):
        for item in items:
            yield from _objects(item, at, own, str(value.get("apiVersion", "")))
    elif not own and kind not in ("", "List"):
        yield replace(at, value={"apiVersion": version, **value, "kind": kind.removesuffix("List")})
    else:
        yield replace(at, value=value)


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
    first = _ITEMS.search(content, start, end) or _LIST.match(content, start, end)
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
    if value is not None:
        yield from _objects(value, Document({}, start, end, number), "", "")
