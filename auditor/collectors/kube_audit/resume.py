"""How far a source was read before, told by its content: files are renamed, compressed, copied, truncated, refilled.

A mark remembers the hash of a source's first bytes and that of the bytes just before its place. A source of which both
agree is the same content grown, whatever it is called now and however it is compressed; any other is new. That an event
is met twice (in a copy, in two exports) is no matter: the store knows it by its identity.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from auditor.collectors.files.sources import Source, is_url, open_raw, open_stream
from auditor.collectors.files.streams import Stream, exactly, skip
from auditor.collectors.kube_audit import tally as tallies
from auditor.collectors.kube_audit.chain import Chain, Link, resumed
from auditor.collectors.kube_audit.records import State
from auditor.collectors.kube_audit.tally import Tally
from auditor.errors import SourceError
from auditor.model.facts import SourceMark

_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Known:
    """A source and what an earlier run knew of its content."""

    source: Source
    head: bytes
    """Its first bytes."""
    mark: SourceMark | None = None
    formerly: str = ""
    """The name that the mark has, where it is another."""


def recognise(sources: Iterable[Source], marks: Iterable[SourceMark]) -> Iterator[Known]:
    """Each source with the mark of its content, those first whose names others take over.

    Raises nothing: a source that cannot be opened has no head, and is told of when it is read.
    """
    by_name = {mark.source: mark for mark in marks}
    heads = {source: head_of(source) for source in sources}
    kept = {source.name for source, head in heads.items() if _same_head(by_name.get(source.name), head)}
    moved = [mark for name, mark in sorted(by_name.items()) if name not in kept]
    found: dict[str, Known] = {}
    for source, head in heads.items():
        mark = by_name.get(source.name) if source.name in kept else _take(moved, head)
        formerly = mark.source if mark and mark.source != source.name else ""
        found[source.name] = Known(source, head, mark, formerly)
    yield from _in_order(found)


def _take(moved: list[SourceMark], head: bytes) -> SourceMark | None:
    """The mark of the longest content with this head whose name now means something else; each is given once."""
    alike = [mark for mark in moved if _same_head(mark, head)]
    best = max(alike, key=lambda mark: mark.bytes, default=None)
    if best is not None:
        moved.remove(best)
    return best


def _in_order(found: Mapping[str, Known]) -> Iterator[Known]:
    """A content leaves a name before another takes it: `audit.log.1` becomes `.2`, then `audit.log` becomes `.1`."""
    leaves = {known.formerly: name for name, known in found.items() if known.formerly}
    done: set[str] = set()
    for name in found:
        chain = [name]
        while (blocked := leaves.get(chain[-1], "")) and blocked not in chain:
            chain.append(blocked)
        for each in reversed(chain):
            if each not in done:
                done.add(each)
                yield found[each]


def head_of(source: Source) -> bytes:
    """The first bytes of the content; b"" for what cannot be opened, and for standard input, which is read once."""
    if source.location == "-":
        return b""
    try:
        stream = open_stream(source)
    except SourceError:
        return b""
    try:
        return exactly(stream, _HEAD)
    finally:
        stream.close()


def _same_head(mark: SourceMark | None, head: bytes) -> bool:
    length, _, digest = (mark.position.get("head", "") if mark else "").partition(":")
    return bool(digest) and len(head) >= int(length) and sha256(head[: int(length)]).hexdigest() == digest


def unchanged(mark: SourceMark | None, raw: str) -> bool:
    """Whether what lies there (see `raw_digest`) is what a finished mark was made of."""
    return bool(raw and mark and mark.complete and mark.position.get("raw") == raw)


def raw_digest(source: Source) -> str:
    """Size and hash of both ends of what lies there, "" for what cannot seek."""
    if source.location == "-" or is_url(source.location):
        return ""
    with open_raw(source) as file:
        size = file.seek(0, 2)
        file.seek(0)
        ends = sha256(file.read(_HEAD))
        file.seek(max(size - _HEAD, 0))
        ends.update(file.read(_HEAD))
        return f"{size}:{ends.hexdigest()}"


def position(head: bytes, near: bytes, state: State, link: Link) -> dict[str, str]:
    """What a mark remembers of a content of which `near` lies just before the scan's place."""
    return {
        "head": f"{len(head)}:{sha256(head).hexdigest()}",
        "near": f"{len(near)}:{sha256(near).hexdigest()}",
        "chain": msgspec.json.encode(link).decode(),
        "state": msgspec.json.encode(state).decode(),
    }


def state_of(mark: SourceMark) -> State:
    """Where the scan of a mark stands."""
    return msgspec.json.decode(mark.position["state"], type=State)


def tally_of(mark: SourceMark) -> Tally:
    """What was counted up to there."""
    return tallies.decode(mark.position["clean"]) if "clean" in mark.position else tallies.of_mark(mark)


def link_of(mark: SourceMark) -> Link | None:
    """The chain of what was read; None for a mark of another cluster's events in a source, which has none."""
    return msgspec.json.decode(mark.position["chain"], type=Link) if "chain" in mark.position else None


def continued(stream: Stream, mark: SourceMark) -> Chain | None:
    """Bring a fresh stream to the place of a mark, and the chain of what lies before it.

    None where the content there is not what it was.
    """
    link, offset = link_of(mark), state_of(mark).offset
    size, _, digest = mark.position["near"].partition(":")
    near = int(size)
    if link is None or not skip(stream, before := offset - max(near, link.open)):
        return None
    passed = exactly(stream, offset - before)
    if sha256(passed[len(passed) - near :]).hexdigest() != digest:
        return None
    return resumed(link, passed)
