"""Google Cloud Logging entries of the Kubernetes API, mapped to audit Events field by field.

https://cloud.google.com/kubernetes-engine/docs/how-to/audit-logging has the entry. What it lacks, and so stays unknown:
the request URI (dry run, field manager and `force` are invisible), stage and level, groups, UID and `extra` of the
user, `objectRef.uid` and `resourceVersion`. The user whom a request acted as is its `authoritySelector`; who took the
identity of a service account is kept as `extra` (see `DELEGATED`). `status.code` is a google.rpc code, 0 or absent for
success; a refused request gets the HTTP code that the API server must have answered. Elastic's integration takes status
and times out of an entry and puts them where an Event has them.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from auditor.collectors.kube_audit.events import (
    Event,
    Outcome,
    Reference,
    User,
    as_text_map,
    decode_members,
)

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
DELEGATED = "serviceAccountDelegationInfo"
"""Under which `extra` names the real authorities behind a service account, "in the original ordering of the identity
delegation events" (google/cloud/audit/audit_log.proto): who began comes first. "" stands for one without a name."""
_READS = frozenset({"get", "list", "watch"})
_VERBS = {"deleteCollection": "deletecollection"}
_MESSAGES = frozenset({"authentication_info", "request_metadata"})
"""Parts of an AuditLog whose own keys are renamed too; bodies keep theirs."""


class Authentication(Struct):
    """Who asked."""

    email: str = field(name="principalEmail", default="")
    subject: str = field(name="principalSubject", default="")
    selector: str = field(name="authoritySelector", default="")
    delegated: Any = field(name=DELEGATED, default=None)


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
    moved_id: str = field(name="auditID", default="")
    moved_status: Status | None = field(name="responseStatus", default=None)
    moved_timestamp: str = field(name="stageTimestamp", default="")
    moved_labels: Any = field(name="annotations", default=None)


def in_camel_case(members: Mapping[str, Raw]) -> bytes:
    """An entry as the client libraries and the tables of Log Analytics spell it (`proto_payload.audit_log`)."""
    entry = {_camel(key): value for key, value in members.items()}
    payload = _members(members["proto_payload"])
    payload = _members(payload["audit_log"]) if "audit_log" in payload else payload
    entry["protoPayload"] = _encoded(
        {_camel(key): _renamed(value) if key in _MESSAGES else value for key, value in payload.items()}
    )
    return bytes(_encoded(entry))


def _renamed(value: Raw) -> Raw:
    return _encoded({_camel(key): item for key, item in _members(value).items()})


def _members(value: Raw) -> dict[str, Raw]:
    return decode_members(bytes(value)) if bytes(value)[:1] == b"{" else {}


def _encoded(members: Mapping[str, Raw]) -> Raw:
    return Raw(msgspec.json.encode(members))


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


_decode_entry = msgspec.json.Decoder(Entry, strict=False).decode


def decode_entry(text: bytes) -> Entry:
    """A LogEntry; empty where it is none by its types. Raises msgspec.DecodeError."""
    try:
        return _decode_entry(text)
    except msgspec.ValidationError:
        pass
    try:
        return _decode_entry(msgspec.json.encode(_without_nulls(msgspec.json.decode(text))))
    except msgspec.ValidationError:
        return Entry()


def _without_nulls(entry: Any) -> Any:
    """An entry without what `bq query` and CSV write for a field that is not there. Bodies keep their nulls."""
    if not isinstance(entry, dict):
        return entry
    kept = {key: value for key, value in entry.items() if value is not None and value != ""}
    return {key: value if key in _WITH_OWN_NULLS else _without_nulls(value) for key, value in kept.items()}


_WITH_OWN_NULLS = frozenset({"request", "response"})


class Mapped(Event):
    """An entry as an Event."""

    @property
    def dialect(self) -> str:
        """See Event."""
        return "gke"


