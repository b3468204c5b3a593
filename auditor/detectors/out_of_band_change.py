"""A change that did not come through git: the fact itself, whatever became of it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, evidence_of, is_nobodys, restarts_only, step, times, who
from auditor.model.case import Case
from auditor.model.change import Change
from auditor.model.finding import Finding, Severity
from auditor.model.verdict import Verdict


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each object, credential, channel and set of fields; repeats are counted, not listed."""
    alike: dict[tuple[object, ...], list[Change]] = defaultdict(list)
    for change in case.changes:
        write = change.write
        if write.cause == "out-of-band" and write.persisted == "proven":
            fields = tuple((field.path, repr(field.after)) for field in write.fields)
            alike[(change.application, write.object, write.actor.name, write.channel, write.operation, fields)].append(
                change
            )
    for changes in alike.values():
        yield _finding(changes, case.verdicts.get(changes[-1].id))


def _finding(changes: Sequence[Change], verdict: Verdict | None) -> Finding:
    first, last = changes[0], changes[-1]
    write = first.write
    fields = write.fields
    return conclude(
        "out-of-band-change",
        _severity(first, verdict),
        f"{write.object} {_deed(first)} by {who(first)} with {write.channel}, {times(len(changes))}"
        f"{_outcome(verdict)}.",
        _remedy(first, verdict),
        key=(write.actor.name, write.channel, write.operation, first.id),
        application=first.application,
        subject=write.object,
        path=step(fields[0]).split(" ", 1)[0] if len(fields) == 1 else None,
        actors=(write.actor.name,),
        values=tuple(field.after.value for field in fields if field.after.known),
        first_at=write.at,
        last_at=last.write.at,
        count=len(changes),
        changes=(change.id for change in changes),
        evidence=evidence_of(changes),
    )


def _deed(change: Change) -> str:
    write = change.write
    if write.operation != "update":
        return f"{write.operation}d"
    if not write.fields_known:
        return "changed (the record does not hold what)"
    said = [step(field) for field in write.fields[:3]]
    rest = len(write.fields) - len(said)
    return "changed: " + ", ".join(said) + (f" and {rest} more" if rest > 0 else "")


def _outcome(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    return f"; git: {verdict.git.verdict}, cluster: {verdict.cluster.verdict}"


def _remedy(change: Change, verdict: Verdict | None) -> str:
    if restarts_only(change):
        return "Nothing is owed: a restart leaves no value that git should hold."
    if is_nobodys(change):
        return "Nothing is owed: no application's repository is to declare it."
    if verdict is not None and verdict.prospect == "settled":
        return f"Nothing is owed. {verdict.next}".rstrip()
    if change.application is None and change.write.operation == "create":
        return "Let an application bring the object, or take it out of the cluster."
    return "Bring the value into git, or take it out of the cluster; the verdict beside the change says which is open."


def _severity(change: Change, verdict: Verdict | None) -> Severity:
    """Whether something of it is left to settle decides; what a settled or restarting hand did is information."""
    if restarts_only(change) or is_nobodys(change):
        return "info"
    if verdict is None or verdict.prospect in ("settled", "kept"):
        return "info" if change.write.actor.kind == "person" else "low"
    if verdict.git.verdict in ("reflected", "already"):
        return "info"
    return "low"


DETECTOR = Detector("out-of-band-change", "an object was changed past git", detect)
