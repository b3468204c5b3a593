"""Through Argo CD and yet not from the tracked branch: local manifests, another revision, an override, a rollback.

Whether a write of the GitOps controller went through such a sync, who asked for it, and the source that git declares.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Literal, TypeAlias

from auditor.config import Config
from auditor.correlate.applications.courses import BEGINNING, Identify, asks_for, kind_of
from auditor.correlate.applications.documents import last_applied, parse_sources
from auditor.correlate.applications.unseen_edits import UnseenEdits, is_declared_elsewhere
from auditor.correlate.identity.actors import MACHINES
from auditor.correlate.identity.argo_statements import Statements, who
from auditor.correlate.identity.channels import channel
from auditor.correlate.writes.bodies import Bodies
from auditor.model.application import ApplicationHistory, ApplicationState, AppSource, RevisionSeen, SyncRecord
from auditor.model.change import Actor, AppKey, Evidence
from auditor.model.facts import AuditEvent
from auditor.model.resource import ObjectId, Path
from auditor.objects import patch
from auditor.objects.document import child

Form: TypeAlias = Literal["local-manifests", "revision", "target-revision", "override", "rollback"]

Tracks = Callable[[ApplicationState, str], bool | None]
"""Whether what an application tracks has a revision in its history; None where git cannot say."""

OVERRIDES: frozenset[Form] = frozenset({"override", "target-revision"})
"""Forms that stand in the application, and not in a sync that somebody asked for."""

Requests = Callable[[str], AuditEvent | None]
"""One request by its id, with its bodies."""

ARGO_CHANNEL = "Argo CD UI or CLI"
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SECOND = timedelta(seconds=1)
_CLOCK = timedelta(milliseconds=50)
_SOURCES: tuple[Path, ...] = (("spec", "source"), ("spec", "sources"), ("spec", "sourceHydrator"))


@dataclass(frozen=True, slots=True)
class Bypass:
    """What a sync applied that the tracked branch does not have, and who asked for it."""

    form: Form
    actor: Actor
    channel: str
    sync: SyncRecord
    declared: tuple[AppSource, ...]
    """The sources as git declares the application, else as first recorded."""
    used: tuple[AppSource, ...]
    reason: str
    """One clause: what was asked for."""
    mixed: bool
    """The same sync also brought new commits of the branch: what git declares at its revision is not the actor's."""
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class _Override:
    """Sources that a hand put into an Application, until they were as declared again."""

    began_at: datetime
    sources: tuple[AppSource, ...]
    actor: Actor
    channel: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class _Declared:
    """From a moment on: what git declares, and what a hand made of it."""

    at: datetime
    sources: tuple[AppSource, ...]
    override: _Override | None


class _Hands:
    """Who put other sources into an application."""

    def __init__(self, requests: Requests, statements: Statements, identify: Identify, unseen: UnseenEdits) -> None:
        self._requests = requests
        self._statements = statements
        self._identify = identify
        self._unseen = unseen

    def behind(
        self, history: ApplicationHistory, before: ApplicationState, state: ApplicationState
    ) -> _Override | None:
        """The hand that changed the sources; None where a machine did, or where no record says who."""
        ident = state.evidence.event_id
        event = self._requests(ident) if ident else None
        if event is not None and asks_for(event, before, *_fields(kind_of(event))):
            return self._seen(event, state)
        return self._not_seen(history, before, state)

    def _seen(self, event: AuditEvent, state: ApplicationState) -> _Override | None:
        kind = kind_of(event)
        actor, further = who(event, kind, self._statements, self._identify)
        if actor.kind in MACHINES:
            return None
        body = Bodies(event).request
        form = patch.classify(
            event.verb, body, event.field_manager, event.force, event.request_uri, event.code, event.api_group, kind
        )
        by_argo = actor.rule.startswith("argocd-")
        word = ARGO_CHANNEL if by_argo else channel(event, form)
        return _Override(state.at, state.sources, actor, word, (state.evidence, *further))

    def _not_seen(
        self, history: ApplicationHistory, before: ApplicationState, state: ApplicationState
    ) -> _Override | None:
        """By the records of an edit without its contents, before the first sync that used what it brought."""
        if is_declared_elsewhere(before) or is_declared_elsewhere(state):
            return None
        used = [
            sync.started_at + (_SECOND if sync.started_at.microsecond == 0 else _CLOCK)
            for sync in history.syncs
            if sync.sources == state.sources and before.at <= sync.started_at <= state.at
        ]
        edit = self._unseen.by_one_hand(history.key, before.at, min([state.at, *used]), _fields(history.key.kind))
        if edit is None:
            return None
        by_argo = edit.actor.rule.startswith("argocd-")
        word = ARGO_CHANNEL if by_argo else "unknown"
        return _Override(edit.at, state.sources, edit.actor, word, (*edit.evidence, state.evidence))


