"""git: the commits, branches and tags of each configured repository."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from auditor.collectors import Collector, Reading
from auditor.collectors.git.charts import fetch_charts
from auditor.collectors.git.history import History, keep_history, read_history
from auditor.collectors.git.mailmap import Mailmap
from auditor.collectors.git.mirror import (
    Place,
    contains,
    digest_of,
    holds_charts,
    is_bundle,
    open_bundle,
    open_clone,
    open_url,
)
from auditor.collectors.git.process import GitFailedError, GitMissingError, Repository
from auditor.collectors.git.records import LOG, commits
from auditor.collectors.git.refs import former_ref, refs
from auditor.config import RepositoryConfig
from auditor.model.facts import Batch, Commit, GitRef, SourceMark

_BATCH = 2_000
_MOST_TOLD = 5
"""Charts whose problems are told one by one."""
_NO_GIT = "git is not installed on this machine, and no history of exactly this bundle was kept before"
_HISTORY_KEPT_BELOW = 4 << 20
"""Bytes of a bundle whose history is kept as a file too."""


def collect(reading: Reading) -> Iterator[Batch]:
    """New commits and all present refs of every repository of the configuration."""
    for repository in reading.config.repositories:
        if repository.charts and not repository.path:
            yield _charts(reading, repository)
        else:
            yield from _repository(reading, repository)


def _charts(reading: Reading, wanted: RepositoryConfig) -> Batch:
    """The charts that Applications name, fetched into the cache; the mark remembers their digests."""
    mark = SourceMark("git", wanted.name, wanted.name, "", "helm-charts")
    known = next((old for old in reading.known("git", wanted.name) if old.source == mark.source), mark)
    pins: dict[str, str] = json.loads(known.position.get("charts", "{}"))
    reading.progress.begin(f"charts {wanted.name}", None)
    try:
        said = fetch_charts(wanted.url, wanted.name, reading.applications(), reading.cache, pins)
    except OSError as error:
        said = [f"The charts of {wanted.name} cannot be kept: {error.strerror}."]
    more = [f"{len(said) - _MOST_TOLD} more charts have problems."] if len(said) > _MOST_TOLD else []
    problem = " ".join((*said[:_MOST_TOLD], *more))
    return Batch((), replace(mark, problem=problem, position={"charts": json.dumps(pins, sort_keys=True)}))


def _repository(reading: Reading, wanted: RepositoryConfig) -> Iterator[Batch]:
    mark = SourceMark("git", wanted.name, wanted.path or wanted.name, "", "git")
    known = next((old for old in reading.known("git", wanted.name) if old.source == mark.source), mark)
    if "commits" not in known.position:
        # A run that was cut short says nothing about which commits it had: all are read again, and are there once.
        known = mark
    path = reading.config.folder / wanted.path
    place = None
    try:
        place = _open(wanted, path, reading.cache)
        if place.repository is None:
            yield Batch((), replace(known, format=place.format, problem=_sentence(known, place)))
        else:
            yield from _read(reading, place, place.repository, known)
    except GitMissingError:
        yield from _kept(reading, path, mark)
    except GitFailedError as error:
        yield Batch((), replace(known, problem=f"git cannot read {mark.source}: {error}"))
    except OSError as error:
        yield Batch((), replace(known, problem=f"{mark.source} cannot be read: {error.strerror}."))
    finally:
        if place is not None and place.repository is not None:
            place.repository.close()


def _sentence(mark: SourceMark, place: Place) -> str:
    """What is wrong with a place, with its name before it; "" where nothing is."""
    return f"{mark.source} {place.problem.rstrip('.')}." if place.problem else ""


def _open(wanted: RepositoryConfig, path: Path, cache: Path) -> Place:
    if not wanted.path:
        return open_url(wanted.url, cache)
    if is_bundle(path):
        return open_bundle(path, wanted.url, cache)
    if holds_charts(path):
        return Place("helm-charts", None)
    if not path.exists():
        return Place("git", None, "is not there: the path of the repository in the configuration leads nowhere")
    return open_clone(path)


def _read(reading: Reading, place: Place, repository: Repository, known: SourceMark) -> Iterator[Batch]:
    """Commits that no earlier run has read, then the refs with the mark that says how far it got."""
    url = known.cluster
    found = refs(repository, url, reading.redactor)
    found = sorted({*found, *_pushed_over(repository, known, found)}, key=lambda ref: (ref.kind, ref.name, ref.sha))
    wanted = sorted({ref.sha for ref in found if ref.kind != "pull"})
    had = json.loads(known.position.get("commits", "[]"))
    mailmap = _mailmap(repository, found)
    given = "".join([*(f"^{sha}\n" for sha in had), *(f"{sha}\n" for sha in wanted)])
    chunks = repository.stream(*LOG, given=given.encode("ascii")) if wanted else iter(())
    count = _Count(replace(known, format=place.format, bytes=place.bytes, complete=False, problem=""))
    kept: list[Commit] = []
    keep = place.digest and not had and place.bytes < _HISTORY_KEPT_BELOW
    reading.progress.begin(f"git {known.source}", None)
    for batch in count.batches(commits(chunks, url, mailmap, reading.redactor)):
        reading.progress.advance(len(batch))
        if keep:
            kept.extend(batch)
        yield Batch(batch, count.mark)
    if keep:
        keep_history(reading.cache, place.digest, History(tuple(kept), tuple(found)))
    position = _position(found, wanted, place.digest)
    yield Batch(tuple(found), replace(count.mark, complete=True, problem=_sentence(known, place), position=position))


def _position(found: Iterable[GitRef], commits: list[str], bundle: str) -> dict[str, str]:
    """What the next run must know: the commits it need not read again, and where each branch was."""
    branches = {ref.name: ref.sha for ref in found if ref.kind == "branch"}
    former = [[ref.target, ref.sha] for ref in found if ref.kind == "former"]
    return {
        "commits": json.dumps(commits),
        "bundle": bundle,
        "branches": json.dumps(branches, sort_keys=True),
        "former": json.dumps(former),
    }


def _pushed_over(repository: Repository, known: SourceMark, found: Iterable[GitRef]) -> Iterator[GitRef]:
    """Tips of earlier runs that their branch no longer contains; once seen, they are kept."""
    now = {ref.name: ref.sha for ref in found if ref.kind == "branch"}
    for branch, sha in json.loads(known.position.get("former", "[]")):
        yield former_ref(known.cluster, branch, sha)
    for branch, sha in json.loads(known.position.get("branches", "{}")).items():
        if branch in now and now[branch] != sha and not contains(repository, now[branch], sha):
            yield former_ref(known.cluster, branch, sha)


def _mailmap(repository: Repository, found: Iterable[GitRef]) -> Mailmap:
    """The .mailmap of the default branch."""
    head = next((ref.sha for ref in found if ref.kind == "head"), "")
    if not head:
        return Mailmap()
    try:
        name = repository.output("rev-parse", "--verify", "--quiet", f"{head}:.mailmap").decode("ascii").strip()
    except GitFailedError:
        return Mailmap()
    return Mailmap((repository.blob(name) or b"").decode("utf-8", "replace"))


def _kept(reading: Reading, path: Path, mark: SourceMark) -> Iterator[Batch]:
    """Without git: what an earlier reading of exactly this bundle found."""
    digest = digest_of(path) if is_bundle(path) else ""
    history = read_history((reading.cache, *reading.shipped), digest) if digest else None
    if history is None:
        yield Batch((), replace(mark, problem=_NO_GIT))
        return
    count = _Count(replace(mark, format="git-bundle", bytes=path.stat().st_size, complete=False))
    renamed = (replace(commit, repository=mark.cluster) for commit in history.commits)
    for batch in count.batches(renamed):
        yield Batch(batch, count.mark)
    found = tuple(replace(ref, repository=mark.cluster) for ref in history.refs)
    position = _position(found, sorted({ref.sha for ref in found if ref.kind != "pull"}), digest)
    yield Batch(found, replace(count.mark, complete=True, position=position))


@dataclass(slots=True)
class _Count:
    """The mark, as far as the commits that went by."""

    mark: SourceMark

    def batches(self, stream: Iterator[Commit]) -> Iterator[tuple[Commit, ...]]:
        first, last, number = self.mark.first_at, self.mark.last_at, self.mark.events
        for batch in _batches(stream):
            number += len(batch)
            times = [commit.committed_at for commit in batch]
            first = min(times if first is None else (first, *times))
            last = max(times if last is None else (last, *times))
            self.mark = replace(self.mark, events=number, first_at=first, last_at=last)
            yield batch


def _batches(stream: Iterator[Commit]) -> Iterator[tuple[Commit, ...]]:
    while batch := tuple(islice(stream, _BATCH)):
        yield batch


COLLECTOR = Collector("git", "commits, branches and tags of the configured repositories", collect)
