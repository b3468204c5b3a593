"""A repository's history as a file: what a bundle holds, for a machine that has no git.

Keyed by the SHA-256 of the bundle, it says no more than the bundle does. The sample incident ships with one.
"""

from dataclasses import dataclass
from pathlib import Path

import msgspec
import zstandard

from auditor.model.facts import Commit, GitRef

_LARGEST = 1 << 30
"""Bytes after decompression."""


@dataclass(frozen=True, slots=True)
class History:
    """All commits and refs of a repository at one time."""

    commits: tuple[Commit, ...]
    refs: tuple[GitRef, ...]


def history_file(cache: Path, digest: str) -> Path:
    """Where the history of the bundle with this SHA-256 lies in a cache."""
    return cache / "history" / f"{digest}.json.zst"


def read_history(caches: tuple[Path, ...], digest: str) -> History | None:
    """The kept history of a bundle from the first cache that has it."""
    for cache in caches:
        try:
            packed = history_file(cache, digest).read_bytes()
            plain = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_LARGEST)
            return msgspec.json.decode(plain, type=History)
        except (OSError, zstandard.ZstdError, msgspec.DecodeError):
            continue
    return None


def keep_history(cache: Path, digest: str, history: History) -> None:
    """Keep the history of a bundle for a machine without git."""
    target = history_file(cache, digest)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    packed = zstandard.ZstdCompressor(level=19, write_checksum=True).compress(msgspec.json.encode(history))
    half_made = target.with_suffix(".new")
    half_made.write_bytes(packed)
    half_made.rename(target)
