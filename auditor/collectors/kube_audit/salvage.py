"""What is left of an event that a delivery cut: all members before the cut, and none of those after it."""

import re

import msgspec
from msgspec import Raw

from auditor.collectors.kube_audit import events
from auditor.collectors.kube_audit.events import Event
from auditor.collectors.kube_audit.values import CUT, skip_blank, skip_separators, value_end

_TRUNCATED = re.compile(rb"\.{0,3}\s*\[Truncated\.*\]\s*$")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def was_cut(line: bytes) -> bool:
    """Whether a line ends as CloudWatch ends what it cut."""
    return _TRUNCATED.search(line, max(len(line) - 64, 0)) is not None


def salvage(content: bytes) -> Event | None:
    """What is left of an event that a delivery cut (CloudWatch at 256 KB, AKS at 16 KiB), None where too little is."""
    content = _TRUNCATED.sub(b"", content)
    members: dict[str, Raw] = {}
    at = skip_blank(content, 1)
    while content[at : at + 1] == b'"' and (key_end := _string_end(content, at)) > 0:
        colon = skip_blank(content, key_end)
        start = skip_blank(content, colon + 1)
        end = value_end(content, start)
        if content[colon : colon + 1] != b":" or end < 0 or end >= len(content):
            break
        members[msgspec.json.decode(content[at:key_end], type=str)] = Raw(content[start:end].strip())
        at = skip_separators(content, end)
    event = events.lenient(members)
    return event if events.is_audit(event) else None


def _string_end(content: bytes, start: int) -> int:
    found = _STRING.match(content, start)
    return found.end() if found else CUT
