"""Statements in the logs of Argo CD's controller and server: logfmt or JSON, also inside what shippers and stores add.

Only lines that tell of an operation, an edit or a drift become facts. Arguments of calls and of operations are never
kept as they stand: they may hold whole manifests and parameters.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import orjson

from auditor.collectors.argocd.exports import Component, user_in
from auditor.model.facts import ArgoEvent, Origin
from auditor.model.resource import Json
from auditor.objects.redaction import Redactor
from auditor.objects.timestamps import instant, precision

_LOGFMT = re.compile(
    rb'(?:^|[\s"])(?:time="?\d{4}-\d\d-\d\d[T ][^ ]+ +level=|ts="?\d{4}-[^ ]+ +level=|level=\w+ +(?:msg|ts|time)=)'
)
_JSON = re.compile(rb'\{.*"(?:msg|message|log|MESSAGE|_raw|line)" *:')
_PAIR = re.compile(r'(?P<key>[^\s="]+)=(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s"]*))(?=\s|\Z)')
_NESTING = 16
"""Layers of what a store wraps a line in."""
_OWN = frozenset({"time", "ts", "level", "msg"})
_ELSEWHERE = frozenset({"application", "app-namespace", "reason", "user"})
"""Keys that have a field of their own in the fact."""

_WORTH_READING = re.compile(
    rb"reason|Initialized new operation|operation \(phase:|Updating operation state|Retrying operation"
    rb"|Adding resource result|Skipping auto-sync|Sync prevented|automated sync|caused by object update"
    rb"|Finished processing requested app operation|(?:reated|pdated|eleted) [Aa]pplication"
)
_STATEMENT = re.compile(
    r"Initialized new operation|updated '.*' operation \(phase: |Retrying operation|Adding resource result, "
    r"|Skipping auto-sync: (?!application status is|another operation|already attempted|most recent sync)"
    r"|Sync prevented by sync window"
    r"|(?:En|Dis)abled automated sync|Requesting app refresh caused by object update"
    r"|Finished processing requested app operation|(?:[Cc]reated|[Uu]pdated|[Dd]eleted) [Aa]pplication\b"
)
_PHASES = re.compile(r"Updating operation state\. phase: (\w*) -> (\w*), message: ")
_OPERATION = re.compile(
    r"SyncOperation\{Revision:(?P<revision>[^,]*),Prune:(?P<prune>true|false),DryRun:(?P<dry_run>true|false),.*"
    r"\} \{(?P<user>[^{}]*?) ?(?P<automated>true|false)\} \[",
    re.S,
)
_ATTEMPTS = re.compile(r"(?:SelfHeal|AutoHeal)AttemptsCount:(\d+)")
_TARGETS = re.compile(r"TargetRevision:([^,{}]*),")
_MAX_VALUE = 4096
"""Characters of one value that are kept."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line taken apart: its time, message and further keys."""

    at: datetime
    precision: float
    message: str
    fields: Mapping[str, str]


def looks_like_a_log(head: bytes) -> bool:
    """Whether one of the first lines of a file is one of Argo CD's log lines."""
    return is_stored_log(head) or any(_is_log_line(line) for line in head.split(b"\n")[:200])


