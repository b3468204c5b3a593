"""The GitReader: what applications' repositories say, from what was collected and from a cache."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from auditor.config import RepositoryConfig
from auditor.desired import helm, kustomize
from auditor.desired.blobs import UnreadableError
from auditor.desired.history import Graph, changed
from auditor.desired.manifests import keyed
from auditor.desired.pack import Pack
from auditor.desired.plain import directory_reads
from auditor.desired.reads import Reads, positions
from auditor.desired.rendering import Counts, Rendered, Renderer
from auditor.desired.repositories import Checkout, open_checkouts
from auditor.desired.source import Effective, deciding_files, destination, effective, normal_path, same_repository
from auditor.desired.strands import Strand, landing, strand
from auditor.desired.tools import Tools, find_tools
from auditor.desired.trees import Files, SideBySide, beside, own_paths
from auditor.model.application import ApplicationState, AppSource, RevisionSeen
from auditor.model.desired import BranchTip, DesiredState, Landing, Undeterminable
from auditor.model.facts import Commit, GitRef
from auditor.objects.redaction import Redactor

_REMEMBERED = 16_384


@dataclass(frozen=True, slots=True)
class _Unit:
    """One source that declares manifests, with its strand and those of the sources that it refers to."""

    source: AppSource
    strands: tuple[Strand, ...]
    """Its own first."""
    refs: Mapping[str, str]
    """`$ref` names to folders of the trees side by side."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What an application is made of."""

    units: tuple[_Unit, ...]
    strands: tuple[Strand, ...]


