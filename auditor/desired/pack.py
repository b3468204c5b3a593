"""A cache of small documents by the digest of what they were made from: one file, only ever appended to.

Record: 32 bytes of key, 4 bytes of length (big-endian), the zstd frame of the JSON document with its checksum. A
record that a killed run left half-written, or that a disk changed, is a record that is not there.
"""

import os
import struct
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import zstandard

_HEAD = struct.Struct(">32sI")
_LARGEST = 256 << 20
"""Bytes of one document after decompression."""


class Pack:
    """The pack in a folder, with read-only packs of other folders behind it."""

    def __init__(self, folder: Path, shipped: tuple[Path, ...] = (), name: str = "rendered.pack") -> None:
        self._file = folder / name
        self._places: dict[bytes, tuple[Path, int, int]] = {}
        self._open: dict[Path, BinaryIO] = {}
        self._end = 0
        for place in (*(other / name for other in reversed(shipped)), self._file):
            self._end = self._scan(place)

    def close(self) -> None:
        """Close the files."""
        for stream in self._open.values():
            stream.close()
        self._open.clear()

    def _scan(self, file: Path) -> int:
        """Learn where the records of a file are; the offset behind the last whole one."""
        if not file.is_file():
            return 0
        size = file.stat().st_size
        end = 0
        with file.open("rb") as stream:
            while len(head := stream.read(_HEAD.size)) == _HEAD.size:
                key, length = _HEAD.unpack(head)
                offset = end + _HEAD.size
                if offset + length > size:
                    break
                self._places[key] = (file, offset, length)
                end = offset + length
                stream.seek(end)
        return end

    def get(self, key: bytes) -> Any:
        """The document under the key, None where there is none."""
        place = self._places.get(key)
        if place is None:
            return None
        try:
            packed = self._read(*place)
            return orjson.loads(zstandard.ZstdDecompressor().decompress(packed, max_output_size=_LARGEST))
        except (OSError, zstandard.ZstdError, orjson.JSONDecodeError):
            del self._places[key]
            return None

    def _read(self, file: Path, offset: int, length: int) -> bytes:
        stream = self._open.get(file)
        if stream is None:
            stream = self._open[file] = file.open("rb")
        stream.seek(offset)
        return stream.read(length)

    def put(self, key: bytes, document: Any) -> None:
        """Keep a document. A cache that cannot be written to keeps nothing, and that is no failure."""
        packed = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(orjson.dumps(document))
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as stream:
                stream.seek(self._end)
                stream.write(_HEAD.pack(key, len(packed)) + packed)
                stream.truncate()
        except OSError:
            return
        self._places[key] = (self._file, self._end + _HEAD.size, len(packed))
        self._end += _HEAD.size + len(packed)
