"""Incident timelines that people keep: CSV, JSON rows, and Markdown tables and lists.

A row has a time and a text; who wrote it, the applications and the channel where it has such columns.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo

from auditor.collectors.announcements.written_time import CLOCK, ZONE, source_zone, written_moment
from auditor.model.facts import Announcement, Origin
from auditor.model.resource import Json
from auditor.objects.redaction import Redactor

_COLUMNS: Mapping[str, frozenset[str]] = {
    "time": frozenset({"time", "at", "when", "timestamp", "datetime", "date/time", "ts", "utc", "created_at"}),
    "date": frozenset({"date", "day"}),
    "who": frozenset({"who", "author", "user", "by", "person", "name", "from", "sender", "posted by", "reporter"}),
    "email": frozenset({"email", "e-mail", "mail", "author_email"}),
    "text": frozenset(
        {"text", "message", "what", "event", "description", "note", "notes", "entry", "details", "comment"}
        | {"announcement", "body", "update", "summary", "action"}
    ),
    "apps": frozenset({"app", "apps", "application", "applications", "service", "services"}),
    "channel": frozenset({"channel", "room"}),
}
_QUALIFIED = re.compile(rf"(.*?)\s*[\[(]({ZONE})[\])]\Z")
_HEADING_DAY = re.compile(r"\s*(?:#+.*?|\**(?:date|day)\**\s*:.*?|\**)\b(\d{4})-(\d\d)-(\d\d)\b[^|]*\Z", re.I)
_STATED_ZONE = re.compile(rf"\W*(?:all )?times?(?: are)?(?: given)?(?: in)?:?\s*({ZONE})\W*\Z", re.I)
_ENTRY = re.compile(
    rf"\s*(?:[-*+]|\d+[.)])?\s*[\[(`*_]*(?P<time>(?:\d{{4}}-\d\d-\d\d[T ]+)?{CLOCK}(?: ?(?:{ZONE})\b)?)"
    r"[\])`*_:]*\s*[-–—|:,]*\s*(?P<rest>\S.*)\Z"
)
_AUTHOR = re.compile(
    r"(?:@(?P<handle>[\w.+-]+)|\*\*(?P<bold>[^*]{1,60}?):?\*\*|<?(?P<mail>[\w.+-]+@[\w.-]+\.\w+)>?)\s*(?::|[-–—]|said\b)?\s*"
    r"(?P<text>\S.*)\Z"
)
_SEPARATOR = re.compile(r"\s*\|?(?:\s*:?-{3,}:?\s*\|)*\s*:?-{3,}:?\s*\|?\s*\Z")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a timeline as written, with the bytes `[start, end)` that hold it."""

    cells: Mapping[str, str]
    start: int
    end: int
    zone: str = ""
    day: date | None = None


def read_row(row: Row, origin: Origin, zone: tzinfo | None, redactor: Redactor) -> Announcement | str:
    """The announcement in a row, or the reason why it is none."""
    cells = row.cells
    if not cells.get("text", "").strip():
        return "a row without a text"
    written = " ".join(filter(None, (cells.get("date", "").strip(), cells.get("time", "").strip())))
    at = written_moment(written, source_zone(row.zone) or zone, row.day)
    if isinstance(at, str):
        return at
    who, email = cells.get("who", "").strip(), cells.get("email", "").strip()
    if not email and re.fullmatch(r"[^@\s]+@[^@\s]+\.\w+", who):
        email = who
    return Announcement(at, who, email, redactor.text(_text(cells)), cells.get("channel", "").strip(), origin)


def csv_rows(content: bytes) -> Iterator[Row] | None:
    """The rows of a CSV with a header that names a time and a text, None where it has none.

    Lines before the header are a title, as spreadsheets have one.
    """
    lines = content.decode("utf-8", "replace").splitlines(keepends=True)
    for number, line in enumerate(lines[:_TITLE]):
        header = line.removeprefix("\ufeff")
        delimiter = max(",;\t", key=header.count)
        columns = _columns(next(csv.reader([header], delimiter=delimiter), []))
        if _suffices(columns):
            return _csv_rows(lines, number + 1, delimiter, columns)
    return None


