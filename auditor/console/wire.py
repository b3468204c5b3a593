"""Results as the JSON that programs read. Keys are added freely; none is renamed or dropped without a new schema."""

from collections.abc import Mapping
from datetime import UTC, datetime

from auditor.model.change import AppKey, Evidence, FieldChange
from auditor.model.coverage import AsOf
from auditor.model.episode import Episode
from auditor.model.facts import Origin, SourceMark
from auditor.model.finding import Finding
from auditor.model.resource import Json, JsonObject, Leaf, ObjectId
from auditor.model.staging import StagingDifference, StagingPair
from auditor.model.verdict import ClusterVerdict, FieldVerdict, GitVerdict
from auditor.objects.paths import text as path_text
from auditor.store import Recorded


def time(at: datetime | None) -> str | None:
    """RFC 3339 in UTC; fractions of a second only where there are some."""
    if at is None:
        return None
    return at.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def as_of(ends: AsOf) -> JsonObject:
    """Where each kind of record ends."""
    return {
        "audit": {cluster: time(at) for cluster, at in sorted(ends.audit.items())},
        "argocd": time(ends.argocd),
        "git": time(ends.git),
        "announcements": time(ends.announcements),
        "objects": time(ends.objects),
    }


def change(recorded: Recorded) -> JsonObject:
    """`auditor/changes/1`, one entry."""
    write, placed, verdict = recorded.write, recorded.change, recorded.verdict
    return {
        "id": write.id,
        "at": time(write.at),
        "cluster": write.object.cluster,
        "application": placed.application.name if placed and placed.application else None,
        "object": thing(write.object),
        "operation": write.operation,
        "persisted": write.persisted,
        "outcome": write.outcome,
        "actor": {
            "name": write.actor.name or None,
            "kind": write.actor.kind,
            "acting_as": write.actor.acting_as,
            "known_by": write.actor.known_by,
        },
        "channel": write.channel,
        "cause": write.cause,
        "command": placed.command if placed else None,
        "subresource": write.subresource,
        "code": write.code,
        "refused": write.reason or None,
        "argocd_sees": verdict.argocd_sees if verdict else None,
        "git": verdict.git.verdict if verdict else None,
        "cluster_state": verdict.cluster.verdict if verdict else None,
        "next": verdict.next or None if verdict else None,
        "whole": {"git": _git(verdict.git), "cluster": _cluster(verdict.cluster)} if verdict else None,
        "fields": _fields(recorded),
        "fields_known": write.fields_known,
        "notes": list(write.notes),
        "evidence": _first(write.evidence),
        "further_evidence": [evidence(one) for one in write.evidence[1:]],
    }


def finding(found: Finding) -> JsonObject:
    """`auditor/findings/1`, one entry."""
    return {
        "id": found.id,
        "ident": found.ident,
        "severity": found.severity,
        "confidence": found.confidence,
        "application": found.application.name if found.application else None,
        "application_of": _home(found.application) if found.application else None,
        "cluster": found.object.cluster if found.object else None,
        "object": thing(found.object) if found.object else None,
        "path": found.path,
        "actors": list(found.actors),
        "values": list(found.values),
        "first_at": time(found.first_at),
        "last_at": time(found.last_at),
        "count": found.count,
        "message": found.message,
        "remedy": found.remedy,
        "snippet": found.snippet,
        "changes": list(found.changes),
        "evidence": [evidence(one) for one in found.evidence],
    }


def _home(application: AppKey) -> JsonObject:
    """What tells an application from another of its name."""
    return {"argocd": application.argocd, "namespace": application.namespace, "kind": application.kind}


def episode(one: Episode) -> JsonObject:
    """`auditor/episodes/1`, one entry."""
    steps: JsonObject = {
        step.name: {"state": step.state, "at": time(step.at), "by": step.by, "detail": step.detail}
        for step in one.steps
    }
    return {
        "id": one.id,
        "application": one.application.name,
        "actors": list(one.actors),
        "began_at": time(one.began_at),
        "ended_at": time(one.ended_at),
        "steps": steps,
        "changes": list(one.changes),
        "seconds_to_announce": one.seconds_to_announce,
        "seconds_to_git": one.seconds_to_git,
        "seconds_frozen": one.seconds_frozen,
        "seconds_exposed": one.seconds_exposed,
    }