def is_stored_log(head: bytes) -> bool:
    """Whether a file is one JSON value with log lines in it, or several over lines: the answer of a log store."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not _VALUE.match(start) or b'"apiVersion"' in head or not _STORED.search(head):
        return False
    first, newline, _ = start.partition(b"\n")
    try:
        return not (newline and isinstance(orjson.loads(first), dict))
    except orjson.JSONDecodeError:
        return True


_VALUE = re.compile(rb'\{|\[\s*[{\["]')
_STORED = re.compile(rb'level=\w+ +(?:msg|ts|time)=|"msg\\*" *:')


def is_worth_reading(line: bytes) -> bool:
    """Whether a line can hold a statement: decided on the bytes, as most lines do not."""
    return _WORTH_READING.search(line) is not None


def parse_line(line: bytes) -> LogLine | None:
    """The first log line that a line of a file holds, None for what holds none."""
    return next(parse_lines(line), None)


def parse_lines(line: bytes) -> Iterator[LogLine]:
    """The log lines that a line of a file holds: one as a rule, more where a shipper joined them."""
    return _once(_lines_in(line.decode("utf-8", "replace"), 0))


def lines_of(value: Json) -> Iterator[LogLine]:
    """The log lines in an answer of a log store."""
    return _once(_lines_of(value, 0))


def _once(lines: Iterator[LogLine]) -> Iterator[LogLine]:
    """Each line once: shippers keep the text of a line beside what they parsed of it."""
    seen = set()
    for line in lines:
        if (same := (line.at, line.message, frozenset(line.fields.items()))) not in seen:
            seen.add(same)
            yield line


def _lines_in(text: str, depth: int) -> Iterator[LogLine]:
    text = text.strip().removeprefix("\ufeff")
    start = text.find('{"')
    start = 0 if text.startswith(("{", "[{", '["')) else start
    # A brace may also stand inside a logfmt message: JSON is tried first where the line has no logfmt before it.
    if start >= 0 and not _LOGFMT.search(text[:start].encode()):
        try:
            value = orjson.loads(text[start:])
        except orjson.JSONDecodeError:
            value = None
        if value is not None:
            yield from _lines_of(value, depth + 1)
            return
    if '=""' in text:
        yield from (line for cell in _cells(text) if (line := _logfmt_line(cell)))
    elif line := _logfmt_line(text):
        yield line


def _lines_of(value: Json, depth: int) -> Iterator[LogLine]:
    """A line that was written or stored as JSON, else the lines inside it."""
    if depth > _NESTING:
        return
    if isinstance(value, dict):
        fields = {key: item if isinstance(item, str) else orjson.dumps(item).decode() for key, item in value.items()}
        if (line := _line(fields)) and not _LOGFMT.search(line.message.encode()):
            yield line
            return
    if isinstance(value, str):
        yield from _lines_in(value, depth) if _MAY_HOLD.search(value) else ()
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(item, dict | list | str):
            yield from _lines_of(item, depth + 1)


_MAY_HOLD = re.compile(r'level=|"(?:msg|level)\\*"\s*:')


def _cells(text: str) -> list[str]:
    """The cells of a CSV row, which doubles the quotes of a line."""
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error:
        return []


def read_statement(argocd: str, line: LogLine, origin: Origin, redactor: Redactor) -> ArgoEvent | None:
    """The fact in a log line, None where it tells of nothing that is kept."""
    told = _told(line)
    if told is None:
        return None
    message, fields = told
    component = _component(line)
    user = line.fields.get("user", "") or (user_in(line.message) if component == "server" else "")
    return ArgoEvent(
        argocd=argocd,
        at=line.at,
        precision=line.precision,
        component=component,
        application=_application(line.fields),
        user=redactor.text("" if user == "Unknown user" else user),
        reason=line.fields.get("reason", ""),
        message=redactor.text(message[:_MAX_VALUE]),
        fields={key: redactor.text(value[:_MAX_VALUE]) for key, value in sorted(fields.items())},
        medium="log",
        origin=origin,
    )


def _is_log_line(line: bytes) -> bool:
    if _LOGFMT.search(line):
        return True
    if not _JSON.search(line) or b'"apiVersion"' in line:
        return False
    return parse_line(line) is not None


def _logfmt_line(text: str) -> LogLine | None:
    fields: dict[str, str] = {}
    for match in _PAIR.finditer(text):
        quoted = match.group("quoted")
        fields.setdefault(match.group("key"), match.group("plain") if quoted is None else _unquoted(quoted))
    return _line(fields)


def _unquoted(quoted: str) -> str:
    if "\\" not in quoted:
        return quoted
    try:
        return str(orjson.loads(f'"{quoted}"'))
    except orjson.JSONDecodeError:
        return quoted.replace('\\"', '"').replace("\\\\", "\\")


def _line(fields: dict[str, str]) -> LogLine | None:
    written = fields.get("time") or fields.get("ts") or ""
    at = instant(written)
    if at is None or "msg" not in fields:
        return None
    rest = {key: value for key, value in fields.items() if key not in _OWN and value}
    return LogLine(at, precision(written), fields["msg"], rest)


def _told(line: LogLine) -> tuple[str, Mapping[str, str]] | None:
    """The message and the keys that are kept of a line that tells of something."""
    if line.message.startswith("Initialized new operation"):
        return "Initialized new operation", _safe_keys(line) | _operation(line.message)
    if phases := _PHASES.match(line.message):
        return (line.message, _safe_keys(line)) if phases.group(1) != phases.group(2) else None
    if "reason" in line.fields or _STATEMENT.match(line.message):
        return line.message, _safe_keys(line)
    return None


def _safe_keys(line: LogLine) -> dict[str, str]:
    return {
        key: value
        for key, value in line.fields.items()
        if key not in _ELSEWHERE and not key.startswith(("grpc.", "peer.", "span."))
    }


def _operation(message: str) -> dict[str, str]:
    """What may be kept of an operation that Go printed: never its parameters, patches and manifests."""
    match = _OPERATION.search(message)
    if match is None:
        return {}
    attempts = _ATTEMPTS.search(message)
    kept = {
        "revision": match.group("revision"),
        "prune": match.group("prune"),
        "dry-run": match.group("dry_run"),
        "initiated-by": match.group("user"),
        "automated": match.group("automated"),
        "selective": "" if "Resources:[]SyncOperationResource{}" in message else "true",
        "local-manifests": "" if re.search(r"Manifests:\[\]", message) else "true",
        "self-heal-attempts": attempts.group(1) if attempts else "",
        "target-revisions": " ".join(_TARGETS.findall(message)),
    }
    return {key: value for key, value in kept.items() if value}


def _component(line: LogLine) -> Component:
    if "applicationset" in line.fields or "applicationset" in line.message.lower():
        return "applicationset"
    if "user" in line.fields or ("reason" in line.fields and user_in(line.message)):
        return "server"
    return "controller" if line.fields.get("application") else "other"


def _application(fields: Mapping[str, str]) -> str:
    name = fields.get("application", "")
    namespace = fields.get("app-namespace", "")
    return f"{namespace}/{name}" if namespace and name and "/" not in name else name
