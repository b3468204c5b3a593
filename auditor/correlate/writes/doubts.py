"""Writes of which the record does not show yet whether they stored something, and what settles them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from auditor.correlate.writes import settlement
from auditor.correlate.writes.ownership_evidence import Witness, settle
from auditor.correlate.writes.state import Before, version
from auditor.model.change import Write
from auditor.model.resource import Path

Names = Callable[[Path], bool]
"""Whether a request that is later than the doubt set a path."""


@dataclass(slots=True)
class _Doubt:
    place: int
    """Of the write, among the object's writes."""
    before: Before
    alone: bool
    """No other write without a body came since the state before."""


class Doubts:
    """The open doubts of one object. Settling replaces writes in the list that it was given."""

    def __init__(self, writes: list[Write]) -> None:
        self._writes = writes
        self._open: list[_Doubt] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, before: Before) -> None:
        """The last write is in doubt; `before` is the state before it."""
        for other in self._open:
            other.alone = False
        self._open.append(_Doubt(len(self._writes) - 1, before, not self._open))

    def settle(self, witness: Witness, names: Names) -> None:
        """A whole body of the API server settles what it can; nothing later would tell more."""
        for doubt in self._open:
            self._writes[doubt.place] = self._settled(self._writes[doubt.place], doubt, witness, names)
        self._open.clear()

    def settle_by_create(self) -> None:
        """A create that was accepted shows that the deletes before it were real."""
        for doubt in self._open:
            write = self._writes[doubt.place]
            if write.operation == "delete":
                self._writes[doubt.place] = replace(write, outcome="changed", persisted="proven")
        self._open.clear()

    def _settled(self, write: Write, doubt: _Doubt, witness: Witness, names: Names) -> Write:
        if write.operation == "delete":
            return settlement.confirm_delete(write, doubt.before.state, witness.body)
        settled = settle(write, witness, self._writes, doubt.before)
        if settled is not write:
            return settled
        if write.fields_known:
            return settlement.confirm(write, witness.body, names)
        earlier = doubt.before.state
        if not (doubt.alone and earlier.comparable and earlier.body is not None):
            return write
        told = settlement.confirm_unseen(write, earlier.body, witness.body, names)
        may_have_put_back = witness.is_answer and version(witness.body) != earlier.version
        return write if told.outcome == "no-op" and may_have_put_back else told
