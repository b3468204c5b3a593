"""Access that changes no manifest and belongs to the story: exec, debug containers, impersonation."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, times
from auditor.model.case import Case
from auditor.model.change import Write
from auditor.model.finding import Finding
from auditor.model.resource import ObjectId

HUMAN = frozenset({"person", "shared-credential", "unknown"})

WORDS = {
    "exec": "ran a command in",
    "attach": "attached to",
    "portforward": "forwarded a port of",
    "proxy": "proxied to",
    "ephemeralcontainers": "added a debug container to",
    "eviction": "evicted",
    "token": "requested a token of",
    "binding": "bound",
    "status": "wrote the status of",
}


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each credential, kind of access and object; one for each account acted as.

    A drained node is one story, however many pods it had; what was read in another's name is told with the name.
    """
    access: dict[tuple[str, str, ObjectId | None], list[Write]] = defaultdict(list)
    posing: dict[tuple[str, str], list[Write]] = defaultdict(list)
    for write in case.writes:
        if write.actor.kind not in HUMAN:
            continue
        if write.outcome == "access" and write.subresource:
            place = None if write.subresource == "eviction" else write.object
            access[(write.actor.name, write.subresource, place)].append(write)
        if write.actor.acting_as:
            posing[(write.actor.name, write.actor.acting_as)].append(write)
    for (name, kind, _), writes in access.items():
        yield _access(name, kind, writes)
    for (name, account), writes in posing.items():
        yield _impersonation(name, account, writes)


def _access(name: str, kind: str, writes: Sequence[Write]) -> Finding:
    if kind == "eviction":
        return _drain(name, writes)
    first = writes[0]
    refused = all(write.code is not None and write.code >= 400 for write in writes)
    return conclude(
        "break-glass-access",
        "low",
        f"{name or 'An unnamed client'} {WORDS.get(kind, kind)} {first.object}, {times(len(writes))}"
        f"{'; the request was not successful' if refused else ''}.",
        "Nothing to undo in git; say in the announcement what was looked at, and delete a pod that was changed inside.",
        key=(name, kind, first.id),
        subject=first.object,
        actors=filter(None, (name,)),
        first_at=first.at,
        last_at=writes[-1].at,
        count=len(writes),
        evidence=tuple(evidence for write in writes for evidence in write.evidence),
    )


def _drain(name: str, writes: Sequence[Write]) -> Finding:
    pods = list(dict.fromkeys(str(write.object) for write in writes))
    listed = ", ".join(pods[:3]) + (f" and {len(pods) - 3} more" if len(pods) > 3 else "")
    return conclude(
        "break-glass-access",
        "info",
        f"{name or 'An unnamed client'} evicted {listed}, {times(len(writes))}.",
        "Nothing is owed: their controllers make new pods.",
        key=(name, "eviction", writes[0].id),
        actors=filter(None, (name,)),
        first_at=writes[0].at,
        last_at=writes[-1].at,
        count=len(writes),
        evidence=tuple(evidence for write in writes for evidence in write.evidence),
    )


def _impersonation(name: str, account: str, writes: Sequence[Write]) -> Finding:
    return conclude(
        "break-glass-access",
        "medium",
        f"{name} acted as {account}, {times(len(writes))}.",
        "See that the right to impersonate is meant, and that it is granted for the incident only.",
        key=(name, account, writes[0].id),
        actors=(name,),
        values=(account,),
        first_at=writes[0].at,
        last_at=writes[-1].at,
        count=len(writes),
        evidence=tuple(evidence for write in writes for evidence in write.evidence),
    )


DETECTOR = Detector("break-glass-access", "exec, a debug container or impersonation", detect)
