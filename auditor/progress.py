"""How a long step says how far it is. Silent unless a command passes something louder."""

from typing import Protocol


class Progress(Protocol):
    """Receives what a step reads and how much of it is done."""

    def begin(self, name: str, total: int | None) -> None:
        """`name` starts; `total` is in bytes or items, None where it cannot be told."""
        ...

    def advance(self, amount: int) -> None:
        """`amount` more of the current step is done."""
        ...

    def note(self, text: str) -> None:
        """One line of talk."""
        ...


class Silent:
    """The default: says nothing."""

    def begin(self, name: str, total: int | None) -> None:
        """Nothing."""

    def advance(self, amount: int) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""


SILENT: Progress = Silent()