class Bypasses:
    """Answers for writes of GitOps controllers, from the histories of the applications."""

    def __init__(
        self,
        histories: Mapping[AppKey, ApplicationHistory],
        edits: Iterable[AuditEvent],
        requests: Requests,
        statements: Statements,
        identify: Identify,
        config: Config,
        tracks: Tracks = lambda state, revision: None,
    ) -> None:
        self._histories = histories
        self._tracks = tracks
        unseen = UnseenEdits(histories, edits, statements, identify, config)
        hands = _Hands(requests, statements, identify, unseen)
        self._declared = {key: list(_declarations(history, hands)) for key, history in histories.items()}

    def sync_of(self, key: AppKey, subject: ObjectId, at: datetime) -> SyncRecord | None:
        """The sync that a write of the controller on an object belongs to."""
        history = self._histories.get(key)
        running = [sync for sync in history.syncs if _runs(sync, at)] if history else []
        touching = [sync for sync in running if _touches(sync, subject)]
        return max(touching, key=lambda sync: sync.started_at, default=None)

    def of(self, key: AppKey, subject: ObjectId, at: datetime) -> Bypass | None:
        """The bypass that a write of the controller went through; None where it is from the tracked branch."""
        sync = self.sync_of(key, subject, at)
        declared = self._at(key, sync.started_at) if sync else None
        if sync is None or declared is None:
            return None
        return self._asked(key, sync, declared) or self._overridden(key, sync, declared)

    def _at(self, key: AppKey, at: datetime) -> _Declared | None:
        declared = self._declared.get(key)
        if not declared:
            return None
        return declared[max(bisect_right([each.at for each in declared], at) - 1, 0)]

    def _asked(self, key: AppKey, sync: SyncRecord, declared: _Declared) -> Bypass | None:
        """What a user asked for in the sync itself."""
        asked = self._form(key, sync, declared)
        if asked is None or sync.requested_by is None:
            return None
        form, reason = asked
        by_argo = sync.requested_by.rule == "argocd-user"
        return Bypass(
            form=form,
            actor=sync.requested_by,
            channel=ARGO_CHANNEL if by_argo else "API client",
            sync=sync,
            declared=declared.sources,
            used=sync.sources or declared.sources,
            reason=reason,
            mixed=False,
            evidence=sync.evidence,
        )

    def _form(self, key: AppKey, sync: SyncRecord, declared: _Declared) -> tuple[Form, str] | None:
        if sync.origin != "manual" or sync.dry_run:
            return None
        if sync.local_manifests:
            return "local-manifests", "local manifests were synced"
        if sync.rollback_to is not None:
            return "rollback", f"a rollback to entry {sync.rollback_to} of the history"
        other = self._other_revision(key, sync, declared)
        return ("revision", f"a sync to {other}, which is not what the application tracks") if other else None

    def _other_revision(self, key: AppKey, sync: SyncRecord, declared: _Declared) -> str:
        """The branch or revision that a sync was asked for beside what the application tracks, "" for none."""
        history, tracked = self._histories[key], {source.target_revision or "HEAD" for source in declared.sources}
        if sync.target and sync.target not in sync.revisions:
            return "" if sync.target in tracked or not tracked else sync.target
        if len(sync.revisions) != 1 or any(source.chart for source in declared.sources) or not sync.revisions[0]:
            return ""
        revision = sync.revisions[0]
        around = _tips_around(history, sync)
        if revision in around or revision in tracked or len(around) < 2:
            return ""
        state = history.at(sync.started_at)
        # A revision that the controller had not compared yet may still be the newest of the branch.
        landed_later = state is not None and self._tracks(state, revision) is True and not _was_tip(history, sync)
        return "" if landed_later else revision[:8]

    def _overridden(self, key: AppKey, sync: SyncRecord, declared: _Declared) -> Bypass | None:
        """What somebody put into the Application, at the first sync that uses it: later ones bring other things."""
        override = declared.override
        state = self._histories[key].at(sync.started_at)
        used = sync.sources or (state.sources if state else ())
        if override is None or used != override.sources or used == declared.sources:
            return None
        earlier = [each for each in self._histories[key].syncs if each.started_at < sync.started_at]
        done = [each for each in earlier if each.phase == "Succeeded" and not each.dry_run]
        if any(each.sources == used and each.started_at >= override.began_at - _SECOND for each in done):
            return None
        only_target = [replace(source, target_revision="") for source in used] == [
            replace(source, target_revision="") for source in declared.sources
        ]
        form: Form = "target-revision" if only_target else "override"
        return Bypass(
            form=form,
            actor=override.actor,
            channel=override.channel,
            sync=sync,
            declared=declared.sources,
            used=used,
            reason=_what_differs(declared.sources, used),
            mixed=form == "override" and bool(done) and done[-1].revisions != sync.revisions,
            evidence=(*override.evidence, *sync.evidence),
        )


def revisions_seen(histories: Mapping[AppKey, ApplicationHistory]) -> tuple[RevisionSeen, ...]:
    """The first record of each revision of each branch, oldest first: it had landed by then."""
    first: dict[tuple[str, str, str], RevisionSeen] = {}
    for history in histories.values():
        for seen in (*_seen_in_states(history), *_seen_in_syncs(history)):
            key = (seen.repo_url, seen.revision, seen.tracked)
            if key not in first or seen.at < first[key].at:
                first[key] = seen
    return tuple(sorted(first.values(), key=lambda seen: (seen.at, seen.repo_url, seen.revision, seen.tracked)))


