"""A chart repository on the loopback address, as `helm repo index` makes one."""

import base64
import io
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def package(name: str, version: str, files: dict[str, str]) -> bytes:
    """A packaged chart; `files` by path below the chart's folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        chart = {"Chart.yaml": f"apiVersion: v2\nname: {name}\nversion: {version}\n", **files}
        for path, text in chart.items():
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


@dataclass
class ChartRepository:
    """What it serves, and what it was asked."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    versions: dict[str, list[str]] = field(default_factory=dict)
    login: str = ""
    """`user:password` that it wants to have."""

    def publish(self, name: str, version: str, files: dict[str, str]) -> None:
        """Put a chart there, in place of what was there under the version."""
        self.files[f"/{name}-{version}.tgz"] = package(name, version, files)
        self.versions.setdefault(name, [])
        self.versions[name] = sorted({*self.versions[name], version})
        lines = ["apiVersion: v1", "entries:"]
        for chart, versions in self.versions.items():
            lines.append(f"  {chart}:")
            for one in versions:
                lines += [f"  - name: {chart}", "    apiVersion: v2", f"    version: {one}"]
                lines.append(f"    urls: [{self.url}/{chart}-{one}.tgz]")
        self.files["/index.yaml"] = "\n".join(lines).encode()


@contextmanager
def chart_repository() -> Iterator[ChartRepository]:
    """A repository that answers until the end of the block."""
    repository = ChartRepository()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            repository.requests.append(self.path)
            content = repository.files.get(self.path)
            wanted = f"Basic {base64.b64encode(repository.login.encode()).decode()}"
            if repository.login and self.headers["Authorization"] != wanted:
                content = None
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args: object) -> None:
            """Tests need no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    repository.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield repository
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
