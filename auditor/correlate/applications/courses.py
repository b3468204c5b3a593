"""The states of every Application in their order: from exports, and from the bodies of requests on it.

An Application has no status subresource: the controller's bookkeeping are plain patches in the audit log. With their
bodies every operation, freeze and unfreeze is recorded, with its author, beyond what Argo CD itself remembers.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest

from auditor.config import Config
from auditor.correlate.applications import flux_documents
from auditor.correlate.applications.documents import home_cluster, is_compared_again, parse_application
from auditor.correlate.applications.flux_sources import FluxSources
from auditor.correlate.applications.repeats import mere_reports, without_repeats
from auditor.correlate.applications.requests import (
    GROUP,
    OwnRequests,
    argocd_of,
    document_after,
    is_stored,
    sighting,
)
from auditor.correlate.applications.rollouts import Rollouts
from auditor.correlate.writes.bodies import Bodies
from auditor.correlate.writes.drafts import names_only_status
from auditor.correlate.writes.sequence import Request, Sighting, in_order, once
from auditor.model.application import ApplicationState
from auditor.model.change import Actor, AppKey, Evidence
from auditor.model.facts import ApplicationSnapshot, ArgoSettings, AuditEvent
from auditor.model.resource import JsonObject, Path
from auditor.objects import kinds, patch
from auditor.objects.document import child, object_in

Identify = Callable[[AuditEvent], Actor]

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
"""Before all records: from then on an application is as an export has it that holds no time and that none precedes."""


@dataclass(frozen=True, slots=True)
class Step:
    """One state of an Application, the one before it, and the request that made it; None for a snapshot.

    The request is without its response, which is the state, and one that names nothing but the status without what
    it reports: that is the largest part of a log, and nobody asks for more of it.
    """

    state: ApplicationState
    before: ApplicationState | None
    event: AuditEvent | None


@dataclass(frozen=True, slots=True)
class Course:
    """All states of one Application in their order, and its end."""

    key: AppKey
    steps: tuple[Step, ...]
    removal: AuditEvent | None
    reports: frozenset[str] = frozenset()
    """Ids of requests that the story of the object itself may pass over: see `mere_reports`."""


def courses(
    snapshots: Iterable[ApplicationSnapshot],
    requests: OwnRequests,
    config: Config,
    settings: Iterable[ArgoSettings] = (),
) -> list[Course]:
    """Each application's states in their order, by key."""
    seen: dict[AppKey, list[Sighting]] = defaultdict(list)
    for snapshot in snapshots:
        key = AppKey(snapshot.argocd, snapshot.namespace, snapshot.name, snapshot.kind)
        seen[key].append(sighting(snapshot, group_of(snapshot.kind)))
    known = frozenset(seen)
    kept = tuple(settings)
    sources, rollouts = FluxSources(kept, requests.others, config), Rollouts(kept)
    found = []
    for events in requests.of_applications:
        told = list(events)
        asked = [Request(event, Bodies(event)) for event in once(told) if is_stored(event)]
        if asked:
            key = application_of(asked[0].event, kind_of(asked[0].event), known, config)
            course = _course(key, [*asked, *seen.pop(key, ())], config, sources, rollouts)
            found.append(course if len(asked) == len(told) else replace(course, reports=frozenset()))
    found += [_course(key, shown, config, sources, rollouts) for key, shown in seen.items()]
    return sorted(found, key=lambda each: (each.key.argocd, each.key.namespace, each.key.name, each.key.kind))


def kind_of(event: AuditEvent) -> str:
    """Application, Kustomization or HelmRelease for a request on one, "" for any other."""
    if event.api_group == GROUP:
        return "Application" if event.resource == "applications" else ""
    kind = flux_documents.GROUPS.get(event.api_group, "")
    return kind if kind and kinds.kind_of(event.api_group, event.resource) == kind else ""


def group_of(kind: str) -> str:
    """The API group of a kind of application."""
    return next((group for group, own in flux_documents.GROUPS.items() if own == kind), GROUP)


def application_of(event: AuditEvent, kind: str, known: Container[AppKey], config: Config) -> AppKey:
    """The application of a request: the one known of an Argo CD in this cluster, where just one is."""
    here = [argocd for argocd in config.argocds if argocd.cluster == event.cluster]
    exported = [key for argocd in here if (key := AppKey(argocd.name, event.namespace, event.name, kind)) in known]
    return exported[0] if len(exported) == 1 else AppKey(argocd_of(event, config), event.namespace, event.name, kind)


