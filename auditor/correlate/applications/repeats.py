"""Comparisons of an application that found nothing new, told by the bytes of the API server's answers.

Argo CD compares every few minutes and stores when it did: most of what an audit log says of applications is that, and
none of it needs to be decoded.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from auditor.correlate.writes.drafts import names_only_status
from auditor.correlate.writes.sequence import FINAL_STAGES, Entry, Request, Sighting

_MOVING = {"metadata": ("managedFields", "resourceVersion", "generation"), "status": ("reconciledAt",)}
"""What each comparison stores: it is all that the document of one differs in from that of the next."""

_parts = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

_Said: TypeAlias = Mapping[str, object]


def without_repeats(entries: Sequence[Entry]) -> list[Entry]:
    """The entries of one application in their order, without those that say what the two before and the next one say:
    of comparisons that changed nothing the first and the last after a change stay."""
    said = [_said(entry) for entry in entries]
    return [
        entry
        for place, entry in enumerate(entries)
        if not (place > 1 and said[place] and said[place - 2 : place + 2] == [said[place]] * 4)
    ]


def mere_reports(entries: Sequence[Entry], kept: Sequence[Entry]) -> frozenset[str]:
    """Ids of requests in the order of `entries` that are not in `kept` and that the object's story may pass over too.

    Each only reported, between two others of a later and an earlier version that say the same: a story looks at the
    last of such, and is told the same without those between. None where the order rests on anything but versions.
    """
    if not all(isinstance(entry, Sighting) or _has_version(entry) for entry in entries):
        return frozenset()
    stay = {id(entry) for entry in kept}
    versions = [int(entry.head.meta.resourceVersion) if isinstance(entry, Request) else 0 for entry in entries]
    return frozenset(
        entry.event.id
        for place, entry in enumerate(entries)
        if isinstance(entry, Request)
        and id(entry) not in stay
        and versions[place - 1] < versions[place] < versions[place + 1]
        and _only_reports(entry)
    )


def _has_version(request: Request) -> bool:
    version = request.head.meta.resourceVersion
    return request.event.verb in ("create", "update", "patch") and version.isascii() and version.isdigit()


def _only_reports(request: Request) -> bool:
    event = request.event
    plain = event.verb == "patch" and not event.subresource and event.stage in FINAL_STAGES and event.code != 201
    stays = request.head.meta.deletionTimestamp is None
    return plain and stays and names_only_status(request.bodies.request)


def _said(entry: Entry) -> _Said | None:
    """The document in an answer, by parts, without what each comparison stores; None where that cannot be told."""
    if not isinstance(entry, Request) or entry.event.verb not in ("patch", "update"):
        return None
    if entry.event.subresource not in ("", "status") or not entry.bodies.answers_with_object:
        return None
    try:
        document: dict[str, object] = {**_parts(entry.event.response or b"")}
        for part, moving in _MOVING.items():
            whole = _parts(document.get(part, b"{}"))  # type: ignore[arg-type]
            document[part] = {key: value for key, value in whole.items() if key not in moving}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return document
