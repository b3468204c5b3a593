"""What the store compresses: the bodies of facts, and values that were concluded.

These are small and much alike: the same kinds of objects with the same fields and managers, the same kinds of findings.
A dictionary of what they have in common makes them a third to a half as large, in half the time (docs/benchmarks.md).
The dictionaries are part of the program (`make dictionaries` makes them from the recorded incidents). Each frame
names the one that it needs and holds a checksum: with another, or with bytes that the disk changed, it is an error and
never another text.
"""

from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import msgspec
import zstandard

_LEVEL = 3


class Compression:
    """zstd with the dictionary of one kind of content."""

    def __init__(self, name: str) -> None:
        self.dictionary = Path(__file__).with_name(f"{name}.zdict")
        """Where it lies."""

    def pack(self, content: bytes) -> bytes:
        """Content as a frame."""
        return self._compress(content)

    def unpack(self, frame: bytes) -> bytes:
        """The content of a frame. Raises `zstandard.ZstdError`."""
        return self._decompress(frame)

    @cached_property
    def _compress(self) -> Callable[[bytes], bytes]:
        alike = self._alike()
        alike.precompute_compress(level=_LEVEL)
        return zstandard.ZstdCompressor(level=_LEVEL, dict_data=alike, write_checksum=True).compress

    @cached_property
    def _decompress(self) -> Callable[[bytes], bytes]:
        return zstandard.ZstdDecompressor(dict_data=self._alike()).decompress

    def _alike(self) -> zstandard.ZstdCompressionDict:
        return zstandard.ZstdCompressionDict(self.dictionary.read_bytes(), dict_type=zstandard.DICT_TYPE_FULLDICT)


BODIES = Compression("bodies")
"""JSON bodies of facts, redacted."""
RESULTS = Compression("results")
"""Changes, findings, episodes and the like, as MessagePack."""


def packed(value: Any) -> bytes:
    """A value of the model as compressed MessagePack."""
    return RESULTS.pack(msgspec.msgpack.encode(value))


@cache
def unpacker(kind: Any) -> Callable[[bytes], Any]:
    """Reads back what `packed` wrote of a value of that type."""
    decode = msgspec.msgpack.Decoder(kind).decode
    return lambda frame: decode(RESULTS.unpack(frame))
