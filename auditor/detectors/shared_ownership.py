"""Two applications that claim one object: each sync of the one is drift for the other."""

from collections import defaultdict
from collections.abc import Iterator

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude
from auditor.model.application import ApplicationState
from auditor.model.case import Case
from auditor.model.change import AppKey
from auditor.model.finding import Finding
from auditor.model.resource import ObjectId


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """From `status.resources` of two applications at one time, and from changes with two owners."""
    claims: dict[ObjectId, dict[AppKey, ApplicationState | None]] = defaultdict(dict)
    for key, history in case.applications.items():
        last = history.states[-1] if history.states and history.removed_at is None else None
        if last is not None and last.cluster:
            for *place, _ in last.resources:
                claims[ObjectId(last.cluster, *place)][key] = last
    for change in case.changes:
        if len(change.owners) > 1:
            claims[change.write.object].update(dict.fromkeys(change.owners))
    for subject, owners in sorted(claims.items()):
        if len(owners) > 1:
            yield _finding(case, subject, owners)


def _finding(case: Case, subject: ObjectId, owners: dict[AppKey, ApplicationState | None]) -> Finding:
    names = sorted(str(key) for key in owners)
    states = [state for state in owners.values() if state]
    return conclude(
        "shared-ownership",
        "medium",
        f"{subject} is claimed by {len(names)} applications: {', '.join(sorted(map(case.called, owners)))}.",
        "Keep the object in one of them; FailOnSharedResource=true makes Argo CD refuse the other.",
        key=(names,),
        application=min(owners, key=str),
        subject=subject,
        values=tuple(names),
        first_at=min((state.at for state in states), default=None),
        count=len(names),
        evidence=tuple(state.evidence for state in states),
    )


DETECTOR = Detector("shared-ownership", "two applications claim one object", detect)