class Reader:
    """Implements `auditor.model.desired.GitReader`."""

    def __init__(self, checkouts: dict[str, Checkout], renderer: Renderer, pack: Pack) -> None:
        self._checkouts = checkouts
        self._renderer = renderer
        self._pack = pack
        self._plans: dict[object, _Plan | str] = {}
        self._landings: dict[object, tuple[Landing, ...]] = {}
        self._states: OrderedDict[object, DesiredState | Undeterminable] = OrderedDict()

    @property
    def counts(self) -> Counts:
        """How many contents there were, and how many renders they took."""
        return self._renderer.counts

    def close(self) -> None:
        """End all processes and close all files."""
        for checkout in self._checkouts.values():
            checkout.close()
        self._pack.close()

    # What is tracked

    def _plan(self, state: ApplicationState) -> _Plan | str:
        if state.sources not in self._plans:
            self._plans[state.sources] = self._planned(state.sources)
        return self._plans[state.sources]

    def _planned(self, sources: tuple[AppSource, ...]) -> _Plan | str:
        strands: dict[tuple[str, str], Strand] = {}
        for source in sources:
            if source.chart:
                return f"the chart {source.chart} comes from {source.repo_url}, which is not a git repository"
            found = strand(source, self._checkouts)
            if isinstance(found, str):
                return found
            strands[source.repo_url, source.target_revision] = found
        units = [self._unit(source, sources, strands) for source in sources if source.path or not source.ref]
        if not units:
            return "the application has no source that declares manifests"
        return _Plan(tuple(units), tuple(strands.values()))

    def _unit(
        self, source: AppSource, sources: tuple[AppSource, ...], strands: Mapping[tuple[str, str], Strand]
    ) -> _Unit:
        own = (source.repo_url, source.target_revision)
        order = [own, *(key for key in strands if key != own)]
        refs = {
            other.ref: beside(order.index((other.repo_url, other.target_revision))) for other in sources if other.ref
        }
        return _Unit(source, tuple(strands[key] for key in order), refs)

    def landings(self, state: ApplicationState) -> Sequence[Landing] | Undeterminable:
        """All states of what the application tracks, oldest first, that can differ in what it reads."""
        plan = self._plan(state)
        if isinstance(plan, str):
            return Undeterminable(plan)
        key = (state.sources, state.key.name)
        if key not in self._landings:
            found = [
                landing for number in range(len(plan.strands)) for landing in self._strand_landings(state, plan, number)
            ]
            self._landings[key] = tuple(
                sorted(found, key=lambda landing: landing.at) if len(plan.strands) > 1 else found
            )
        return self._landings[key]

    def _strand_landings(self, state: ApplicationState, plan: _Plan, number: int) -> list[Landing]:
        own = plan.strands[number]
        states = own.states()
        if not own.is_branch:
            return [landing(commit, (), own.checkout.url, place) for place, commit in enumerate(states)]
        found: set[int] = set()
        for unit in plan.units:
            found.update(self._positions(state, unit, own))
        return [landing(states[place], own.line.merged(place), own.checkout.url, place) for place in sorted(found)]

    def _positions(self, state: ApplicationState, unit: _Unit, own: Strand) -> list[int]:
        """Where the strand changed in what the unit reads. The unit's other strands stay at their tips."""
        place = next(number for number, strand in enumerate(unit.strands) if strand is own)
        commits = own.line.line.commits

        def follow(position: int) -> Reads:
            tips = {number: other.states()[-1].sha for number, other in enumerate(unit.strands)}
            files = _side_by_side(unit, {**tips, place: commits[position].sha})
            reads = self._reads(unit, state.key.name, files)[1]
            count = len(unit.strands)
            return Reads(
                tuple(own_paths(reads.paths, place, count)),
                tuple(own_paths(reads.folders, place, count)),
                None,
                tuple(own_paths(reads.links, place, count)),
                tuple(own_paths(reads.link_folders, place, count)),
            )

        return positions(own.line.line, len(commits), follow)

    def _reads(self, unit: _Unit, application: str, files: Files) -> tuple[Effective | None, Reads]:
        """What the unit reads in these files; with a problem where that cannot be followed or rendered."""
        path = normal_path(unit.source.path) or ""
        blobs = unit.strands[0].checkout.blobs
        try:
            found = effective(unit.source, application, files, blobs)
            if isinstance(found, str):
                return None, Reads(link_folders=(path,), problem=found)
            if found is None:
                return None, Reads(link_folders=(path,), absent=True)
            if found.renderer == "directory":
                return found, directory_reads(found, application)
            if found.renderer == "kustomize":
                return found, kustomize.kustomize_reads(found, application, files, blobs)
            if found.renderer == "helm":
                return found, helm.helm_reads(found, application, files, blobs, unit.refs)
            reason = "a config-management plugin makes its manifests, which is not run here"
            return found, Reads(folders=(path,), links=deciding_files(path, application), problem=reason)
        except UnreadableError as error:
            return None, Reads(folders=(path,), link_folders=(path,), problem=str(error))

    # What it says

    def render(self, state: ApplicationState, sha: str) -> DesiredState | Undeterminable:
        """The application's manifests with the repository of `sha` at that commit, its other ones as of then."""
        key = (state.sources, state.key.name, state.destination_namespace, state.cluster, sha)
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = self._rendered(state, sha)
            if len(self._states) > _REMEMBERED:
                self._states.popitem(last=False)
        return found

    def _rendered(self, state: ApplicationState, sha: str) -> DesiredState | Undeterminable:
        plan = self._plan(state)
        if isinstance(plan, str):
            return Undeterminable(plan)
        revisions = _revisions(plan, sha)
        if isinstance(revisions, str):
            return Undeterminable(revisions)
        parts: list[Rendered] = []
        for unit in plan.units:
            try:
                parts.append(self._render_unit(unit, state, revisions))
            except UnreadableError as error:
                return Undeterminable(str(error))
        return _desired(parts, state.destination_namespace)

    def _render_unit(self, unit: _Unit, state: ApplicationState, revisions: Mapping[int, str]) -> Rendered:
        files = _side_by_side(unit, {number: revisions[id(strand)] for number, strand in enumerate(unit.strands)})
        found, reads = self._reads(unit, state.key.name, files)
        if reads.absent:
            return Rendered("absent", ())
        if found is None or reads.problem:
            raise UnreadableError(reads.problem)
        read = reads.files(files)
        blobs = unit.strands[0].checkout.blobs
        if found.renderer == "directory":
            return self._renderer.plain(read, blobs)
        if found.renderer == "kustomize":
            return self._renderer.kustomize(found, read, blobs)
        uses = helm.chart_uses(list(reads.folders), files, blobs)
        return self._renderer.helm(found, read, blobs, destination(state), unit.refs, uses)

    # Branches and history

    def branches(self, state: ApplicationState) -> Sequence[BranchTip]:
        """Unmerged branches of the application's repositories whose commits touch what it reads."""
        plan = self._plan(state)
        if isinstance(plan, str):
            return ()
        return [tip for own in plan.strands if own.is_branch for tip in self._branch_tips(state, plan, own)]

    def _branch_tips(self, state: ApplicationState, plan: _Plan, own: Strand) -> Iterator[BranchTip]:
        graph, landed = own.checkout.graph, own.line.landed
        for name, sha in sorted(own.checkout.branches.items()):
            ahead = graph.beyond(sha, landed) if name != own.tracked.branch else []
            touching = self._touching(state, plan, sha, ahead, graph) if ahead else []
            if touching:
                yield BranchTip(name, sha, tuple(graph.oldest_first(touching)))

    def _touching(
        self, state: ApplicationState, plan: _Plan, tip: str, ahead: Sequence[str], graph: Graph
    ) -> list[str]:
        """Those of the commits that change what the application reads at the branch's tip."""
        revisions = _revisions(plan, tip)
        if isinstance(revisions, str):
            return []
        found: list[str] = []
        for unit in plan.units:
            at_tip = {number: revisions[id(strand)] for number, strand in enumerate(unit.strands)}
            reads = self._reads(unit, state.key.name, _side_by_side(unit, at_tip))[1]
            place = next(number for number, strand in enumerate(unit.strands) if strand.has(tip))
            found += [sha for sha in ahead if _touches(graph.commits[sha], reads, place, len(unit.strands))]
        return found

    def contains(self, repo_url: str, sha: str, ancestor: str) -> bool | None:
        """Whether `sha` has `ancestor` in its history; None where either is not known."""
        checkout = self._checkouts.get(repo_url)
        if checkout is None or sha not in checkout.graph.commits or ancestor not in checkout.graph.commits:
            return None
        line = checkout.main
        if ancestor in checkout.graph.beyond(sha, line.line.positions):
            return True
        reached = line.reached(sha)
        return line.landed.get(ancestor, reached + 1) <= reached

    def reached(self, state: ApplicationState, repo_url: str, tracked: str, sha: str) -> tuple[str, int] | None:
        """`Landing.repo_url`, and the last position of the application's tracked line that `sha` has in its history."""
        plan = self._plan(state)
        if isinstance(plan, str):
            return None
        for own in plan.strands:
            if own.is_branch and own.has(sha) and same_repository(own.checkout.url, repo_url) and own.follows(tracked):
                return own.checkout.url, own.line.reached(sha)
        return None

    def commit(self, repo_url: str, sha: str) -> Landing | None:
        """Any commit of a repository, None where it is not known."""
        found = self._commit(repo_url, sha)
        return None if found is None else landing(found, (), repo_url)

    def first_parent(self, repo_url: str, sha: str) -> str:
        """The first parent of a commit, "" where there is none or it is not known."""
        found = self._commit(repo_url, sha)
        return found.parents[0] if found is not None and found.parents else ""

    def _commit(self, repo_url: str, sha: str) -> Commit | None:
        checkout = self._checkouts.get(repo_url)
        return None if checkout is None else checkout.graph.commits.get(sha)

    def complete(self, state: ApplicationState) -> bool:
        """Whether the history of what the application tracks goes back to its beginning."""
        plan = self._plan(state)
        if isinstance(plan, str):
            return False
        return not any(own.states()[0].sha in own.checkout.graph.boundaries for own in plan.strands if own.states())