def event_of(entry: Entry) -> tuple[Event, bool] | None:
    """The Event that an entry stands for, and whether a part of it was left out; None for entries of other services.

    Of a read that is no access only verb and time are mapped, as it is counted and no more.
    """
    payload = entry.payload or entry.table
    if payload is None or payload.service != "k8s.io" or not payload.method:
        return None
    resource, subresource, verb = _named(payload.method)
    received = entry.timestamp or entry.moved_timestamp or entry.receive_timestamp
    audit_id = entry.insert_id or entry.moved_id
    if verb in _READS and not subresource:
        return Mapped(verb=verb, audit_id=audit_id, received=received), False
    who = payload.authentication or Authentication()
    caller = payload.metadata or Metadata()
    address = caller.caller_ip or caller.caller_ip_old
    event = Mapped(
        verb=verb,
        audit_id=audit_id,
        user=User(who.email or who.subject, extra=_delegated(who.delegated)),
        impersonated=User(who.selector) if who.selector else None,
        source_ips=(address,) if address else (),
        user_agent=caller.agent,
        reference=_reference(payload.resource, resource, subresource),
        outcome=_outcome(payload.status or entry.moved_status),
        received=received,
        annotations=as_text_map(entry.labels or entry.moved_labels),
    )
    event.request, cut_request = _body(payload.request, payload.request_json)
    event.response, cut_response = _body(payload.response, payload.response_json)
    return event, cut_request or cut_response or entry.split is not None


def _delegated(history: Any) -> dict[str, tuple[str, ...]]:
    """The names in a delegation history, by `DELEGATED`; keys in it may be spelled either way."""
    names = tuple(map(_authority, history)) if isinstance(history, list) else ()
    return {DELEGATED: names} if any(names) else {}


def _authority(said: Any) -> str:
    members = _camel_members(said)
    name = _camel_members(members.get("firstPartyPrincipal")).get("principalEmail") or members.get("principalSubject")
    return name if isinstance(name, str) else ""


def _camel_members(value: Any) -> dict[str, Any]:
    return {_camel(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def _outcome(status: Status | None) -> Outcome:
    code = (status.code if status else 0) or 0
    return Outcome(
        _HTTP.get(code, code if code == 0 or 16 < code < 1000 else 500), "", status.message if status else ""
    )


def _reference(place: str, resource: str, subresource: str) -> Reference | None:
    """From `core/v1/namespaces/ns/pods/x/exec` and what the method names."""
    group, _, rest = place.partition("/")
    version, _, path = rest.partition("/")
    if not _VERSION.fullmatch(version):
        return None
    parts = path.split("/")
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2 and resource != "namespaces":
        namespace, parts = parts[1], parts[2:]
    return Reference(
        resource or parts[0],
        namespace,
        parts[1] if len(parts) > 1 else "",
        group="" if group == "core" else group,
        version=version,
        subresource=subresource or (parts[2] if len(parts) > 2 else ""),
    )


@lru_cache(4096)
def _named(method: str) -> tuple[str, str, str]:
    """Resource, sub-resource and verb of `io.k8s.core.v1.pods.exec.create`: what stands behind the version."""
    parts = method.split(".")
    at = next((index for index, part in enumerate(parts) if index > 1 and _VERSION.fullmatch(part)), len(parts))
    named = [*parts[at + 1 : -1], "", ""]
    return named[0], named[1], _VERBS.get(parts[-1], parts[-1])


def _body(raw: Raw | UnsetType, text: str) -> tuple[Raw | UnsetType, bool]:
    """A body without the `@type` that Google puts into it, and whether it says that it was left out."""
    data = bytes(raw) if isinstance(raw, Raw) else text.encode()
    if not data or data == b"null":
        return UNSET, False
    if b'"@type"' not in data:
        return Raw(data), False
    if typed := _TYPED.match(data):
        data = b"{" + data[typed.end() :]
        return (UNSET, True) if data == b"{}" else (Raw(data), False)
    return _without_type(data)


_TYPED = re.compile(rb'\{\s*"@type"\s*:\s*"[^"\\]*"\s*(?:,\s*(?=")(?!"value"|"@type")|(?=\}))')
"""`@type` as the first member, before one that is not the list of a JSON Patch."""


def _without_type(data: bytes) -> tuple[Raw | UnsetType, bool]:
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return UNSET, True
    if not isinstance(body, dict) or "@type" not in body:
        return Raw(data), False
    del body["@type"]
    if not body:
        return UNSET, True
    if set(body) == {"value"} and isinstance(body["value"], list):
        body = body["value"]
    return Raw(msgspec.json.encode(body)), False
