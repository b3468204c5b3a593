"""Results that are up to date: what a question is answered from."""

import gc
import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.config import Config, NotifyConfig
from auditor.console.cited import since_pruned
from auditor.console.configured import Configured
from auditor.console.moment import moment
from auditor.console.names import recorded
from auditor.console.sample import shipped_caches
from auditor.console.talk import talk
from auditor.console.window import outside
from auditor.console.workspace import Workspace, workspace
from auditor.errors import StoreLockedError
from auditor.model.case import Case, Scope

if TYPE_CHECKING:
    from auditor.correlate.writes.recall import Recall
    from auditor.store import Named, Overview, Query, Stamp, Store

_RENDERERS = ("kustomize", "kubectl", "helm")
_TELLING = ("correlate", "model", "objects")
"""The rooms of the program in which stories are told: whoever works on them must not be given stories of before."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a question is answered from."""

    config: Config
    store: "Store"
    overview: "Overview"
    as_of: datetime | None
    """The moment that was asked for; None for the end of the records."""
    records: "Store"
    """The store of all records; `store` has what was computed of them as of that moment."""
    note: Callable[[str], None]
    """Says a line of talk."""

    def query(
        self,
        since: str | None = None,
        until: str | None = None,
        cluster: Sequence[str] | None = None,
        app: Sequence[str] | None = None,
        namespace: Sequence[str] | None = None,
        kind: Sequence[str] | None = None,
        name: Sequence[str] | None = None,
        limit: int | None = None,
        asked: "Query | None" = None,
    ) -> "Query":
        """What is `asked`, as the options that questions share narrow it; times count back from the records' end."""
        from auditor.store import Query

        end, zone = self.overview.as_of.moment, self.config.report.zone
        return replace(
            asked or Query(),
            since=moment(since, end, zone, self.note),
            until=moment(until, end, zone, self.note),
            clusters=self.recorded(cluster, "cluster"),
            applications=self.recorded(app, "application"),
            namespaces=self.recorded(namespace, "namespace"),
            kinds=self.recorded(kind, "kind"),
            names=self.recorded(name, "object"),
            limit=limit,
        )

    def recorded(self, given: Sequence[str] | None, what: "Named") -> tuple[str, ...]:
        """The recorded names that were asked for. Raises `NotFoundError` where there is none."""
        return recorded(given, what, tuple(dict.fromkeys((self.records.names, self.store.names))))

    def times(self, query: "Query") -> str:
        """What the times of a question were taken for, and whether records reach them; "" where it has none."""
        asked = (("from", query.since), ("before", query.until), ("as of", self.as_of))
        said = ", ".join(f"{word} {at:%Y-%m-%d %H:%M:%S} UTC" for word, at in asked if at)
        return f"Asked for: {said}. {self.outside(query)}".rstrip() if said else ""

    def outside(self, query: "Query") -> str:
        """Why the records say nothing of a question's time, in a sentence; "" where they may."""
        if query.since or query.until or self.as_of:
            return outside(self.records.marks(), query.since, query.until, self.as_of)
        return ""


@contextmanager
def computed(config: Path | None, store: str | None, quiet: bool, as_of: str | None = None) -> Iterator[Answers]:
    """Results of the newest facts; where a run is at work, those of the run before. No talk while it is held.

    `as_of`: instead the results as they would have been then, as a person writes the time.
    """
    with ExitStack() as held:
        with talk(quiet) as progress:
            place = workspace(config, store, progress)
            kept = opened = held.enter_context(place.store())
            up_to_date(place, opened)
            at = moment_within(place, opened, as_of)
            if at is not None:
                opened = held.enter_context(_as_of(place, opened, at))
        yield Answers(place.config, opened, opened.results.overview(), at, kept, place.progress.note)


@contextmanager
def _as_of(place: Workspace, store: "Store", at: datetime) -> Iterator["Store"]:
    """The results as of a moment, in a store of their own that goes away afterwards."""
    from auditor.desired.scratch import scratch
    from auditor.store import open_store

    with scratch() as folder, open_store("sqlite:///then.db", folder=Path(folder)) as then:
        then.results.save(gathered(place, store, Scope(as_of=at)), stamp_of(place, store))
        yield then


