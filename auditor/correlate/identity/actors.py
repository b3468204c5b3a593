"""Who sent a request: the first rule that matches, the user's own first, then the shipped ones.

Only what the API server authenticated makes an actor GitOps or a controller. What a client says of itself (user
agent, field manager, `initiatedBy`) may narrow a rule or take trust away; where it contradicts the authenticated user,
`disagreement` has the sentence.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import lru_cache
from typing import Protocol, get_args

from auditor.config import ActorRule
from auditor.correlate.identity.actor_rules import RULES, Rule
from auditor.correlate.identity.channels import client
from auditor.model.change import Actor, ActorKind
from auditor.model.facts import AuditEvent

MACHINES: frozenset[ActorKind] = frozenset({"gitops", "autoscaler", "admission", "control-plane", "node", "operator"})
"""Kinds whose writes are expected: no claim of a client makes an actor one of these."""

_SERVICE_ACCOUNT = "system:serviceaccount:"
_CLOUD_ACCOUNT = ".gserviceaccount.com"
_DELEGATED = "serviceAccountDelegationInfo"
_MAIL = re.compile(r"[^\s@:/]+@[^\s@:/]+")
_TOOLS = frozenset({"kubectl", "helm", "terraform", "argocd", "tool"})
_HANDS = _TOOLS | {"console"}
_RULES = {rule.ident: rule for rule in RULES}


class Claims(Protocol):
    """What a client says of itself: an audit event has it, and a write."""

    @property
    def user_agent(self) -> str:
        """As sent, cut at 1,024 characters."""
        ...

    @property
    def field_manager(self) -> str:
        """From the request URI, "" where it has none."""
        ...


@dataclass(frozen=True, slots=True)
class _Request:
    """What of a request decides who sent it. Hashable: a log has few of them, many times."""

    user: str
    groups: tuple[str, ...]
    arn: str
    session: str
    impersonated: str
    user_agent: str
    field_manager: str
    delegated: str = ""
    """On Google Cloud the person who took the identity of the service account that asked."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.user, self.arn) if self.arn else (self.user,)


def identify(event: AuditEvent, rules: tuple[ActorRule, ...] = ()) -> Actor:
    """The actor of a request. A rule of the user's that `rule_problem` rejects never matches."""
    return _decide(_request(event), rules)


def rule_problem(rule: ActorRule) -> str:
    """Why a configured rule cannot be used, "" where it can."""
    if rule.kind not in get_args(ActorKind):
        return f"actor rule {rule.ident}: {rule.kind} is not a kind; use one of {', '.join(get_args(ActorKind))}"
    if not any((rule.user, rule.group, rule.user_agent, rule.field_manager, rule.impersonated_user)):
        return f"actor rule {rule.ident} has no pattern and would match everybody"
    if rule.kind in MACHINES and not (rule.user or rule.group):
        return (
            f"actor rule {rule.ident} makes a {rule.kind} actor from what clients say of themselves; "
            "name its user or group"
        )
    return ""


def disagreement(record: Claims, actor: Actor, initiated_by: str = "") -> str | None:
    """What a client claims and the authenticated user contradicts, as one sentence; None where both agree.

    `initiated_by` is the `operation.initiatedBy.username` that the request itself sent, if it sent one.
    """
    return _claimed_tool(record, actor) or _hand_on_account(record, actor) or _claimed_person(actor, initiated_by)


def _request(event: AuditEvent) -> _Request:
    return _Request(
        user=event.user,
        groups=event.groups,
        arn=_first(event.extra, "arn") or (event.user if event.user.startswith("arn:aws") else ""),
        session=_first(event.extra, "sessionName"),
        impersonated=event.impersonated_user,
        user_agent=event.user_agent,
        field_manager=event.field_manager,
        delegated=_delegating_person(event),
    )


def _delegating_person(event: AuditEvent) -> str:
    """Who began the delegation that Google Cloud recorded, where that is an account of a person; "" for all others."""
    history = event.extra.get(_DELEGATED, ()) if event.dialect == "gke" else ()
    first = history[0] if history else ""
    is_account = event.user.endswith(_CLOUD_ACCOUNT)
    return first if is_account and _MAIL.fullmatch(first) and not first.endswith(_CLOUD_ACCOUNT) else ""


