"""Whether the records that statements rest on are still what was read: their bytes are hashed once more."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from auditor.collectors.files.sources import Source, is_url, open_raw, open_stream
from auditor.collectors.files.streams import BLOCK, Stream, decompressed, skip
from auditor.collectors.live.access import PREFIX
from auditor.errors import SourceError
from auditor.model.facts import Origin

Standing: TypeAlias = Literal["unchanged", "changed", "gone", "not-kept"]
"""`gone`: the source is not there any more, or too short: rotated, moved or removed. `not-kept`: it was never a file,
but an answer of an API server or standard input, so that nothing is there to be compared."""


def standings(folder: Path, origins: Iterable[Origin], logs: Mapping[str, Source]) -> Mapping[Origin, Standing]:
    """How each record stands now. Every source is read once, from its first record to its last.

    `logs` are where the audit logs lie now, by the names under which they were read: archives of those are read as one
    stream, other files as they are.
    """
    by_source: dict[str, set[Origin]] = {}
    for origin in origins:
        by_source.setdefault(origin.source, set()).add(origin)
    found: dict[Origin, Standing] = {}
    for name in sorted(by_source):
        if name == "-" or name.startswith(PREFIX):
            found.update(dict.fromkeys(by_source[name], "not-kept"))
        else:
            begin = partial(open_stream, logs[name]) if name in logs else partial(_open, folder, name)
            found.update(_of_source(begin, by_source[name]))
    return found


def chain(origins: Iterable[Origin]) -> str:
    """One SHA-256 for all records: each is hashed with what came before it, by source and place.

    Whoever keeps it elsewhere can tell later whether a record was added, left out, moved or given another hash.
    """
    head = b""
    for one in sorted(set(origins), key=lambda origin: (origin.source, origin.offset, origin.length, origin.sha256)):
        place = f"{one.source}\0{one.offset}\0{one.length}\0{one.sha256}"
        head = hashlib.sha256(head + place.encode(errors="surrogatepass")).digest()
    return head.hex()


def named(folder: Path, name: str) -> Source:
    """What lies where a source lay when it was read."""
    return Source(name, name if is_url(name) else str(folder / name))


def _open(folder: Path, name: str) -> Stream:
    return decompressed(open_raw(named(folder, name)))


def _of_source(begin: Callable[[], Stream], origins: set[Origin]) -> Iterator[tuple[Origin, Standing]]:
    """Records that overlap (one inside another) are read in rounds."""
    left = sorted(origins, key=lambda origin: (origin.offset, origin.length, origin.sha256))
    while left:
        later: list[Origin] = []
        try:
            stream = begin()
        except SourceError:
            yield from ((origin, "gone") for origin in left)
            return
        try:
            yield from _round(stream, left, later)
        finally:
            stream.close()
        left = later


def _round(stream: Stream, wanted: list[Origin], later: list[Origin]) -> Iterator[tuple[Origin, Standing]]:
    place = 0
    for origin in wanted:
        if origin.offset < place:
            later.append(origin)
            continue
        digest, length = hashlib.sha256(), 0
        if skip(stream, origin.offset - place) if place == 0 else _forward(stream, origin.offset - place):
            while length < origin.length and (block := stream.read(min(BLOCK, origin.length - length))):
                digest.update(block)
                length += len(block)
        place = origin.offset + length
        if length < origin.length:
            yield origin, "gone"
        else:
            yield origin, "unchanged" if digest.hexdigest() == origin.sha256 else "changed"


def _forward(stream: Stream, distance: int) -> bool:
    while distance and (block := stream.read(min(distance, BLOCK))):
        distance -= len(block)
    return not distance
