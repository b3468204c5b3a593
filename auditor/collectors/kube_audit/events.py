"""The `audit.k8s.io` Event as it is decoded: typed, with its bodies left as the bytes that they are.

https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/ has the fields. A record with a field of another
type than that page says is decoded a second time, field by field, and keeps all that can be read.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from auditor.objects.timestamps import in_utc

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
FINAL = frozenset({"", "ResponseComplete"})
"""The stages at which a write counts; "" where the delivery has none."""
LEFT_OUT = b'"skipped-too-big-size-object"'
"""What AKS writes where a body would be, and what stands here for one that cannot be read."""


class User(Struct):
    """Who asked."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class Reference(Struct):
    """What was asked for."""

    resource: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    group: str = field(name="apiGroup", default="")
    version: str = field(name="apiVersion", default="")
    resource_version: str = field(name="resourceVersion", default="")
    subresource: str = ""


_CODES = 10**6
"""Below which a status code lies: a larger number is none, and no column of a database holds every number of JSON."""


class Outcome(Struct):
    """What was answered."""

    code: Annotated[int, Meta(gt=-_CODES, lt=_CODES)] | None = None
    reason: str = ""
    message: str = ""


class Birth(Struct):
    """The metadata of an audit Event before 1.8."""

    created: str = field(name="creationTimestamp", default="")


class Event(Struct):
    """One record of the API server. `request` and `response` are the JSON text of the bodies."""

    verb: str = ""
    level: str = ""
    audit_id: str = field(name="auditID", default="")
    stage: str = ""
    uri: str = field(name="requestURI", default="")
    user: User = field(default_factory=User)
    impersonated: User | None = field(name="impersonatedUser", default=None)
    source_ips: tuple[str, ...] = field(name="sourceIPs", default=())
    user_agent: str = field(name="userAgent", default="")
    reference: Reference | None = field(name="objectRef", default=None)
    outcome: Outcome | None = field(name="responseStatus", default=None)
    request: Raw | UnsetType = field(name="requestObject", default=UNSET)
    response: Raw | UnsetType = field(name="responseObject", default=UNSET)
    received: str = field(name="requestReceivedTimestamp", default="")
    staged: str = field(name="stageTimestamp", default="")
    annotations: dict[str, str] = {}
    kind: str = ""
    api_version: str = field(name="apiVersion", default="")
    timestamp: str = ""
    metadata: Birth | None = None
    flattened_user: Any = field(name="user.username", default=None)
    """Not None where the keys were flattened with dots: that is no Event as it stands."""

    @property
    def dialect(self) -> str:
        """Who wrote it: "audit" for an API server, "gke" for a provider's entry that was mapped."""
        return "audit"

    @property
    def is_write(self) -> bool:
        """Whether it asks to store something."""
        return self.verb in WRITES

    @property
    def code(self) -> int | None:
        """The HTTP status of the answer."""
        return self.outcome.code if self.outcome else None

    @property
    def username(self) -> str:
        """The authenticated user."""
        return self.user.username

    @property
    def at(self) -> datetime | None:
        """When the request arrived, else the best that the record says."""
        birth = self.metadata.created if self.metadata else ""
        return next(filter(None, map(moment, (self.received, self.staged, self.timestamp, birth))), None)


decode = msgspec.json.Decoder(Event).decode
"""The quick way: raises msgspec.ValidationError for a field of an unexpected type, DecodeError for what is not JSON."""
_members = msgspec.json.Decoder(dict[str, Raw]).decode
_value = msgspec.json.Decoder().decode
_User = msgspec.json.Decoder(User).decode


def is_audit(event: Event) -> bool:
    """Whether the record is an audit Event at all: some deliveries leave out kind, identifier, stage and times."""
    if event.flattened_user is not None:
        return False
    if event.kind not in ("", "Event") or (event.api_version and not event.api_version.startswith("audit.k8s.io/")):
        return False
    if not event.verb:
        return bool(event.kind and event.api_version)
    if not event.verb.isalpha():
        return False
    told = (event.audit_id, event.reference, event.uri and (event.stage or event.level or event.username))
    return any(told) or bool(event.kind and (event.username or event.outcome))


