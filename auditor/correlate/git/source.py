"""From which source git's word on an application is read: as git declares the Application, else as first recorded.

What a bypass puts into an Application (an override, another revision, a rollback) is thereby not in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from auditor.correlate.applications.courses import group_of
from auditor.correlate.applications.documents import parse_sources
from auditor.correlate.applications.flux_documents import PARENT
from auditor.correlate.applications.flux_sources import declared_sources
from auditor.model.application import ApplicationHistory, ApplicationState
from auditor.model.change import AppKey
from auditor.model.desired import DesiredState, GitReader, Landing
from auditor.model.resource import JsonObject
from auditor.objects.document import child, text

_DEEPEST = 5
"""Applications that declare applications that declare …"""


@dataclass(frozen=True, slots=True)
class Epoch:
    """A span in which the Application had one source by right."""

    state: ApplicationState
    since: Landing | None
    """The commit that began it, None for the first one there is."""
    declared: Landing | None = None
    """The commit that declares the Application, None where git declares none."""
    parent: ApplicationState | None = None
    """The application that declares it."""


def epochs(
    history: ApplicationHistory,
    applications: Mapping[AppKey, ApplicationHistory],
    git: GitReader,
    as_of: datetime,
    depth: int = 0,
) -> tuple[Epoch, ...]:
    """The spans until `as_of`, oldest first; () where nothing of the application is recorded."""
    if not history.states:
        return ()
    first = history.states[0]
    parent = parent_of(history, applications)
    if parent is not None and depth < _DEEPEST:
        declared = tuple(_declared(first, parent, applications, git, as_of, depth))
        if declared:
            return declared
    if any(state.owner_set for state in history.states):
        # Its ApplicationSet puts back whatever somebody else changes: the latest source is the declared one.
        return (Epoch(history.at(as_of) or first, None),)
    return (Epoch(first, None),)


def parent_of(
    history: ApplicationHistory, applications: Mapping[AppKey, ApplicationHistory]
) -> ApplicationHistory | None:
    """The application whose tracking-id the Application bears, if it is the Application's own; under Flux the
    Kustomization that its labels name."""
    if history.key.is_flux:
        return _kustomization_of(history, applications)
    for state in history.states:
        owner, _, place = state.tracking_id.partition(":")
        if not owner or not place.endswith(f"/{history.key.name}"):
            continue
        name = owner.rpartition("_")[2]
        for key, other in applications.items():
            if key.argocd == history.key.argocd and key.name == name and key != history.key:
                return other
    return None


def _kustomization_of(
    history: ApplicationHistory, applications: Mapping[AppKey, ApplicationHistory]
) -> ApplicationHistory | None:
    name, namespace = (history.states[0].labels.get(label, "") for label in PARENT)
    key = AppKey(history.key.argocd, namespace, name, "Kustomization")
    return applications.get(key) if key != history.key else None


def _declared(
    first: ApplicationState,
    parent: ApplicationHistory,
    applications: Mapping[AppKey, ApplicationHistory],
    git: GitReader,
    as_of: datetime,
    depth: int,
) -> Iterator[Epoch]:
    """What the parent's manifests said of the Application, each time it was something else."""
    before: ApplicationState | None = None
    for above, landing, desired in _parent_states(parent, applications, git, as_of, depth):
        manifest = _manifest(desired, first)
        if manifest is None:
            continue
        state = _with_spec(first, child(manifest, "spec"))
        if not state.sources:
            continue
        if before is None or state.sources != before.sources:
            yield Epoch(state, landing if before is not None else None, landing, above)
            before = state


def _parent_states(
    parent: ApplicationHistory,
    applications: Mapping[AppKey, ApplicationHistory],
    git: GitReader,
    as_of: datetime,
    depth: int,
) -> Iterator[tuple[ApplicationState, Landing, DesiredState]]:
    for epoch in epochs(parent, applications, git, as_of, depth + 1)[-1:]:
        landings = git.landings(epoch.state)
        for landing in landings if isinstance(landings, Sequence) else ():
            desired = git.render(epoch.state, landing.sha)
            if landing.at <= as_of and isinstance(desired, DesiredState):
                yield epoch.state, landing, desired


def _manifest(desired: DesiredState, state: ApplicationState) -> JsonObject | None:
    return next(
        (
            manifest
            for key, manifest in desired.objects.items()
            if key.group == group_of(state.key.kind) and (key.kind, key.name) == (state.key.kind, state.key.name)
        ),
        None,
    )


def _with_spec(state: ApplicationState, spec: JsonObject) -> ApplicationState:
    if state.key.is_flux:
        return replace(state, sources=declared_sources(state, spec))
    destination = child(spec, "destination")
    return replace(
        state,
        sources=parse_sources(spec),
        destination_namespace=text(destination, "namespace") or state.destination_namespace,
    )
