"""An episode in which noticing, announcing or bringing the fix to git took longer than the team's own goals."""

from collections.abc import Iterator, Set
from datetime import datetime

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, restarts_only, span
from auditor.model.application import ApplicationState
from auditor.model.case import Case
from auditor.model.change import Evidence
from auditor.model.episode import Episode
from auditor.model.finding import Finding
from auditor.model.resource import ObjectId

NOTICED_LATE = 15 * 60.0
"""Seconds; Argo CD itself compares every three minutes."""


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """At most one finding an episode; a step that is not recorded is never late, and restarts are nothing to notice."""
    changes = {change.id: change for change in case.changes}
    for episode in case.episodes:
        own = [changes[ident] for ident in episode.changes if ident in changes]
        if all(map(restarts_only, own)):
            continue
        late = [*_steps(episode, config), *_notice(case, episode, {change.write.object for change in own})]
        if late:
            yield conclude(
                "late-detection",
                "low",
                f"{case.called(episode.application)}, episode of {', '.join(episode.actors)}: {'; '.join(late)}.",
                "See which signal would have told earlier: a notification on OutOfSync, an announcement template.",
                key=(episode.id,),
                application=episode.application,
                actors=episode.actors,
                first_at=episode.began_at,
                last_at=episode.ended_at,
                changes=episode.changes,
                evidence=tuple(evidence for step in episode.steps for evidence in step.evidence),
            )


def _steps(episode: Episode, config: Config) -> Iterator[str]:
    goals = config.goals
    taken = (
        ("announced", episode.seconds_to_announce, goals.announce_minutes),
        ("in git", episode.seconds_to_git, goals.git_minutes),
    )
    for word, seconds, minutes in taken:
        if seconds is not None and seconds > minutes * 60:
            yield f"{word} after {span(seconds)}, the goal is {minutes} min"


def _notice(case: Case, episode: Episode, touched: Set[ObjectId]) -> Iterator[str]:
    first = _first_sign(case, episode, touched)
    if first is not None and (first[0] - episode.began_at).total_seconds() > NOTICED_LATE:
        yield f"first noticed after {span((first[0] - episode.began_at).total_seconds())}, by {first[1]}"


def _first_sign(
    case: Case, episode: Episode, touched: Set[ObjectId]
) -> tuple[datetime, str, tuple[Evidence, ...]] | None:
    """The first record that shows anybody could know: Argo CD says OutOfSync, or somebody announced."""
    signs: list[tuple[datetime, str, tuple[Evidence, ...]]] = []
    history = case.applications.get(episode.application)
    for state in history.states if history else ():
        if state.at >= episode.began_at and _out_of_sync(state) & touched:
            signs.append((state.at, "Argo CD's OutOfSync", (state.evidence,)))
            break
    announced = episode.steps[2]
    if announced.at is not None:
        signs.append((announced.at, "the announcement", announced.evidence))
    return min(signs, key=lambda sign: sign[0], default=None)


def _out_of_sync(state: ApplicationState) -> set[ObjectId]:
    return {ObjectId(state.cluster, *place) for *place, said in state.resources if said == "OutOfSync"}


DETECTOR = Detector("late-detection", "noticing, announcing or fixing in git took longer than the goals", detect)
