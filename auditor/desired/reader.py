"""The GitReader: what applications' repositories say, from what was collected and from a cache."""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from auditor.collectors.git.charts import chart_folder, plain_url
from auditor.collectors.git.mirror import holds_charts
from auditor.config import RepositoryConfig
from auditor.desired import helm
from auditor.desired.blobs import UnreadableError
from auditor.desired.charts import ChartFolder
from auditor.desired.history import changed
from auditor.desired.manifests import keyed
from auditor.desired.pack import Pack
from auditor.desired.plans import Plan, Revisions, Unit, plan
from auditor.desired.reads import Reads
from auditor.desired.rendering import Counts, Rendered, Renderer
from auditor.desired.repositories import Checkout, open_checkouts
from auditor.desired.scratch import sweep
from auditor.desired.source import destination, same_repository
from auditor.desired.strands import Strand, landing
from auditor.desired.tools import Tools, find_tools
from auditor.model.application import ApplicationState, RevisionSeen
from auditor.model.desired import BranchTip, DesiredState, Landing, Undeterminable
from auditor.model.facts import Commit, GitRef
from auditor.objects.redaction import Redactor

_REMEMBERED = 16_384


class Reader:
    """Implements `auditor.model.desired.GitReader`."""

    def __init__(
        self,
        checkouts: Mapping[str, Checkout],
        charts: Mapping[str, ChartFolder],
        renderer: Renderer,
        pack: Pack,
    ) -> None:
        self._checkouts = checkouts
        self._charts = charts
        self._renderer = renderer
        self._pack = pack
        self._plans: dict[object, Plan | str] = {}
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

    def following(self, seen: Sequence[RevisionSeen]) -> "Reader":
        """A reader that also knows where branches have been; it is closed with this one."""
        checkouts = {url: checkout.following(seen) for url, checkout in self._checkouts.items()}
        if all(checkouts[url] is checkout for url, checkout in self._checkouts.items()):
            return self
        return Reader(checkouts, self._charts, self._renderer, self._pack)

    # What is tracked

    def _plan(self, state: ApplicationState) -> Plan | str:
        if state.sources not in self._plans:
            self._plans[state.sources] = plan(state.sources, self._checkouts, self._charts)
        return self._plans[state.sources]

    def landings(self, state: ApplicationState) -> Sequence[Landing] | Undeterminable:
        """All states of what the application tracks, oldest first, that can differ in what it reads."""
        plan = self._plan(state)
        if isinstance(plan, str):
            return Undeterminable(plan)
        key = (state.sources, state.key.name)
        if key not in self._landings:
            found = [landing for own in plan.strands for landing in self._strand_landings(state, plan, own)]
            in_order = sorted(found, key=lambda landing: landing.at) if len(plan.strands) > 1 else found
            self._landings[key] = tuple(in_order)
        return self._landings[key]

    def _strand_landings(self, state: ApplicationState, plan: Plan, own: Strand) -> list[Landing]:
        states = own.states()
        if not own.is_branch:
            return [landing(commit, (), own.checkout.url, place) for place, commit in enumerate(states)]
        found = {place for unit in plan.units for place in unit.changes(state.key.name, own)}
        return [landing(states[place], own.line.merged(place), own.checkout.url, place) for place in sorted(found)]

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
        revisions = plan.revisions(sha)
        if isinstance(revisions, str):
            return Undeterminable(revisions)
        try:
            parts = [self._render_unit(unit, state, revisions) for unit in plan.units]
        except UnreadableError as error:
            return Undeterminable(str(error))
        return _desired(parts, state.destination_namespace)

    def _render_unit(self, unit: Unit, state: ApplicationState, revisions: Revisions) -> Rendered:
        files = unit.files(revisions)
        found, reads = unit.reads(state.key.name, files)
        if reads.absent:
            return Rendered("absent", ())
        if found is None or reads.problem:
            raise UnreadableError(reads.problem)
        read = reads.files(files)
        if found.renderer == "directory":
            return self._renderer.plain(read, unit.contents)
        if found.renderer == "kustomize":
            return self._renderer.kustomize(found, read, unit.contents, dict(reads.remotes))
        uses = helm.chart_uses(list(reads.folders), files, unit.contents)
        return self._renderer.helm(found, read, unit.contents, destination(state), unit.refs, uses)

    def mentions(self, state: ApplicationState, sha: str, pattern: str) -> str:
        """The first file that the application reads at `sha` in which a regular expression matches, "" for none."""
        plan = self._plan(state)
        revisions = plan if isinstance(plan, str) else plan.revisions(sha)
        if isinstance(plan, str) or isinstance(revisions, str):
            return ""
        wanted = re.compile(pattern.encode())
        for unit in plan.units:
            try:
                files = unit.files(revisions)
                for path, entry in unit.reads(state.key.name, files)[1].files(files):
                    if wanted.search(unit.contents.content(entry.blob, path)):
                        return path
            except UnreadableError:
                continue
        return ""

    # Branches and history

    def branches(self, state: ApplicationState) -> Sequence[BranchTip]:
        """Unmerged branches of the application's repositories whose commits touch what it reads."""
        plan = self._plan(state)
        if isinstance(plan, str):
            return ()
        return [tip for own in plan.strands if own.is_branch for tip in self._branch_tips(state, plan, own)]

    def _branch_tips(self, state: ApplicationState, plan: Plan, own: Strand) -> Iterator[BranchTip]:
        graph, landed = own.checkout.graph, own.line.landed
        for name, sha in sorted(own.checkout.branches.items()):
            ahead = graph.beyond(sha, landed) if name != own.tracked.branch else []
            touching = _touching(state, plan, own, sha, ahead) if ahead else []
            if touching:
                yield BranchTip(name, sha, tuple(graph.oldest_first(touching)), own.checkout.url)

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


