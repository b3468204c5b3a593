"""Edits of an application whose contents no record holds: that somebody made one, when, and who.

Two states tell that something changed between them. Who did it is known where the audit log (without bodies) and what
Argo CD said name one hand for that time, and leave no room for another.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from auditor.config import Config
from auditor.correlate.applications.courses import Identify, application_of, asks_for, kind_of
from auditor.correlate.applications.flux_documents import PARENT
from auditor.correlate.applications.requests import is_stored
from auditor.correlate.identity.actors import MACHINES
from auditor.correlate.identity.argo_statements import Statements, argo_user, evidence_of, is_server
from auditor.model.application import ApplicationState
from auditor.model.change import Actor, AppKey, Evidence
from auditor.model.facts import AuditEvent
from auditor.model.resource import Path

_EDITED = re.compile(r"\b(?:updated|patched) application\b|\bunset ")
_JOINED_WITHIN = timedelta(seconds=3)
STATUS_WRITERS = frozenset({"argocd-application-controller", "argocd-manager", "flux-controller"})
"""Rules of those who report into the object all day, and edit a spec only where another application declares it."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit by a hand."""

    at: datetime
    actor: Actor
    evidence: tuple[Evidence, ...]


def is_declared_elsewhere(state: ApplicationState) -> bool:
    """Whether a parent or a set declares an application, so that a controller may have edited it."""
    return bool(state.tracking_id or state.owner_set or state.labels.get(PARENT[0]))


class UnseenEdits:
    """Answers who edited an application between two moments."""

    def __init__(
        self,
        applications: Mapping[AppKey, object],
        events: Iterable[AuditEvent],
        statements: Statements,
        identify: Identify,
        config: Config,
    ) -> None:
        self._statements = statements
        self._identify = identify
        self._requests: dict[AppKey, list[AuditEvent]] = defaultdict(list)
        for event in events:
            kind = kind_of(event)
            if kind and is_stored(event) and event.verb in ("update", "patch") and not event.subresource:
                self._requests[application_of(event, kind, applications, config)].append(event)

    def by_one_hand(self, key: AppKey, after: datetime, until: datetime, fields: tuple[Path, ...]) -> Edit | None:
        """The first edit in `(after, until]` that may be one of `fields`, where all of them are one hand's; None where
        that is not shown."""
        near = (event for event in self._requests.get(key, ()) if after < event.at <= until)
        requests = [event for event in near if asks_for(event, None, *fields)]
        found = [*self._told(key, after, until)]
        for event in requests:
            actor = self._identify(event)
            if actor.rule in STATUS_WRITERS:
                continue
            if actor.kind in MACHINES:
                return None
            if is_server(actor) or actor.rule == "argocd-user":
                if event.verb == "update" and self._statements.author(event, "argoproj.io", "Application") is None:
                    return None
                found = [_joined(edit, event, actor) for edit in found]
            else:
                found.append(Edit(event.at, actor, (Evidence("audit", event.audit_id, event.origin, event.id),)))
        if len({edit.actor.name for edit in found}) != 1:
            return None
        first = min(found, key=lambda edit: (edit.at, edit.actor.known_by))
        known_by = f"{first.actor.known_by}; records before and after it differ, and none has its contents"
        return replace(first, actor=replace(first.actor, known_by=known_by))

    def _told(self, key: AppKey, after: datetime, until: datetime) -> Iterator[Edit]:
        """What Argo CD itself tells of edits."""
        for statement in self._statements.about(key):
            latest = statement.at + timedelta(seconds=statement.precision)
            if statement.user and latest > after and statement.at <= until and _EDITED.search(statement.message):
                actor = argo_user(statement.user, "", statement.medium)
                yield Edit(statement.at, actor, (evidence_of(statement),))


def _joined(edit: Edit, event: AuditEvent, actor: Actor) -> Edit:
    """What Argo CD told of an edit, with the first request of its server that it follows on."""
    if edit.actor.account or edit.actor.rule != "argocd-user" or abs(edit.at - event.at) > _JOINED_WITHIN:
        return edit
    account = actor.account or event.user
    evidence = (*edit.evidence, Evidence("audit", event.audit_id, event.origin, event.id))
    return Edit(min(edit.at, event.at), replace(edit.actor, account=account), evidence)