def asks_for(event: AuditEvent, before: ApplicationState | None, *paths: Path) -> bool:
    """Whether a request names one of these fields: what else its answer shows is an earlier edit's.

    An update that brings an operation is Argo CD's server asking for a sync: it sends the rest back as it had read it.
    """
    body, kind = Bodies(event).request, kind_of(event)
    if body is None or event.subresource:
        return body is None and not event.subresource
    if event.verb != "patch":
        orders = event.verb == "update" and isinstance(body, dict) and bool(body.get("operation"))
        return not orders or ("operation",) in paths
    document, group = before.document if before else None, event.api_group
    form = patch.classify(
        event.verb, body, event.field_manager, event.force, event.request_uri, event.code, group, kind, document
    )
    named = patch.named(body, form, document, group, kind, "", event.field_manager)
    return any(named.covers(path) for path in paths)


def _course(
    key: AppKey, entries: Sequence[Request | Sighting], config: Config, sources: FluxSources, rollouts: Rollouts
) -> Course:
    home = home_cluster(key.argocd, config)
    steps: list[Step] = []
    quiet: list[bool] = []
    removal: AuditEvent | None = None
    document: JsonObject | None = None
    last: datetime | None = None
    ordered = in_order(entries)
    kept = ordered if key.is_flux else without_repeats(ordered)
    for entry in kept:
        if isinstance(entry, Request) and entry.event.verb in ("delete", "deletecollection"):
            removal = entry.event.with_bodies(None, None)
            continue
        if isinstance(entry, Request) and _is_silent(entry):
            last = entry.event.at
            continue
        document, at, evidence, event = _read(entry, document, last, key.kind)
        if document is None:
            continue
        removal = None if event is not None and event.verb == "create" else removal
        before = steps[-1].state if steps else None
        if key.is_flux:
            state = flux_documents.parse_flux(document, key, at, evidence, config, home, sources, before)
        else:
            state = rollouts.marked(parse_application(document, key, at, evidence, config, home, before))
        document, last = state.document, at
        _append(steps, quiet, Step(state, before, event))
    if key.is_flux:
        steps = _with_source_changes(key, steps, sources)
    reports = mere_reports(ordered, kept) if len(kept) < len(ordered) else frozenset[str]()
    return Course(key, tuple(map(_slim, steps)), removal, reports)


def _is_silent(request: Request) -> bool:
    """Whether the record holds nothing of what a request asked for or led to: it shows no state."""
    return not request.bodies.answers_with_object and request.bodies.request is None


def _with_source_changes(key: AppKey, steps: Sequence[Step], sources: FluxSources) -> list[Step]:
    """The steps, with one more wherever a request on its source gave an application of Flux other contents."""
    whole: list[Step] = []
    for step, following in zip_longest(steps, steps[1:]):
        before = whole[-1].state if whole else None
        whole.append(replace(step, before=before))
        spec = child(step.state.document, "spec")
        for edition in sources.editions(key, spec):
            state = whole[-1].state
            within = step.state.at < edition.at and (following is None or edition.at < following.state.at)
            made_of = sources.of(key, spec, edition.at)
            if within and made_of != state.sources:
                changed = replace(state, at=edition.at, sources=made_of, evidence=edition.evidence)
                whole.append(Step(changed, state, None))
    return whole


def _read(
    entry: Request | Sighting, document: JsonObject | None, last: datetime | None, kind: str
) -> tuple[JsonObject | None, datetime, Evidence, AuditEvent | None]:
    if isinstance(entry, Request):
        event = entry.event
        evidence = Evidence("audit", event.audit_id, event.origin, event.id)
        return document_after(entry, document, kind, group_of(kind)), event.at, evidence, event
    snapshot = entry.snapshot
    evidence = Evidence("application", f"{snapshot.name}@{snapshot.resource_version}", snapshot.origin)
    # An export is no older than its latest time says, and no older than the request after which it comes.
    at = max((each for each in (snapshot.at, last) if each is not None), default=BEGINNING)
    return object_in(snapshot.body), at, evidence, None


def _slim(step: Step) -> Step:
    if step.event is None:
        return step
    reports = step.event.verb == "patch" and names_only_status(Bodies(step.event).request)
    request = b'{"status":{}}' if reports else step.event.request
    return replace(step, event=step.event.with_bodies(request, None))


def _append(steps: list[Step], quiet: list[bool], step: Step) -> None:
    """Adds a step. Of reconciliations that changed nothing only the first and the last after a change are kept.

    `quiet` says of each of the steps whether it is one.
    """
    if _is_quiet(step) and quiet[-2:] == [True, True]:
        steps[-1] = replace(step, before=steps[-2].state)
    else:
        steps.append(step)
        quiet.append(_is_quiet(step))


def _is_quiet(step: Step) -> bool:
    """Whether nothing but the time of the last reconciliation, and the object's version, differs from before."""
    if step.before is None or step.event is None:
        return False
    return is_compared_again(step.state.document, step.before.document)
