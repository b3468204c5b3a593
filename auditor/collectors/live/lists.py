"""Lists of an API server, page by page, and the paths under which it serves its resources."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

import msgspec

from auditor.collectors.live.connection import Answer, Connection, RequestError

PAGE = 40
"""Objects of one answer: forty of the largest that an API server stores (1.5 MiB) are still within its bound."""
_MOST_PAGES = 50_000
"""A server that always sends another token would never come to an end."""
_EXPIRED = 410
_RESTARTS = 2


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list, or a single object, as JSON."""

    content: bytes
    at: datetime | None
    """The moment whose state it shows, by the server's clock; all pages of one list show that of the first."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Where an API server serves a kind."""

    group: str
    version: str
    name: str
    """Plural."""
    namespaced: bool = True

    def __str__(self) -> str:
        return f"{self.name}.{self.group}" if self.group else self.name

    @property
    def api_version(self) -> str:
        """`apps/v1`, `v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of a list ("" for all namespaces) or of an object."""
        root = f"/apis/{segment(self.group)}" if self.group else "/api"
        place = f"/namespaces/{segment(namespace)}" if namespace else ""
        one = f"/{segment(name)}" if name else ""
        return f"{root}/{segment(self.version)}{place}/{segment(self.name)}{one}"


def segment(text: str) -> str:
    """A name as one step of a path.

    RequestError for what no object can be called: it would lead elsewhere, and an Application's status is whatever
    somebody wrote there.
    """
    if text in ("", ".", "..") or "/" in text or "%" in text or not text.isprintable():
        raise RequestError(f"{text!r} is no name of an object.")
    return quote(text, safe=":")


def pages(connection: Connection, resource: Resource, namespace: str = "") -> Iterator[Page]:
    """The whole list of a namespace, "" for all of them.

    A page's token that has expired is replaced by the server's own; where it offers none, the list begins anew.
    RequestError where the server refuses, or sends what is no list.
    """
    path = resource.path(namespace)
    parameters = _parameters("")
    at: datetime | None = None
    restarts = 0
    for _ in range(_MOST_PAGES):
        try:
            answer = connection.get(path, parameters)
        except RequestError as error:
            if error.code != _EXPIRED or restarts == _RESTARTS:
                raise
            # From here on the list shows a later state: each object its own, none of them twice in one version.
            token, at, restarts = _another_token(error.content), None, restarts + 1
            parameters = _parameters(token)
            continue
        at = at or answer.at
        yield Page(answer.content, at)
        token = _next_token(answer)
        if not token:
            return
        parameters = _parameters(token)
    raise RequestError(f"The API server's list has no end: {_MOST_PAGES:,} pages were read.")


def single(connection: Connection, resource: Resource, namespace: str, name: str) -> Page:
    """One object. RequestError where the server refuses, or sends something else."""
    answer = connection.get(resource.path(namespace, name))
    try:
        msgspec.json.decode(answer.content, type=_Object)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError("The API server's answer is no object.") from error
    return Page(answer.content, answer.at)


def _parameters(token: str) -> dict[str, str]:
    return {"limit": str(PAGE), "continue": token} if token else {"limit": str(PAGE)}


class _ListMeta(msgspec.Struct):
    token: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    items: list[msgspec.Raw] | None
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


class _Object(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


def _next_token(answer: Answer) -> str:
    try:
        return msgspec.json.decode(answer.content, type=_List).metadata.token
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError("The API server's answer is no list of objects.") from error


def _another_token(content: bytes) -> str:
    """A token that goes on at the same place in the present state, "" where the server offers none."""
    try:
        return msgspec.json.decode(content, type=_Object).metadata.token
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
