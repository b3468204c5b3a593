"""From all facts to one case: the order in which the parts of correlation are asked, and nothing of their own work."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from auditor.config import Config
from auditor.correlate.applications import histories as applications
from auditor.correlate.applications.bypass import Bypasses, revisions_seen
from auditor.correlate.applications.bypass_changes import through_argo
from auditor.correlate.applications.courses import courses
from auditor.correlate.applications.declared import Declared
from auditor.correlate.applications.exported_settings import exported_settings
from auditor.correlate.applications.flux_freezes import with_object_freezes
from auditor.correlate.applications.owners import Owners, instance_label
from auditor.correlate.applications.requests import OwnRequests
from auditor.correlate.applications.tracking import control_namespaces, trackings
from auditor.correlate.cluster.drift import drifted
from auditor.correlate.cluster.live_states import LiveStates
from auditor.correlate.coverage import as_of as as_of_marks
from auditor.correlate.coverage import coverage
from auditor.correlate.episodes.annotated import annotated
from auditor.correlate.episodes.episodes import episodes
from auditor.correlate.git.clock import by_records
from auditor.correlate.git.verdict import GitJudge
from auditor.correlate.identity.argo_statements import Statements
from auditor.correlate.identity.channels import channel
from auditor.correlate.identity.identities import Identities
from auditor.correlate.records import Facts, Records, facts
from auditor.correlate.scope import narrow
from auditor.correlate.staging.pairs import staging_pairs
from auditor.correlate.verdicts import Bench, verdicts
from auditor.correlate.writes import changes
from auditor.correlate.writes import histories as writes
from auditor.correlate.writes.event_reading import EventReading, StoredLog
from auditor.correlate.writes.object_index import Objects
from auditor.correlate.writes.pruned import maybe_pruned
from auditor.correlate.writes.recall import Recall
from auditor.model.application import ApplicationHistory, ApplicationState, RevisionSeen
from auditor.model.case import Case, LiveState, Scope
from auditor.model.change import AppKey, Change, Write
from auditor.model.coverage import Coverage
from auditor.model.desired import DesiredState, GitReader, Landing, Undeterminable
from auditor.model.namesakes import namesakes
from auditor.model.resource import ObjectId
from auditor.model.verdict import Verdict

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def gather(
    records: Records,
    config: Config,
    scope: Scope,
    git: GitReader,
    recall: Recall | None = None,
) -> Case:
    """The case of a scope, without findings: those are detectors' work on what this gives them.

    `recall` gives again what was told of objects before; without it all are told anew.
    """
    case = _Gathering(records, config, scope, git, recall).case()
    return narrow(replace(case, drift=drifted(case)), scope)


class _Gathering:
    """One pass over the facts. Each part is worked out once and handed to those that need it."""

    def __init__(
        self,
        records: Records,
        config: Config,
        scope: Scope,
        git: GitReader,
        recall: Recall | None,
    ) -> None:
        self._records = records
        self._recall = recall
        self._config = config
        self._scope = scope
        self._git = git
        self._facts: Facts = facts(records, scope.as_of)
        self._statements = Statements(self._facts.argo_events, config.argocds)
        self._identities = Identities(config.actor_rules, self._statements)
        self._log = StoredLog(records, scope.as_of)

    def case(self) -> Case:
        """Everything, in the order in which one part needs the other."""
        read = EventReading(self._log, self._identities.identify).read()
        histories, reports = self._histories(read.own)
        seen = revisions_seen(histories)
        covered = self._covered(histories, seen)
        as_of = self._scope.as_of or covered.as_of.moment or _EPOCH
        # Without a moment that was asked for no commit is left out, also where its clock runs ahead.
        in_git = self._scope.as_of or as_of_marks(self._facts.marks).moment or _EPOCH
        declared = Declared(histories, self._git)
        tracking = trackings(self._facts.settings, histories, self._log.all, self._facts.objects)
        owners = Owners(histories, tracking, control_namespaces(self._facts.settings), declared.keys)
        identify = self._identities.identify
        bypasses = Bypasses(
            histories, read.own.edits, self._log.one, self._statements, identify, self._config, self._tracks
        )
        placed = partial(through_argo, owners=owners, bypasses=bypasses, declared=declared)
        read.index.suppose({*owners.kinds, *((seen.group, seen.kind) for seen in self._facts.objects)})
        objects = read.index.objects(owners.lists, reports - read.by_hand)
        told, live = self._told(objects, declared, instance_label(tracking), placed)
        found = changes.changes(told, lambda write: _owned(owners, write))
        histories = with_object_freezes(histories, found)
        judge = GitJudge(self._git, histories, seen, in_git, told)
        judged = verdicts(found, told, Bench(histories, self._facts.settings, judge, declared, bypasses, live, as_of))
        return self._conclude(histories, covered, told, found, judged, live, judge)

    def _covered(self, histories: Mapping[AppKey, ApplicationHistory], seen: Sequence[RevisionSeen]) -> Coverage:
        facts = self._facts
        ends = by_records(as_of_marks(facts.marks), facts.commits, seen, self._git)
        covered = coverage(self._config, facts.marks, facts.skipped, histories, bool(facts.argo_events), ends)
        moment = self._scope.as_of
        return replace(covered, as_of=covered.as_of.until(moment)) if moment else covered

    def _histories(self, own: OwnRequests) -> tuple[Mapping[AppKey, ApplicationHistory], frozenset[str]]:
        """The histories of the applications, and the requests on them that their own stories may pass over: none
        where exports of objects show an application between its requests."""
        facts, identify = self._facts, self._identities.identify
        found = courses(facts.snapshots, own, self._config, facts.settings)
        shown = any(each.kind == "Application" for each in facts.objects)
        reports = frozenset[str]() if shown else frozenset[str]().union(*(course.reports for course in found))
        histories = applications.of_courses(found, own, facts.argo_events, facts.settings, self._config, identify)
        return histories, reports

    def _conclude(
        self,
        histories: Mapping[AppKey, ApplicationHistory],
        covered: Coverage,
        told: tuple[Write, ...],
        found: tuple[Change, ...],
        judged: Mapping[str, Verdict],
        live: Mapping[ObjectId, LiveState],
        judge: GitJudge,
    ) -> Case:
        """What rests on the verdicts: episodes and staging drift."""
        facts, config = self._facts, self._config
        desired, landings = _at_tip(histories, judge)
        names = {change.id: change.application.name for change in found if change.application}
        announced = tuple(sorted((*facts.announcements, *annotated(told, names)), key=lambda each: each.at))
        return Case(
            scope=self._scope,
            coverage=covered,
            applications=histories,
            writes=told,
            changes=found,
            verdicts=judged,
            episodes=episodes(found, judged, histories, announced, covered, facts.commits, config),
            staging=staging_pairs(config, histories, live, desired, found, judged, landings, self._git),
            announcements=announced,
            commits=facts.commits,
            landings=landings,
            argo_events=facts.argo_events,
            settings=facts.settings,
            desired=desired,
            live=live,
            namesakes=dict(namesakes(histories)),
        )

    def _told(
        self,
        objects: Objects,
        declared: Declared,
        instance_label: str,
        placed: Callable[[Iterable[Write]], Iterable[Write]],
    ) -> tuple[tuple[Write, ...], LiveStates]:
        """All writes on these objects, and what became of them. `placed` puts those of a bypass under its person."""
        live = LiveStates()
        told: list[Write] = []
        shown = exported_settings(self._facts.settings, objects, self._config, self._scope.as_of)
        for history in writes.histories(
            objects,
            (*self._facts.objects, *shown),
            self._identities.identify,
            channel,
            declared.object_at,
            instance_label,
            self._recall,
        ):
            live.add(history.live)
            told += placed(self._identities.with_evidence(write) for write in history.writes)
        told.sort(key=writes.by_time)
        return tuple(maybe_pruned(told)), live

    def _tracks(self, state: ApplicationState, revision: str) -> bool | None:
        landings = self._git.landings(state)
        if isinstance(landings, Undeterminable) or not landings:
            return None
        return self._git.contains(state.sources[0].repo_url, landings[-1].sha, revision)


def _at_tip(
    histories: Mapping[AppKey, ApplicationHistory], judge: GitJudge
) -> tuple[dict[AppKey, DesiredState | Undeterminable], dict[AppKey, tuple[Landing, ...]]]:
    """What git wants of each application at the end, and the commits that led there."""
    desired: dict[AppKey, DesiredState | Undeterminable] = {}
    landings: dict[AppKey, tuple[Landing, ...]] = {}
    for key in histories:
        course = judge.course(key)
        if isinstance(course, Undeterminable):
            desired[key] = course
        else:
            desired[key] = course.desired(len(course.steps) - 1)
            landings[key] = tuple(step.landing for step in course.steps)
    return desired, landings


def _owned(owners: Owners, write: Write) -> tuple[tuple[AppKey, ...], str]:
    found = owners.of(write.object, dict(write.marks), write.at)
    return found.owners, found.known_by
