"""The history of every application, Argo CD's and Flux's: its states, its syncs and its freezes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from auditor.config import Config
from auditor.correlate.applications import flux_documents, flux_sources
from auditor.correlate.applications.courses import Course, Identify, courses, kind_of
from auditor.correlate.applications.flux_syncs import flux_syncs
from auditor.correlate.applications.freezes import CONTROLLERS, freezes, in_time_order
from auditor.correlate.applications.requests import GROUP, OwnRequests
from auditor.correlate.applications.sync_windows import window_freezes
from auditor.correlate.applications.syncs import syncs
from auditor.correlate.identity.argo_statements import Statements
from auditor.correlate.writes.sequence import once
from auditor.model.application import ApplicationHistory, ApplicationState
from auditor.model.change import AppKey
from auditor.model.facts import ApplicationSnapshot, ArgoEvent, ArgoSettings, AuditEvent
from auditor.objects.document import child


def histories(
    snapshots: Iterable[ApplicationSnapshot],
    requests: OwnRequests,
    argo_events: Iterable[ArgoEvent],
    settings: Iterable[ArgoSettings],
    config: Config,
    identify: Identify,
) -> Mapping[AppKey, ApplicationHistory]:
    """The history of every application that the records know, by key, in the order of keys."""
    kept = tuple(settings)
    return of_courses(courses(snapshots, requests, config, kept), requests, argo_events, kept, config, identify)


def of_courses(
    found: Sequence[Course],
    requests: OwnRequests,
    argo_events: Iterable[ArgoEvent],
    kept: Sequence[ArgoSettings],
    config: Config,
    identify: Identify,
) -> Mapping[AppKey, ApplicationHistory]:
    """The histories of applications whose states in their order are known."""
    statements = Statements(argo_events, config.argocds)
    synced = {
        course.key: flux_syncs(course, identify) if course.key.is_flux else syncs(course, statements, identify)
        for course in found
    }
    frozen = freezes(found, requests, synced, statements, config, identify, kept)
    windows = list(window_freezes(found, requests.others, kept, statements, config, identify))
    return {
        course.key: ApplicationHistory(
            key=course.key,
            states=_slim([step.state for step in course.steps]),
            syncs=synced[course.key],
            freezes=in_time_order(
                [*frozen.get(course.key, ()), *(freeze for freeze in windows if freeze.app == course.key)]
            ),
            removed_at=course.removal.at if course.removal else None,
        )
        for course in found
    }


_IN_SYNCS = frozenset({"operationState", "history"})
"""Of `status`: most of what one state has and the other has not, and the syncs have all of it."""


def _slim(states: Sequence[ApplicationState]) -> tuple[ApplicationState, ...]:
    """The states, but for the last one without what the syncs were made from."""
    return (*(_without_syncs(state) for state in states[:-1]), *states[-1:])


def _without_syncs(state: ApplicationState) -> ApplicationState:
    status = child(state.document, "status")
    if not _IN_SYNCS & status.keys():
        return state
    kept = {key: value for key, value in status.items() if key not in _IN_SYNCS}
    return replace(state, document=state.document | {"status": kept})


def own_requests(events: Iterable[AuditEvent]) -> OwnRequests:
    """Of events that are in memory, and that may come more than once, those that `histories` needs."""
    applications: dict[ApplicationPlace, list[AuditEvent]] = defaultdict(list)
    others: list[AuditEvent] = []
    for event in events:
        if is_of_argocd(event):
            place = application_place(event)
            (others if place is None else applications[place]).append(event)
    edits = [event for asked in applications.values() for event in asked]
    return OwnRequests(applications.values(), edits, once(others))


ApplicationPlace = tuple[str, ...]


def application_place(event: AuditEvent) -> ApplicationPlace | None:
    """The application that a request is on, as requests address it; None where it is on something else."""
    return (event.cluster, kind_of(event), event.namespace, event.name) if kind_of(event) else None


def is_of_argocd(event: AuditEvent) -> bool:
    """Whether a request is on one of the own objects of Argo CD or Flux, or on a controller that deploys."""
    if event.api_group == GROUP:
        return event.resource in {"applications", "appprojects", "applicationsets"}
    if event.api_group in flux_documents.GROUPS or event.api_group == flux_sources.GROUP:
        return True
    return event.resource in {"deployments", "statefulsets"} and any(name in event.name for name in CONTROLLERS)
