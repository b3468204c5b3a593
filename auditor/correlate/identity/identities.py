"""Who sent a request: the authenticated user by the actor rules, or the person whom Argo CD names for its server."""

from dataclasses import replace

from auditor.config import ActorRule
from auditor.correlate.identity import actors
from auditor.correlate.identity.argo_statements import Statements, is_server
from auditor.model.change import Actor, Evidence, Write
from auditor.model.facts import AuditEvent
from auditor.objects import kinds


class Identities:
    """Identifies senders, and remembers by which statement of Argo CD a person was named."""

    def __init__(self, rules: tuple[ActorRule, ...], statements: Statements) -> None:
        self._rules = rules
        self._statements = statements
        self._told: dict[str, Evidence] = {}
        self._orders: set[str] = set()
        self._known: dict[tuple[object, ...], Actor] = {}

    def account(self, event: AuditEvent) -> Actor:
        """The authenticated sender. Equal senders are looked up once: most of a log is a few controllers."""
        sender = (
            event.user,
            event.groups,
            tuple(sorted(event.extra.items())),
            event.impersonated_user,
            event.impersonated_groups,
            event.source_ips,
            event.user_agent,
            event.field_manager,
            event.dialect,
        )
        found = self._known.get(sender)
        if found is None:
            found = self._known[sender] = actors.identify(event, self._rules)
        return found

    def identify(self, event: AuditEvent) -> Actor:
        """The sender, or the person who stands behind Argo CD's server."""
        actor = self.account(event)
        if not is_server(actor):
            return actor
        kind = kinds.kind_of(event.api_group, event.resource) or event.resource
        named = self._statements.author(event, event.api_group, kind)
        if named is None:
            return actor
        self._told[event.id] = named[1]
        if kind == "Application" and self._statements.is_order(event):
            self._orders.add(event.id)
        return named[0]

    def with_evidence(self, write: Write) -> Write:
        """The write with the statement that names its person among its evidence.

        Where no body says what it changed, and the statement tells of a sync or a refresh, it changed nothing else.
        """
        told = [self._told[each.event_id] for each in write.evidence if each.event_id in self._told]
        if not told:
            return write
        may_change = write.outcome in ("changed", "unproven") and not write.fields_known
        ordered = may_change and any(each.event_id in self._orders for each in write.evidence)
        outcome = "bookkeeping" if ordered else write.outcome
        return replace(write, outcome=outcome, evidence=(*write.evidence, *told))
