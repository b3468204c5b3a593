"""One API server, only read: GET requests with a time limit, answers of bounded size, failures as sentences.

The `kubernetes` client reads the kubeconfig and holds credentials, certificates and proxies; its models are not used,
as they drop what they do not know and would build an object of everything a hostile server sends.
"""

import logging
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

from auditor.config import Access
from auditor.errors import SourceError

PREFIX = "live:"
"""What the names of all sources begin with that are read from a running API server."""
LOGIN_SECONDS = 60.0
"""For a credential plugin to give a token."""
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
            with _explained(self.address):
                status, headers, answer = self._send(url)
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
def connect(access: Access, folder: Path) -> Iterator[Connection]:
    """The API server that `access` means, closed afterwards; a relative kubeconfig lies below `folder`.

    UnreachableError where the kubeconfig or the pod's service account cannot be used. No request is sent yet; a
    credential plugin that the kubeconfig names is run.
    """
    import urllib3
    from kubernetes.client import Configuration
    from kubernetes.client.rest import RESTClientObject

    configuration = Configuration()
    _in_time(lambda: _log_in(access, folder, configuration), access)
    if not configuration.verify_ssl:  # the kubeconfig says so: a warning for each request tells nobody anything new
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    try:
        pool = RESTClientObject(configuration).pool_manager
    except (OSError, ValueError) as error:
        raise UnreachableError(f"The certificates of {_called(access)} cannot be used: {error}.") from error
    try:
        yield Connection(PREFIX + access.name, configuration.host.rstrip("/"), lambda: _token(configuration), pool)
    finally:
        pool.clear()


def _log_in(access: Access, folder: Path, configuration: Any) -> None:
    from kubernetes.config import ConfigException, load_incluster_config, load_kube_config

    with _told() as complaints:
        try:
            if access.in_cluster:
                load_incluster_config(configuration)  # type: ignore[no-untyped-call]
            else:
                load_kube_config(  # type: ignore[no-untyped-call]
                    str(folder / Path(access.kubeconfig).expanduser()) if access.kubeconfig else None,
                    access.context or None,
                    configuration,
                    persist_config=False,
                )
        except (ConfigException, OSError) as error:
            raise UnreachableError(f"{_called(access)} cannot be used: {str(error).rstrip('.')}.") from error
        except Exception as error:  # whatever a kubeconfig of another shape makes the loader stumble over
            raise UnreachableError(f"{_called(access)} cannot be read: {type(error).__name__}: {error}.") from error
    if complaints and not _token(configuration) and not configuration.cert_file:
        raise UnreachableError(f"{_called(access)} gives no credentials: {complaints[0].rstrip('.')}.")


def _in_time(log_in: Callable[[], None], access: Access) -> None:
    """A credential plugin has no time limit of its own, and a nightly run must not wait for it for ever."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            log_in()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True, name="log in")
    thread.start()
    thread.join(LOGIN_SECONDS)
    if thread.is_alive():
        raise UnreachableError(
            f"The credential plugin of {_called(access)} gave no answer within {LOGIN_SECONDS:g} seconds."
        )
    if failures:
        raise failures[0]


@contextmanager
def _told() -> Iterator[list[str]]:
    """What the client library logs: it tells there, and nowhere else, that a credential plugin failed."""
    messages: list[str] = []

    class _Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(_short(record.getMessage()))

    listener = _Listener(logging.ERROR)
    logging.getLogger().addHandler(listener)
    try:
        yield messages
    finally:
        logging.getLogger().removeHandler(listener)


def _called(access: Access) -> str:
    if access.in_cluster:
        return "The service account of this pod"
    return f"The context {access.context}" if access.context else f"The kubeconfig {access.kubeconfig}"


def _token(configuration: Any) -> str | None:
    setting = configuration.auth_settings().get("BearerToken")
    return setting["value"] if setting else None


@contextmanager
def _explained(address: str) -> Iterator[None]:
    """Failures of the transport as one sentence: none of them gets better with the next request."""
    from urllib3 import exceptions

    try:
        yield
    except (exceptions.SSLError, ssl.SSLError) as error:
        raise UnreachableError(f"No trusted connection to {address}: {_short(str(error))}.") from error
    except (exceptions.NewConnectionError, exceptions.ConnectTimeoutError, exceptions.ProxyError) as error:
        raise UnreachableError(f"No connection to {address}: {_short(str(error))}.") from error
    except exceptions.TimeoutError as error:
        raise UnreachableError(f"{address} sent nothing for {SILENCE_SECONDS:g} seconds.") from error
    except (exceptions.HTTPError, OSError) as error:
        raise UnreachableError(f"The connection to {address} broke: {_short(str(error))}.") from error


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
        return _short(msgspec.json.decode(content, type=_Refusal).message)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


def _short(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_WORDS]


def _sentence(status: int, said: str) -> str:
    reason = f": {said.rstrip('.')}" if said else ""
    if status == 403:
        return f"Permission is missing{reason}."
    if status == 404:
        return f"The API server does not have it{reason}."
    return f"The API server answered {status}{reason}."