def _first(extra: Mapping[str, tuple[str, ...]], key: str) -> str:
    values = extra.get(key, ())
    return values[0] if values else ""


@lru_cache(maxsize=8192)
def _decide(request: _Request, rules: tuple[ActorRule, ...]) -> Actor:
    for own in rules:
        if not rule_problem(own) and _matches(_shipped_form(own), request):
            return _named(_shipped_form(own), request, known_by=f"rule {own.ident} of the configuration")
    if request.delegated:
        return _behind_account(request, rules)
    for rule in RULES:
        if _matches(rule, request):
            return _doubted(rule, request) or _named(rule, request, known_by=_known_by(rule, request))
    return _unruled(request)


def _behind_account(request: _Request, rules: tuple[ActorRule, ...]) -> Actor:
    """Who took the account's identity, as if they had asked themselves, but for what a machine is told by."""
    person = _decide(replace(request, user=request.delegated, delegated=""), rules)
    kind = "unknown" if person.kind in MACHINES else person.kind
    known_by = f"delegation of the service account's identity, {person.known_by}"
    return replace(person, kind=kind, known_by=known_by, account=request.user)


def _shipped_form(rule: ActorRule) -> Rule:
    kind: ActorKind = next((kind for kind in get_args(ActorKind) if kind == rule.kind), "unknown")
    return Rule(
        ident=rule.ident,
        kind=kind,
        who="",
        users=_given(rule.user),
        groups=_given(rule.group),
        agents=_given(rule.user_agent),
        managers=_given(rule.field_manager),
        impersonated=_given(rule.impersonated_user),
    )


def _given(pattern: str) -> tuple[str, ...]:
    return (pattern,) if pattern else ()


def _matches(rule: Rule, request: _Request) -> bool:
    pairs = (
        (rule.users, request.names),
        (rule.groups, request.groups),
        (rule.agents, (request.user_agent,)),
        (rule.managers, (request.field_manager,)),
        (rule.impersonated, (request.impersonated,) if _is_named(request.impersonated) else ()),
    )
    return all(_any_matches(patterns, values) for patterns, values in pairs if patterns)


def _is_named(impersonated: str) -> bool:
    """A proxy for people impersonates names; `system:` users are what controllers and administrators act as."""
    return bool(impersonated) and not impersonated.startswith("system:")


def _any_matches(patterns: tuple[str, ...], values: tuple[str, ...]) -> bool:
    pattern = _compiled(patterns)
    return any(pattern.fullmatch(value) for value in values)


@lru_cache(maxsize=1024)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in patterns))


def _named(rule: Rule, request: _Request, known_by: str) -> Actor:
    acting_as = request.impersonated or None
    plain = Actor(request.user, rule.kind, acting_as, known_by, rule.ident)
    if rule.named_by == "impersonated":
        return replace(plain, name=request.impersonated, acting_as=None, account=request.user)
    name = request.arn if rule.named_by == "arn" else _session(request) if rule.named_by == "session" else ""
    return replace(plain, name=name, account=request.user) if name and name != request.user else plain


def _session(request: _Request) -> str:
    """The last part of an assumed role's ARN is the session's name; `extra.sessionName` may have it cleaned."""
    return request.arn.rpartition("/")[2] or request.session


def _known_by(rule: Rule, request: _Request) -> str:
    if rule.named_by == "impersonated":
        return f"impersonated user, {rule.who}"
    if rule.named_by in ("session", "arn") and request.arn != request.user:
        return f"extra.arn, {rule.who}"
    return f"group of the authenticated user, {rule.who}" if not rule.users else f"authenticated user, {rule.who}"


def _doubted(rule: Rule, request: _Request) -> Actor | None:
    """A machine's account in a hand's client may be anybody's hand: nobody is then named a machine."""
    if rule.kind not in MACHINES or rule.runs_tools or client(request.user_agent) not in _HANDS:
        return None
    known_by = f"account of {rule.who}, and its client is {_program(request.user_agent)}"
    return Actor(request.user, "unknown", request.impersonated or None, known_by, rule.ident)


def _program(user_agent: str) -> str:
    return user_agent.partition(" ")[0]


def _unruled(request: _Request) -> Actor:
    kind, known_by, ident = _by_form(request)
    return Actor(request.user, kind, request.impersonated or None, known_by, ident)


