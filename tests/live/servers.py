"""A real etcd and a real kube-apiserver for tests: built from their Go modules, started on free local ports.

The binaries stay in the git-ignored `.tools/` of the checkout; the first build takes some minutes. Nothing but Go is
needed for it, and openssl for the key of service-account tokens.
"""

import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

KUBERNETES = "v1.34.2"
ETCD = "v3.6.5"

TOOLS = Path(__file__).parents[2] / ".tools"
_STAGED = "v0." + KUBERNETES.partition(".")[2]
"""The version of the modules that Kubernetes is staged in: v0.34.2 of v1.34.2."""
READER, READER_TOKEN = "nightly", "reader"
"""A user who may do what roles allow, and nothing without."""
_TOKEN = "live"  # of a server that listens on the loopback address for the length of a test
_PATIENCE = 90.0
"""Seconds until the API server must answer."""


class BuildError(RuntimeError):
    """The servers cannot be built on this machine."""


def can_build() -> bool:
    """Whether the servers are there, or Go to build them."""
    return all((TOOLS / name).exists() for name in ("etcd", "kube-apiserver")) or shutil.which("go") is not None


def build() -> None:
    """Builds what is missing in `.tools/`."""
    if not (TOOLS / "kube-apiserver").exists():
        folder = kubernetes_module()
        go(folder, "build", "-o", str(TOOLS / "kube-apiserver"), "k8s.io/kubernetes/cmd/kube-apiserver")
    if not (TOOLS / "etcd").exists():
        folder = _module("etcd", "go.etcd.io/etcd/server/v3")
        go(folder, "get", f"go.etcd.io/etcd/server/v3@{ETCD}")
        go(folder, "mod", "tidy")
        go(folder, "build", "-o", str(TOOLS / "etcd"), "go.etcd.io/etcd/server/v3")


def kubernetes_module() -> Path:
    """A Go module that requires Kubernetes as released; its staged modules have to be named one by one."""
    folder = _module("apiserver", "k8s.io/kubernetes/cmd/kube-apiserver")
    shutil.copytree(Path(__file__).parent / "schema", folder / "schema", dirs_exist_ok=True)
    source = kubernetes_sources()
    lines = (source / "go.mod").read_text().splitlines()
    staged = sorted(line.split()[0] for line in lines if "=> ./staging/" in line)
    text = "module example.test/apiserver\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes " + KUBERNETES + "\n"
    text += "".join(f"replace {name} => {name} {_STAGED}\n" for name in staged)
    (folder / "go.mod").write_text(text)
    go(folder, "mod", "tidy")
    return folder


def kubernetes_sources() -> Path:
    """Where the sources of Kubernetes lie in Go's module cache."""
    found = json.loads(go(TOOLS, "mod", "download", "-json", f"k8s.io/kubernetes@{KUBERNETES}"))
    return Path(found["Dir"])


def _module(name: str, imported: str) -> Path:
    folder = TOOLS / "build" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tools.go").write_text(f'//go:build tools\n\npackage tools\n\nimport _ "{imported}"\n')
    if not (folder / "go.mod").exists():
        (folder / "go.mod").write_text(f"module example.test/{name}\n\ngo 1.24.0\n")
    return folder


def go(folder: Path, *arguments: str) -> str:
    """What a Go command prints; niced, as it takes all that the machine has."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["nice", "go", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"go {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    body: Any


@dataclass(frozen=True, slots=True)
class Api:
    """A client that sends what it is told and gives back what was answered."""

    port: int
    token: str = _TOKEN

    def send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Answer:
        """One request with a JSON body."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=_anybody())
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return Answer(response.status, _read(response.read()))
        finally:
            connection.close()


def _read(answer: bytes) -> Any:
    """The answer's JSON; a kind that is not served yet gets plain text."""
    try:
        return json.loads(answer)
    except ValueError:
        return {"message": answer.decode(errors="replace")}


@cache
def _anybody() -> ssl.SSLContext:
    """The server signs its own certificate, anew each time."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@contextmanager
def api_server(folder: Path, *flags: str) -> Iterator[Api]:
    """A running API server, with further flags, whose state lies in `folder`; both servers end with the block."""
    build()
    client, peer, port = _free_port(), _free_port(), _free_port()
    etcd = [
        str(TOOLS / "etcd"),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls=http://127.0.0.1:{client}",
        f"--advertise-client-urls=http://127.0.0.1:{client}",
        f"--listen-peer-urls=http://127.0.0.1:{peer}",
        "--log-level=error",
        "--unsafe-no-fsync",
    ]
    with (
        _running(etcd, folder / "etcd.log"),
        _running([*_apiserver(folder, client, port), *flags], folder / "apiserver.log"),
    ):
        api = Api(port)
        _await(api, folder / "apiserver.log")
        yield api


def _apiserver(folder: Path, etcd_port: int, port: int) -> list[str]:
    key, tokens = folder / "service-account.key", folder / "tokens.csv"
    subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
    tokens.write_text(f"{_TOKEN},tester,tester,system:masters\n{READER_TOKEN},{READER},{READER}\n")
    return [
        str(TOOLS / "kube-apiserver"),
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={folder / 'certificates'}",
        f"--token-auth-file={tokens}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-cluster-ip-range=10.0.0.0/16",
        "--disable-admission-plugins=ServiceAccount",
    ]


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, "TZ": "UTC"})
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _await(api: Api, log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            if api.send("GET", "/api/v1/namespaces/default").code == 200:
                return
        except (OSError, ValueError, http.client.HTTPException):
            pass
        time.sleep(0.5)
    raise RuntimeError(f"the API server does not answer: {log.read_text(errors='replace')[-2000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
