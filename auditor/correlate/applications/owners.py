"""Which application an object belongs to, as of a change, by the state before the write (for a create, after it).

The tracking-id that names its own object decides, else the instance label where Argo CD tracks by it, else the
application's own list of resources, else its rendered manifests.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from auditor.correlate.applications.documents import TRACKING_ID
from auditor.correlate.applications.tracking import LONGEST, Tracking, instance_name
from auditor.model.application import ApplicationHistory, ApplicationState
from auditor.model.change import AppKey
from auditor.model.desired import ManifestKey
from auditor.model.resource import ObjectId
from auditor.objects import kinds

_FLUX = (
    ("HelmRelease", "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"),
    ("Kustomization", "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"),
)

Declares = Callable[[ApplicationState], Collection[ManifestKey]]
"""The manifests of an application at a state, () where they cannot be rendered."""

_Identity = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Ownership:
    """Whose an object is. More than one owner is a finding of its own; `application` is the one that it names."""

    application: AppKey | None
    owners: tuple[AppKey, ...]
    known_by: str
    """tracking-id, instance label, Flux label, status.resources, rendered manifests; "" where nobody owns it."""


NOBODYS = Ownership(None, (), "")


class Owners:
    """Answers whose an object is, from the histories of the applications."""

    def __init__(
        self,
        histories: Mapping[AppKey, ApplicationHistory],
        tracking: Mapping[str, Tracking] | None = None,
        control: Mapping[str, str] | None = None,
        declares: Declares = lambda state: (),
    ) -> None:
        """`tracking` and `control` have by Argo CD how it marks what it owns, and the namespace that it runs in."""
        self._histories = histories
        self._declares = declares
        self._times = {key: [state.at for state in history.states] for key, history in histories.items()}
        self._tracking = tracking or {}
        self._instances: dict[str, list[AppKey]] = defaultdict(list)
        self._named: dict[str, list[AppKey]] = defaultdict(list)
        self._listing: dict[_Identity, set[AppKey]] = defaultdict(set)
        for key, history in histories.items():
            self._named[key.name].append(key)
            for name in () if key.is_flux else instance_name(key, (control or {}).get(key.argocd)):
                for mark in {name, name[:LONGEST]}:
                    self._instances[mark].append(key)
            for resources in {id(state.resources): state.resources for state in history.states}.values():
                for resource in resources:
                    self._listing[_identity(*resource[:4])].add(key)

    def of(self, subject: ObjectId, marks: Mapping[str, str], at: datetime) -> Ownership:
        """Whose `subject` is at a moment. `marks` are its annotations and labels, by the state before the write."""
        listed = self._listed(subject, at)
        for known_by, named in (
            ("tracking-id", self._by_tracking_id(subject, marks, at)),
            ("instance label", self._by_label(subject, marks, at, listed)),
            ("Flux label", self._by_flux(subject, marks, at)),
        ):
            if named is not None:
                return Ownership(named, (named, *(key for key in listed if key != named)), known_by)
        if listed:
            return Ownership(listed[0], listed, "status.resources")
        declared = self._declared(subject, at)
        return Ownership(declared[0], declared, "rendered manifests") if declared else NOBODYS

    @property
    def kinds(self) -> AbstractSet[tuple[str, str]]:
        """Groups and kinds of what the applications list at any time."""
        return {(group, kind) for group, kind, _, _ in self._listing}

    def lists(self, subject: ObjectId) -> bool:
        """Whether an application of the object's cluster lists it at any time."""
        identity = _identity(subject.group, subject.kind, subject.namespace, subject.name)
        return any(
            state.cluster == subject.cluster
            for key in self._listing.get(identity, ())
            for state in self._histories[key].states[-1:]
        )

    def state(self, key: AppKey, at: datetime) -> ApplicationState | None:
        """The state of an application at a moment: the last one before it, else the first one there is."""
        history = self._histories.get(key)
        if history is None or not history.states:
            return None
        return history.states[max(bisect_right(self._times[key], at) - 1, 0)]

    def _listed(self, subject: ObjectId, at: datetime) -> tuple[AppKey, ...]:
        identity = _identity(subject.group, subject.kind, subject.namespace, subject.name)
        found = [key for key in self._listing.get(identity, ()) if self._lists(key, subject, identity, at)]
        return tuple(sorted(found, key=lambda key: (key.argocd, key.namespace, key.name)))

    def _lists(self, key: AppKey, subject: ObjectId, identity: _Identity, at: datetime) -> bool:
        removed = self._histories[key].removed_at
        state = self.state(key, at)
        if state is None or state.cluster != subject.cluster or (removed is not None and removed < at):
            return False
        return identity in _identities(state.resources)

    def _by_tracking_id(self, subject: ObjectId, marks: Mapping[str, str], at: datetime) -> AppKey | None:
        named = tracked_by(subject, marks.get(TRACKING_ID, ""))
        return self._application(named, subject, at) if named else None

    def _by_label(
        self, subject: ObjectId, marks: Mapping[str, str], at: datetime, listed: tuple[AppKey, ...]
    ) -> AppKey | None:
        """By the instance label, where the Argo CD of the application that it names tracks by labels."""
        for argocd, tracking in sorted(self._tracking.items()):
            name = marks.get(tracking.label, "") if tracking.by_label else ""
            if name:
                found = self._application(name, subject, at)
                if found is not None and found.argocd == argocd and (found in listed or not listed):
                    return found
        return None

    def _by_flux(self, subject: ObjectId, marks: Mapping[str, str], at: datetime) -> AppKey | None:
        """By Flux's labels. Each cluster has a Flux of its own, and all of them may have a `flux-system/apps`."""
        for kind, name_label, namespace_label in _FLUX:
            name, namespace = marks.get(name_label, ""), marks.get(namespace_label, "")
            if not name:
                continue
            known = [key for key in self._named.get(name, ()) if (key.namespace, key.kind) == (namespace, kind)]
            here = [key for key in known if (state := self.state(key, at)) is None or state.cluster == subject.cluster]
            return here[0] if here else AppKey("", namespace, name, kind)
        return None

    def _application(self, name: str, subject: ObjectId, at: datetime) -> AppKey | None:
        """The application that a mark names; one that the records do not know otherwise keeps its name.

        Outside Argo CD's own namespace a mark has the application's namespace before its name: `team-a_web`.
        """
        namespace, _, bare = name.rpartition("_")
        known = self._instances.get(name, [])
        fitting = [key for key in known if (state := self.state(key, at)) is None or state.cluster == subject.cluster]
        if len(fitting) > 1:
            home = [key for key in fitting if (state := self.state(key, at)) and _deploys_to(state, subject)]
            fitting = home or fitting
        if len(fitting) > 1:
            listing = [key for key in self._listed(subject, at) if key in fitting]
            fitting = listing or fitting
        if fitting:
            return fitting[0]
        # Known, but deploying to another cluster: a copied mark. Or its destination is not mapped to a cluster.
        unmapped = [key for key in known if (state := self.state(key, at)) is not None and not state.cluster]
        if known and not unmapped:
            return None
        return unmapped[0] if unmapped else AppKey("", namespace, bare)

    def _declared(self, subject: ObjectId, at: datetime) -> tuple[AppKey, ...]:
        found = []
        for key in self._histories:
            state = self.state(key, at)
            if state is None or state.cluster != subject.cluster:
                continue
            if subject.namespace and state.destination_namespace not in ("", subject.namespace):
                continue
            wanted = ManifestKey(subject.group, subject.kind, subject.namespace, subject.name)
            if wanted in self._declares(state):
                found.append(key)
        return tuple(found)


