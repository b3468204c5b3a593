"""Reading log files of Argo CD as streams, and going on where the last run stopped while a file grows."""

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import BinaryIO

from auditor.collectors.argocd.logs import (
    LogLine,
    is_stored_log,
    is_worth_reading,
    lines_of,
    parse_line,
    parse_lines,
    read_statement,
)
from auditor.collectors.files.documents import Document, Malformed, documents
from auditor.collectors.files.source_files import (
    SourceFile,
    file_digest,
    is_compressed,
    open_content,
    read_content,
    read_head,
)
from auditor.collectors.files.tally import Tally
from auditor.model.facts import ArgoEvent, Batch, Fact, Origin, SourceMark
from auditor.objects.redaction import Redactor

MAX_LINE = 1 << 20
"""Bytes. Operations with local manifests are logged whole; a line above this is passed over and counted."""
MAX_FILE = 256 << 20
"""Bytes of a file that is not read by lines."""
BATCH = 500


def read_log(
    argocd: str, source: SourceFile, earlier: SourceMark | None, digest: str, redactor: Redactor
) -> Iterator[Batch]:
    """The statements of a log file behind what `earlier` covers, where that still lies at its beginning."""
    head = read_head(source.path)
    if is_stored_log(head):
        yield _Log(argocd, source, redactor, None).whole({"file": digest})
        return
    compressed = is_compressed(source.path)
    begin = None if compressed else _resumable(source, earlier)
    log = _Log(argocd, source, redactor, begin)
    with open_content(source.path) as stream:
        if begin is not None:
            stream.seek(log.offset)
        yield from log.batches(stream)
    yield log.last_batch({"file": digest} if compressed else {"file": digest, **log.position()})


def _resumable(source: SourceFile, earlier: SourceMark | None) -> SourceMark | None:
    """The earlier mark where the bytes that it covers are still the beginning of the file."""
    offset = earlier.position.get("offset", "") if earlier is not None else ""
    if earlier is None or not offset or source.path.stat().st_size < int(offset):
        return None
    return earlier if file_digest(source.path, int(offset)) == earlier.position.get("prefix") else None


class _Log:
    """One log file while it is read: what is not yet yielded, and the counts so far."""

    def __init__(self, argocd: str, source: SourceFile, redactor: Redactor, begin: SourceMark | None) -> None:
        self._argocd, self._source, self._redactor = argocd, source, redactor
        self._begin = begin or SourceMark("argocd", argocd, source.name, "", "log")
        self._tally = Tally("argocd", argocd, source.name)
        self._facts: list[ArgoEvent] = []
        self._events, self._reads = self._begin.events, self._begin.reads
        self._undecodable = self._begin.undecodable
        self._first, self._last = self._begin.first_at, self._begin.last_at
        self._passed_over = b""
        self._prefix = hashlib.sha256()
        self.offset = 0
        if begin is not None:
            self.offset = int(begin.position["offset"])
            self._rehash()

    def batches(self, stream: BinaryIO) -> Iterator[Batch]:
        """Reads all whole lines, and yields what they hold as it goes."""
        try:
            while line := stream.readline(MAX_LINE):
                if not line.endswith(b"\n"):
                    if len(line) == MAX_LINE and self._pass_long_line(line, stream):
                        continue
                    self._tally.skip("cut last line", self.offset, len(line))
                    break
                self._take(line.rstrip(b"\r\n"))
                self._advance(line)
                if len(self._facts) >= BATCH:
                    yield self._batch(complete=False, position=self.position())
        except (EOFError, OSError, zlib.error) as error:
            self._tally.skip(f"the data end early: {error}", self.offset, 0)

    def whole(self, position: Mapping[str, str]) -> Batch:
        """All that the JSON of a log store holds."""
        content = read_content(self._source.path, MAX_FILE)
        for found in documents(content):
            self._take_value(found, content)
        self.offset = len(content)
        return self.last_batch(position)

    def last_batch(self, position: Mapping[str, str]) -> Batch:
        """The rest, and the mark that covers the whole file."""
        return self._batch(complete=True, position=position)

    def position(self) -> Mapping[str, str]:
        """Where to go on, and the digest of all that lies before."""
        return {"offset": str(self.offset), "prefix": self._prefix.hexdigest()}

    def _take(self, line: bytes) -> None:
        if not is_worth_reading(line):
            self._reads += 1
            if self._first is None:
                self._cover(line)
            self._passed_over = line
            return
        if not self._read(parse_lines(line), self.offset, line):
            self._undecodable += 1
            self._tally.skip("no log line", self.offset, len(line))

    def _take_value(self, found: Document | Malformed, content: bytes) -> None:
        if isinstance(found, Malformed):
            self._undecodable += 1
            self._tally.skip(found.reason, found.start, found.end - found.start)
        elif not self._read(lines_of(found.value), found.start, content[found.start : found.end]):
            self._reads += 1

    def _read(self, lines: Iterator[LogLine], offset: int, record: bytes) -> bool:
        """Keep the statements among lines that a record holds; False where it holds no line."""
        origin = None
        for line in lines:
            self._cover_time(line.at)
            origin = origin or Origin(self._source.name, offset, len(record), hashlib.sha256(record).hexdigest())
            fact = read_statement(self._argocd, line, origin, self._redactor)
            if fact is None:
                self._reads += 1
            else:
                self._events += 1
                self._facts.append(fact)
        return origin is not None

    def _batch(self, complete: bool, position: Mapping[str, str]) -> Batch:
        self._cover(self._passed_over)
        mark = SourceMark(
            "argocd",
            self._argocd,
            self._source.name,
            "",
            "log",
            bytes=self.offset,
            events=self._events,
            reads=self._reads,
            undecodable=self._undecodable,
            first_at=self._first,
            last_at=self._last,
            position=position,
            complete=complete,
        )
        facts: tuple[Fact, ...] = (*self._facts, *(self._tally.skipped() if complete else ()))
        self._facts = []
        return Batch(facts, mark)

    def _cover(self, line: bytes) -> None:
        parsed = parse_line(line) if line else None
        if parsed is not None:
            self._cover_time(parsed.at)

    def _cover_time(self, at: datetime) -> None:
        self._first = min(self._first or at, at)
        self._last = max(self._last or at, at)

    def _advance(self, data: bytes) -> None:
        self._prefix.update(data)
        self.offset += len(data)

    def _pass_long_line(self, part: bytes, stream: BinaryIO) -> bool:
        """Passes over a line that is too long. False where it has no end yet."""
        start = self.offset
        while part and not part.endswith(b"\n"):
            self._advance(part)
            part = stream.readline(MAX_LINE)
        self._advance(part)
        self._undecodable += 1
        self._tally.skip("longer than 1 MiB", start, self.offset - start)
        return bool(part)

    def _rehash(self) -> None:
        left = self.offset
        with self._source.path.open("rb") as raw:
            while left > 0 and (block := raw.read(min(left, 1 << 20))):
                self._prefix.update(block)
                left -= len(block)
