"""Bodies of facts and other bytes of the store, compressed.

Bodies are small and much alike: the same kinds of objects, with the same fields and managers. A dictionary of what they
have in common makes them a half to a third as large, in half the time (docs/benchmarks.md). It is part of the program
(`scripts/dictionary.py` made it, from the bodies of the recorded incidents), and each frame names the one that it
needs, so that a wrong one is an error and never another text.
"""

from functools import cache
from pathlib import Path

import zstandard

_LEVEL = 3
DICTIONARY = Path(__file__).with_name("bodies.zdict")

compressed = zstandard.ZstdCompressor(level=_LEVEL).compress
"""Any bytes as a zstd frame."""
decompressed = zstandard.ZstdDecompressor().decompress
"""The bytes of a frame of `compressed`. Raises `zstandard.ZstdError`."""


def body_compressed(body: bytes) -> bytes:
    """A JSON body as a zstd frame."""
    return _compressor().compress(body)


def body_decompressed(frame: bytes) -> bytes:
    """The body of a frame. Raises `zstandard.ZstdError`."""
    return _decompressor().decompress(frame)


@cache
def _dictionary() -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(DICTIONARY.read_bytes(), dict_type=zstandard.DICT_TYPE_FULLDICT)


@cache
def _compressor() -> zstandard.ZstdCompressor:
    dictionary = _dictionary()
    dictionary.precompute_compress(level=_LEVEL)
    return zstandard.ZstdCompressor(level=_LEVEL, dict_data=dictionary)


@cache
def _decompressor() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor(dict_data=_dictionary())
