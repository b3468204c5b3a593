"""Counting what is not kept: one `Skipped` for each reason, at the first place, instead of one for each line."""

from dataclasses import dataclass, field

from auditor.model.facts import RecordKind, Skipped


@dataclass
class Tally:
    """What was left out of one source, by reason, in the order of its first occurrence."""

    kind: RecordKind
    cluster: str
    source: str
    _places: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def skip(self, reason: str, offset: int, length: int) -> None:
        """One more thing at `offset` that is left out for `reason`."""
        first, size, times = self._places.get(reason, (offset, length, 0))
        self._places[reason] = (first, size, times + 1)

    def skipped(self) -> tuple[Skipped, ...]:
        """One value a reason; the reason says how often where it was more than once."""
        return tuple(
            Skipped(
                self.kind,
                self.cluster,
                self.source,
                offset,
                length,
                reason if times == 1 else f"{reason} ({times} times, here first)",
            )
            for reason, (offset, length, times) in self._places.items()
        )
