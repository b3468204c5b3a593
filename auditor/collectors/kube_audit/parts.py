"""Lines that a container runtime cut: CRI marks parts with P and the last with F, Docker ends the last with a newline.

Both cut at 16 KiB. Parts of one output follow each other; lines of the other output may lie between them.
"""

import re
from dataclasses import dataclass

import msgspec
from msgspec import Struct

_CRI = re.compile(rb"(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([FP]) (.*)", re.DOTALL)


class _Docker(Struct, forbid_unknown_fields=True):
    """A line of Docker's json-file driver; shippers that write `log` too say more than this."""

    log: str
    stream: str = "stdout"
    time: str = ""
    attrs: dict[str, str] = {}


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
    """A record made of parts: its text, and where its last line ends."""

    text: bytes
    stop: int


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


def join(text: bytes, start: int) -> Joined | None:
    """The record whose first part begins at `start`; None where its last part is not at hand.

    A part that begins like another record shows that the last one never came: what there is then is the record.
    """
    pieces: list[bytes] = []
    at, first = start, None
    while stop := text.find(b"\n", at) + 1:
        part = part_of(text[at:stop])
        first = first or part
        if first and part and part.output == first.output:
            if pieces and part.text.startswith(b'{"kind":"Event"'):
                return Joined(first.prefix + b"".join(pieces), at)
            pieces.append(part.text)
            if part.last:
                return Joined(first.prefix + b"".join(pieces), stop)
        at = stop
    return None
