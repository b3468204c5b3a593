"""Audit events as facts: redacted, with their identity and the place of their record."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_plus

import msgspec
from msgspec import Raw, Struct, UnsetType

from auditor.collectors.kube_audit.delivery import Delivery
from auditor.collectors.kube_audit.events import LEFT_OUT, Event, Outcome, Reference, User, moment
from auditor.collectors.kube_audit.keeping import Keep
from auditor.model.facts import AuditEvent, Origin
from auditor.objects.redaction import Redactor

_ANNOTATIONS = ("patch.webhook.", "mutation.webhook.", "audit.k8s.io/truncated", "authorization.k8s.io/")
_TRUNCATED = "audit.k8s.io/truncated"
_NOBODY = User()
_NOTHING = Reference()


@dataclass(frozen=True, slots=True)
class Query:
    """What the API server was asked beside the object, in the URI."""

    dry_run: bool = False
    field_manager: str = ""
    force: bool = False


class _DeleteOptions(Struct):
    dry_run: list[str] | None = msgspec.field(name="dryRun", default=None)


class _Name(Struct):
    name: str = ""
    uid: str = ""


class _Named(Struct):
    metadata: _Name | None = None


_decode_options = msgspec.json.Decoder(_DeleteOptions).decode
_decode_named = msgspec.json.Decoder(_Named).decode
_NO_QUERY = Query()


def query_of(uri: str) -> Query:
    """The query of a request URI."""
    parameters = uri.partition("?")[2]
    return _query(parameters) if parameters else _NO_QUERY


@lru_cache(maxsize=1024)
def _query(parameters: str) -> Query:
    """A client asks the same way every time."""
    pairs = dict(part.partition("=")[::2] for part in reversed(parameters.split("&")))
    return Query(
        unquote_plus(pairs.get("dryRun", "")) not in ("",),
        unquote_plus(pairs.get("fieldManager", "")),
        pairs.get("force", "").lower() in ("true", "1"),
    )


def is_dry_run(event: Event, query: Query) -> bool:
    """Whether the request asked to store nothing: in the URI, and for deletes in the body."""
    if query.dry_run or not event.verb.startswith("delete") or not isinstance(event.request, Raw):
        return query.dry_run
    try:
        return bool(_decode_options(event.request).dry_run)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False


def audit_event(
    event: Event,
    at: datetime,
    cluster: str,
    query: Query,
    dry_run: bool,
    kept: Keep,
    delivery: Delivery,
    origin: Origin,
    redactor: Redactor,
) -> AuditEvent:
    """The fact that an event is. `kept` says which bodies it keeps; `dry_run` what `is_dry_run` said."""
    reference = event.reference or _NOTHING
    impersonated = event.impersonated or _NOBODY
    outcome = event.outcome
    name, uid = reference.name, reference.uid
    if event.verb == "create" and not name:
        name, uid = _named(event.response, name, uid)
    request, cut_request = _body(event.request, kept is Keep.ALL, reference.resource, redactor)
    response, cut_response = _body(event.response, kept is not Keep.BARE, reference.resource, redactor)
    return AuditEvent(
        id=identity(cluster, event, at),
        cluster=cluster,
        audit_id=event.audit_id,
        stage=event.stage,
        level=event.level,
        verb=event.verb,
        at=at,
        stage_at=moment(event.staged),
        user=redactor.name(event.user.username),
        groups=redactor.names(event.user.groups),
        extra=redactor.claims(event.user.extra),
        impersonated_user=redactor.name(impersonated.username),
        impersonated_groups=redactor.names(impersonated.groups),
        source_ips=event.source_ips,
        user_agent=redactor.name(event.user_agent),
        request_uri=redactor.uri(event.uri),
        api_group=reference.group,
        api_version=reference.version,
        resource=reference.resource,
        subresource=reference.subresource,
        namespace=reference.namespace,
        name=name,
        uid=uid,
        object_version=reference.resource_version,
        code=event.code,
        reason=_reason(outcome, redactor),
        dry_run=dry_run,
        field_manager=redactor.name(query.field_manager),
        force=query.force,
        request=request,
        response=response,
        annotations=_annotations(event.annotations, reference.resource, redactor),
        truncated=delivery.cut or cut_request or cut_response or event.annotations.get(_TRUNCATED) == "true",
        dialect=event.dialect,
        stream=delivery.stream,
        origin=origin,
    )


def identity(cluster: str, event: Event, at: datetime) -> str:
    """One event has one identity, however often and in whatever wrapping it was delivered.

    Clients may choose the audit ID, so it alone names nothing: the request, who sent it and its times belong to it.
    Bodies are re-written by deliveries and so stay out, but for records that lack audit ID or times.
    """
    reference = event.reference or _NOTHING
    said: list[Any] = [
        cluster,
        event.audit_id,
        event.stage,
        event.verb,
        event.uri,
        event.user.username,
        event.source_ips,
        event.user_agent,
        event.impersonated.username if event.impersonated else "",
        event.code,
        at,
        moment(event.staged),
        reference.resource,
        reference.subresource,
        reference.namespace,
        reference.name,
    ]
    if not event.audit_id or not (event.received or event.staged):
        said += (_canonical(event.request), _canonical(event.response))
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()[:32]


def _canonical(body: Raw | UnsetType) -> bytes:
    if not isinstance(body, Raw):
        return b""
    try:
        return msgspec.json.encode(msgspec.json.decode(body), order="deterministic")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return bytes(body)


def _body(body: Raw | UnsetType, wanted: bool, resource: str, redactor: Redactor) -> tuple[bytes | None, bool]:
    """A body as it is stored, and whether the record says that it was left out."""
    if not (wanted and isinstance(body, Raw)):
        return None, False
    raw = bytes(body)
    if raw == LEFT_OUT:
        return None, True
    if raw == b"null":
        return None, False
    try:
        raw.decode()
        return redactor.body(raw, resource), False
    except (ValueError, RecursionError):
        return None, True


def _named(response: Raw | UnsetType, name: str, uid: str) -> tuple[str, str]:
    """The name that the API server gave, which only the answer to a create holds."""
    if not isinstance(response, Raw):
        return name, uid
    try:
        found = _decode_named(response).metadata or _Name()
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return name, uid
    return found.name, uid or found.uid


def _reason(outcome: Outcome | None, redactor: Redactor) -> str:
    said = [text for text in (outcome.reason, outcome.message) if text] if outcome else []
    return redactor.text(": ".join(said)) if said else ""


def _annotations(annotations: Mapping[str, str], resource: str, redactor: Redactor) -> dict[str, str]:
    """Those that bear on what was changed and why it was let; the patches of webhooks redacted like bodies."""
    kept = {}
    for key, value in annotations.items():
        name = key.replace("_slash_", "/")
        if not name.startswith(_ANNOTATIONS):
            continue
        kept[name] = _redacted(value, resource, redactor) if name.startswith("patch.") else redactor.name(value)
    return kept


def _redacted(text: str, resource: str, redactor: Redactor) -> str:
    try:
        return redactor.body(text.encode(), resource).decode()
    except (ValueError, RecursionError):
        return ""
