"""The spans in which an Application was kept from syncing by itself, in every form that Argo CD has.

A freeze is something that a hand does, or that git declares for a time: the parent application takes auto-sync away
and puts it back. A policy that git declares and keeps, and what ApplicationSets do to roll out step by step, freezes
nothing in this sense.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from auditor.config import ArgoCDConfig, Config
from auditor.correlate.applications.courses import Course, Identify, Step, asks_for
from auditor.correlate.applications.documents import SKIP_RECONCILE
from auditor.correlate.applications.flux_documents import PARENT
from auditor.correlate.applications.requests import OwnRequests
from auditor.correlate.applications.unseen_edits import UnseenEdits, is_declared_elsewhere
from auditor.correlate.identity.argo_statements import Statements, who
from auditor.correlate.writes.bodies import Bodies
from auditor.model.application import ApplicationState, Freeze, FreezeForm, SyncRecord
from auditor.model.change import Actor, AppKey, Evidence
from auditor.model.facts import ArgoSettings, AuditEvent
from auditor.model.resource import Path
from auditor.objects.document import child, object_in, text

CONTROLLERS = {
    "application-controller": "Application",
    "kustomize-controller": "Kustomization",
    "helm-controller": "HelmRelease",
}
"""Parts of the names of workloads, and the kind of application that stands still without them."""

_AUTO_SYNC_OFF = ("automated-removed", "automated-disabled")
NOBODY = Actor("", "unknown", known_by="only the states before and after are recorded")
_AUTOMATED: Path = ("spec", "syncPolicy", "automated")
_ROLLBACK_WITHIN = timedelta(minutes=1)
"""Between switching auto-sync off and the rollback itself: the UI does both, one after the other."""


@dataclass(frozen=True, slots=True)
class Hand:
    """What stands behind one end of a freeze: the actor, and the records that say so."""

    actor: Actor
    evidence: tuple[Evidence, ...]
    at: datetime | None = None
    """When it acted, where that is not when the state was recorded."""
    not_before: datetime | None = None
    """The state before, where nothing shows when it acted."""

    @property
    def is_person(self) -> bool:
        """Whether a person, or what a person may use, did it: what a machine ends, it undoes."""
        return self.actor.kind in ("person", "shared-credential", "unknown")


def freezes(
    found: Sequence[Course],
    requests: OwnRequests,
    syncs: Mapping[AppKey, Sequence[SyncRecord]],
    statements: Statements,
    config: Config,
    identify: Identify,
    settings: Iterable[ArgoSettings] = (),
) -> Mapping[AppKey, tuple[Freeze, ...]]:
    """The freezes of every Application that lie in the Application itself or in its controller, oldest first."""
    kept: dict[AppKey, list[Freeze]] = defaultdict(list)
    rolling = {(each.argocd, each.name) for each in settings if _is_rolling(each)}
    unseen = UnseenEdits({course.key: course for course in found}, requests.edits, statements, identify, config)
    for course in found:
        for freeze in _of_application(course, _Hands(statements, identify, unseen), identify):
            by_no_hand = freeze.began_by == NOBODY or is_declared(freeze)
            if by_no_hand and freeze.form in _AUTO_SYNC_OFF and _rolls_out(course, rolling):
                continue
            kept[course.key].append(_as_rollback(freeze, syncs.get(course.key, ())))
    for freeze in _of_controller(found, requests.others, config, identify):
        kept[freeze.app].append(freeze)
    return {key: in_time_order(each) for key, each in kept.items()}


def _is_rolling(settings: ArgoSettings) -> bool:
    """Whether it is an ApplicationSet that switches auto-sync off in its Applications and starts their syncs itself."""
    document = object_in(settings.body) if settings.kind == "ApplicationSet" else None
    return text(child(child(document or {}, "spec"), "strategy"), "type") == "RollingSync"


def _rolls_out(course: Course, rolling: Set[tuple[str, str]]) -> bool:
    return any((course.key.argocd, step.state.owner_set) in rolling for step in course.steps)


def in_time_order(freezes: Sequence[Freeze]) -> tuple[Freeze, ...]:
    """Oldest first."""
    return tuple(sorted(freezes, key=lambda freeze: (freeze.began_at, freeze.form)))


def begin(app: AppKey, form: FreezeForm, state: ApplicationState, hand: Hand, description: str = "") -> Freeze:
    """A freeze that has not ended."""
    began = hand.at or state.at
    return Freeze(app, form, began, hand.actor, None, None, False, "", description, hand.evidence, hand.not_before)


def end(freeze: Freeze, state: ApplicationState, hand: Hand, declared_by: str) -> Freeze:
    """A freeze that ended. What no person ended was undone; `declared_by` names what git declares it in."""
    undone = not hand.is_person and not is_declared(freeze)
    return replace(
        freeze,
        ended_at=hand.at or state.at,
        ended_by=hand.actor,
        undone=undone,
        undone_by=declared_by if undone and hand.actor.kind == "gitops" else "",
        evidence=(*freeze.evidence, *hand.evidence),
    )


def _of_application(course: Course, hands: "_Hands", identify: Identify) -> Iterator[Freeze]:
    open_: dict[str, Freeze] = {}
    for step in course.steps:
        if step.before is None:
            continue
        for group, (form_of, ends, fields) in _FORMS.items():
            form = form_of(step.before, step.state)
            if form is None and not (group in open_ and ends(step.state)):
                continue
            hand = hands.behind(course.key, step, fields)
            if group in open_ and ends(step.state):
                freeze = open_.pop(group)
                if not is_declared(freeze) or hand.actor.kind == "gitops":
                    yield end(freeze, step.state, hand, _declared_by(step.before, hand.actor))
            elif form is not None:
                declared = _declared_by(step.before, hand.actor) if hand.actor.kind == "gitops" else ""
                open_[group] = begin(course.key, form, step.state, hand, f"in {declared}" if declared else "")
    for freeze in open_.values():
        if not is_declared(freeze):
            yield _removed(freeze, course, identify)


def is_declared(freeze: Freeze) -> bool:
    """Whether it came through git: a policy, unless git also ends it."""
    return freeze.began_by.kind == "gitops"


def _removed(freeze: Freeze, course: Course, identify: Identify) -> Freeze:
    """A freeze that was still on at the end: it ended with its application, where that was removed."""
    if course.removal is None:
        return freeze
    return replace(freeze, ended_at=course.removal.at, ended_by=identify(course.removal))


class _Hands:
    """Who stands behind a step: the sender of its request, else the one hand that edited between two states."""

    def __init__(self, statements: Statements, identify: Identify, unseen: UnseenEdits) -> None:
        self._statements = statements
        self._identify = identify
        self._unseen = unseen

    def behind(self, key: AppKey, step: Step, fields: tuple[Path, ...]) -> Hand:
        cited = (step.state.evidence,)
        if step.event is not None and asks_for(step.event, step.before, *fields):
            actor, further = who(step.event, "Application", self._statements, self._identify)
            return Hand(actor, (*cited, *further))
        before = step.before
        if before is None or is_declared_elsewhere(before) or is_declared_elsewhere(step.state):
            return Hand(NOBODY, cited, not_before=before.at if before else None)
        edit = self._unseen.by_one_hand(key, before.at, step.state.at, fields)
        if edit is None:
            return Hand(NOBODY, cited, not_before=before.at)
        return Hand(edit.actor, (*edit.evidence, *cited), edit.at)


def _auto_sync_off(before: ApplicationState, after: ApplicationState) -> FreezeForm | None:
    if not before.automated or after.automated:
        return None
    if after.key.is_flux:
        return "suspended"
    policy = child(child(after.document, "spec"), "syncPolicy")
    return "automated-disabled" if isinstance(policy.get("automated"), dict) else "automated-removed"


def _self_heal_off(before: ApplicationState, after: ApplicationState) -> FreezeForm | None:
    return "self-heal-off" if before.self_heal and after.automated and not after.self_heal else None


def _reconcile_off(before: ApplicationState, after: ApplicationState) -> FreezeForm | None:
    return "skip-reconcile" if after.skip_reconcile and not before.skip_reconcile else None


_FORMS: Mapping[
    str,
    tuple[
        Callable[[ApplicationState, ApplicationState], FreezeForm | None],
        Callable[[ApplicationState], bool],
        tuple[Path, ...],
    ],
] = {
    "auto-sync": (_auto_sync_off, lambda state: state.automated, (_AUTOMATED, ("spec", "suspend"))),
    "self-heal": (_self_heal_off, lambda state: state.self_heal, (_AUTOMATED,)),
    "reconcile": (
        _reconcile_off,
        lambda state: not state.skip_reconcile,
        (("metadata", "annotations", SKIP_RECONCILE),),
    ),
}
"""What begins a freeze, what ends it, and the fields that hold it. One application may be frozen in several forms at
once."""


def _declared_by(state: ApplicationState, actor: Actor) -> str:
    """The ApplicationSet or the parent application that declares an Application."""
    if "applicationset" in actor.rule or "applicationset" in actor.name:
        return state.owner_set
    return parent_of(state.tracking_id) or state.owner_set or state.labels.get(PARENT[0], "")


def parent_of(tracking_id: str) -> str:
    """The application that a tracking-id names: `argocd_root:argoproj.io/Application:…` is root in argocd."""
    return tracking_id.partition(":")[0].rpartition("_")[2]


def _as_rollback(freeze: Freeze, syncs: Sequence[SyncRecord]) -> Freeze:
    """The UI rolls an auto-synced application back by switching auto-sync off first: that freeze is the rollback's."""
    if freeze.form not in _AUTO_SYNC_OFF:
        return freeze
    followed = any(
        sync.rollback_to is not None and freeze.began_at <= sync.started_at <= freeze.began_at + _ROLLBACK_WITHIN
        for sync in syncs
    )
    return replace(freeze, form="rollback") if followed else freeze