def instance_label(tracking: Mapping[str, Tracking]) -> str:
    """The label that an Argo CD sets as its own, "" where none does."""
    return next((each.label for _, each in sorted(tracking.items()) if each.label), "")


def tracked_by(subject: ObjectId, tracking_id: str) -> str:
    """The application in a tracking-id that names its own object, "" where it names another: then it was copied.

    `app:group/Kind:namespace/name`; for a cluster-scoped object the namespace is the application's destination.
    """
    parts = tracking_id.split(":", 2)
    if len(parts) != 3:
        return ""
    application, group_kind, place = parts
    group, _, kind = group_kind.partition("/")
    namespace, _, name = place.partition("/")
    same_kind = kind == subject.kind and kinds.canonical_group(group, kind) == subject.group
    same_place = name == subject.name and (not subject.namespace or namespace == subject.namespace)
    return application if same_kind and same_place else ""


def _deploys_to(state: ApplicationState, subject: ObjectId) -> bool:
    return state.destination_namespace == subject.namespace


@lru_cache(maxsize=4096)
def _identities(resources: tuple[tuple[str, str, str, str, str], ...]) -> frozenset[_Identity]:
    return frozenset(_identity(*resource[:4]) for resource in resources)


def _identity(group: str, kind: str, namespace: str, name: str) -> _Identity:
    return (kinds.canonical_group(group, kind), kind, namespace, name)