_TITLE = 20
"""Lines among which the header of a CSV must be."""


def json_row(document: Mapping[str, Json], start: int, end: int) -> Row | None:
    """An object as a row, None where it has no time or no text."""
    names = list(document)
    columns = _columns(names)
    if not _suffices(columns):
        return None
    values = [_cell(document[name]) for name in names]
    return _row(columns, values, start, end)


def markdown_rows(content: bytes) -> Iterator[Row]:
    """The entries of a Markdown page: rows of tables, and lines that begin with a time."""
    day: date | None = None
    zone, offset = "", 0
    columns: list[tuple[str, str]] = []
    previous = ""
    for raw in content.splitlines(keepends=True):
        line = raw.decode("utf-8", "replace").strip("\r\n")
        if _SEPARATOR.match(line) and "|" in previous:
            columns = _columns(_cells(previous))
        elif "|" in line and columns and _suffices(columns):
            yield _dated(_row(columns, _cells(line), offset, offset + len(raw)), day, zone)
        else:
            columns = [] if "|" not in line else columns
            day, zone = _day_in(line) or day, _zone_in(line) or zone
            if entry := _entry(line, offset, len(raw)):
                yield _dated(entry, day, zone)
        previous = line
        offset += len(raw)


def _csv_rows(lines: Sequence[str], first: int, delimiter: str, columns: list[tuple[str, str]]) -> Iterator[Row]:
    place = {"end": len("".join(lines[:first]).encode())}

    def feed() -> Iterator[str]:
        for line in lines[first:]:
            place["end"] += len(line.encode())
            yield line

    start = place["end"]
    try:
        for values in csv.reader(feed(), delimiter=delimiter):
            if any(value.strip() for value in values):
                yield _row(columns, values, start, place["end"])
            start = place["end"]
    except csv.Error:
        yield Row({}, start, place["end"])


def _columns(header: Sequence[str]) -> list[tuple[str, str]]:
    """What each column holds, and the zone that its header names: `Time (UTC)`."""
    found = []
    for name in header:
        qualified = _QUALIFIED.match(name.strip())
        bare = (qualified.group(1) if qualified else name).strip().strip("*_` ").lower()
        role = next((role for role, names in _COLUMNS.items() if bare in names), "")
        zone = qualified.group(2) if qualified else "UTC" if bare == "utc" else ""
        found.append((role, zone))
    return found


def _suffices(columns: list[tuple[str, str]]) -> bool:
    roles = {role for role, _ in columns}
    return "text" in roles and bool(roles & {"time", "date"})


def _row(columns: list[tuple[str, str]], values: Sequence[str], start: int, end: int) -> Row:
    cells: dict[str, str] = {}
    for (role, _), value in zip(columns, values, strict=False):
        if role:
            cells.setdefault(role, value)
    return Row(cells, start, end, next((zone for role, zone in columns if zone and role in {"time", "date"}), ""))


def _dated(row: Row, day: date | None, zone: str) -> Row:
    return Row(row.cells, row.start, row.end, row.zone or zone, day)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _cell(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(_cell(item) for item in value)
    return "" if value is None or isinstance(value, dict) else str(value)


def _text(cells: Mapping[str, str]) -> str:
    """The text, with the applications before it where it does not name them itself."""
    said, apps = cells["text"].strip(), cells.get("apps", "").strip()
    return f"{apps}: {said}" if apps and apps not in said else said


def _day_in(line: str) -> date | None:
    match = _HEADING_DAY.match(line)
    try:
        return date(*(int(part) for part in match.groups())) if match else None
    except ValueError:
        return None


def _zone_in(line: str) -> str:
    match = _STATED_ZONE.match(line)
    return match.group(1) if match else ""


def _entry(line: str, offset: int, length: int) -> Row | None:
    """A line that begins with a time. Only what is marked as a name is one: `web: restarted` names no person."""
    match = _ENTRY.match(line)
    if match is None:
        return None
    cells = {"time": match.group("time"), "text": match.group("rest")}
    if author := _AUTHOR.match(match.group("rest")):
        who = author.group("handle") or author.group("bold") or author.group("mail")
        cells |= {"who": who, "text": author.group("text")}
    return Row(cells, offset, offset + length)
