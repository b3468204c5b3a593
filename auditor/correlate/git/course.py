"""The course of an application's desired state in git: what it said when, as far as the clocks and records tell."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from auditor.correlate.git.landing import FirstSeen
from auditor.correlate.git.source import Epoch, epochs
from auditor.model.application import ApplicationHistory, ApplicationState
from auditor.model.change import AppKey
from auditor.model.desired import DesiredState, GitReader, Landing, Undeterminable

NO_COMMIT = ""
"""Stands where an application follows no repository."""


@dataclass(frozen=True, slots=True)
class Step:
    """One state of what the application follows."""

    landing: Landing
    """What brought it: a commit of its own repository, or the one that declared another source."""
    state: ApplicationState
    sha: str
    """What is rendered."""
    earliest: datetime
    latest: datetime | None
    """First record of a revision that has it, None where there is none."""


@dataclass(frozen=True, slots=True)
class Course:
    """All steps until a moment, oldest first."""

    steps: tuple[Step, ...]
    git: GitReader
    as_of: datetime
    complete: bool
    """False where older history exists and was not collected."""

    def tip_at(self, moment: datetime) -> int:
        """The last step that had landed by the committers' clocks, -1 before the first."""
        return bisect_right(self.steps, moment, key=lambda step: step.earliest) - 1

    def desired(self, number: int) -> DesiredState | Undeterminable:
        """The manifests at a step."""
        step = self.steps[number]
        return self.git.render(step.state, step.sha)


def course(
    history: ApplicationHistory,
    applications: Mapping[AppKey, ApplicationHistory],
    git: GitReader,
    seen: FirstSeen,
    as_of: datetime,
) -> Course | Undeterminable:
    """The course until `as_of`; the reason where git cannot say anything of the application."""
    spans = epochs(history, applications, git, as_of)
    if not spans:
        return Undeterminable("no record says from where the application is rendered")
    steps: list[Step] = []
    for number, epoch in enumerate(spans):
        until = spans[number + 1].since if number + 1 < len(spans) else None
        problem = _add_steps(steps, epoch, until, git, seen)
        if problem is not None:
            return problem
    if not steps:
        steps.append(_of_the_application(spans[0].state))
    kept = tuple(step for step in steps if step.earliest <= as_of)
    if not kept:
        return Undeterminable("no commit of that time or before declares what the application is made of")
    return Course(kept, git, as_of, all(git.complete(epoch.state) for epoch in spans))


def _of_the_application(state: ApplicationState) -> Step:
    """The one state of an application that no commit declares: its chart and its values stand in the Application."""
    landing = Landing(NO_COMMIT, state.at, "", "", None, (), "")
    return Step(landing, state, NO_COMMIT, state.at, state.at)


def _add_steps(
    steps: list[Step], epoch: Epoch, until: Landing | None, git: GitReader, seen: FirstSeen
) -> Undeterminable | None:
    """Add the steps of one epoch: the commit that began it, then those of the application's own repository."""
    landings = git.landings(epoch.state)
    if isinstance(landings, Undeterminable):
        return landings
    shown = seen.on(epoch.state, git)
    began = epoch.since or (None if landings else epoch.declared)
    # Where an epoch begins, its source stands at whatever its repository had come to by then.
    before = [landing for landing in landings if began is not None and landing.at <= began.at]
    if began is not None:
        shown_by_parent = seen.on(epoch.parent, git).of(began) if epoch.parent is not None else None
        steps.append(_step(steps, epoch.state, began, before[-1].sha if before else "", shown_by_parent))
    for landing in landings[len(before) :]:
        if until is not None and landing.at > until.at:
            break
        steps.append(_step(steps, epoch.state, landing, landing.sha, shown.of(landing)))
    return None


def _step(steps: Sequence[Step], state: ApplicationState, landing: Landing, sha: str, latest: datetime | None) -> Step:
    """A step whose time does not go back: a commit cannot have landed before the one that it stands on, nor after the
    first record that shows it."""
    earliest = max(landing.at, steps[-1].earliest) if steps else landing.at
    return Step(landing, state, sha, earliest if latest is None else min(earliest, latest), latest)
