"""What Elastic's integration makes of an event: https://github.com/elastic/integrations, `packages/kubernetes`.

Its pipeline removes `metadata` from both bodies and writes `_` for `.` in the keys of annotations. A body that lost
its metadata is no object any more: compared with another one it would seem to have dropped its labels.
"""

import msgspec
from msgspec import UNSET, Raw

from auditor.collectors.kube_audit.events import Event, decode_members

_WHOLE = frozenset({"create", "update"})
"""Verbs whose request is a whole object; that of a patch names what it changes, and holds without metadata too."""


def restored(event: Event) -> Event:
    """The event without the bodies that are no objects any more, annotations under their own keys."""
    event.annotations = {_own_key(key): value for key, value in event.annotations.items()}
    request, response = _members(event.request), _members(event.response)
    if request is not None and (not request or (event.verb in _WHOLE and "metadata" not in request)):
        event.request = UNSET
    if response is not None and "metadata" not in response:
        event.response = UNSET
    return event


def _own_key(key: str) -> str:
    domain, slash, name = key.partition("/")
    return domain.replace("_", ".") + slash + name


def _members(body: object) -> dict[str, Raw] | None:
    """The members of a body that is an object, else None."""
    data = bytes(body) if isinstance(body, Raw) else b""
    try:
        return decode_members(data) if data[:1] == b"{" else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