def _seen_in_states(history: ApplicationHistory) -> Iterator[RevisionSeen]:
    before: tuple[str, ...] = ()
    for state in history.states:
        if state.revisions != before and state.at > BEGINNING:
            compared = parse_sources(child(child(child(state.document, "status"), "sync"), "comparedTo"))
            yield from _paired(compared or state.sources, state.revisions, state.at, state.evidence)
        before = state.revisions


def _seen_in_syncs(history: ApplicationHistory) -> Iterator[RevisionSeen]:
    """Automated ones only: a user may sync to any revision, and an entry of the past is no tip."""
    for sync in history.syncs:
        if sync.origin in ("automated", "self-heal") and sync.evidence:
            yield from _paired(sync.sources, sync.revisions, sync.started_at, sync.evidence[0])


def _paired(
    sources: Sequence[AppSource], revisions: Sequence[str], at: datetime, evidence: Evidence
) -> Iterator[RevisionSeen]:
    if len(sources) != len(revisions):
        return
    for source, revision in zip(sources, revisions, strict=True):
        if revision and not source.chart and not _is_name(source, revision):
            yield RevisionSeen(source.repo_url, revision, at, evidence, source.target_revision)


def _is_name(source: AppSource, revision: str) -> bool:
    """After a sync of local manifests Argo CD gives the branch's name for the revision that it compared with."""
    return revision == (source.target_revision or "HEAD") and _COMMIT.fullmatch(revision) is None


def _declarations(history: ApplicationHistory, hands: _Hands) -> Iterator[_Declared]:
    """What git declares over time. Without a parent in git an Application is declared as it is first recorded."""
    sources: tuple[AppSource, ...] = ()
    before: ApplicationState | None = None
    for state, at in zip(history.states, _in_order(history.states), strict=True):
        if before is None:
            sources = _declared_by_parent(state) or state.sources
            yield _Declared(at, sources, None)
        elif state.sources != before.sources:
            override = hands.behind(history, before, state)
            if override is None:
                sources = state.sources
            held = override if state.sources != sources else None
            yield _Declared(min(at, override.began_at) if override else at, sources, held)
        before = state


def _in_order(states: Sequence[ApplicationState]) -> list[datetime]:
    """When each state had begun at the latest: the clocks of two API servers may disagree with the order."""
    return list(accumulate((state.at for state in reversed(states)), min))[::-1]


def _fields(kind: str) -> tuple[Path, ...]:
    """What of an application says what is applied; of one of Flux the whole spec."""
    return _SOURCES if kind == "Application" else (("spec",),)


def _declared_by_parent(state: ApplicationState) -> tuple[AppSource, ...]:
    """The sources that a parent application applied, where the Application has one that says so."""
    return parse_sources(child(last_applied(state.document), "spec")) if state.tracking_id else ()


def _runs(sync: SyncRecord, at: datetime) -> bool:
    """Whether a sync ran at a moment. Times of whole seconds are such as Argo CD rounded down."""
    if sync.dry_run or at < sync.started_at - _CLOCK:
        return False
    if sync.finished_at is None:
        return True
    return at <= sync.finished_at + (_SECOND if sync.finished_at.microsecond == 0 else _CLOCK)


def _touches(sync: SyncRecord, subject: ObjectId) -> bool:
    if sync.selected:
        return (subject.group, subject.kind, subject.name) in sync.selected
    if not sync.resources:
        return True
    return any(
        (each.group, each.kind, each.name) == (subject.group, subject.kind, subject.name)
        and each.namespace in ("", subject.namespace)
        for each in sync.resources
    )


def _tips_around(history: ApplicationHistory, sync: SyncRecord) -> tuple[str, ...]:
    """The revisions that the controller compared with last before a sync and first after it."""
    before = [state for state in history.states if state.at <= sync.started_at and state.revisions]
    after = [state for state in history.states if state.at > (sync.finished_at or sync.started_at) and state.revisions]
    return (*(before[-1].revisions if before else ()), *(after[0].revisions if after else ()))


def _was_tip(history: ApplicationHistory, sync: SyncRecord) -> bool:
    return any(sync.revisions == state.revisions for state in history.states if state.at < sync.started_at)


def _what_differs(declared: Sequence[AppSource], used: Sequence[AppSource]) -> str:
    if len(declared) != len(used):
        return "other sources in the Application"
    for one, other in zip(declared, used, strict=True):
        if one.target_revision != other.target_revision:
            return f"targetRevision {other.target_revision} in the Application instead of {one.target_revision}"
        if (one.repo_url, one.path, one.chart) != (other.repo_url, other.path, other.chart):
            return "another source in the Application"
        if one.options != other.options:
            return (
                f"{other.kind if other.kind != 'auto' else one.kind} options in the Application that git does not have"
            )
    return "another source in the Application"
