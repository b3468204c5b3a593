"""What one run says beside the runs before it: which findings are new, known, over, or accepted."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from auditor.model.finding import Finding

NightState: TypeAlias = Literal["new", "known", "resolved", "not-checked", "accepted"]
"""`new`: no earlier run showed it. `known`: one did. `resolved`: one did, and a record shows what ended it.
`not-checked`: one did, and tonight's records say neither that it goes on nor that it ended."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding as runs have shown it. Runs are named by their as-of, the end of their records."""

    finding: Finding
    first_as_of: datetime | None
    """The first run that showed it; None for a baseline, which counts as earlier than every run."""
    ended_as_of: datetime | None
    """The first run that saw it over; None while it is open."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The record that shows a finding to be over."""

    at: datetime | None
    """When it ended; None where the record gives no moment."""
    by: str
    """Who or what ended it, "" where no record names anybody."""
    because: str
    """What happened, as a clause: `the freeze was lifted`."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """That somebody answers for a finding, as the configuration has it."""

    reason: str
    owner: str
    expires: str
    """ISO date, "" for never."""
    expired: bool
    """By the end of the records: the finding is open again."""


@dataclass(frozen=True, slots=True)
class NightEntry:
    """One finding of the night."""

    finding: Finding
    state: NightState
    ending: Ending | None = None
    """Of a resolved one; also of a new one that was over before anybody was told."""
    acceptance: Acceptance | None = None


@dataclass(frozen=True, slots=True)
class Night:
    """One run, compared with the last one whose as-of is earlier."""

    as_of: datetime | None
    before: datetime | None
    """The as-of of the run it is compared with; None for a first run."""
    entries: tuple[NightEntry, ...]
    """New ones first, the most severe first among them."""
    over: int
    """Findings that an earlier run showed and that were over by then: not repeated."""
    failures: tuple[str, ...]
    """Sources that failed or came late, a sentence each."""
    checked: bool
    """Whether there was any record to check by."""
    unused: tuple[str, ...] = ()
    """Acceptances that no finding answers to, in words."""
    baseline: bool = False
    """Whether all that is open was taken for known, without a run that showed it."""

    def count(self, state: NightState) -> int:
        """How many entries have the state."""
        return sum(entry.state == state for entry in self.entries)


@dataclass(frozen=True, slots=True)
class ToldNight:
    """What the last run said and wrote: a run that is asked the same of the same records says it again."""

    asked: str
    """Digest of the records, the settings and what the run was asked for."""
    night: Night
    reports: tuple[tuple[str, str], ...]
    """The files that were written: path, and SHA-256 (hex) of the content."""
