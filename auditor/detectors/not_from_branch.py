"""A change that Argo CD itself applied and that the tracked branch does not hold: a bypass."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, evidence_of, step
from auditor.model.case import Case
from auditor.model.change import AppKey, Change
from auditor.model.finding import Finding


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each application and person who asked for it."""
    asked: dict[tuple[AppKey | None, str], list[Change]] = defaultdict(list)
    for change in case.changes:
        if change.write.cause == "bypass":
            asked[(change.application, change.write.actor.name)].append(change)
    for (application, name), changes in asked.items():
        yield _finding(case, application, name, changes)


def _finding(case: Case, application: AppKey | None, name: str, changes: Sequence[Change]) -> Finding:
    first = changes[0].write
    return conclude(
        "not-from-branch",
        "high",
        _message(case, application, name, changes),
        "Commit the value and take the override, revision or local manifests back; after an override or with another "
        "target revision Argo CD says Synced all the same.",
        key=(name, changes[0].id),
        application=application,
        subject=first.object if len({change.write.object for change in changes}) == 1 else None,
        actors=filter(None, (name,)),
        first_at=first.at,
        last_at=changes[-1].write.at,
        count=len(changes),
        changes=(change.id for change in changes),
        evidence=evidence_of(changes),
    )


def _message(case: Case, application: AppKey | None, name: str, changes: Sequence[Change]) -> str:
    first = changes[0].write
    called = case.called(application) if application else "an application"
    who = f"asked for by {name or 'a user that is not recorded'} ({first.actor.known_by})"
    every = [f"{change.write.object} {step(field)}" for change in changes for field in change.write.fields]
    past = [each for change in changes for each in _past_the_branch(case, change)]
    if every and not past:
        held = "; ".join(every[:3])
        return f"Argo CD synced {called} past the tracked branch, {who}. What it changed, the branch holds too: {held}."
    what = "; ".join(past[:3]) or first.object
    return f"Argo CD applied to {called} what the tracked branch does not hold, {who}: {what}."


def _past_the_branch(case: Case, change: Change) -> Iterator[str]:
    """The fields of which git did not have the value when the sync gave it."""
    verdict, write = case.verdicts.get(change.id), change.write
    told = [each.git for each in verdict.fields] if verdict else []
    for field, git in zip_longest(write.fields, told[: len(write.fields)]):
        landed = git is not None and git.verdict == "reflected" and git.at is not None and git.at <= write.at
        if git is None or not (landed or git.verdict == "already"):
            yield f"{write.object} {step(field)}"


DETECTOR = Detector("not-from-branch", "it went through Argo CD and not from the tracked branch", detect)
