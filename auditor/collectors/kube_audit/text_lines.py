"""Lines that are not JSON and yet hold a record: rows of CSV, and records with something written before them."""

import csv
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from auditor.collectors.kube_audit import flattened
from auditor.collectors.kube_audit.delivery import Delivery
from auditor.collectors.kube_audit.events import moment
from auditor.collectors.kube_audit.values import BROKEN, value_end


def records(text: bytes) -> Iterator[tuple[int, int]]:
    """Where objects begin and end in a text, or strings that hold one; the end is CUT for one that has none.

    A brace that begins nothing is passed over (`{job="audit"} {…}`), but not more than a few.
    """
    at = 0
    for _ in range(_TRIES):
        start = text.find(b"{", at)
        if start < 0:
            return
        if text[start - 1 : start] == b'"' and text[start + 1 : start + 2] == b"\\":
            start -= 1
        end = value_end(text, start)
        if end != BROKEN:
            yield start, end
        if end < 0 and end != BROKEN:
            return
        at = max(end, text.find(b"{", start) + 1)


_TRIES = 32


def plain(line: bytes) -> bytes:
    """A line without the colours of a terminal. JSON has none: it would escape them."""
    return _COLOUR.sub(b"", line) if b"\x1b" in line else line


_COLOUR = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")


def columns(line: bytes) -> tuple[str, ...]:
    """The columns of a CSV header of an export that can hold audit events; empty for any other line."""
    names = tuple(line.decode("utf-8", "replace").strip().replace('"', "").split(","))
    can_hold = not _HEADERS.isdisjoint(name.casefold() for name in names) or flattened.columns(names)
    return names if can_hold and all(_COLUMN.fullmatch(name) for name in names) else ()


_HEADERS = frozenset(
    {"@message", "@rawstring", "log", "log_s", "_raw", "auditid", "message", "textpayload", "content", "line"}
    | {"rawevent", "event", "body", "_source"}
)
_COLUMN = re.compile(r"[@_#A-Za-z][\w.@ \[\]()/#:-]*")
_IN_UTC = " [UTC]"


def csv_row(line: bytes, names: tuple[str, ...]) -> bytes | None:
    """A CSV row as the JSON object that it stands for; None where it is no such row."""
    try:
        cells = next(csv.reader([line.decode("utf-8", "replace")], strict=True), [])
    except csv.Error:
        return None
    if names and len(cells) == len(names):
        return msgspec.json.encode(dict(map(_cell, names, cells)))
    record = next((cell for cell in cells if cell.lstrip().startswith("{")), None)
    return None if record is None else msgspec.json.encode({"_raw": record})


def _cell(name: str, text: str) -> tuple[str, str]:
    """A cell under its column's name. Azure's portal names the zone of a time there, and writes it as Americans do."""
    if not name.endswith(_IN_UTC):
        return name, text
    try:
        at = datetime.strptime(text, "%m/%d/%Y, %I:%M:%S.%f %p").replace(tzinfo=UTC)
    except ValueError:
        return name.removesuffix(_IN_UTC), text
    return name.removesuffix(_IN_UTC), at.isoformat()


def prefixed(line: bytes, start: int) -> tuple[Delivery, str]:
    """What the text before a record (which begins at `start`) says, and the delivery that writes such a prefix."""
    prefix = line[:start].decode("utf-8", "replace").strip()
    if found := _CRI.fullmatch(prefix):
        return Delivery(moment(found[1])), "cri"
    if found := _STAMP.fullmatch(prefix):
        return Delivery(moment(found[1])), "cloudwatch-s3"
    if found := _HOST.fullmatch(prefix):
        return Delivery(stream=found[1]), "openshift"
    if found := _SYSLOG.match(prefix):
        return Delivery(stream=found[1]), "syslog"
    return Delivery(), "prefixed"


_CRI = re.compile(r"(\d{4}-\d\d-\d\dT\S+) std(?:out|err) [FP]")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+Z)")
_HOST = re.compile(r"([A-Za-z0-9][\w.-]*)")
_SYSLOG = re.compile(r"(?:<\d+>)?(?:\d )?(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT\S+) (\S+) ")
