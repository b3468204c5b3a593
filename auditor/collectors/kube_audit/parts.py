"""Lines that a container runtime cut: CRI marks parts with P and the last with F, Docker ends the last with a newline.

Both cut at 16 KiB. Parts of one output follow each other; lines of the other output may lie between them.
"""

import re
from dataclasses import dataclass

import msgspec
from msgspec import Struct

_CRI = re.compile(rb"(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([FP]) (.*)", re.DOTALL)


class _Docker(Struct):
    log: str
    stream: str = "stdout"


_docker = msgspec.json.Decoder(_Docker).decode


@dataclass(frozen=True, slots=True)
class Part:
    """One line of a container's output."""

    output: bytes
    text: bytes
    last: bool
    prefix: bytes = b""
    """What CRI writes before the text, as of a whole line."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A record made of parts: its text, where its last line ends, and the spans of foreign lines between its parts."""

    text: bytes
    stop: int
    between: tuple[tuple[int, int], ...]


def part_of(line: bytes) -> Part | None:
    """The part that a line is, None for a line that no runtime wrote."""
    if found := _CRI.fullmatch(line.rstrip(b"\r\n")):
        return Part(found[2], found[4], found[3] == b"F", b"%b %b F " % (found[1], found[2]))
    if not line.startswith(b"{"):
        return None
    try:
        docker = _docker(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return Part(docker.stream.encode(), docker.log.encode("utf-8", "replace"), docker.log.endswith("\n"))


def join(text: bytes, start: int, end: int) -> Joined | None:
    """The record whose first part begins at `start`; None where its last part does not lie before `end`."""
    pieces: list[bytes] = []
    between: list[tuple[int, int]] = []
    at, first = start, None
    while at < end:
        stop = text.find(b"\n", at, end) + 1
        if not stop:
            return None
        part = part_of(text[at:stop])
        first = first or part
        if part is None or first is None or part.output != first.output:
            between.append((at, stop))
        else:
            pieces.append(part.text)
            if part.last:
                return Joined(first.prefix + b"".join(pieces), stop, tuple(between))
        at = stop
    return None
