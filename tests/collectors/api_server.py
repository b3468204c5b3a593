"""A server on the loopback address that answers as a Kubernetes API server does, as far as reading goes."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

NOW = 1796020200.0
"""2026-11-30 06:30:00 UTC, by the server's clock; each answer comes a minute after the one before."""

CORE = [
    {"name": "configmaps", "kind": "ConfigMap", "namespaced": True},
    {"name": "namespaces", "kind": "Namespace", "namespaced": False},
    {"name": "secrets", "kind": "Secret", "namespaced": True},
]
APPS = [
    {"name": "deployments", "kind": "Deployment", "namespaced": True},
    {"name": "deployments/scale", "kind": "Scale", "namespaced": True},
]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that is given instead of the usual one."""

    code: int
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None
    token: str = ""
    """A token to go on with, for an expired one."""
    wait: float = 0.0
    hangs_up: bool = False


@dataclass
class FakeApi:
    """What the server holds, what it refuses, and what it was asked."""

    address: str = ""
    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Objects by the path of their list."""
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    """By path, one after the other; the last one for ever."""
    expired: dict[str, Reply] = field(default_factory=dict)
    """By token, once."""
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """(method, path, parameters)."""
    authorizations: set[str] = field(default_factory=set)
    dated: bool = True
    page: int = 1000
    """Most objects of an answer, whatever the client's limit."""

    def put(self, path: str, *objects: dict[str, Any]) -> None:
        """What a list holds from now on."""
        self.lists[path] = list(objects)

    def refuse(self, path: str, code: int, message: str = "", **more: Any) -> None:
        """Answer a path with an error from now on."""
        self.replies[path] = [Reply(code, message, **more)]

    def asked(self) -> list[str]:
        """The paths of all requests."""
        return [path for _, path, _ in self.requests]

    def reply(self, path: str, parameters: dict[str, str]) -> Reply:
        """The answer to a GET."""
        if token := parameters.get("continue"):
            if token in self.expired:
                return self.expired.pop(token)
        elif waiting := self.replies.get(path):
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if path in self.lists:
            return _list(self.lists[path], parameters, self.page)
        parent, _, name = path.rpartition("/")
        for each in self.lists.get(parent, ()):
            if each["metadata"]["name"] == name:
                return _ok(each)
        served = {"/api/v1": CORE, "/apis/apps/v1": APPS}
        if path in served:
            return _ok({"kind": "APIResourceList", "resources": served[path]})
        if path == "/apis/apps":
            return _ok({"kind": "APIGroup", "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"}})
        return Reply(404, f"{path} not found")


def _ok(document: dict[str, Any]) -> Reply:
    return Reply(200, content=json.dumps(document).encode())


def _list(objects: list[dict[str, Any]], parameters: dict[str, str], most: int) -> Reply:
    begin = int(parameters.get("continue", "t0")[1:])
    end = begin + min(int(parameters.get("limit", "500")), most)
    metadata = {"resourceVersion": "900"} | ({"continue": f"t{end}"} if end < len(objects) else {})
    return _ok({"kind": "ThingList", "apiVersion": "v1", "metadata": metadata, "items": objects[begin:end]})


@contextmanager
def fake_api() -> Iterator[FakeApi]:
    """A running server, on a free port."""
    api = FakeApi()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(api))
    api.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(api: FakeApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet

        def do_GET(self) -> None:
            self._answer()

        do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET  # all are recorded, and a test looks for them

        def _answer(self) -> None:
            url = urlsplit(self.path)
            parameters = {key: values[0] for key, values in parse_qs(url.query).items()}
            api.requests.append((self.command, url.path, parameters))
            api.authorizations.add(self.headers.get("Authorization", ""))
            reply = api.reply(url.path, parameters)
            time.sleep(reply.wait)
            if reply.hangs_up:
                self.close_connection = True
                return
            metadata = {"continue": reply.token} if reply.token else {}
            status = {"kind": "Status", "code": reply.code, "message": reply.message, "metadata": metadata}
            content = json.dumps(status).encode() if reply.content is None else reply.content
            self.send_response_only(reply.code)
            if api.dated:
                self.send_header("Date", formatdate(NOW + 60 * (len(api.requests) - 1), usegmt=True))
            headers = {"Content-Type": "application/json", "Content-Length": str(len(content))} | reply.headers
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(content)
            except OSError:
                pass  # the client has gone

        def log_message(self, *_: object) -> None:
            """Nothing."""

    return Handler


def kubeconfig(folder: Path, address: str, user: str = "{token: abc}") -> Path:
    """A kubeconfig with the context `prod`."""
    path = folder / "kubeconfig"
    path.write_text(
        "apiVersion: v1\nkind: Config\n"
        "contexts: [{name: prod, context: {cluster: c, user: u}}]\n"
        f"clusters: [{{name: c, cluster: {{server: '{address}'}}}}]\n"
        f"users: [{{name: u, user: {user}}}]\n"
    )
    return path