def _of_controller(
    found: Sequence[Course], events: Sequence[AuditEvent], config: Config, identify: Identify
) -> Iterator[Freeze]:
    """A controller that is scaled to nothing freezes every application of its Argo CD."""
    for argocd in config.argocds:
        for controller, kind in CONTROLLERS.items():
            own = [each for each in found if (each.key.argocd, each.key.kind) == (argocd.name, kind) and each.steps]
            scaled = [event for event in events if _is_controller(event, controller, argocd)] if own else []
            yield from _while_scaled(own, sorted(scaled, key=lambda event: (event.at, event.id)), identify)


def _is_controller(event: AuditEvent, controller: str, argocd: ArgoCDConfig) -> bool:
    """Whether a request is on a controller of an Argo CD, or of the Flux in its cluster."""
    at_home = event.namespace == argocd.namespace or controller != "application-controller"
    return event.cluster == argocd.cluster and at_home and controller in event.name


def _while_scaled(own: Sequence[Course], events: Sequence[AuditEvent], identify: Identify) -> Iterator[Freeze]:
    open_: list[Freeze] = []
    for event in events:
        replicas = _replicas(event)
        if replicas is None:
            continue
        hand = Hand(identify(event), (Evidence("audit", event.audit_id, event.origin, event.id),))
        if replicas == 0 and not open_:
            open_ = [_scaled(course, event, hand) for course in own if _is_automated(course, event)]
        elif replicas > 0:
            yield from (_scaled_back(freeze, event, hand) for freeze in open_)
            open_ = []
    yield from open_


def _replicas(event: AuditEvent) -> int | None:
    """The replicas that a write of Argo CD's application controller leads to, None for another write."""
    if event.api_group != "apps" or event.dry_run or event.code is None or event.code >= 300:
        return None
    bodies = Bodies(event)
    for body in (bodies.response, bodies.request):
        replicas = child(body, "spec").get("replicas") if isinstance(body, dict) else None
        if isinstance(replicas, int) and not isinstance(replicas, bool):
            return replicas
    return None


def _is_automated(course: Course, event: AuditEvent) -> bool:
    earlier = [step.state for step in course.steps if step.state.at <= event.at]
    return not (earlier[-1] if earlier else course.steps[0].state).waits_for_a_hand


def _scaled(course: Course, event: AuditEvent, hand: Hand) -> Freeze:
    return Freeze(course.key, "controller-scaled", event.at, hand.actor, None, None, False, "", "", hand.evidence)


def _scaled_back(freeze: Freeze, event: AuditEvent, hand: Hand) -> Freeze:
    undone = not hand.is_person
    evidence = (*freeze.evidence, *hand.evidence)
    return replace(freeze, ended_at=event.at, ended_by=hand.actor, undone=undone, evidence=evidence)
