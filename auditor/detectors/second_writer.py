"""A pipeline, Helm or a person that keeps applying manifests beside the controller: git is not the source of truth."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, evidence_of, span, times
from auditor.model.case import Case
from auditor.model.change import AppKey, Change
from auditor.model.finding import Finding

APPLYING = frozenset({"kubectl apply", "kubectl replace", "helm", "terraform"})
"""Channels that write whole manifests, so that their sender holds a second copy of what git declares."""

NO_MANIFEST = frozenset({"kubectl rollout", "kubectl annotate", "kubectl label", "kubectl delete", "kubectl scale"})
"""What a pipeline may do beside a GitOps controller without being a source of manifests."""


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each application and credential that applies to it past the controller.

    A pipeline counts from its first change; a person only from the second command on, as one apply by hand is an
    out-of-band change and no habit.
    """
    writers: dict[tuple[AppKey, str], list[Change]] = defaultdict(list)
    for change in case.changes:
        if change.application and _applies(change):
            writers[(change.application, change.write.actor.name)].append(change)
    for (application, name), changes in writers.items():
        commands = len({change.command for change in changes})
        if changes[0].write.actor.kind == "ci" or commands > 1:
            yield _finding(case, application, name, changes, commands)


def _applies(change: Change) -> bool:
    write, channel = change.write, change.write.channel
    if write.cause != "out-of-band" or write.persisted != "proven":
        return False
    if channel == "kubectl" and write.operation == "delete":
        return False  # `kubectl delete`, or what an apply that counts already has pruned
    return channel in APPLYING or (write.actor.kind == "ci" and channel not in NO_MANIFEST)


def _finding(case: Case, application: AppKey, name: str, changes: Sequence[Change], commands: int) -> Finding:
    first, last = changes[0].write, changes[-1].write
    objects = list(dict.fromkeys(str(change.write.object) for change in changes))
    lasted = f" over {span((last.at - first.at).total_seconds())}" if commands > 1 else ""
    notes = list(dict.fromkeys(note for change in changes for note in change.write.notes))
    return conclude(
        "second-writer",
        "high" if commands > 1 else "medium",
        f"{name} applies to {case.called(application)} with {first.channel} beside the GitOps controller, "
        f"{times(commands)}{lasted}: {', '.join(objects[:3])}."
        f"{' Also: ' + '; '.join(notes[:2]) + '.' if notes else ''}",
        "Let one of the two write: take the apply out of the pipeline and let it commit to the repository instead.",
        key=(name, changes[0].id),
        confidence="high" if commands > 1 else "medium",
        application=application,
        subject=first.object if len(objects) == 1 else None,
        actors=(name,),
        first_at=first.at,
        last_at=last.at,
        count=commands,
        changes=(change.id for change in changes),
        evidence=evidence_of(changes),
    )


DETECTOR = Detector("second-writer", "somebody else still applies manifests beside the controller", detect)