def _touching(state: ApplicationState, plan: Plan, own: Strand, tip: str, ahead: Sequence[str]) -> list[str]:
    """Those of the commits that change what the application reads at a branch's tip."""
    revisions = plan.revisions(tip)
    if isinstance(revisions, str):
        return []
    found: set[str] = set()
    for unit in plan.units:
        if all(strand is not own for strand in unit.strands):
            continue
        try:
            reads = unit.own_reads(unit.reads(state.key.name, unit.files(revisions))[1], own)
        except UnreadableError:
            continue
        found.update(sha for sha in ahead if _touches(own.checkout.graph.commits[sha], reads))
    return sorted(found)


def _touches(commit: Commit, reads: Reads) -> bool:
    paths = {*reads.paths, *reads.links}
    prefixes = tuple(f"{folder}/" if folder else "" for folder in (*reads.folders, *reads.link_folders))
    takes = reads.takes or (lambda path: True)
    return any(path in paths or (path.startswith(prefixes) and takes(path)) for path, _ in changed(commit))


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
    versions: Mapping[str, str] | None = None,
    build_options: str = "",
) -> Reader:
    """The reader over what was collected.

    `folder` is that of the configuration; `cache` and `shipped` are the collectors' (`Reading`); `versions` are the
    Kubernetes versions of clusters; `build_options` is `kustomize.buildOptions` of argocd-cm.
    """
    sweep()
    pack = Pack(cache, shipped)
    renderer = Renderer(
        find_tools() if tools is None else tools,
        pack,
        redactor,
        versions or {},
        "LoadRestrictionsNone" in build_options,
    )
    charts = {}
    for repository in repositories:
        if repository.path and holds_charts(folder / repository.path):
            charts[repository.name] = ChartFolder(folder / repository.path)
        elif repository.charts and not repository.path:
            charts[repository.name] = ChartFolder(chart_folder(cache, repository.url), nested=True)
    charts |= {plain_url(name): found for name, found in charts.items() if name.startswith("oci://")}
    checkouts = open_checkouts(
        [repository for repository in repositories if repository.name not in charts],
        folder,
        commits,
        refs,
        cache,
        pack,
    )
    return Reader(checkouts, charts, renderer, pack)
