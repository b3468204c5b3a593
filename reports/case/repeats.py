"""Alike changes that follow each other on one object: told once, with how often."""

from collections.abc import Iterable
from dataclasses import dataclass

from reports.case.dossier import Numbered, sides
from reports.words.wording import duration, grouped


@dataclass(frozen=True, slots=True)
class Repeat:
    """Alike changes that follow each other: one row, one block."""

    changes: tuple[Numbered, ...]

    @property
    def first(self) -> Numbered:
        """The one that stands for all."""
        return self.changes[0]

    @property
    def times(self) -> str:
        """`3 times in 50 s`, "" for a single one."""
        if len(self.changes) == 1:
            return ""
        span = (self.changes[-1].write.at - self.first.write.at).total_seconds()
        return f"{grouped(len(self.changes))} times in {duration(span)}"


def repeats(changes: Iterable[Numbered]) -> tuple[Repeat, ...]:
    """Changes with alike ones that follow on the same object folded into one."""
    folded: list[list[Numbered]] = []
    latest: dict[object, list[Numbered]] = {}
    for one in changes:
        run = latest.get(one.write.object)
        if run is not None and _alike(run[-1], one):
            run.append(one)
            continue
        run = [one]
        latest[one.write.object] = run
        folded.append(run)
    return tuple(Repeat(tuple(run)) for run in folded)


def _alike(one: Numbered, other: Numbered) -> bool:
    return (
        one.write.fields == other.write.fields
        and one.write.operation == other.write.operation
        and bool(one.write.fields)
        and one.write.actor.name == other.write.actor.name
        and one.write.channel == other.write.channel
        and one.state == other.state
        and _signature(one) == _signature(other)
    )


def _signature(one: Numbered) -> list[tuple[str, str]]:
    return [(git.verdict, cluster.verdict) for git, cluster in sides(one.verdict)]
