"""Lines that are not JSON and yet hold a record: rows of CSV, and records with something written before them."""

import csv
import re

import msgspec

from auditor.collectors.kube_audit.delivery import Delivery
from auditor.collectors.kube_audit.events import moment


def columns(line: bytes) -> tuple[str, ...]:
    """The columns of a CSV header of an export that can hold audit events; empty for any other line."""
    names = tuple(line.decode("utf-8", "replace").strip().replace('"', "").split(","))
    return names if _HEADERS & set(names) and all(_COLUMN.fullmatch(name) for name in names) else ()


_HEADERS = frozenset({"@message", "log_s", "_raw", "AuditId", "message", "textPayload"})
_COLUMN = re.compile(r"[@_A-Za-z][\w.@ \[\]-]*")


def csv_row(line: bytes, names: tuple[str, ...]) -> bytes | None:
    """A CSV row as the JSON object that it stands for; None where it is no such row."""
    try:
        cells = next(csv.reader([line.decode("utf-8", "replace")], strict=True), [])
    except csv.Error:
        return None
    if names and len(cells) == len(names):
        return msgspec.json.encode(dict(zip(names, cells, strict=True)))
    record = next((cell for cell in cells if cell.lstrip().startswith("{")), None)
    return None if record is None else msgspec.json.encode({"_raw": record})


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
