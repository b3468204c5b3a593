"""What lies in a folder, told by content: audit logs, Argo CD exports, repositories, Slack exports, object exports."""

import os
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from auditor.collectors.files.forms import form
from auditor.collectors.files.source_files import HEAD, read_head
from auditor.collectors.files.sources import Source, open_stream
from auditor.config import (
    AnnouncementsConfig,
    ArgoCDConfig,
    ClusterConfig,
    Config,
    EnvironmentPair,
    RepositoryConfig,
)
from auditor.errors import ConfigError, SourceError

Found: TypeAlias = Literal["audit", "argocd", "objects", "slack", "timeline", "bundle", "clone", "packed"]
"""`packed` are records in an archive out of which they are not read."""

UNNAMED = "main"
"""The cluster of records that do not say its name."""
FILES = 5000
"""Files that are looked at: a folder of records has fewer."""
DEPTH = 6

_AUDIT = re.compile(
    rb'audit\.k8s\.io/|\\?"auditID\\?"\s*:|"k8s\.io"|kube-apiserver-audit|"category"\s*:\s*"kube-audit|io\.k8s\.[\w.]+\.v\d'
)
_DOCUMENT = re.compile(rb'\A(\xef\xbb\xbf)?(\s|---|#.*\n)*("?(apiVersion|items|kind|metadata)"?:|[{\[]\s*["{])')
_ARGO = re.compile(
    rb'"?apiVersion"?:\s*"?(argoproj\.io|[a-z]+\.toolkit\.fluxcd\.io)/|"?name"?:\s*"?argocd-cm"?\s|"?component"?:\s*"?argocd-'
)
_ARGO_LOG = re.compile(rb'(?m)^(time="[^"]+" )?level=\w+ msg=|"level":"\w+","msg":')
_OBJECT = re.compile(rb'(?m)(^|[{,])\s*"?resourceVersion"?:')
_TIMELINE = re.compile(rb"(?i)^\W*(time|at|when|timestamp|date)\b.*(,|\||;|\t)")
_REPO_URL = re.compile(rb'"?repoURL"?:\s*"?([^\s",}]+)')
_DESTINATION = re.compile(rb'"?server"?:\s*"?(https://[^\s",}]+)')
_NAME = re.compile(rb'(?m)^\s*"?name"?:\s*"?([a-z0-9][a-z0-9.-]*-(?:staging|stage|prod|production))"?,?\s*$')
_SLACK = {"users.json", "channels.json"}
"""In each of Slack's exports."""
_IN_CLUSTER = "https://kubernetes.default.svc"


@dataclass(frozen=True, slots=True)
class Recognised:
    """A file or folder, and what it is."""

    path: str
    """Below the folder that was looked into, with `/`; a folder ends in one."""
    kind: Found


def recognise(root: Path) -> tuple[Recognised, ...]:
    """What the folder holds; files of one kind that have a folder to themselves are that folder."""
    if not root.is_dir():
        raise ConfigError(f"{root} is no folder.", "Name the folder in which the records lie.")
    found = list(_walk(root, root, DEPTH))[:FILES]
    return tuple(sorted(set(_gathered(found)), key=lambda one: (one.kind, one.path)))


def configuration(root: Path, found: Iterable[Recognised]) -> Config:
    """A configuration for what was recognised: one cluster, as a folder does not say how many there are."""
    by_kind: dict[Found, list[str]] = {}
    for one in found:
        by_kind.setdefault(one.kind, []).append(one.path)
    exports = b"".join(_exports(root, by_kind.get("argocd", ())))
    names = {name.decode() for name in _NAME.findall(exports)}
    servers = _told(_DESTINATION, exports) or [_IN_CLUSTER]
    cluster = ClusterConfig(
        UNNAMED, tuple(servers[:1]), tuple(by_kind.get("audit", ())), tuple(by_kind.get("objects", ()))
    )
    others = tuple(ClusterConfig(_host(server), (server,)) for server in servers[1:])
    argocd = (ArgoCDConfig("argocd", UNNAMED, tuple(by_kind["argocd"])),) if "argocd" in by_kind else ()
    return Config(
        folder=root,
        clusters=(cluster, *others),
        argocds=argocd,
        repositories=tuple(_repositories(root, by_kind, _told(_REPO_URL, exports))),
        announcements=tuple(AnnouncementsConfig(path) for kind in ("slack", "timeline") for path in _of(by_kind, kind)),
        environments=tuple(_pairs(names)),
    )


def _walk(root: Path, folder: Path, depth: int) -> Iterator[Recognised]:
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    names = {entry.name for entry in entries}
    here = Path(folder).relative_to(root).as_posix() + "/"
    if ".git" in names or {"HEAD", "objects", "refs"} <= names:
        yield Recognised(here, "clone")
    elif names >= _SLACK:
        yield Recognised(here, "slack")
    else:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth and not entry.name.startswith("."):
                    yield from _walk(root, Path(entry.path), depth - 1)
            elif entry.is_file() and (kind := _kind_of(Path(entry.path))):
                yield Recognised(Path(entry.path).relative_to(root).as_posix(), kind)


