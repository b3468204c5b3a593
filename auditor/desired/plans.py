"""What an application is made of: the sources that declare manifests, and the strands that they follow."""

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from auditor.desired import helm, kustomize
from auditor.desired.bases import Bases
from auditor.desired.blobs import Contents, SeveralContents, UnreadableError
from auditor.desired.charts import Chart, ChartFolder
from auditor.desired.plain import directory_reads
from auditor.desired.reads import Reads, positions
from auditor.desired.repositories import Checkout
from auditor.desired.source import Effective, deciding_files, effective, normal_path, same_repository
from auditor.desired.strands import Strand, strand
from auditor.desired.trees import Files, SideBySide, beside, own_paths
from auditor.model.application import AppSource
from auditor.model.resource import JsonObject

Revisions = Mapping[int, str]
"""The commit of each strand, by the strand's identity."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One source that declares manifests, with the strands that it reads."""

    source: AppSource
    strands: tuple[Strand, ...]
    """Its own first, unless it is a packaged chart; then those of the sources that it may refer to."""
    refs: Mapping[str, str]
    """`$ref` names to folders of the trees side by side."""
    chart: Chart | None
    """The packaged chart, where it is one; an empty one where it is not at hand."""
    bases: Bases
    """Where its remote bases are."""
    problem: str = ""
    """Why it cannot be rendered at any revision."""

    @property
    def contents(self) -> Contents:
        """What the files of all its trees hold."""
        charts = () if self.chart is None else (self.chart,)
        return SeveralContents((*charts, *(each.checkout.blobs for each in self.strands)), self.bases.contents)

    def files(self, revisions: Revisions) -> Files:
        """Its trees side by side. Raises UnreadableError for a commit that is not known."""
        trees: list[Files] = [] if self.chart is None else [self.chart]
        for followed in self.strands:
            sha = revisions[id(followed)]
            tree = followed.tree(sha)
            if tree is None:
                raise UnreadableError(f"the commit {sha[:12]} is not in what was collected")
            trees.append(tree)
        others: dict[str, Files] = {beside(number): tree for number, tree in enumerate(trees) if number}
        # Bases that never change are found while the files are followed: the map of them grows.
        return SideBySide(trees[0], ChainMap(others, self.bases.trees))

    def reads(self, application: str, files: Files) -> tuple[Effective | None, Reads]:
        """What it reads in these files; with a problem where that cannot be followed or rendered."""
        path = normal_path(self.source.path) or ""
        try:
            found = self._effective(application, files)
            if isinstance(found, str):
                return None, Reads(link_folders=(path,), problem=found)
            if found is None:
                return None, Reads(link_folders=(path,), absent=True)
            reads = self._followed(found, application, files)
            return found, replace(reads, problem=self.problem or reads.problem)
        except UnreadableError as error:
            return None, Reads(folders=(path,), link_folders=(path,), problem=str(error))

    def _effective(self, application: str, files: Files) -> Effective | str | None:
        if self.chart is not None:
            return Effective(self.source, self.chart.name, "helm", _options(self.source))
        return effective(self.source, application, files, self.contents)

    def _followed(self, found: Effective, application: str, files: Files) -> Reads:
        if found.renderer == "directory":
            return directory_reads(found, application)
        if found.renderer == "kustomize":
            return kustomize.kustomize_reads(found, application, files, self.contents, self.bases)
        if found.renderer == "helm":
            return helm.helm_reads(found, application, files, self.contents, self.refs)
        reason = "a config-management plugin makes its manifests, which is not run here"
        return Reads(folders=(found.path,), links=deciding_files(found.path, application), problem=reason)

    def own_reads(self, reads: Reads, strand: Strand) -> Reads:
        """What of it lies in one strand, as that strand calls it."""
        first = 0 if self.chart is None else 1
        place = first + next(number for number, other in enumerate(self.strands) if other is strand)
        count = first + len(self.strands)
        return Reads(
            tuple(own_paths(reads.paths, place, count)),
            tuple(own_paths(reads.folders, place, count)),
            # A filter speaks of paths as the first tree has them; directories have no other.
            None if place else reads.takes,
            tuple(own_paths(reads.links, place, count)),
            tuple(own_paths(reads.link_folders, place, count)),
        )

    def changes(self, application: str, strand: Strand) -> list[int]:
        """Positions of the strand at which it changed in what the unit reads; other strands stay at their tips."""
        if all(other is not strand for other in self.strands):
            return []
        commits = strand.line.line.commits
        tips = {id(other): other.states()[-1].sha for other in self.strands}

        def follow(position: int) -> Reads:
            files = self.files({**tips, id(strand): commits[position].sha})
            return self.own_reads(self.reads(application, files)[1], strand)

        return positions(strand.line.line, len(commits), follow)


