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
from auditor.collectors.kube_audit.window import LIMIT


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
    text = line.decode("utf-8", "replace").strip().replace('"', "")
    names = tuple(text.split(separator(line)))
    lower = {name.casefold() for name in names}
    can_hold = not _ALONE.isdisjoint(lower) or (len(names) > 1 and not _BESIDE.isdisjoint(lower))
    return names if (can_hold or flattened.columns(names)) and all(map(_COLUMN.fullmatch, names)) else ()


def separator(header: bytes) -> str:
    """What separates the columns of a header: spreadsheets in much of Europe write semicolons."""
    return max(",;\t", key=header.decode("utf-8", "replace").count)


_ALONE = frozenset({"@message", "@rawstring", "log_s", "_raw", "auditid", "message", "textpayload", "rawevent"})
_BESIDE = frozenset({"log", "content", "line", "event", "body", "_source"})
"""Names that are words too: a header has them beside others."""
csv.field_size_limit(LIMIT)  # of the whole process: by itself the library stops at 128 KiB, and events have 256
_COLUMN = re.compile(r"[@_#A-Za-z][\w.@ \[\]()/#:-]*")
_IN_UTC = " [UTC]"


def csv_row(line: bytes, names: tuple[str, ...], between: str) -> bytes | None:
    """A CSV row as the JSON object that it stands for; None where it is no such row."""
    try:
        cells = next(csv.reader([line.decode("utf-8", "replace")], strict=True, delimiter=between), [])
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