def _touches(commit: Commit, reads: Reads, place: int, count: int) -> bool:
    paths = {*own_paths(reads.paths, place, count), *own_paths(reads.links, place, count)}
    folders = own_paths((*reads.folders, *reads.link_folders), place, count)
    prefixes = tuple(f"{folder}/" if folder else "" for folder in folders)
    return any(path in paths or path.startswith(prefixes) for path, _ in changed(commit))


def _side_by_side(unit: _Unit, shas: Mapping[int, str]) -> Files:
    trees = {number: strand.tree(shas[number]) for number, strand in enumerate(unit.strands)}
    missing = next((number for number, tree in trees.items() if tree is None), None)
    if missing is not None:
        raise UnreadableError(f"the commit {shas[missing][:12]} is not in what was collected")
    known = {number: tree for number, tree in trees.items() if tree is not None}
    if len(known) == 1:
        return known[0]
    return SideBySide(known[0], {beside(number): tree for number, tree in known.items() if number})


def _revisions(plan: _Plan, sha: str) -> dict[int, str] | str:
    """The commit of each strand (by its identity) when the repository of `sha` is at it."""
    own = next((strand for strand in plan.strands if strand.has(sha)), None)
    if own is None:
        return f"the commit {sha[:12]} is not in what was collected"
    moment = own.checkout.graph.commits[sha].committed_at
    revisions = {id(own): sha}
    for other in plan.strands:
        if other is not own:
            states = [commit.sha for commit in other.states() if commit.committed_at <= moment]
            revisions[id(other)] = states[-1] if states else other.states()[0].sha
    return revisions


def _desired(parts: Sequence[Rendered], namespace: str) -> DesiredState:
    objects = keyed((manifest for part in parts for manifest in part.manifests), namespace)
    again = keyed((manifest for part in parts for manifest in part.second), namespace)
    reasons = sorted({part.reason for part in parts if part.reason})
    content = (
        parts[0].content
        if len(parts) == 1
        else hashlib.sha256("".join(part.content for part in parts).encode()).hexdigest()
    )
    return DesiredState(
        content=content,
        objects=objects,
        rendered="now" if any(part.when == "now" for part in parts) else "before",
        confidence="low" if reasons else "high",
        second={key: manifest for key, manifest in again.items() if objects.get(key) != manifest},
        reason="; ".join(reasons),
    )


def open_reader(
    repositories: Sequence[RepositoryConfig],
    folder: Path,
    commits: Iterable[Commit],
    refs: Iterable[GitRef],
    cache: Path,
    redactor: Redactor,
    *,
    shipped: tuple[Path, ...] = (),
    tools: Tools | None = None,
    seen: Sequence[RevisionSeen] = (),
    versions: Mapping[str, str] | None = None,
    build_options: str = "",
) -> Reader:
    """The reader over what was collected.

    `folder` is that of the configuration; `cache` and `shipped` are the collectors' (`Reading`); `seen` are the
    records of revisions, which show where a branch has been; `versions` are the
    Kubernetes versions of clusters; `build_options` is `kustomize.buildOptions` of argocd-cm.
    """
    pack = Pack(cache, shipped)
    renderer = Renderer(
        find_tools() if tools is None else tools,
        pack,
        redactor,
        versions or {},
        "LoadRestrictionsNone" in build_options,
    )
    return Reader(open_checkouts(repositories, folder, commits, refs, cache, pack, seen), renderer, pack)
