"""Exit statuses. Disjoint and stable: docs/exit-codes.md explains each, and a test holds the page to this list."""

from enum import IntEnum


class Status(IntEnum):
    """What the process says to its caller."""

    CLEAN = 0
    """Done; where something was checked, nothing was found."""
    BUG = 1
    USAGE = 2
    FINDINGS = 3
    PARTLY_CHECKED = 4
    NOT_CHECKED = 5
    NOTHING_NEW = 6
    NOT_FOUND = 7
    CONFIG = 10
    SOURCE = 11
    STORE = 12
    LOCKED = 13
    RENDER = 14
    DELIVERY = 15
    INTERRUPTED = 130
    PIPE_CLOSED = 141
