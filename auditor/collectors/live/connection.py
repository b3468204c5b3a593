"""One API server, only read: GET requests with a time limit, answers of bounded size, failures as sentences.

The models of the `kubernetes` client are not used: they drop what they do not know, and an answer's bytes are evidence.
"""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode

import msgspec

from auditor.errors import SourceError

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 30.0
"""Without a byte."""
ANSWER_SECONDS = 120.0
"""For one answer as a whole."""
MAX_ANSWER = 64 << 20
"""Bytes of one answer."""
TRIES = 3
_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE = 10.0
_BUSY = frozenset({429, 500, 502, 503, 504})
_LONGEST_WORDS = 400


class RequestError(SourceError):
    """The API server did not give what was asked for; `code` is its HTTP status, 0 where the answer is unusable."""

    def __init__(self, message: str, code: int = 0, content: bytes = b"") -> None:
        super().__init__(message)
        self.code = code
        self.content = content


class UnreachableError(SourceError):
    """Nothing can be asked: no usable kubeconfig, no connection, no valid credentials."""


class BrokenConnectionError(UnreachableError):
    """The connection ended before the answer did, as one does that a proxy has kept open for too long."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an API server answered."""

    content: bytes
    at: datetime | None
    """By the server's clock, in whole seconds: the `Date` header. None where it sent none."""


class _Refusal(msgspec.Struct):
    """The part of a Kubernetes `Status` that people read."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class Connection:
    """An API server and the credentials for it."""

    name: str
    """What sources read through it begin with: `live:prod`."""
    address: str
    _authorization: Callable[[], str | None]
    _pool: Any

    def get(self, path: str, parameters: Mapping[str, str] | None = None) -> Answer:
        """The answer to a GET. RequestError where it is refused, UnreachableError where nothing can be asked."""
        url = self.address + path + (f"?{urlencode(parameters)}" if parameters else "")
        for attempt in range(1, TRIES + 1):
            try:
                status, headers, answer = self._send(url)
            except BrokenConnectionError:
                if attempt == TRIES:
                    raise
                continue
            if status not in _BUSY or attempt == TRIES:
                break
            time.sleep(_pause(headers.get("Retry-After", "")))
        if status == 200:
            return answer
        said = _words(answer.content)
        if status == 401:
            raise UnreachableError(
                f"The API server does not accept the credentials (401 {said}): they have expired or were revoked."
            )
        raise RequestError(_sentence(status, said), status, answer.content)

    def _send(self, url: str) -> tuple[int, Mapping[str, str], Answer]:
        import urllib3

        headers = {"Accept": "application/json", "User-Agent": "auditor"}
        if authorization := self._authorization():
            headers["Authorization"] = authorization
        with _explained(self.address):
            response = self._pool.request(
                "GET",
                url,
                headers=headers,
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=SILENCE_SECONDS),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            try:
                content = _bounded(response, time.monotonic() + ANSWER_SECONDS)
            except BaseException:
                response.close()
                raise
            response.release_conn()
        return response.status, response.headers, Answer(content, _moment(response.headers.get("Date", "")))


@contextmanager
def _explained(address: str) -> Iterator[None]:
    """Failures of the transport as one sentence: none of them gets better with the next request."""
    from urllib3 import exceptions

    try:
        yield
    except (exceptions.SSLError, ssl.SSLError) as error:
        raise UnreachableError(f"No trusted connection to {address}: {short(str(error))}.") from error
    except (exceptions.NewConnectionError, exceptions.ConnectTimeoutError, exceptions.ProxyError) as error:
        raise UnreachableError(f"No connection to {address}: {short(str(error))}.") from error
    except exceptions.TimeoutError as error:
        raise UnreachableError(f"{address} sent nothing for {SILENCE_SECONDS:g} seconds.") from error
    except (exceptions.HTTPError, OSError) as error:
        raise BrokenConnectionError(f"The connection to {address} broke: {short(str(error))}.") from error


def _bounded(response: Any, deadline: float) -> bytes:
    """The body, as it is sent: no compression is asked for, so that none can blow it up."""
    parts: list[bytes] = []
    size = 0
    while part := response.read1(1 << 16, decode_content=False):
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER:
            raise RequestError(f"The API server's answer is larger than {MAX_ANSWER >> 20} MiB.")
        if time.monotonic() > deadline:
            raise RequestError(f"The API server's answer took longer than {ANSWER_SECONDS:g} seconds.")
    return b"".join(parts)


def _pause(retry_after: str) -> float:
    """Seconds that a busy server asks to be left alone for, in reason."""
    asked = float(retry_after) if retry_after.isascii() and retry_after.isdigit() else _PAUSE_SECONDS
    return min(asked, _LONGEST_PAUSE)


def _moment(header: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(header)
    except (ValueError, TypeError, IndexError):
        return None
    return at.astimezone(UTC) if at.tzinfo else None


def _words(content: bytes) -> str:
    """What the server says of a refusal, "" where it sends no Kubernetes status."""
    try:
        return short(msgspec.json.decode(content, type=_Refusal).message)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


def short(text: str) -> str:
    """What others say, on one line and not longer than people read."""
    return " ".join(text.split())[:_LONGEST_WORDS]


def _sentence(status: int, said: str) -> str:
    reason = f": {said.rstrip('.')}" if said else ""
    if status == 403:
        return f"Permission is missing{reason}."
    if status == 404:
        return f"The API server does not have it{reason}."
    return f"The API server answered {status}{reason}."
