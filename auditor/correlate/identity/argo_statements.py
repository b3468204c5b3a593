"""Who stands behind a request of Argo CD's server: the person that Argo CD's own Event or log names for it.

The API server sees the server's account only. Argo CD tells what a user did right after the request was answered, as
an Event and as a log line: `carol patched resource /Service 'payments-prod'`. A name is joined only where exactly one
user can have made the request.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from auditor.config import ArgoCDConfig
from auditor.model.change import Actor, ActorKind, AppKey, Evidence
from auditor.model.facts import ArgoEvent, AuditEvent
from auditor.objects import kinds
from auditor.objects.document import child, maps, object_in, text

_EARLIER = timedelta(milliseconds=50)
"""By which a statement may seem to lie before its request: the clocks of two programs on two hosts."""
_LATER = timedelta(seconds=3)
"""Within which a statement follows the answer."""
_CLEARLY = 4
"""How many times nearer one user's statement must be than another's to be the one that is meant."""

_SERVICE_ACCOUNT = "system:serviceaccount:"

_RESOURCE = re.compile(
    r"(?:patched|deleted|updated|created) resource (?P<group>[^\s/]*)/(?P<kind>[^\s/']+)(?:/| ')(?P<name>[^\s']+)'?"
    r"|ran action (?P<action>\S+) on resource (?P<agroup>[^/\s]*)/(?P<akind>[^/\s]+)/(?P<aname>\S+)"
)
_APPLICATION = re.compile(
    r"(?:initiated |updated application|created application|deleted application|terminated running operation"
    r"|unset |refreshed )"
)
_ORDER = re.compile(r"\b(?:initiated (?:partial )?(?:sync|rollback)\b|terminated running operation|refreshed )")
_RAN = re.compile(r"\bran action \S+ on resource ")
_PROJECT = re.compile(r"(?:updated|created|deleted) project")


@dataclass(frozen=True, slots=True)
class _Told:
    """One thing that a user did by Argo CD's word, in an Event or a log line or both."""

    user: str
    at: datetime
    precision: float
    message: str
    statement: ArgoEvent


class Statements:
    """What Argo CD says that its users did."""

    def __init__(self, events: Iterable[ArgoEvent], argocds: Iterable[ArgoCDConfig] = ()) -> None:
        self._homes = {argocd.name: (argocd.cluster, argocd.namespace) for argocd in argocds}
        self._on_resources: dict[tuple[str, str, str], list[_Told]] = defaultdict(list)
        self._on_applications: dict[str, list[_Told]] = defaultdict(list)
        self._on_projects: dict[str, list[_Told]] = defaultdict(list)
        self.events = tuple(
            sorted(events, key=lambda event: (event.at, event.medium, event.application, event.message))
        )
        self._by_application: dict[tuple[str, str], list[ArgoEvent]] = defaultdict(list)
        for event in self.events:
            self._by_application[event.argocd, event.application.rpartition("/")[2]].append(event)
            if event.user:
                self._file(event)

    def about(self, application: AppKey) -> list[ArgoEvent]:
        """What Argo CD said of an application, oldest first. A log line often leaves the namespace out."""
        qualified = f"{application.namespace}/{application.name}"
        found = self._by_application.get((application.argocd, application.name), [])
        return [event for event in found if event.application in (application.name, qualified)]

    def author(self, event: AuditEvent, group: str, kind: str) -> tuple[Actor, Evidence] | None:
        """Who asked Argo CD for a write of its server on an object. None where no record says, or not which of two."""
        chosen = self._chosen(event, group, kind)
        return None if chosen is None else (_actor(chosen, event.user), evidence_of(chosen.statement))

    def is_order(self, event: AuditEvent) -> bool:
        """Whether a request on an Application is what somebody told Argo CD to do, and no change of its spec."""
        chosen = self._chosen(event, "argoproj.io", "Application")
        return chosen is not None and _ORDER.search(chosen.message) is not None

    def _chosen(self, event: AuditEvent, group: str, kind: str) -> _Told | None:
        if group == "argoproj.io" and kind == "Application":
            told = self._on_applications.get(event.name, [])
        elif group == "argoproj.io" and kind == "AppProject":
            told = self._on_projects.get(event.name, [])
        else:
            told = self._on_resources.get((group, kind, event.name), []) or self._on_owners(event)
        return _the_one(event, self._on(event, told))

    def _on_owners(self, event: AuditEvent) -> list[_Told]:
        """Actions on what an object that is created belongs to: `create-job` on a CronJob names no Job."""
        told = (each for owner in _owners(event) for each in self._on_resources.get(owner, ()))
        return [each for each in told if _RAN.search(each.message)]

    def _on(self, event: AuditEvent, told: Sequence[_Told]) -> Sequence[_Told]:
        """Without what another Argo CD said, and what was said of another namespace's object of that name."""
        account = (event.cluster, event.user.removeprefix(_SERVICE_ACCOUNT).partition(":")[0])
        speakers = {name for name, home in self._homes.items() if home == account}
        own = [each for each in told if not speakers or each.statement.argocd in speakers]
        if (event.api_group, event.resource) == ("argoproj.io", "applications"):
            elsewhere = re.compile(rf"(?!{re.escape(event.namespace)}/)[^/]+/{re.escape(event.name)}")
            return [each for each in own if not elsewhere.fullmatch(each.statement.application)]
        here = [each for each in own if each.statement.fields.get("dest-namespace") == event.namespace]
        return here or own

    def _file(self, event: ArgoEvent) -> None:
        told = _Told(event.user, event.at, event.precision, event.message, event)
        if match := _RESOURCE.search(event.message):
            found = match.groupdict()
            key = (
                found["group"] or found["agroup"] or "",
                found["kind"] or found["akind"],
                found["name"] or found["aname"],
            )
            self._on_resources[key].append(told)
            if key[:2] == ("argoproj.io", "Application"):
                self._on_applications[key[2]].append(told)
        elif _APPLICATION.search(event.message):
            self._on_applications[event.application.rpartition("/")[2]].append(told)
        elif _PROJECT.search(event.message):
            self._on_projects[event.fields.get("project") or event.fields.get("name", "")].append(told)


