"""What people announced: a Slack export, or an incident timeline as CSV, JSON or Markdown. Content decides which."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import PurePath

from auditor.collectors import Collector, Reading
from auditor.collectors.announcements import zipped
from auditor.collectors.announcements.slack import SlackUser, is_channel, is_message, is_user, read_message, users
from auditor.collectors.announcements.timelines import Row, csv_rows, json_row, markdown_rows, read_row
from auditor.collectors.announcements.written_time import source_zone
from auditor.collectors.files.documents import Document, Malformed, as_utf8, documents, recognise
from auditor.collectors.files.source_files import (
    HEAD,
    SourceFile,
    file_digest,
    read_content,
    source_files,
    unreadable,
)
from auditor.collectors.files.sources import Missing
from auditor.collectors.files.tally import Tally
from auditor.config import AnnouncementsConfig
from auditor.errors import ConfigError, SourceError
from auditor.model.facts import Announcement, Batch, Fact, Origin, SourceMark
from auditor.model.resource import JsonObject
from auditor.objects.redaction import Redactor

MAX_FILE = 256 << 20
_WRAPPERS = ("messages", "members", "entries", "events", "timeline", "rows", "announcements")
_NO_ROW = "no row of a timeline: a row has a time and a text, in CSV, JSON or a Markdown list or table"
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")


def collect(reading: Reading) -> Iterator[Batch]:
    """What is new in every configured source of announcements. One source has one mark, however many files."""
    for configured in reading.config.announcements:
        files = list(source_files(reading.config.folder, (configured.path,)))
        known = reading.known("announcements", configured.path)
        try:
            yield from _read(configured, files, known, reading.redactor)
        except OSError as error:
            problem = f"{configured.path} cannot be read: {error.strerror or error}"
            yield unreadable("announcements", configured.path, configured.path, problem)
        except SourceError as error:
            yield unreadable("announcements", configured.path, configured.path, error.message)


COLLECTOR = Collector("announcements", "Slack exports and incident timelines", collect)


def _read(
    configured: AnnouncementsConfig,
    files: list[SourceFile | Missing],
    known: tuple[SourceMark, ...],
    redactor: Redactor,
) -> Iterator[Batch]:
    present = []
    for file in files:
        if isinstance(file, Missing):
            raise SourceError(file.problem)
        present.append(file)
    digest = _digest(present)
    if not any(mark.position.get("files") == digest for mark in known):
        yield _Source(configured, redactor).read(present, digest)


def _zone(configured: AnnouncementsConfig) -> tzinfo | None:
    zone = source_zone(configured.zone)
    if configured.zone and zone is None:
        raise ConfigError(f"The zone {configured.zone!r} is not known", "Use an IANA name such as Europe/Berlin.")
    return zone


def _digest(files: list[SourceFile]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{file_digest(file.path)}\0".encode())
    return digest.hexdigest()


class _Source:
    """One configured source while it is read."""

    def __init__(self, configured: AnnouncementsConfig, redactor: Redactor) -> None:
        self._path, self._zone, self._redactor = configured.path, _zone(configured), redactor
        self._members: Mapping[str, SlackUser] = {}
        self._facts: list[Fact] = []
        self._mark = SourceMark("announcements", configured.path, configured.path, "", "timeline")

    def read(self, files: list[SourceFile], digest: str) -> Batch:
        """All announcements of the source."""
        self._members = users(document for file in files for part in _parts(file) for document in _users_in(part))
        for file in files:
            for part in _parts(file):
                self._read_part(part)
        times = [fact.at for fact in self._facts if isinstance(fact, Announcement)]
        mark = replace(
            self._mark,
            format="slack" if self._members else self._mark.format,
            events=len(times),
            first_at=min(times, default=None),
            last_at=max(times, default=None),
            position={"files": digest},
        )
        return Batch(tuple(self._facts), mark)

    def _read_part(self, part: "_Part | _Broken") -> None:
        tally = Tally("announcements", self._path, part.source)
        if isinstance(part, _Broken):
            self._skip(tally, part.reason, part.start, part.end - part.start)
        else:
            self._count(bytes=len(part.content))
            if recognise(part.content[:HEAD]) == "json":
                self._read_json(part, tally)
            else:
                self._read_text(part, tally)
        self._facts += tally.skipped()

    def _read_text(self, part: "_Part", tally: Tally) -> None:
        row = None
        for row in csv_rows(part.content) or markdown_rows(part.content):
            self._take(read_row(row, part.origin(row), self._zone, self._redactor), part.place(row), tally)
        if row is None:
            self._count(foreign=1)
            tally.skip(_NO_ROW, *part.extent)

    def _read_json(self, part: "_Part", tally: Tally) -> None:
        for found in documents(part.content):
            if isinstance(found, Malformed):
                self._skip(tally, found.reason, *part.place(found))
                continue
            for document in _entries(found.value):
                self._read_entry(part, document, found, tally)

    def _read_entry(self, part: "_Part", document: JsonObject, place: Document, tally: Tally) -> None:
        origin = part.origin(place)
        if is_message(document):
            channel = part.path.parent.name if _DAY.match(part.path.stem) else part.path.stem
            said = read_message(document, channel, self._members, origin, self._redactor)
            self._take(said, part.place(place), tally)
        elif row := json_row(document, place.start, place.end):
            self._take(read_row(row, origin, self._zone, self._redactor), part.place(place), tally)
        elif is_user(document) or is_channel(document):
            self._count(reads=1)
        else:
            self._count(foreign=1)
            tally.skip("neither a message of Slack nor a row with a time and a text", *part.place(place))

    def _take(self, read: Announcement | str | None, place: tuple[int, int], tally: Tally) -> None:
        if isinstance(read, Announcement):
            self._facts.append(read)
        elif read is None:
            self._count(reads=1)
        else:
            self._skip(tally, read, *place)

    def _skip(self, tally: Tally, reason: str, offset: int, length: int) -> None:
        tally.skip(reason, offset, length)
        self._count(undecodable=1)

    def _count(self, **more: int) -> None:
        self._mark = replace(self._mark, **{name: getattr(self._mark, name) + amount for name, amount in more.items()})


@dataclass(frozen=True, slots=True)
class _Part:
    """One file to read, from the disk or from an archive."""

    source: str
    path: PurePath
    content: bytes
    held_in: bytes
    """The bytes of the source that a place is hashed from."""
    extent: tuple[int, int]
    """Offset and length of it in its source."""
    packed: bool
    """Whether it lies in an archive: no part of it then has a place of its own."""

    def place(self, of: Row | Document | Malformed) -> tuple[int, int]:
        """Offset and length of something in it, as bytes of the source."""
        return self.extent if self.packed else (of.start, of.end - of.start)

    def origin(self, of: Row | Document) -> Origin:
        """Where something in it lies."""
        offset, length = self.place(of)
        digest = hashlib.sha256(memoryview(self.held_in)[offset : offset + length]).hexdigest()
        return Origin(self.source, offset, length, digest)


@dataclass(frozen=True, slots=True)
class _Broken:
    """A part that cannot be read."""

    source: str
    start: int
    end: int
    reason: str


def _parts(file: SourceFile) -> Iterator[_Part | _Broken]:
    """The file, or what an archive holds."""
    raw = read_content(file.path, MAX_FILE)
    if not raw.startswith(zipped.MAGIC):
        yield _Part(file.name, file.path, raw, raw, (0, len(raw)), packed=False)
        return
    found: zipped.Member | zipped.Unreadable | None = None
    for found in zipped.members(raw, MAX_FILE):
        if isinstance(found, zipped.Unreadable):
            yield _Broken(file.name, found.start, found.end, found.reason)
        else:
            extent = (found.start, found.end - found.start)
            content = as_utf8(found.content) or found.content
            yield _Part(file.name, found.path, content, raw, extent, packed=True)
    if found is None:
        yield _Broken(file.name, 0, len(raw), "an archive without any JSON, CSV, Markdown or text file")


def _entries(document: JsonObject) -> list[JsonObject]:
    """The messages or rows inside an object that wraps them (`{"messages": […]}`), else the object itself."""
    for key in _WRAPPERS:
        inner = document.get(key)
        if isinstance(inner, list):
            return [entry for entry in inner if isinstance(entry, dict)]
    return [document]


def _users_in(part: _Part | _Broken) -> Iterator[JsonObject]:
    if isinstance(part, _Broken):
        return
    head = part.content[:HEAD]
    if recognise(head) != "json" or b'"ts"' in head or not (b'"profile"' in head or b'"real_name"' in head):
        return
    for found in documents(part.content):
        if isinstance(found, Document):
            yield from (entry for entry in _entries(found.value) if is_user(entry))
