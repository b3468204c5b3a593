"""What people announced: a Slack export, or an incident timeline as CSV, JSON or Markdown. Content decides which."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import tzinfo

from auditor.collectors import Collector, Reading
from auditor.collectors.documents import Document, Malformed, as_utf8, documents, recognise
from auditor.collectors.slack import SlackUser, is_channel, is_message, is_user, read_message, users
from auditor.collectors.source_files import (
    HEAD,
    MissingSource,
    SourceFile,
    file_digest,
    read_content,
    read_head,
    source_files,
    unreadable,
)
from auditor.collectors.tally import Tally
from auditor.collectors.timelines import Row, csv_rows, json_row, markdown_rows, read_row
from auditor.collectors.written_time import source_zone
from auditor.config import AnnouncementsConfig
from auditor.errors import ConfigError, SourceError
from auditor.model.facts import Announcement, Batch, Fact, Origin, SourceMark
from auditor.model.resource import JsonObject
from auditor.objects.redaction import Redactor

MAX_FILE = 256 << 20
_ZIP = b"PK\x03\x04"
_WRAPPERS = ("messages", "entries", "events", "timeline", "rows", "announcements")
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
    files: list[SourceFile | MissingSource],
    known: tuple[SourceMark, ...],
    redactor: Redactor,
) -> Iterator[Batch]:
    present = []
    for file in files:
        if isinstance(file, MissingSource):
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
        self._members = users(document for file in files for document in _users_in(file))
        for file in files:
            self._read_file(file)
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

    def _read_file(self, file: SourceFile) -> None:
        raw = read_content(file.path, MAX_FILE)
        content = as_utf8(raw) or raw
        tally = Tally("announcements", self._path, file.name)
        self._count(bytes=len(raw))
        if raw.startswith(_ZIP):
            self._skip(tally, "a zip archive: unpack it", 0, len(raw))
        elif recognise(content[:HEAD]) == "json":
            self._read_json(file, content, tally)
        else:
            self._read_text(file, content, tally)
        self._facts += tally.skipped()

    def _read_text(self, file: SourceFile, content: bytes, tally: Tally) -> None:
        row = None
        for row in csv_rows(content) or markdown_rows(content):
            origin = _origin(file, content, row.start, row.end)
            self._take(read_row(row, origin, self._zone, self._redactor), row, tally)
        if row is None:
            self._count(foreign=1)
            tally.skip("no row of a timeline", 0, len(content))

    def _read_json(self, file: SourceFile, content: bytes, tally: Tally) -> None:
        for found in documents(content):
            if isinstance(found, Malformed):
                self._skip(tally, found.reason, found.start, found.end - found.start)
                continue
            for document in _entries(found.value):
                self._read_entry(file, content, document, found, tally)

    def _read_entry(
        self, file: SourceFile, content: bytes, document: JsonObject, place: Document, tally: Tally
    ) -> None:
        origin = _origin(file, content, place.start, place.end)
        if is_message(document):
            channel = file.path.parent.name if _DAY.match(file.path.stem) else file.path.stem
            self._take(read_message(document, channel, self._members, origin, self._redactor), place, tally)
        elif row := json_row(document, place.start, place.end):
            self._take(read_row(row, origin, self._zone, self._redactor), place, tally)
        elif is_user(document) or is_channel(document):
            self._count(reads=1)
        else:
            self._count(foreign=1)
            tally.skip("neither a message nor a row of a timeline", place.start, place.end - place.start)

    def _take(self, read: Announcement | str | None, place: Row | Document, tally: Tally) -> None:
        if isinstance(read, Announcement):
            self._facts.append(read)
        elif read is None:
            self._count(reads=1)
        else:
            self._skip(tally, read, place.start, place.end - place.start)

    def _skip(self, tally: Tally, reason: str, offset: int, length: int) -> None:
        tally.skip(reason, offset, length)
        self._count(undecodable=1)

    def _count(self, **more: int) -> None:
        self._mark = replace(self._mark, **{name: getattr(self._mark, name) + amount for name, amount in more.items()})


def _origin(file: SourceFile, content: bytes, start: int, end: int) -> Origin:
    return Origin(file.name, start, end - start, hashlib.sha256(content[start:end]).hexdigest())


def _entries(document: JsonObject) -> list[JsonObject]:
    """The messages or rows inside an object that wraps them (`{"messages": […]}`), else the object itself."""
    for key in _WRAPPERS:
        inner = document.get(key)
        if isinstance(inner, list):
            return [entry for entry in inner if isinstance(entry, dict)]
    return [document]


def _users_in(file: SourceFile) -> Iterator[JsonObject]:
    head = read_head(file.path)
    if recognise(head) != "json" or b'"ts"' in head or not (b'"profile"' in head or b'"real_name"' in head):
        return
    for found in documents(read_content(file.path, MAX_FILE)):
        if isinstance(found, Document):
            yield from (entry for entry in _entries(found.value) if is_user(entry))
