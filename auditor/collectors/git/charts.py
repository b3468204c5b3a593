"""Charts of a chart repository: those that recorded Applications name, fetched once by the user's own helm.

`helm pull` runs with the user's environment, so that registry logins and certificates are the user's; it is never asked
anything and has a time limit. Each chart is pinned by the SHA-256 of its package: what is published later under the
same version is told and does not take the first one's place.
"""

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from auditor.collectors.files.left_behind import sweep_up
from auditor.collectors.files.programs import ComplainedError, ProgramError, TimedOutError, printed
from auditor.collectors.git.mirror import digest_of, mirror_folder
from auditor.model.facts import ApplicationSnapshot
from auditor.model.resource import Json, JsonObject

PULL_SECONDS = 120.0
_SCHEMES = ("https://", "http://", "oci://")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)*")
_VERSION = re.compile(r"v?\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
_LARGEST = 64 << 20
"""Bytes of one package."""
_PULL = ".pull-"
_MESSAGE = 300
"""Characters of helm's complaint that a reader gets to see."""


class PullFailedError(Exception):
    """helm did not fetch the chart; the text is its own, for a reader."""


class PullTimedOutError(PullFailedError):
    """It took too long."""


@dataclass(frozen=True, slots=True, order=True)
class NamedChart:
    """A chart at a version that an Application names."""

    name: str
    version: str

    @property
    def file(self) -> str:
        """Its place in the folder of the repository's charts."""
        return f"{self.name}-{self.version}.tgz"


def chart_folder(cache: Path, url: str) -> Path:
    """Where the charts of a repository are kept, whether or not there are any yet."""
    return cache / "charts" / mirror_folder(cache, url).stem


def plain_url(url: str) -> str:
    """A chart repository as Applications call it: Argo CD has registries without their scheme."""
    return url.removeprefix("oci://").rstrip("/")


def fetch_charts(
    url: str, name: str, snapshots: Iterable[ApplicationSnapshot], cache: Path, pins: dict[str, str]
) -> list[str]:
    """Fetch what is not held yet. Returns sentences about what could not be fetched or is another than it was.

    `url` may hold credentials, `name` is the same without. `pins` are digests by file and gain the new ones.
    """
    if not url.startswith(_SCHEMES):
        return [f"{name} is no chart repository: its URL must begin with https://, http:// or oci://."]
    now, before = named_charts(snapshots, name)
    folder = chart_folder(cache, url)
    if folder.is_dir():
        sweep_up(folder, _PULL)
    shelf = _Shelf(url, name, folder, pins)
    # What an Application has now is looked at again; what it once had only has to be there.
    return [said for chart in sorted(now | before) if (said := shelf.fetch(chart, chart in now))]


class _Shelf:
    """The charts that are held of one repository."""

    def __init__(self, url: str, name: str, folder: Path, pins: dict[str, str]) -> None:
        self._url = url
        self._name = name
        self._folder = folder
        self._pins = pins
        self._silent = False
        """Whether the host let the time pass: then it is not asked again."""

    def fetch(self, chart: NamedChart, again: bool) -> str:
        """Have the chart. A sentence where it is not there, or is no longer what it was."""
        kept = self._folder / chart.file
        digest = digest_of(kept) if kept.is_file() else ""
        held = bool(digest) and self._pins.setdefault(chart.file, digest) == digest
        if held and (self._silent or not again):
            return ""
        try:
            if self._silent:
                raise PullFailedError("the host did not answer before")
            return self._pulled(chart, kept, held)
        except PullFailedError as error:
            self._silent = self._silent or isinstance(error, PullTimedOutError)
            return "" if held else f"The chart {chart.name} {chart.version} of {self._name} cannot be fetched: {error}."

    def _pulled(self, chart: NamedChart, kept: Path, held: bool) -> str:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(prefix=_PULL, dir=self._folder) as folder:
            package = pull(self._url, chart, Path(folder))
            digest = digest_of(package)
            pin = self._pins.setdefault(chart.file, digest)
            if digest != pin:
                kept_or_not = "the first one is kept" if held else "the first one is no longer here, and none is used"
                return (
                    f"The chart {chart.name} {chart.version} of {self._name} is another one than it was (SHA-256 "
                    f"{pin[:12]}, and now {digest[:12]}): {kept_or_not}."
                )
            kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            package.replace(kept)
        return ""


def pull(url: str, chart: NamedChart, folder: Path) -> Path:
    """The package that helm fetches into an empty folder. Raises PullFailedError."""
    helm = shutil.which("helm")
    if helm is None:
        raise PullFailedError("helm is not installed on this machine")
    _run([helm, "pull", f"--version={chart.version}", f"--destination={folder}", *_asked(helm, url, chart.name)], url)
    packages = sorted(folder.glob("*.tgz"))
    if len(packages) != 1 or packages[0].stat().st_size > _LARGEST:
        raise PullFailedError("what came is not one chart of a usual size")
    return packages[0]


def _asked(helm: str, url: str, chart: str) -> list[str]:
    """How helm is told a chart. Only by the name that the user gave a repository does it use the login kept for it."""
    if url.startswith("oci://"):
        return ["--", f"{url.rstrip('/')}/{chart}"]
    known = _user_repository(helm, url)
    if not known:
        return [f"--repo={url}", "--", chart]
    _run([helm, "repo", "update", "--", known], url)
    return ["--", f"{known}/{chart}"]


def _user_repository(helm: str, url: str) -> str:
    """What `helm repo add` called the repository, "" where the user's helm does not know it."""
    try:
        listed = orjson.loads(_run([helm, "repo", "list", "--output=json"], url))
    except (PullFailedError, orjson.JSONDecodeError):
        return ""  # helm fails where no repository was ever added
    repositories = [_table(one) for one in (listed if isinstance(listed, list) else [])]
    alike = [one.get("name") for one in repositories if str(one.get("url")).rstrip("/") == url.rstrip("/")]
    return next((name for name in alike if isinstance(name, str)), "")


def _run(command: list[str], url: str) -> bytes:
    """What helm prints. Raises PullFailedError."""
    try:
        return printed(command, PULL_SECONDS, _LARGEST)
    except ComplainedError as error:
        raise PullFailedError(_said(str(error), url)) from error
    except TimedOutError as error:
        raise PullTimedOutError(str(error)) from error
    except ProgramError as error:
        raise PullFailedError(f"helm {error}") from error


def _said(text: str, url: str) -> str:
    """helm's last word, without the credentials that a URL may hold."""
    lines = [line for line in text.splitlines() if line.startswith("Error:")]
    line = " ".join((lines or text.splitlines() or ["it failed without a word"])[-1].split())
    authority = url.partition("://")[2].partition("/")[0].rpartition("@")[0]
    told = line.replace(f"{authority}@", "") if authority else line
    return re.sub(r"(://)[^/\s\"@]*@", r"\1", told).removeprefix("Error: ")[:_MESSAGE].rstrip(".")


def named_charts(snapshots: Iterable[ApplicationSnapshot], name: str) -> tuple[set[NamedChart], set[NamedChart]]:
    """The charts of a repository that Applications have now, and those that they once had or synced."""
    latest: dict[tuple[str, str, str], JsonObject] = {}
    before: set[NamedChart] = set()
    for snapshot in snapshots:
        if snapshot.kind != "Application":
            continue
        document = _table(orjson.loads(snapshot.body))
        latest[snapshot.argocd, snapshot.namespace, snapshot.name] = document
        before.update(_charts_of(_sourced(document), name))
    now = {chart for document in latest.values() for chart in _charts_of([_table(document.get("spec"))], name)}
    return now, before - now


def _sourced(document: JsonObject) -> Iterator[JsonObject]:
    """All parts of an Application that say sources, most of them with the revisions that these came to."""
    yield _table(document.get("spec"))
    status = _table(document.get("status"))
    sync = _table(status.get("sync"))
    yield {**_table(sync.get("comparedTo")), "revision": sync.get("revision"), "revisions": sync.get("revisions")}
    yield _table(_table(status.get("operationState")).get("syncResult"))
    history = status.get("history")
    yield from map(_table, history if isinstance(history, list) else [])


def _charts_of(parts: Iterable[JsonObject], name: str) -> Iterator[NamedChart]:
    for part in parts:
        several = part.get("sources")
        sources = several if isinstance(several, list) and several else [part.get("source")]
        revisions = part.get("revisions") if sources is several else [part.get("revision")]
        for place, source in enumerate(map(_table, sources)):
            known = revisions[place] if isinstance(revisions, list) and place < len(revisions) else None
            chart, url, target = source.get("chart"), source.get("repoURL"), known or source.get("targetRevision")
            if not (isinstance(chart, str) and isinstance(url, str) and isinstance(target, str)):
                continue
            # A range is not fetched: the version that it came to is among what Argo CD recorded.
            fits = _NAME.fullmatch(chart) and _VERSION.fullmatch(target) and ".." not in chart
            if fits and plain_url(url) == plain_url(name):
                yield NamedChart(chart, target)


def _table(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
