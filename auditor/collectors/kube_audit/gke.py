"""Google Cloud Logging entries of the Kubernetes API, mapped to audit Events field by field.

https://cloud.google.com/kubernetes-engine/docs/how-to/audit-logging has the entry. What it lacks, and so stays unknown:
the request URI (dry run, field manager and `force` are invisible), stage and level, groups, UID and `extra` of the
user, the impersonated user, `objectRef.uid` and `resourceVersion`. `status.code` is a google.rpc code, 0 or absent for
success; a refused request gets the HTTP code that the API server must have answered.
"""

import re
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from auditor.collectors.kube_audit.events import Event, Outcome, Reference, User, as_text, as_text_map

_HTTP = {
    1: 499,
    2: 500,
    3: 400,
    4: 504,
    5: 404,
    6: 409,
    7: 403,
    8: 429,
    9: 400,
    10: 409,
    11: 400,
    12: 501,
    13: 500,
    14: 503,
    15: 500,
    16: 401,
}
_VERSION = re.compile(r"v\d+((alpha|beta)\d+)?")
_VERBS = {"deleteCollection": "deletecollection"}


class Authentication(Struct):
    """Who asked."""

    email: str = field(name="principalEmail", default="")
    subject: str = field(name="principalSubject", default="")
    selector: str = field(name="authoritySelector", default="")


class Metadata(Struct):
    """From where. Both spellings of the address occur."""

    caller_ip: str = field(name="callerIp", default="")
    caller_ip_old: str = field(name="callerIP", default="")
    agent: str = field(name="callerSuppliedUserAgent", default="")


class Status(Struct):
    """The google.rpc.Status of the answer."""

    code: int | None = None
    message: str = ""


class Payload(Struct):
    """google.cloud.audit.AuditLog."""

    method: str = field(name="methodName", default="")
    resource: str = field(name="resourceName", default="")
    service: str = field(name="serviceName", default="")
    authentication: Authentication | None = field(name="authenticationInfo", default=None)
    metadata: Metadata | None = field(name="requestMetadata", default=None)
    status: Status | None = None
    request: Raw | UnsetType = UNSET
    response: Raw | UnsetType = UNSET
    request_json: str = field(name="requestJson", default="")
    response_json: str = field(name="responseJson", default="")


class Monitored(Struct):
    """The cluster that it belongs to."""

    labels: dict[str, Any] = {}


class Entry(Struct):
    """A LogEntry. `table` is the payload as BigQuery stores it."""

    payload: Payload | None = field(name="protoPayload", default=None)
    table: Payload | None = field(name="protopayload_auditlog", default=None)
    insert_id: str = field(name="insertId", default="")
    timestamp: str = ""
    receive_timestamp: str = field(name="receiveTimestamp", default="")
    resource: Monitored | None = None
    labels: Any = None
    split: Any = None


decode_entry = msgspec.json.Decoder(Entry, strict=False).decode
"""Raises msgspec.DecodeError."""


class Mapped(Event):
    """An entry as an Event."""

    @property
    def dialect(self) -> str:
        """See Event."""
        return "gke"


def event_of(entry: Entry) -> tuple[Event, bool] | None:
    """The Event that an entry stands for, and whether a part of it was left out; None for entries of other services."""
    payload = entry.payload or entry.table
    if payload is None or payload.service != "k8s.io" or not payload.method:
        return None
    caller = payload.metadata or Metadata()
    address = caller.caller_ip or caller.caller_ip_old
    verb = payload.method.rpartition(".")[2]
    event = Mapped(
        verb=_VERBS.get(verb, verb),
        audit_id=entry.insert_id,
        user=User(_principal(payload.authentication)),
        source_ips=(address,) if address else (),
        user_agent=caller.agent,
        reference=_reference(payload),
        outcome=_outcome(payload.status),
        received=entry.timestamp or entry.receive_timestamp,
        annotations=as_text_map(entry.labels),
    )
    event.request, cut_request = _body(payload.request, payload.request_json)
    event.response, cut_response = _body(payload.response, payload.response_json)
    return event, cut_request or cut_response or entry.split is not None


def _principal(authentication: Authentication | None) -> str:
    who = authentication or Authentication()
    return who.email or who.subject or who.selector


def _outcome(status: Status | None) -> Outcome:
    code = (status.code if status else 0) or 0
    return Outcome(_HTTP.get(code, code if code == 0 or code > 16 else 500), "", status.message if status else "")


def _reference(payload: Payload) -> Reference | None:
    """From `core/v1/namespaces/ns/pods/x/exec` and `io.k8s.core.v1.pods.exec.create`."""
    group, _, rest = payload.resource.partition("/")
    version, _, path = rest.partition("/")
    if not _VERSION.fullmatch(version):
        return None
    parts = path.split("/")
    resource, subresource = _named_by_method(payload.method)
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2 and resource != "namespaces":
        namespace, parts = parts[1], parts[2:]
    name = parts[1] if len(parts) > 1 else ""
    subresource = subresource or (parts[2] if len(parts) > 2 else "")
    return Reference(
        resource or parts[0],
        namespace,
        name,
        group="" if group == "core" else group,
        version=version,
        subresource=subresource,
    )


def _named_by_method(method: str) -> tuple[str, str]:
    """Resource and sub-resource: what stands between the version and the verb."""
    parts = method.split(".")
    at = next((index for index, part in enumerate(parts) if index > 1 and _VERSION.fullmatch(part)), len(parts))
    named = parts[at + 1 : -1]
    return (named[0] if named else ""), (named[1] if len(named) > 1 else "")


def _body(raw: Raw | UnsetType, text: str) -> tuple[Raw | UnsetType, bool]:
    """A body without the `@type` that Google puts into it, and whether it says that it was left out."""
    data = bytes(raw) if isinstance(raw, Raw) else text.encode()
    if not data or data == b"null":
        return UNSET, False
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return UNSET, True
    if not isinstance(body, dict):
        return Raw(data), False
    kind = as_text(body.pop("@type", ""))
    if not body:
        return UNSET, bool(kind)
    if set(body) == {"value"} and isinstance(body["value"], list):
        body = body["value"]
    return Raw(msgspec.json.encode(body)), False
