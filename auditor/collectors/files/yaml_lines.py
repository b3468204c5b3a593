"""YAML documents as lines of JSON, one a document: `gcloud logging read` and `aws --output yaml` write YAML.

A document that is JSON anyway, is too large or is no YAML is given on as it is, and told of by who reads the lines.
The last one is only taken where it ends with a line: a document that was cut looks like a shorter one.
"""

import re

import msgspec

from auditor.collectors.files.bounded_yaml import MalformedYamlError, load
from auditor.collectors.files.streams import BLOCK, Stream

LIMIT = 16 << 20
"""Bytes of the longest document."""
_MARKER = re.compile(rb"^---[ \t]*\r?\n", re.M)
_TEXTS = frozenset(
    (
        *("username", "groups", "userAgent", "auditID", "name", "namespace", "resource", "subresource"),
        *("principalEmail", "principalSubject", "authoritySelector", "resourceName"),
    )
)
"""Names, in events and in objects: a user `no`, whom a writer of YAML 1.2 does not quote, is no boolean."""
_AS_IT_IS = (b"{", b"[", b'"')


class YamlLines:
    """A stream of YAML documents as a stream of lines."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._text = b""
        self._ended = False
        self._given = b""
        self._damage = ""

    @property
    def damage(self) -> str:
        """See Stream."""
        return self._damage or self._stream.damage

    def read(self, size: int) -> bytes:
        """See Stream."""
        while not self._given and not (self._ended and not self._text):
            self._given = self._next()
        data, self._given = self._given[:size], self._given[size:]
        return data

    def close(self) -> None:
        """See Stream."""
        self._stream.close()

    def _next(self) -> bytes:
        """The next document as a line; b"" where it is not at hand, or there is none."""
        marker = _MARKER.search(self._text)
        if marker is None and not self._ended and len(self._text) <= LIMIT:
            block = self._stream.read(BLOCK)
            self._ended = not block
            self._text += block
            return b""
        document = self._text[: marker.start()] if marker else self._text
        self._text = self._text[marker.end() :] if marker else b""
        if marker is None and self._ended and document and not document.endswith(b"\n"):
            self._damage = "the last YAML document does not end with a line: it may be cut"
            return b""
        return _as_line(document)


def _as_line(document: bytes) -> bytes:
    text = document.removeprefix(b"\xef\xbb\xbf").strip()
    if text.startswith(_AS_IT_IS) or len(text) > LIMIT:
        return document
    try:
        value = load(text, _TEXTS)
    except MalformedYamlError:
        return document
    return b"" if value is None else msgspec.json.encode(value) + b"\n"
