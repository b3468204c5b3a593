"""Which writes one command sent: `kubectl apply -f` of a folder is many writes and one act."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from auditor.model.change import Write

LONGEST_PAUSE = timedelta(seconds=1)
"""Between two writes of one command. Client-side throttling of kubectl (5 a second) stays well below."""


def commands(changes: Iterable[Write]) -> dict[str, str]:
    """By write id, the id of the first write of its command. `changes` come oldest first.

    One command has one credential, one client and one channel, and touches an object once (`replace --force` deletes
    and creates it again; `apply --server-side` applies twice to what was applied client-side before, as it takes over
    that ownership in between).
    """
    open_commands: dict[tuple[object, ...], _Command] = {}
    found: dict[str, str] = {}
    for write in changes:
        key = (write.object.cluster, write.actor.name, write.actor.acting_as, write.channel, write.user_agent)
        command = open_commands.get(key)
        if command is None or not command.takes(write):
            command = open_commands[key] = _Command(write.id)
        command.add(write)
        found[write.id] = command.id
    return found


class _Command:
    def __init__(self, first: str) -> None:
        self.id = first
        self._last_at: datetime | None = None
        self._sent: set[tuple[object, str]] = set()
        self._applied: object = None

    def takes(self, write: Write) -> bool:
        again = write.patch_type == "apply" and write.object == self._applied
        repeated = (write.object, write.operation) in self._sent and not again
        return not repeated and self._last_at is not None and write.at - self._last_at <= LONGEST_PAUSE

    def add(self, write: Write) -> None:
        self._last_at = write.at
        first = (write.object, write.operation) not in self._sent
        self._applied = write.object if write.patch_type == "apply" and first else None
        self._sent.add((write.object, write.operation))