def _kind_of(path: Path) -> Found | None:
    try:
        head = read_head(path)
    except (SourceError, OSError):
        return None
    if head.startswith((b"# v2 git bundle", b"# v3 git bundle")):
        return "bundle"
    if form(head) in ("zip", "tar", "bzip2", "xz"):
        return _kind_inside(path)
    return None if b"\0" in head else _kind_of_text(path, head)


def _kind_inside(path: Path) -> Found | None:
    """What an archive holds: logs are read out of every kind, Slack's exports out of the zip that they come in."""
    if {PurePosixPath(name).name for name in _names(path)} >= _SLACK:
        return "slack"
    try:
        stream = open_stream(Source(path.name, str(path)))
    except SourceError:
        return None
    try:
        kind = _kind_of_text(path, stream.read(HEAD))
    finally:
        stream.close()
    return kind if kind in ("audit", None) else "packed"


def _names(path: Path) -> list[str]:
    """The files in a zip archive; [] for any other."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return []


def _kind_of_text(path: Path, head: bytes) -> Found | None:
    if _ARGO_LOG.search(head[:4096]):
        return "argocd"
    if path.suffix in (".yaml", ".yml"):
        return _kind_of_export(head)
    if _AUDIT.search(head):
        return "audit"
    if path.suffix in (".csv", ".md") and _TIMELINE.search(head):
        return "timeline"
    return _kind_of_export(head)


def _kind_of_export(head: bytes) -> Found | None:
    if not _DOCUMENT.search(head) or b"apiVersion" not in head:
        return None
    if _ARGO.search(head):
        return "argocd"
    return "objects" if _OBJECT.search(head) else None


def _gathered(found: list[Recognised]) -> Iterator[Recognised]:
    """The highest folder all of whose files are of one kind stands for them."""
    kinds: dict[str, set[Found]] = {}
    for one in found:
        for folder in _folders(one.path):
            kinds.setdefault(folder, set()).add(one.kind)
    for one in found:
        alone = [folder for folder in _folders(one.path) if kinds[folder] == {one.kind}]
        together = one.kind in ("audit", "argocd", "objects") and alone
        yield Recognised(alone[0], one.kind) if together else one


def _folders(path: str) -> list[str]:
    """The folders above a path, the highest first, without the root."""
    parts = path.rstrip("/").split("/")[:-1]
    return ["/".join(parts[: count + 1]) + "/" for count in range(len(parts))]


def _exports(root: Path, paths: Iterable[str]) -> Iterator[bytes]:
    """The beginnings of the Applications' exports."""
    for path in paths:
        whole = root / path
        for file in sorted(whole.rglob("*")) if whole.is_dir() else [whole]:
            if file.suffix in (".yaml", ".yml", ".json") and file.is_file():
                with file.open("rb") as stream:
                    yield stream.read(4 << 20) + b"\n"


def _told(pattern: re.Pattern[bytes], exports: bytes) -> list[str]:
    """What the exports name, most often first."""
    counts: dict[str, int] = {}
    for told in pattern.findall(exports):
        name = told.decode("utf-8", "replace")
        counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))


def _repositories(root: Path, by_kind: dict[Found, list[str]], urls: list[str]) -> Iterator[RepositoryConfig]:
    """A local copy belongs to the URL whose last part it is called by; the only copy to the only URL."""
    copies = [*_of(by_kind, "bundle"), *_of(by_kind, "clone")]
    wanted = [url for url in urls if not url.startswith("oci:") and "/charts" not in url]
    for copy in copies:
        origin = _origin(root / copy)
        match = [url for url in wanted if _stem(url) == _stem(copy) or url == origin]
        alone = wanted if len(wanted) == len(copies) == 1 else []
        if url := next(iter([*match, *alone]), origin):
            yield RepositoryConfig(url, copy)


def _origin(clone: Path) -> str:
    """The URL that a clone came from."""
    for config in (clone / ".git/config", clone / "config"):
        if config.is_file():
            found = re.search(r'\[remote "origin"\][^\[]*?\burl\s*=\s*(\S+)', config.read_text("utf-8", "replace"))
            return found[1] if found else ""
    return ""


def _stem(name: str) -> str:
    return re.sub(r"(\.git|\.bundle)+$", "", name.rstrip("/").rsplit("/", 1)[-1])


def _host(server: str) -> str:
    return urlsplit(server).hostname or server


def _pairs(names: set[str]) -> Iterator[EnvironmentPair]:
    for name in sorted(names):
        base, _, environment = name.rpartition("-")
        if environment in ("staging", "stage"):
            for production in (f"{base}-prod", f"{base}-production"):
                if production in names:
                    yield EnvironmentPair(name, production)


def _of(by_kind: dict[Found, list[str]], kind: Found) -> list[str]:
    return by_kind.get(kind, [])