@lru_cache(maxsize=256)
def moment(text: str) -> datetime | None:
    """A time of a record; None where it is none. One without a zone is UTC: the API server writes no other.

    Each is asked for several times while its record is read.
    """
    try:
        at = datetime.fromisoformat(text.removesuffix(" UTC")) if text and text.isascii() else None
    except ValueError:
        return None
    if at is None:
        return None
    return in_utc(at.replace(tzinfo=UTC) if at.tzinfo is None else at)


def decode_members(raw: bytes) -> dict[str, Raw]:
    """The members of an object as text. Raises msgspec.DecodeError."""
    return _members(raw)


def lenient(members: Mapping[str, Raw]) -> Event:
    """An Event from members of any type: what is not of the type that it should be is left out."""
    event = Event()
    for name, attribute in _TEXTS.items():
        if name in members:
            setattr(event, attribute, as_text(_plain(members[name])))
    event.flattened_user = members.get("user.username")
    event.user = _user(members.get("user")) or User()
    event.impersonated = _user(members.get("impersonatedUser"))
    event.source_ips = as_texts(_plain(members.get("sourceIPs")))
    event.reference = _reference(_plain(members.get("objectRef")))
    event.outcome = _outcome(_plain(members.get("responseStatus")))
    event.request = _opened(members.get("requestObject", UNSET))
    event.response = _opened(members.get("responseObject", UNSET))
    event.annotations = as_text_map(_plain(members.get("annotations")))
    metadata = _plain(members.get("metadata"))
    if isinstance(metadata, dict):
        event.metadata = Birth(as_text(metadata.get("creationTimestamp")))
    return event


_TEXTS = {
    "verb": "verb",
    "level": "level",
    "auditID": "audit_id",
    "stage": "stage",
    "requestURI": "uri",
    "userAgent": "user_agent",
    "requestReceivedTimestamp": "received",
    "stageTimestamp": "staged",
    "kind": "kind",
    "apiVersion": "api_version",
    "timestamp": "timestamp",
}


def as_text(value: Any) -> str:
    """Text as it is, a number as its digits, "" for all else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def as_texts(value: Any) -> tuple[str, ...]:
    """The texts of a list; a text alone is a list of one."""
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def as_text_map(value: Any) -> dict[str, str]:
    """The members of an object that are text."""
    return {key: item for key, item in value.items() if isinstance(item, str)} if isinstance(value, dict) else {}


def _plain(raw: Raw | None) -> Any:
    """A member's value; JSON inside a text (table exports write objects so) is opened."""
    value = None if raw is None else _value(raw)
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return _value(value)
        except msgspec.DecodeError:
            return value
    return value


def _opened(body: Raw | UnsetType) -> Raw | UnsetType:
    """A body that a table holds as text."""
    if isinstance(body, Raw) and bytes(body)[:2] in (b'"{', b'"['):
        return Raw(msgspec.json.decode(body, type=str).encode())
    return body


def _user(raw: Raw | None) -> User | None:
    value = _plain(raw)
    if isinstance(value, str) and value[:1] not in ("{", "["):
        return User(value)
    if not isinstance(value, dict):
        return None
    extra = value.get("extra")
    return User(
        as_text(value.get("username")),
        as_text(value.get("uid")),
        as_texts(value.get("groups")),
        {key: as_texts(item) for key, item in extra.items()} if isinstance(extra, dict) else {},
    )


def _reference(value: Any) -> Reference | None:
    if not isinstance(value, dict):
        return None
    names = ("resource", "namespace", "name", "uid", "apiGroup", "apiVersion", "resourceVersion", "subresource")
    return Reference(*(as_text(value.get(name)) for name in names))


def _outcome(value: Any) -> Outcome | None:
    if not isinstance(value, dict):
        return None
    code = value.get("code")
    if isinstance(code, str) and code.isdigit():
        code = int(code[:6])
    whole = code if isinstance(code, int) and not isinstance(code, bool) and abs(code) < _CODES else None
    return Outcome(whole, as_text(value.get("reason")), as_text(value.get("message")))
