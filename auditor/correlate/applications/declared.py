"""What the controller compares with: the manifests of an application at the revision it had synced at a moment."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from auditor.correlate.git.manifest import manifest_of
from auditor.model.application import ApplicationHistory, ApplicationState, AppSource
from auditor.model.change import AppKey
from auditor.model.desired import DesiredState, GitReader, ManifestKey, Undeterminable
from auditor.model.resource import JsonObject, ObjectId

_NOTHING_SYNCED = Undeterminable("no record says at which revision the application was")


class Declared:
    """Answers from the histories of the applications and the git reader; renders are cached by the reader."""

    def __init__(self, histories: Mapping[AppKey, ApplicationHistory], git: GitReader) -> None:
        self._histories = histories
        self._git = git
        self._synced = {key: _synced(history) for key, history in histories.items()}
        self._by_cluster: dict[str, list[AppKey]] = defaultdict(list)
        for key, history in histories.items():
            for cluster in sorted({state.cluster for state in history.states}):
                self._by_cluster[cluster].append(key)

    def at(self, key: AppKey, moment: datetime) -> DesiredState | Undeterminable:
        """The manifests that a comparison at `moment` would use, overrides in the Application included."""
        history = self._histories.get(key)
        state = history.at(moment) if history else None
        if state is None:
            return Undeterminable("the records do not hold the application")
        return self._rendered(state, self._revision(key, state, moment))

    def of_sources(
        self, key: AppKey, moment: datetime, sources: tuple[AppSource, ...], revision: str
    ) -> DesiredState | Undeterminable:
        """The manifests that other sources than the Application's own would give at a revision."""
        state = self._histories[key].at(moment)
        return self._rendered(replace(state, sources=sources), revision) if state else _NOTHING_SYNCED

    def synced_before(
        self, key: AppKey, subject: ObjectId, moment: datetime, sources: tuple[AppSource, ...]
    ) -> DesiredState | Undeterminable:
        """What these sources gave at the revision that the application was at, where Argo CD did not say then that
        the object differs from it."""
        state = self._histories[key].at(moment)
        if state is None or _differs(state, subject):
            return _NOTHING_SYNCED
        return self._rendered(replace(state, sources=sources), self._revision(key, state, moment))

    def keys(self, state: ApplicationState) -> Collection[ManifestKey]:
        """What an application declares at a state; () where that cannot be rendered."""
        found = self._rendered(state, self._revision(state.key, state, state.at))
        return tuple(found.objects) if isinstance(found, DesiredState) else ()

    def object_at(self, subject: ObjectId, moment: datetime) -> JsonObject | None:
        """The manifest of an object at the last synced revision before `moment`; None where that is not known."""
        for key in self._by_cluster.get(subject.cluster, ()):
            state = self._histories[key].at(moment)
            if state is None or state.cluster != subject.cluster or not _may_hold(state, subject):
                continue
            found = self._rendered(state, self._applied(key, state, subject, moment))
            if isinstance(found, DesiredState):
                manifest = manifest_of(found, subject, state.destination_namespace)
                if manifest is not None:
                    return manifest
        return None

    def _rendered(self, state: ApplicationState, revision: str) -> DesiredState | Undeterminable:
        return self._git.render(state, revision) if revision else _NOTHING_SYNCED

    def _applied(self, key: AppKey, state: ApplicationState, subject: ObjectId, moment: datetime) -> str:
        """The revision that an object is at: what it was compared with, unless it differs from that, else what was
        synced last."""
        compared = self._revision(key, state, moment)
        return self._synced_at(key, moment) or compared if _differs(state, subject) else compared

    def _synced_at(self, key: AppKey, moment: datetime) -> str:
        times, revisions = self._synced[key]
        place = bisect_right(times, moment) - 1
        return revisions[place] if place >= 0 else ""

    def _revision(self, key: AppKey, state: ApplicationState, moment: datetime) -> str:
        """What was compared with last, else what was synced last; the first source's, where there are several."""
        return next(filter(_is_commit, state.revisions), self._synced_at(key, moment))


def _synced(history: ApplicationHistory) -> tuple[list[datetime], list[str]]:
    """The times and revisions of full syncs that succeeded, oldest first."""
    done = [
        (sync.finished_at or sync.started_at, revision)
        for sync in history.syncs
        if sync.phase == "Succeeded" and not sync.dry_run
        for revision in [*filter(_is_commit, sync.revisions)][:1]
    ]
    done.sort()
    return [at for at, _ in done], [revision for _, revision in done]


def _is_commit(revision: str) -> bool:
    """A source that is a chart has its version there, which is no commit."""
    return len(revision) in (40, 64) and all(digit in "0123456789abcdef" for digit in revision)


def _differs(state: ApplicationState, subject: ObjectId) -> bool:
    wanted = (subject.group, subject.kind, subject.namespace, subject.name)
    return any(resource[:4] == wanted and resource[4] == "OutOfSync" for resource in state.resources)


def _may_hold(state: ApplicationState, subject: ObjectId) -> bool:
    if not subject.namespace or subject.namespace == state.destination_namespace or not state.destination_namespace:
        return True
    return any(namespace == subject.namespace for _, _, namespace, _, _ in state.resources)
