"""What the cluster last had of each object: thousands of bodies with managed fields, of which few are looked at."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import orjson
import zstandard

from auditor.model.case import LiveState
from auditor.model.resource import ObjectId

_OPEN = 64
"""Bodies that are kept as they are after they were looked at."""

_packer = zstandard.ZstdCompressor(1)
_opener = zstandard.ZstdDecompressor()


class LiveStates(Mapping[ObjectId, LiveState]):
    """By object, in the order in which they were added; bodies are compressed until somebody asks for them."""

    def __init__(self) -> None:
        self._states: dict[ObjectId, LiveState] = {}
        self._packed: dict[ObjectId, bytes] = {}
        self._open: dict[ObjectId, LiveState] = {}

    def add(self, state: LiveState) -> None:
        """One more object."""
        try:
            self._packed[state.object] = _packer.compress(orjson.dumps(state.body))
        except orjson.JSONEncodeError:  # nested deeper than the encoder goes
            self._states[state.object] = state
        else:
            self._states[state.object] = replace(state, body=None)

    def __getitem__(self, subject: ObjectId) -> LiveState:
        found = self._open.get(subject)
        if found is not None:
            return found
        state = self._states[subject]
        if subject in self._packed:
            state = replace(state, body=orjson.loads(_opener.decompress(self._packed[subject])))
        if len(self._open) >= _OPEN:
            del self._open[next(iter(self._open))]
        self._open[subject] = state
        return state

    def __iter__(self) -> Iterator[ObjectId]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)