def argo_user(name: str, account: str, medium: str) -> Actor:
    """A user of Argo CD as an actor. `account` is the audit user that wrote for them."""
    kind: ActorKind = "shared-credential" if name == "admin" else "ci" if name.startswith("proj:") else "person"
    return Actor(name=name, kind=kind, known_by=f"Argo CD {medium} by {name}", rule="argocd-user", account=account)


def is_server(actor: Actor) -> bool:
    """Whether an actor is Argo CD's server, which acts for whoever is logged in there."""
    return actor.rule.startswith("argocd-server")


def who(
    event: AuditEvent, kind: str, statements: Statements, identify: Callable[[AuditEvent], Actor]
) -> tuple[Actor, tuple[Evidence, ...]]:
    """The actor of a request on one of Argo CD's objects: the person behind its server where Argo CD names one."""
    actor = identify(event)
    named = statements.author(event, "argoproj.io", kind) if is_server(actor) else None
    return (named[0], (named[1],)) if named else (actor, ())


def evidence_of(statement: ArgoEvent) -> Evidence:
    """The pointer to a statement of Argo CD."""
    if statement.medium == "event":
        return Evidence("argocd-event", statement.fields.get("event", statement.message), statement.origin)
    return Evidence("argocd-log", statement.message, statement.origin)


def _the_one(event: AuditEvent, told: Sequence[_Told]) -> _Told | None:
    """The statement on a request: the nearest, where no other user's could be meant as well."""
    end = max(event.stage_at or event.at, event.at) + _LATER
    near = sorted(
        (each for each in told if _reaches(each, event.at - _EARLIER) and each.at <= end),
        key=lambda each: (each.precision > 0.01, abs(each.at - event.at)),
    )
    if not near or len({each.user for each in near}) == 1:
        return near[0] if near else None
    exact = [each for each in near if each.precision <= 0.01]
    if not exact:
        return None
    nearest = exact[0]
    others = [each for each in near if each.user != nearest.user and not _retold(each, exact)]
    distance = max(abs(nearest.at - event.at), timedelta(milliseconds=1))
    if any(each.precision > 0.01 or abs(each.at - event.at) < distance * _CLEARLY for each in others):
        return None
    return nearest


def _owners(event: AuditEvent) -> Iterator[tuple[str, str, str]]:
    """Group, kind and name of what the object that a request creates belongs to."""
    if event.verb != "create" or event.subresource:
        return
    for owner in maps(child(object_in(event.request) or {}, "metadata"), "ownerReferences"):
        yield kinds.group_of(text(owner, "apiVersion")), text(owner, "kind"), text(owner, "name")


def _reaches(told: _Told, moment: datetime) -> bool:
    return told.at + timedelta(seconds=told.precision) >= moment


def _retold(told: _Told, exact: Sequence[_Told]) -> bool:
    """Whether a log line of whole seconds tells what an exact Event tells too."""
    return told.precision > 0.01 and any(
        each.message == told.message and told.at <= each.at + timedelta(seconds=1) and _reaches(told, each.at)
        for each in exact
    )


def _actor(told: _Told, account: str) -> Actor:
    return argo_user(told.user, account, told.statement.medium)
