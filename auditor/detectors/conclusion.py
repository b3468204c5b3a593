"""How a detector turns what it saw into a `Finding`, and the words it shares with the others."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import orjson

from auditor.correlate.episodes.incident import RESTARTED_AT
from auditor.model.case import Case
from auditor.model.change import AppKey, Change, Evidence, FieldChange
from auditor.model.finding import Confidence, Finding, Severity
from auditor.model.resource import Json, Leaf, ObjectId
from auditor.objects import paths


def conclude(
    ident: str,
    severity: Severity,
    message: str,
    remedy: str,
    *,
    key: Sequence[object],
    confidence: Confidence = "high",
    application: AppKey | None = None,
    subject: ObjectId | None = None,
    path: str | None = None,
    actors: Iterable[str] = (),
    values: Iterable[Json] = (),
    first_at: datetime | None = None,
    last_at: datetime | None = None,
    count: int = 1,
    snippet: str = "",
    changes: Iterable[str] = (),
    evidence: Iterable[Evidence] = (),
) -> Finding:
    """A finding whose id depends on `ident`, where it is, and `key`: what it rests on first, never on later events."""
    place = (application, subject, path)
    digest = hashlib.sha256("\0".join(map(repr, (ident, *place, *key))).encode()).hexdigest()
    return Finding(
        id=digest[:16],
        ident=ident,
        severity=severity,
        confidence=confidence,
        application=application,
        object=subject,
        path=path,
        actors=tuple(dict.fromkeys(actors)),
        values=tuple(values),
        first_at=first_at,
        last_at=last_at if last_at is not None else first_at,
        count=count,
        message=message,
        remedy=remedy,
        snippet=snippet,
        changes=tuple(changes),
        evidence=tuple(evidence),
    )


def shown(value: Leaf) -> str:
    """A leaf as a sentence has it: `absent`, `unknown`, or its JSON without quotes around a plain text."""
    if value.state != "value":
        return value.state
    if isinstance(value.value, str):
        return value.value or '""'
    return orjson.dumps(value.value).decode()


def step(field: FieldChange) -> str:
    """`spec.replicas 3 → 6`."""
    return f"{paths.text(field.path)} {shown(field.before)} → {shown(field.after)}"


def who(change: Change) -> str:
    """The name that the record has, with the account acted as; `an unnamed client` where it has none."""
    actor = change.write.actor
    name = actor.name or "an unnamed client"
    return f"{name} as {actor.acting_as}" if actor.acting_as else name


def argument(case: Case, application: AppKey) -> str:
    """An application as the `argocd` command line takes it; of two of one name in an Argo CD, with its namespace."""
    alike = (key for key in case.namesakes if (key.argocd, key.name) == (application.argocd, application.name))
    several = len({key.namespace for key in alike}) > 1
    return f"{application.namespace}/{application.name}" if several else application.name


def span(seconds: float) -> str:
    """A duration as people write it: `0.4 s`, `1 min 8 s`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 10:
        return f"{seconds:.1f}".rstrip("0").rstrip(".") + " s"
    whole = timedelta(seconds=round(seconds))
    minutes, rest = divmod(whole.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(whole.days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    said = [f"{amount} {unit}" for amount, unit in parts if amount]
    return " ".join(said[:2]) or "0 s"


def times(count: int) -> str:
    """`once`, `twice`, `5 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


NEVER_IN_GIT = frozenset({"Node", "Pod", "ReplicaSet", "Event", "Lease", "Endpoints", "EndpointSlice", "CSINode"})
"""Kinds that come and go with the cluster: nobody declares them, so that git lacks them says nothing."""


def is_nobodys(change: Change) -> bool:
    """Whether git is not expected to have the change: on an object that no application owns, of a kind that nobody
    declares (a cordoned node), or by a pipeline that deploys what is its own.
    """
    return change.application is None and (change.write.object.kind in NEVER_IN_GIT or change.write.actor.kind == "ci")


def is_restart(field: FieldChange) -> bool:
    """Whether a field only says when its pods were restarted: nothing that git should ever hold."""
    return field.path[-1:] == (RESTARTED_AT,)


def restarts_only(change: Change) -> bool:
    """Whether a change restarted pods and did nothing else."""
    fields = change.write.fields
    return bool(fields) and all(map(is_restart, fields))


def evidence_of(changes: Iterable[Change]) -> tuple[Evidence, ...]:
    """The evidence of several changes, each record once."""
    return tuple(dict.fromkeys(evidence for change in changes for evidence in change.write.evidence))