def _by_form(request: _Request) -> tuple[ActorKind, str, str]:
    """Who a user is that no rule names."""
    program = client(request.user_agent)
    if request.user.startswith(_SERVICE_ACCOUNT):
        return _service_account(program, _program(request.user_agent))
    if request.user.endswith(_CLOUD_ACCOUNT):
        if program in _TOOLS:
            return "ci", "cloud service account that no rule names, with a command-line tool", "cloud-account-tool"
        return "unknown", "cloud service account that no rule names", "cloud-account"
    if not request.user:
        return "unknown", "the record names nobody", "nobody"
    if request.user.startswith("system:"):
        return "unknown", "a user of the system that no rule names", "system-user"
    return "person", "authenticated user", "person"


def _service_account(program: str, said: str) -> tuple[ActorKind, str, str]:
    if program in _TOOLS:
        return "ci", f"service account that no rule names, and its client is {said}", "service-account-tool"
    if program == "console":
        return "shared-credential", f"service account's token in a console ({said})", "service-account-console"
    if not said:
        return "unknown", "service account that no rule names, and the record names no client", "service-account-silent"
    return "operator", "service account that no rule names, and its client is no command-line tool", "service-account"


@dataclass(frozen=True, slots=True)
class _Claim:
    """A tool that names itself, and whose accounts may say so."""

    tool: str
    agents: tuple[str, ...]
    managers: tuple[str, ...]
    kinds: frozenset[ActorKind]
    rules: str
    """Prefix of the idents of further rules whose actors may say so."""


_CLAIMS = (
    _Claim(
        "Argo CD",
        ("argocd-application-controller/*", "argocd-applicationset-controller/*", "argocd-server/*"),
        ("argocd-controller", "argocd-application-controller", "argocd-server", "argocd-applicationset-controller"),
        frozenset({"gitops"}),
        "argocd-",
    ),
    _Claim(
        "Flux",
        ("kustomize-controller/*", "helm-controller/*", "source-controller/*"),
        ("kustomize-controller", "helm-controller"),
        frozenset({"gitops"}),
        "flux-",
    ),
    _Claim(
        "the controller manager of Kubernetes",
        ("kube-controller-manager/*", "kube-scheduler/*"),
        ("kube-controller-manager", "kube-scheduler"),
        frozenset({"control-plane", "autoscaler"}),
        "kube-",
    ),
    _Claim("a kubelet", ("kubelet/*",), ("kubelet",), frozenset({"node", "control-plane"}), "node"),
)


def _claimed_tool(record: Claims, actor: Actor) -> str | None:
    """A known machine under another tool's name (k3s has a helm-controller of its own) disguises no hand."""
    if actor.kind in MACHINES and actor.rule != "service-account":
        return None
    for claim in _CLAIMS:
        if actor.kind in claim.kinds or _may_say_so(claim, record, actor):
            continue
        if _any_matches(claim.agents, (record.user_agent,)):
            return _sentence(actor, "user agent", record.user_agent, claim.tool)
        if record.field_manager in claim.managers:
            return _sentence(actor, "field manager", record.field_manager, claim.tool)
    return None


def _may_say_so(claim: _Claim, record: Claims, actor: Actor) -> bool:
    return actor.rule.startswith(claim.rules) and client(record.user_agent) not in _HANDS


def _sentence(actor: Actor, what: str, value: str, tool: str) -> str:
    return f"The {what} is {value}, which {tool} uses; the authenticated user is {actor.account or actor.name}."


def _hand_on_account(record: Claims, actor: Actor) -> str | None:
    rule = _RULES.get(actor.rule)
    if rule is None or rule.kind not in MACHINES or actor.kind != "unknown":
        return None
    return f"{actor.name} is the account of {rule.who}; the request came from {_program(record.user_agent)}."


def _claimed_person(actor: Actor, initiated_by: str) -> str | None:
    """Argo CD's own components write whom they asked; anybody else only claims it."""
    if not initiated_by or actor.kind in MACHINES or actor.rule.startswith("argocd-server"):
        return None
    if initiated_by.casefold() in (actor.name.casefold(), actor.name.partition("@")[0].casefold()):
        return None
    return f"The operation names {initiated_by} as who asked for it; the authenticated user is {actor.name}."
