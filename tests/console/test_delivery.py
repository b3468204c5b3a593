"""Posting a digest, against a server on this machine."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from auditor.console.delivery import post
from auditor.errors import DeliveryError


@dataclass
class Chat:
    """A webhook that answers as it is told to."""

    url: str = ""
    status: int = 200
    answer: bytes = b"ok"
    location: str = ""
    wait: float = 0
    received: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    told = Chat()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told.received.append((self.path, dict(self.headers), json.loads(body)))
            time.sleep(told.wait)
            self.send_response(told.status)
            if told.location:
                self.send_header("Location", told.location)
            self.send_header("Content-Length", str(len(told.answer)))
            self.end_headers()
            try:
                self.wfile.write(told.answer)
            except OSError:
                pass

        def do_GET(self) -> None:
            told.received.append((self.path, {}, None))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_port}/services/T000/SECRET"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield told
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_digest_is_posted_once_as_json(chat: Chat) -> None:
    assert post(chat.url, {"text": "zwölf – новое"}) == "127.0.0.1"
    [(path, headers, body)] = chat.received
    assert path == "/services/T000/SECRET"
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    assert body == {"text": "zwölf – новое"}


@pytest.mark.parametrize(
    ("status", "answer", "hint"),
    [
        (400, b"invalid_payload", "webhook in [notify]"),
        (403, b"invalid_token", "webhook in [notify]"),
        (404, b"", "webhook in [notify]"),
        (429, b"rate_limited", "no more for the moment"),
        (500, b"\xff" * 9000, "auditor notify"),
    ],
)
def test_a_refusal_is_told_with_its_reason_and_without_the_address(
    chat: Chat, status: int, answer: bytes, hint: str
) -> None:
    chat.status, chat.answer = status, answer
    with pytest.raises(DeliveryError) as error:
        post(chat.url, {})
    assert f"127.0.0.1 refused the digest with status {status}" in error.value.message
    assert answer[:20].decode("utf-8", "replace") in error.value.message
    assert hint in error.value.hint
    assert "SECRET" not in str(error.value) + error.value.hint
    assert len(error.value.message) < 400


def test_a_redirect_is_not_followed(chat: Chat) -> None:
    chat.status, chat.location = 302, chat.url + "/elsewhere"
    with pytest.raises(DeliveryError) as error:
        post(chat.url, {})
    assert "final address" in error.value.hint
    assert len(chat.received) == 1


def test_a_server_that_does_not_answer_is_waited_for_no_longer_than_said(chat: Chat) -> None:
    chat.wait = 0.6
    with pytest.raises(DeliveryError, match=r"did not answer within 0\.1 seconds"):
        post(chat.url, {}, seconds=0.1)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/SECRET", "http://no.such.host.invalid/SECRET"])
def test_where_nobody_listens_that_is_told(url: str) -> None:
    with pytest.raises(DeliveryError) as error:
        post(url, {})
    assert "cannot be reached" in error.value.message
    assert "SECRET" not in str(error.value)