def pair(one: StagingPair) -> JsonObject:
    """`auditor/staging/1`, one entry."""
    return {
        "staging": one.staging.name,
        "production": one.production.name,
        "paired_by": one.paired_by,
        "differences": [_difference(difference) for difference in one.differences],
    }


def mark(one: SourceMark) -> JsonObject:
    """`auditor/sources/1`, one entry, without what was skipped in it."""
    return {
        "source": one.source,
        "stream": one.stream,
        "cluster": one.cluster,
        "kind": one.kind,
        "format": one.format,
        "bytes": one.bytes,
        "events": one.events,
        "successful_writes": one.successful_writes,
        "dry_runs": one.dry_runs,
        "failed_writes": one.failed_writes,
        "reads": one.reads,
        "foreign": one.foreign,
        "undecodable": one.undecodable,
        "writers": _counts(one.writers),
        "levels": _counts(one.levels),
        "account": _counts(one.account),
        "streams": {name: [list(span) for span in one.streams[name]] for name in sorted(one.streams)},
        "first_at": time(one.first_at),
        "last_at": time(one.last_at),
        "complete": one.complete,
        "problem": one.problem or None,
    }


def thing(one: ObjectId) -> JsonObject:
    """An object without its cluster, which stands beside it."""
    return {"group": one.group, "kind": one.kind, "namespace": one.namespace, "name": one.name}


def evidence(one: Evidence) -> JsonObject:
    """Where the record lies, and how it calls itself."""
    place: JsonObject = _origin(one.origin)
    return {"kind": one.kind, **place, "audit_id" if one.kind == "audit" else "ref": one.ref, "event_id": one.event_id}


def _first(evidences: tuple[Evidence, ...]) -> JsonObject | None:
    return evidence(evidences[0]) if evidences else None


def _origin(origin: Origin | None) -> JsonObject:
    if origin is None:
        return {"source": None, "offset": None, "length": None, "sha256": None}
    return {"source": origin.source, "offset": origin.offset, "length": origin.length, "sha256": origin.sha256}


def _fields(recorded: Recorded) -> list[Json]:
    if recorded.write.operation != "update":
        return []
    verdicts = recorded.verdict.fields if recorded.verdict else ()
    padded = [*verdicts, *[None] * (len(recorded.write.fields) - len(verdicts))]
    return [_field(field, verdict) for field, verdict in zip(recorded.write.fields, padded, strict=True)]


def _field(field: FieldChange, verdict: FieldVerdict | None) -> Json:
    return {
        "path": path_text(field.path),
        "before": _value(field.before),
        "after": _value(field.after),
        "before_state": field.before.state,
        "after_state": field.after.state,
        "git": _git(verdict.git) if verdict else None,
        "cluster": _cluster(verdict.cluster) if verdict else None,
    }


def _value(leaf: Leaf) -> Json:
    return leaf.value if leaf.state == "value" else None


def _git(verdict: GitVerdict) -> Json:
    authored: Json = None
    if verdict.authored:
        authored = {"commit": verdict.authored.commit, "author": verdict.authored.author}
    return {
        "verdict": verdict.verdict,
        "commit": verdict.commit,
        "author": verdict.author,
        "at": time(verdict.at),
        "authored": authored,
        "pull_request": verdict.pull_request,
        "branch": verdict.branch,
        "delay_seconds": verdict.delay_seconds,
        "reason": verdict.reason or None,
        "confidence": verdict.confidence,
    }


def _cluster(verdict: ClusterVerdict) -> Json:
    return {
        "verdict": verdict.verdict,
        "at": time(verdict.at),
        "by": verdict.by,
        "reason": verdict.reason or None,
    }


def _difference(one: StagingDifference) -> Json:
    return {
        "cluster": one.object.cluster,
        "object": thing(one.object),
        "path": path_text(one.path),
        "staging": _value(one.staging),
        "production": _value(one.production),
        "staging_state": one.staging.state,
        "production_state": one.production.state,
        "cause": one.causes[0] if one.causes else None,
        "causes": list(one.causes),
        "because": one.because,
        "changes": list(one.changes),
        "commit": one.commit,
        "advice": one.advice,
    }


def _counts(counts: Mapping[str, int]) -> Json:
    return {name: counts[name] for name in sorted(counts)}