@dataclass(frozen=True, slots=True)
class Plan:
    """All units of an application, and all strands that they follow."""

    units: tuple[Unit, ...]
    strands: tuple[Strand, ...]

    def revisions(self, sha: str) -> Revisions | str:
        """The commits of all strands when the repository of `sha` is at it; "" where there are no strands."""
        if not self.strands:
            return {}
        own = next((strand for strand in self.strands if strand.has(sha)), None)
        if own is None:
            return f"the commit {sha[:12]} is not in what was collected"
        moment = own.checkout.graph.commits[sha].committed_at
        found = {id(own): sha}
        for other in self.strands:
            if other is not own:
                states = [commit.sha for commit in other.states() if commit.committed_at <= moment]
                found[id(other)] = states[-1] if states else other.states()[0].sha
        return found


def plan(
    sources: Sequence[AppSource], checkouts: Mapping[str, Checkout], charts: Mapping[str, ChartFolder]
) -> Plan | str:
    """The plan of these sources, or the sentence why there is none."""
    strands: dict[tuple[str, str], Strand] = {}
    for source in sources:
        if source.problem:
            return source.problem
        if source.chart:
            continue
        found = strand(source, checkouts)
        if isinstance(found, str):
            return found
        strands[source.repo_url, source.target_revision] = found
    followed = {own.checkout.url: "" for own in strands.values()}
    bases: dict[str, Strand] = {}
    units = tuple(
        _with_bases(unit, checkouts, followed, bases)
        for unit in _units(sources, strands, charts, lambda: Bases(checkouts, followed))
    )
    if not units:
        return "the application has no source that declares manifests"
    return Plan(units, (*strands.values(), *bases.values()))


def _with_bases(
    unit: Unit, checkouts: Mapping[str, Checkout], followed: Mapping[str, str], bases: dict[str, Strand]
) -> Unit:
    """The unit with a strand for each remote base that follows a branch, told from the tips of its strands."""
    known = dict(followed)
    while unit.chart is None and all(own.states() for own in unit.strands):
        try:
            unit.reads("", unit.files({id(own): own.states()[-1].sha for own in unit.strands}))
        except UnreadableError:
            return unit
        moving = sorted(unit.bases.moving.items())
        if not moving:
            return unit
        url, (checkout, ref, tracked) = moving[0]
        own = bases.setdefault(url, Strand(checkout, ref, tracked, checkout.line(tracked.branch)))
        known[url] = f"{beside(len(unit.strands))}:{own.tracked.branch}"
        unit = replace(unit, strands=(*unit.strands, own), bases=Bases(checkouts, known))
    return unit


def _units(
    sources: Sequence[AppSource],
    strands: Mapping[tuple[str, str], Strand],
    charts: Mapping[str, ChartFolder],
    bases: Callable[[], Bases],
) -> Iterator[Unit]:
    for source in sources:
        if source.ref and not source.path and not source.chart:
            continue
        chart, problem = _chart(source, charts) if source.chart else (None, "")
        own = (source.repo_url, source.target_revision)
        order = list(strands) if chart else [own, *(key for key in strands if key != own)]
        refs = {
            other.ref: beside(order.index((other.repo_url, other.target_revision)) + (chart is not None))
            for other in sources
            if other.ref
        }
        yield Unit(source, tuple(strands[key] for key in order), refs, chart, bases(), problem)


def _options(source: AppSource) -> JsonObject:
    options = orjson.loads(source.options)
    return options if isinstance(options, dict) else {}


def _chart(source: AppSource, charts: Mapping[str, ChartFolder]) -> tuple[Chart, str]:
    """The chart; an empty one and the reason where it is not at hand: which of its values files changed when can be
    told all the same."""
    folder = charts.get(source.repo_url) or next(
        (other for url, other in charts.items() if same_repository(url, source.repo_url)), None
    )
    try:
        if folder is not None:
            return folder.chart(source.chart, source.target_revision), ""
        problem = f"the chart {source.chart} comes from {source.repo_url}, and no folder with its charts is configured"
    except UnreadableError as error:
        problem = str(error)
    return Chart(source.chart.rpartition("/")[2], {}), problem