def moment_within(place: Workspace, store: "Store", text: str | None) -> datetime | None:
    """A time as a person writes it; a span counts back from the end of all records, as they were last computed."""
    from auditor.correlate.coverage import as_of

    end = store.results.overview().as_of.moment or as_of(store.marks()).moment
    return moment(text, end, place.config.report.zone, place.progress.note)


def up_to_date(place: Workspace, store: "Store") -> Case | None:
    """Compute what is out of date; where a run is at work, the results of the run before will do.

    The case, where there was one to compute.
    """
    if store.results.stamp() == stamp_of(place, store):
        return None
    try:
        with store.exclusive():
            return compute(place, store)
    except StoreLockedError:
        if store.results.stamp() is None:
            raise
        place.progress.note("A run is at work: this answer is from the records of the run before.")
        return None


def compute(place: Workspace, store: "Store") -> Case:
    """Correlate all facts and keep what comes of it."""
    stamp = stamp_of(place, store)
    case = gathered(place, store, Scope(), keep=True)
    store.results.save(case, stamp)
    return case


def gathered(place: Workspace, store: "Store", scope: Scope, *, keep: bool = False) -> Case:
    """The case of a scope, with its findings, as far as pruning has left it.

    What runs before told of objects is taken from them. `keep`: what had to be told anew is kept for those that follow,
    which is for whoever has the store to themselves.
    """
    from auditor.correlate.writes.recall import Recall

    with store.shelf(keep) as shelf:
        case = correlated(place, store, scope, Recall(shelf, _rules(place)))
    before = store.pruned_before()
    return case if before is None else since_pruned(case, before)


def correlated(place: Workspace, store: "Store", scope: Scope, recall: "Recall | None" = None) -> Case:
    """The case of all facts that are there."""
    from auditor import registry
    from auditor.correlate.gather import gather
    from auditor.desired.reader import open_reader
    from auditor.detectors import find

    config = place.config
    git = open_reader(
        config.repositories,
        config.folder,
        store.commits(),
        store.refs(),
        place.cache(),
        place.redactor(),
        shipped=shipped_caches(),
        build_options=_build_options(store),
    )
    with closing(git), _no_search_for_circles():
        place.progress.begin("Correlating", None)
        case = gather(Configured(store, config), config, scope, git, recall)
        if git.counts.renders:
            place.progress.note(f"Desired states: {git.counts.contents}, of which {git.counts.renders} rendered anew.")
    return replace(case, findings=find(case, config, registry.detectors()))


@contextmanager
def _no_search_for_circles() -> Iterator[None]:
    """Values point to what they are made of and never back: to search millions of them for circles takes a tenth of
    the time, and finds none."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()


def _build_options(store: "Store") -> str:
    """`kustomize.buildOptions` as the last argocd-cm that was read has it."""
    import msgspec

    options = ""
    for settings in store.settings():
        if settings.kind == "ConfigMap":
            data = msgspec.json.decode(settings.body).get("data") or {}
            options = str(data.get("kustomize.buildOptions") or options)
    return options


def _rules(place: Workspace) -> str:
    """What the story of an object depends on beside records: the actor rules, and the program that tells it."""
    digest = hashlib.sha256(repr((version("auditor"), place.config.actor_rules)).encode())
    for room in _TELLING:
        for path in sorted((Path(__file__).parents[1] / room).rglob("*")):
            if path.suffix in (".py", ".json"):
                digest.update(path.read_bytes())
    return digest.hexdigest()


def stamp_of(place: Workspace, store: "Store") -> "Stamp":
    """From what results would be computed now; where the folder lies, and the programs, is no matter."""
    from auditor.store import Stamp

    settings = replace(place.config, folder=Path(), store="", cache="", notify=NotifyConfig())
    renderers = [bool(shutil.which(name)) for name in _RENDERERS]
    digest = hashlib.sha256(repr((settings, renderers)).encode()).hexdigest()
    return Stamp(store.generation(), digest, version("auditor"))
