"""Two writers that keep undoing each other on one field, for as long as both run."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from statistics import median

from auditor.config import Config
from auditor.detectors import Detector, suggestion
from auditor.detectors.conclusion import conclude, shown, span
from auditor.detectors.loop_evidence import Loop, Pull, loops
from auditor.model.application import ApplicationHistory
from auditor.model.case import Case
from auditor.model.change import AppKey
from auditor.model.desired import DesiredState, ManifestKey
from auditor.model.finding import Finding
from auditor.objects import ignore, paths

REMEDY = {
    "autoscaler": "The autoscaler owns the field: take it out of the manifest, and keep Argo CD from resetting it.",
    "admission": "The webhook owns the field: write its value in the manifest, or keep Argo CD from comparing it.",
    "ci": "Two sources of truth: keep the pipeline or bot from writing the field, or take it out of the manifest.",
    "operator": "The operator owns the field: take it out of the manifest, and keep Argo CD from resetting it.",
}


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each loop; what only releases reset is none."""
    owners = {change.write.object: change.application for change in case.changes if change.application}
    for loop in loops(case.writes):
        application = owners.get(loop.object)
        history = case.applications.get(application) if application else None
        if not _made_by_releases(loop, history):
            yield _finding(case, loop, application, history)


def _made_by_releases(loop: Loop, history: ApplicationHistory | None) -> bool:
    """Whether each pull belongs to another revision: then the controller deployed, and was not undone."""
    if history is None:
        return False
    revisions = [_revision(history, pull.at) for pull in loop.pulls]
    return all(revisions) and len(set(revisions)) == len(revisions)


def _revision(history: ApplicationHistory, moment: datetime) -> tuple[str, ...]:
    began = [sync for sync in history.syncs if sync.started_at <= moment + timedelta(seconds=1)]
    return began[-1].revisions if began else ()


def _finding(case: Case, loop: Loop, application: AppKey | None, history: ApplicationHistory | None) -> Finding:
    first, last = loop.pulls[0], loop.pulls[-1]
    others = list(dict.fromkeys(pull.other for pull in loop.pulls))
    controller = first.write.actor.name
    path = paths.text(loop.path)
    ended = _ended(case, loop, history)
    period = median(loop.gaps)
    return conclude(
        "sync-loop",
        "low" if ended else "high",
        f"{loop.object} {path}: {controller} asks for {shown(first.wanted)} and {', '.join(others)} {_answer(last)}, "
        f"{len(loop.pulls)} rounds in {span((last.at - first.at).total_seconds())}, "
        f"one every {span(period)} in the median, {_cost(loop)} writes. "
        f"{ended or 'It still runs when the records end.'}",
        REMEDY.get(last.other_kind, "Let one of the two own the field."),
        key=(first.write.id,),
        application=application,
        subject=loop.object,
        path=path,
        actors=(controller, *others),
        values=tuple(value.value for value in (first.wanted, last.found) if value.known),
        first_at=first.at,
        last_at=last.at,
        count=len(loop.pulls),
        snippet=suggestion.block(case, loop.object, loop.path, last.wanted, last.found),
        evidence=(
            evidence
            for pull in loop.pulls
            for write in (pull.other_write, pull.write)
            if write is not None
            for evidence in write.evidence
        ),
    )


def _answer(pull: Pull) -> str:
    return f"makes it {shown(pull.found)}" if pull.found.known else "does not keep it"


def _cost(loop: Loop) -> int:
    """How many writes the API server had to take for it."""
    return len({write.id for pull in loop.pulls for write in (pull.other_write, pull.write) if write is not None})


def _ended(case: Case, loop: Loop, history: ApplicationHistory | None) -> str:
    """In words what ended it, "" while it may still run. Only what the records show is said."""
    last = loop.pulls[-1].at
    end = case.coverage.as_of.audit.get(loop.object.cluster)
    if end is None:
        return ""
    why = _settled(case, loop, history, last)
    quiet = timedelta(seconds=max(loop.gaps) * 2)
    if not why and end - last <= quiet:
        return ""
    said = f"The last pull was {span((end - last).total_seconds())} before the records end"
    return f"{said}; {why or 'what ended it is not recorded'}."


def _settled(case: Case, loop: Loop, history: ApplicationHistory | None, last: datetime) -> str:
    """What keeps the controller from asking again, as far as it came after the last pull."""
    if history is None or not history.states:
        return ""
    rules = history.states[-1].ignore_differences
    if any(ignore.covers(rule, loop.object, loop.path) for rule in rules) and history.states[-1].at > last:
        return "an ignoreDifferences rule covers the field now"
    desired = case.desired.get(history.key)
    if isinstance(desired, DesiredState):
        subject = loop.object
        manifest = desired.objects.get(ManifestKey(subject.group, subject.kind, subject.namespace, subject.name))
        if manifest is not None and paths.lookup(manifest, loop.path).state == "absent":
            return "git does not declare the field any more"
    return ""


DETECTOR = Detector("sync-loop", "two writers keep undoing each other", detect)
