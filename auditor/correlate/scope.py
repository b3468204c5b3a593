"""Narrowing a case to what a question is about. What the records say of the rest stays out; coverage stays whole."""

from collections.abc import Callable, Collection, Set
from dataclasses import replace
from datetime import datetime

from auditor.correlate import bearing
from auditor.correlate.bearing import AROUND_EPISODE
from auditor.model.case import Case, Scope
from auditor.model.change import AppKey, Change
from auditor.model.episode import Episode
from auditor.model.finding import Finding
from auditor.model.resource import ObjectId


def narrow(case: Case, scope: Scope) -> Case:
    """The case of a scope: changes, writes, episodes, findings and pairs of its applications, clusters and time."""
    scope = _of_episode(case, scope)
    if not (scope.since or scope.until or scope.clusters or scope.applications):
        return replace(case, scope=scope)
    changes = tuple(change for change in case.changes if _includes(scope, change))
    kept = {change.id for change in changes}
    within = {change.write.object for change in changes}
    during = _during(scope)
    narrowed = replace(
        case,
        scope=scope,
        changes=changes,
        writes=tuple(write for write in case.writes if write.object in within and during(write.at)),
        verdicts={ident: verdict for ident, verdict in case.verdicts.items() if ident in kept},
        applications={key: history for key, history in case.applications.items() if _names(scope, key)},
        episodes=tuple(episode for episode in case.episodes if _holds(scope, episode)),
        staging=tuple(p for p in case.staging if _names(scope, p.staging) or _names(scope, p.production)),
        drift=tuple(each for each in case.drift if _names(scope, each.application) and _in_cluster(scope, each.object)),
        announcements=tuple(each for each in case.announcements if during(each.at)),
        argo_events=tuple(each for each in case.argo_events if during(each.at)),
        findings=tuple(finding for finding in case.findings if _concerns(scope, finding, kept, within)),
    )
    return _of_applications(narrowed, {key.name for key in case.applications}) if scope.applications else narrowed


def _of_applications(case: Case, known: Set[str]) -> Case:
    """Without the commits and messages that are about others of the `known` applications."""
    mine = bearing.names(case.scope)
    return replace(
        case,
        landings=bearing.landings(case.landings, case.applications, case.verdicts.values()),
        announcements=bearing.messages(case.announcements, case.episodes, mine, known - mine),
    )


def _of_episode(case: Case, scope: Scope) -> Scope:
    """An episode's scope is its application and time."""
    episode = next((each for each in case.episodes if each.id == scope.episode), None) if scope.episode else None
    if episode is None:
        return scope
    until = episode.ended_at + AROUND_EPISODE if episode.ended_at else None
    return replace(
        scope,
        applications=(episode.application.name,),
        since=scope.since or episode.began_at - AROUND_EPISODE,
        until=scope.until or until,
    )


def _during(scope: Scope) -> Callable[[datetime], bool]:
    def inside(moment: datetime) -> bool:
        return (scope.since is None or moment >= scope.since) and (scope.until is None or moment <= scope.until)

    return inside


def _names(scope: Scope, key: AppKey | None) -> bool:
    """Applications are named as `name` or `namespace/name`."""
    if not scope.applications:
        return True
    return key is not None and bool({key.name, f"{key.namespace}/{key.name}"} & set(scope.applications))


def _in_cluster(scope: Scope, subject: ObjectId | None) -> bool:
    return not scope.clusters or (subject is not None and subject.cluster in scope.clusters)


def _includes(scope: Scope, change: Change) -> bool:
    """A change of an application's own object (its freeze, its overrides) belongs to it too."""
    write = change.write
    own = write.object.group == "argoproj.io" and write.object.name in scope.applications
    return _during(scope)(write.at) and _in_cluster(scope, write.object) and (own or _names(scope, change.application))


def _holds(scope: Scope, episode: Episode) -> bool:
    if scope.episode:
        return episode.id == scope.episode
    overlaps = (scope.until is None or episode.began_at <= scope.until) and (
        scope.since is None or episode.ended_at is None or episode.ended_at >= scope.since
    )
    return overlaps and _names(scope, episode.application)


def _concerns(scope: Scope, finding: Finding, changes: Collection[str], objects: Collection[ObjectId]) -> bool:
    if finding.ident == "records-gap":
        return True
    if finding.application is not None:
        named = _names(scope, finding.application)
    else:
        named = not scope.applications or finding.object in objects
    overlaps = (scope.until is None or finding.first_at is None or finding.first_at <= scope.until) and (
        scope.since is None or finding.last_at is None or finding.last_at >= scope.since
    )
    return named and overlaps and (_in_cluster(scope, finding.object) or finding.object is None)
