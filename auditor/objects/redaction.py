"""What must never be stored: values of Secrets and of fields that look like credentials.

A secret becomes `[redacted:9f86d081884c]`, a keyed hash of its plain text: equal secrets have equal texts (in base64
under `data` or plain under `stringData`), and without the key, which lies outside the store, none can be tried.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote_plus

import orjson

from auditor.errors import StoreError
from auditor.model.resource import Json, JsonObject
from auditor.objects.credentials import is_harmless, is_plain_value, is_scheme_name, names_credential
from auditor.objects.paths import split_pointer
from auditor.objects.secret_text import Reader, are_bare
from auditor.objects.suspicion import is_suspicious

_DEEPEST = 150
"""Levels of a document that are looked at; no built-in kind and no schema of a CRD comes near."""
_JSON_INSIDE = 4
"""Levels of JSON inside strings of JSON: last-applied inside last-applied."""

_MARK = re.compile(r"\[redacted(?::[0-9a-f]{12})?\]")
_NAME_KEYS = ("name", "key", "Name", "Key")
_VALUE_KEYS = ("value", "Value", "string", "default")
_PLACES_OF_NAMES = frozenset({"labels", "matchLabels", "nodeSelector", "selector"})
"""What is in these are labels; never a credential."""
_PARAMETER = re.compile(r"([?&])([^=&#\s]{1,256})=([^&#\s]*)")
_PLAIN_QUERY = re.compile(
    r"(?:(?:^|&)(?:fieldManager|fieldValidation|force|dryRun|pretty|timeout|timeoutSeconds|limit|watch"
    r"|allowWatchBookmarks|resourceVersion|propagationPolicy|gracePeriodSeconds)=[\w.\-]*)*+"
)
"""Nothing but parameters of the API that hold no secret."""
_SIGNATURES = frozenset({"sig", "signature", "x-amz-signature", "x-amz-credential", "x-goog-signature", "code"})
_KEY_IDENTIFIERS = ("accessKeyId", "credential-id")
_MYSQL = re.compile(r"(?:^|/)(?:mysql|mariadb)\w{0,10}$")
_COMMANDS = re.compile(r"/(?:exec|attach|run)(?:[/?]|$)")


class Redactor:
    """Replaces secret values by a keyed hash, so that two can be compared and none can be read."""

    def __init__(self, key: bytes, fields: tuple[str, ...] = ()) -> None:
        self._key = key
        self._fields = tuple(pattern.lower() for pattern in fields)
        self._reader = Reader(self._hidden, self._names_credential, bool(fields))

    def body(self, raw: bytes, resource: str = "") -> bytes:
        """A JSON body of a request, response or document with its secrets replaced; itself where it has none.

        `resource` is the plural name in the event's objectRef: a patch of a Secret does not say that it is one.
        Raises ValueError for what is no JSON.
        """
        if resource.lower() != "secrets" and not self._fields and not is_suspicious(raw):
            return raw
        document = orjson.loads(raw)
        secret = resource.lower() == "secrets"
        redacted = self._once(document) if secret and isinstance(document, str) else self._walk(document, (), 0, secret)
        return raw if redacted is document else orjson.dumps(redacted)

    def document(self, document: JsonObject) -> JsonObject:
        """A decoded document with its secrets replaced; the argument is left as it is."""
        redacted = self._walk(document, (), 0)
        return redacted if isinstance(redacted, dict) else {}

    def text(self, text: str) -> str:
        """Free text (a message, a log line, an error) with tokens and passwords replaced."""
        return self._reader.without_secrets(text, whole_file="\n" in text)

    def name(self, text: str) -> str:
        """A name (of a user, client, group, author or tag) with tokens known by their form and `password=…` replaced.

        What an ordinary name may hold by chance stays, so that it is told as it is.
        """
        return self._reader.name(text)

    def names(self, given: tuple[str, ...]) -> tuple[str, ...]:
        """Names of one kind, as `name` leaves each."""
        return given if are_bare(given) else tuple(map(self._reader.name, given))

    def claims(self, given: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        """What a client's credentials say beside its name; the identifier of an access key is no secret here."""
        return {
            key: values if key.endswith(_KEY_IDENTIFIERS) else self._claim(key, values) for key, values in given.items()
        }

    def _claim(self, key: str, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(self._once, values)) if self._names_credential(key) else self.names(values)

    def uri(self, uri: str) -> str:
        """A request URI with the arguments of `exec` and credentials in queries replaced."""
        path, mark, query = uri.partition("?")
        if not mark:
            return self._reader.name(uri)
        if not _PLAIN_QUERY.fullmatch(query):
            runs = bool(_COMMANDS.search(path))
            seen: list[str] = []
            uri = path + _PARAMETER.sub(lambda match: self._parameter(match, runs, seen), mark + query)
        return self._reader.without_secrets(uri)

    def _parameter(self, match: re.Match[str], runs: bool, seen: list[str]) -> str:
        """A query parameter; of a command only the program's name stays."""
        name, value = unquote_plus(match[2]), unquote_plus(match[3])
        if runs and name == "command":
            seen.append(value)
            secret = len(seen) > 1 or not re.fullmatch(r"[\w./\-]{1,64}", value)
        else:
            secret = (name.lower() in _SIGNATURES or self._names_credential(name)) and not is_plain_value(value)
            secret = secret or (value != match[3] and self._reader.name(value) != value)
        return f"{match[1]}{match[2]}={self._hidden(value) if secret else match[3]}"

    def _names_credential(self, name: str) -> bool:
        if names_credential(name):
            return True
        return bool(self._fields) and any(fnmatchcase(name.lower(), pattern) for pattern in self._fields)

    def _hidden(self, plain: str) -> str:
        if _MARK.fullmatch(plain):
            return plain
        return (
            f"[redacted:{hmac.new(self._key, plain.encode(errors='surrogatepass'), hashlib.sha256).hexdigest()[:12]}]"
        )

    def _once(self, plain: str) -> str:
        return plain if is_plain_value(plain) else self._hidden(plain)

    def _walk(self, value: Json, path: tuple[str, ...], inside: int, secret: bool = False) -> Json:
        """The value without secrets; the very same object where it has none."""
        if len(path) > _DEEPEST:
            return "[redacted: too deep]"
        if isinstance(value, str):
            return self._string(value, path, inside)
        if isinstance(value, list):
            items = self._arguments([self._walk(item, (*path, ""), inside, secret) for item in value])
            return value if all(old is new for old, new in zip(value, items, strict=True)) else items
        return self._map(value, path, inside, secret) if isinstance(value, dict) else value

    def _map(self, value: JsonObject, path: tuple[str, ...], inside: int, secret: bool) -> JsonObject:
        is_operation = isinstance(value.get("op"), str) and isinstance(value.get("path"), str)
        secret = secret or value.get("kind") == "SecretList"
        is_secret = secret or value.get("kind") == "Secret" or _is_release(value)
        given = self._given_name(value)
        result: JsonObject = {}
        for key, inner in value.items():
            if is_secret and key in ("data", "stringData"):
                result[key] = self._secret_data(inner, key == "data")
            elif is_operation and key == "value":
                result[key] = self._operation_value(inner, str(value["path"]), path, inside, secret)
            elif given and key in _VALUE_KEYS and isinstance(inner, str | int | float):
                result[key] = self._named_value(given, inner)
            elif value.get("kind") == "PodExecOptions" and key == "command" and isinstance(inner, list):
                result[key] = [*inner[:1], *(self._once(str(item)) for item in inner[1:])]
            else:
                result[key] = self._field(key, inner, value, path, inside, secret)
        return value if all(result[key] is inner for key, inner in value.items()) else result

    def _field(
        self, key: str, inner: Json, owner: JsonObject, path: tuple[str, ...], inside: int, secret: bool
    ) -> Json:
        """One entry of a map that is no Secret's data."""
        if (
            key in _PLACES_OF_NAMES
            and isinstance(inner, dict)
            and all(isinstance(each, str) for each in inner.values())
        ):
            return self._labels(inner)
        if self._is_credential(key, owner, path):
            if isinstance(inner, str | int | float) and not isinstance(inner, bool):
                return self._named_value(key, inner)
            if isinstance(inner, list) and inner and all(isinstance(item, str) for item in inner):
                return [self._once(str(item)) for item in inner] if key.lower().endswith(_MANY) else inner
        return self._walk(inner, (*path, key), inside, secret and key != "metadata")

    def _labels(self, labels: JsonObject) -> JsonObject:
        """Labels and selectors. Their keys may be about credentials; none is the value of one."""
        named = {key: self._reader.name(str(value)) for key, value in labels.items()}
        return labels if named == labels else dict(named)

    def _is_credential(self, key: str, owner: JsonObject, path: tuple[str, ...]) -> bool:
        if not self._names_credential(key):
            return False
        if path[-1:] == ("annotations",):
            return not key.lower().endswith("secret")  # annotations that name a Secret
        return not (key == "secretKey" and "remoteRef" in owner) and path[-1:] not in (("auths",), ("annotations",))

    def _given_name(self, value: JsonObject) -> str:
        """The credential that a name and value pair names, "" where it names none."""
        for key in _NAME_KEYS:
            name = value.get(key)
            if isinstance(name, str) and self._names_credential(name):
                return name
        return ""

    def _named_value(self, name: str, value: str | float) -> Json:
        """A value beside a credential's name. Numbers count as secrets beside a password or token only."""
        if isinstance(value, str):
            return value if is_scheme_name(name, value) else self._once(value)
        if isinstance(value, bool) or not re.search(r"(?i)pass|pwd|pin|secret|token$", name):
            return value
        return self._hidden(json.dumps(value))

    def _secret_data(self, data: Json, encoded: bool) -> Json:
        """All values of a Secret's data; in base64 they are hashed decoded, so that they compare with plain ones."""
        if isinstance(data, dict):
            return {key: None if value is None else self._secret_data(value, encoded) for key, value in data.items()}
        if isinstance(data, list):
            return [self._secret_data(item, encoded) for item in data]
        if data is None:
            return None
        plain = data if isinstance(data, str) else json.dumps(data)
        return self._hidden(decoded(plain) if encoded else plain) if plain else plain

    def _operation_value(self, value: Json, pointer: str, path: tuple[str, ...], inside: int, secret: bool) -> Json:
        """The value of a JSON Patch operation: its path says what it is."""
        steps = split_pointer(pointer)
        if secret and steps[:1] in (["data"], ["stringData"]):
            return self._secret_data(value, steps[0] == "data")
        if len(steps) > 2 and steps[-3] == "env" and steps[-1] == "value" and isinstance(value, str):
            return value if is_harmless(value) else self._hidden(value)  # the variable's name is not told
        if not steps:
            return self._walk(value, path, inside, secret)
        return self._map({steps[-1]: value}, (*path, *steps[:-1]), inside, secret and len(steps) == 1)[steps[-1]]

    def _arguments(self, items: list[Json]) -> list[Json]:
        """A list of arguments: what follows a flag named like a credential is one."""
        result = list(items)
        for place, (flag, value) in enumerate(pairwise(items), start=1):
            if not isinstance(flag, str) or not isinstance(value, str):
                continue
            if _MYSQL.search(str(items[0])) and re.match(r"-p\S", value):
                result[place] = "-p" + self._once(value[2:])
            if (
                flag.startswith("-")
                and "=" not in flag
                and not value.startswith("-")
                and self._names_credential(flag.lstrip("-"))
            ):
                result[place] = self._once(value)
        return result

    def _string(self, value: str, path: tuple[str, ...], inside: int) -> Json:
        """A string: JSON inside it is walked, all else is read as the text of a file or message."""
        if value[:1] in ("{", "[") and len(value) > 2 and inside < _JSON_INSIDE and not _MARK.match(value):
            try:
                decoded_value = orjson.loads(value)
            except ValueError:
                decoded_value = None
            if isinstance(decoded_value, dict | list):
                redacted = self._walk(decoded_value, path[-1:], inside + 1)
                if redacted is decoded_value:
                    return value
                return orjson.dumps(redacted).decode() + ("\n" if value.endswith("\n") else "")
        redacted_text = self._reader.without_secrets(value, whole_file="\n" in value)
        return value if redacted_text == value else redacted_text


_MANY = ("passwords", "tokens", "credentials", "keys", "apikeys", "passwd", "password", "token")


def _is_release(document: JsonObject) -> bool:
    """Whether it is a ConfigMap in which Helm keeps a release, values and all."""
    data = document.get("data")
    return document.get("kind") == "ConfigMap" and isinstance(data, dict) and _owner(document) == "helm"


def _owner(document: JsonObject) -> Json:
    metadata = document.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return labels.get("owner") if isinstance(labels, dict) else None


def decoded(text: str) -> str:
    """The plain text that base64 stands for; the text itself where it is none."""
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return text


def redaction_key(path: Path) -> bytes:
    """The key of the keyed hash: read from the file, which is made (mode 0600) where there is none."""
    try:
        return _read_key(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StoreError(f"The redaction key {path} cannot be read: {error.strerror}.", "Name another file.") from error
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read_key(path)  # another run made it
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(32) + "\n")
    return _read_key(path)


def _read_key(path: Path) -> bytes:
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except ValueError:
        key = b""
    if len(key) < 16:
        raise StoreError(
            f"The redaction key {path} is damaged.",
            "Restore it, or remove it and collect anew: values redacted before cannot be compared with new ones.",
        )
    return key
