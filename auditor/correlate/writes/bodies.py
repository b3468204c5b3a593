"""The bodies of audit events as JSON: the little that ordering needs, read without decoding the rest, and the whole."""

from functools import cached_property

import msgspec

from auditor.model.facts import AuditEvent
from auditor.model.resource import Json, JsonObject
from auditor.objects.document import value_in


class Meta(msgspec.Struct, frozen=True):
    """What ordering needs of `metadata`."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""  # noqa: N815
    deletionTimestamp: str | None = None  # noqa: N815
    finalizers: list[str] | None = None


class Details(msgspec.Struct, frozen=True):
    """`details` of a Status: the answer to most deletes."""

    uid: str = ""


class Head(msgspec.Struct, frozen=True):
    """The top of a Kubernetes document."""

    kind: str = ""
    apiVersion: str = ""  # noqa: N815
    metadata: Meta | None = None
    details: Details | None = None

    @property
    def meta(self) -> Meta:
        """`metadata`, empty where the document has none."""
        return self.metadata or _NO_META


_NO_META = Meta()
_NO_HEAD = Head()
_heads = msgspec.json.Decoder(Head)


class Bodies:
    """Both bodies of one event, decoded when they are asked for. A body that was cut or left out is None."""

    def __init__(self, event: AuditEvent) -> None:
        self._event = event

    @cached_property
    def head(self) -> Head:
        """The top of the response."""
        return _NO_HEAD if self._event.truncated else _head(self._event.response)

    @property
    def request(self) -> Json:
        """requestObject; None where the record does not hold it."""
        body = value_in(self._event.request)
        return None if self._event.truncated or _is_left_out(body) else body

    @property
    def response(self) -> JsonObject | None:
        """responseObject, whatever its kind."""
        body = value_in(self._event.response)
        return None if self._event.truncated or _is_left_out(body) or not isinstance(body, dict) else body

    @property
    def answers_with_object(self) -> bool:
        """Whether the response is the stored object itself: no Status, list, Scale, metadata only or table."""
        head = self.head
        if self._event.response is None or self._event.truncated or head.metadata is None:
            return False
        if head.kind.endswith("List") and not head.meta.uid:
            return False
        if head.kind in ("Status", "DeleteOptions") and head.apiVersion in ("v1", "meta.k8s.io/v1", ""):
            return False
        return not head.apiVersion.startswith("meta.k8s.io/") and not self.is_scale and bool(head.meta.resourceVersion)

    @property
    def is_scale(self) -> bool:
        """Whether the response is a Scale, which says how many replicas and nothing else."""
        return self.head.kind == "Scale" or (not self.head.kind and self._event.subresource == "scale")


def _head(body: bytes | None) -> Head:
    if body is None:
        return _NO_HEAD
    try:
        return _heads.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _NO_HEAD


def _is_left_out(body: Json) -> bool:
    """EKS writes `{"REDACTED": ...}` where it does not log a body."""
    return isinstance(body, dict) and set(body) == {"REDACTED"}
