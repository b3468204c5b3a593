"""The history of every Application: its states, its syncs and its freezes."""

from collections.abc import Iterable, Mapping

from auditor.config import Config
from auditor.correlate.application_courses import GROUP, Identify, courses
from auditor.correlate.argo_identity import Statements
from auditor.correlate.freezes import freezes, in_time_order
from auditor.correlate.sequence import once
from auditor.correlate.sync_windows import window_freezes
from auditor.correlate.syncs import syncs
from auditor.model.application import ApplicationHistory
from auditor.model.change import AppKey
from auditor.model.facts import ApplicationSnapshot, ArgoEvent, ArgoSettings, AuditEvent


def histories(
    snapshots: Iterable[ApplicationSnapshot],
    events: Iterable[AuditEvent],
    argo_events: Iterable[ArgoEvent],
    settings: Iterable[ArgoSettings],
    config: Config,
    identify: Identify,
) -> Mapping[AppKey, ApplicationHistory]:
    """The history of every Application that the records know, by key, in the order of keys.

    Of `events` those on Argo CD's own objects are used, and those that scale its controller; others may be among them.
    """
    own = once(event for event in events if is_of_argocd(event))
    statements = Statements(argo_events)
    found = courses(snapshots, own, config)
    synced = {course.key: syncs(course, statements, identify) for course in found}
    frozen = freezes(found, own, synced, statements, config, identify)
    windows = list(window_freezes(found, own, tuple(settings), statements, config, identify))
    return {
        course.key: ApplicationHistory(
            key=course.key,
            states=tuple(step.state for step in course.steps),
            syncs=synced[course.key],
            freezes=in_time_order(
                [*frozen.get(course.key, ()), *(freeze for freeze in windows if freeze.app == course.key)]
            ),
            removed_at=course.removal.at if course.removal else None,
        )
        for course in found
    }


def is_of_argocd(event: AuditEvent) -> bool:
    """Whether a request is on one of Argo CD's own objects, or on its application controller."""
    if event.api_group == GROUP:
        return event.resource in {"applications", "appprojects", "applicationsets"}
    return event.resource in {"deployments", "statefulsets"} and "application-controller" in event.name
