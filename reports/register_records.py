"""The change register as data: one row a change, and one a deployment. What is not known is null, in CSV blank."""

from collections.abc import Mapping
from datetime import datetime

from auditor.model.application import SyncRecord
from auditor.model.change import AppKey, Change, Evidence, FieldChange
from auditor.model.resource import Json, Leaf
from auditor.model.verdict import GitVerdict, Verdict
from auditor.objects import paths
from reports.case.dossier import Dossier, sides
from reports.contract.records import Records
from reports.words.clock import stamp
from reports.words.wording import pair_texts

COLUMNS = (
    "at",
    "kind",
    "cluster",
    "application",
    "object_kind",
    "namespace",
    "name",
    "operation",
    "what",
    "cause",
    "actor",
    "actor_kind",
    "acting_as",
    "channel",
    "persisted",
    "approved_in",
    "git",
    "commit",
    "pull_request",
    "author",
    "reviewed_by",
    "cluster_state",
    "reverted_at",
    "reverted_by",
    "id",
    "source",
    "offset",
    "audit_id",
    "sha256",
)
"""Approval and review stay null where no record holds them: a merge shows neither."""


def change_records(dossier: Dossier) -> Records:
    """Out-of-band and bypass changes of a postmortem, the unproven ones marked."""
    told = sorted(
        [*(one.change for one in dossier.counted), *dossier.unproven], key=lambda change: (change.write.at, change.id)
    )
    rows = tuple(change_row(dossier, change) for change in told)
    return Records("auditor/postmortem/1", "changes", COLUMNS, rows, head(dossier))


def head(dossier: Dossier) -> dict[str, Json]:
    """Window, as-of per kind of record, and the counts of the answers."""
    ends = dossier.case.coverage.as_of
    counts: dict[str, Json] = {"changes": len(dossier.counted), "unproven": len(dossier.unproven)}
    states = ("git", "act", "stand", "back", "untraced", "unknown")
    names = ("in_git", "next_sync_undoes", "stand", "put_back", "untraced", "undeterminable")
    for state, name in zip(states, names, strict=True):
        counts[name] = sum(one.state == state for one in dossier.counted)
    return {
        "window": {"since": _moment(dossier.first_at), "until": _moment(dossier.last_at)},
        "as_of": {
            "audit": {cluster: stamp(at) for cluster, at in sorted(ends.audit.items())},
            "argocd": _moment(ends.argocd),
            "git": _moment(ends.git),
            "announcements": _moment(ends.announcements),
            "objects": _moment(ends.objects),
        },
        "counts": counts,
    }


def change_row(dossier: Dossier, change: Change) -> Mapping[str, Json]:
    """One change: what, who, by what, and what became of it."""
    write = change.write
    verdict = dossier.case.verdicts.get(change.id)
    row: dict[str, Json] = {
        "at": stamp(write.at),
        "kind": "change",
        "cluster": write.object.cluster,
        "application": _name(change.application),
        "group": write.object.group,
        "object_kind": write.object.kind,
        "namespace": write.object.namespace or None,
        "name": write.object.name,
        "what": "; ".join(_said(field) for field in write.fields) or None,
        "operation": write.operation,
        "fields": [
            {
                "path": paths.text(field.path),
                "before": _value(field.before),
                "after": _value(field.after),
                "before_state": field.before.state,
                "after_state": field.after.state,
            }
            for field in write.fields
        ],
        "cause": write.cause,
        "actor": write.actor.name or None,
        "actor_kind": write.actor.kind,
        "acting_as": write.actor.acting_as,
        "channel": write.channel,
        "persisted": write.persisted,
        "approved_in": None,
        "reviewed_by": None,
        "id": change.id,
    }
    return row | _judged(verdict) | _evidence(write.evidence)


def sync_row(sync: SyncRecord) -> Mapping[str, Json]:
    """One sync as a deployment."""
    row: dict[str, Json] = dict.fromkeys(COLUMNS)
    row |= {
        "at": stamp(sync.started_at),
        "kind": "deployment",
        "application": sync.app.name,
        "group": "argoproj.io",
        "object_kind": "Application",
        "namespace": sync.app.namespace,
        "name": sync.app.name,
        "operation": f"sync {sync.phase.lower()}".strip(),
        "fields": [],
        "cause": sync.origin,
        "actor": sync.initiated_by or (sync.requested_by.name if sync.requested_by is not None else None),
        "channel": f"Argo CD, {sync.extent} sync",
        "commit": ", ".join(sync.revisions) or None,
    }
    return row | _evidence(sync.evidence)


def _judged(verdict: Verdict | None) -> dict[str, Json]:
    nothing: dict[str, Json] = dict.fromkeys(
        ("git", "commit", "pull_request", "author", "cluster_state", "reverted_at", "reverted_by")
    )
    if verdict is None:
        return nothing
    git = _telling(verdict)
    ended = next((cluster for _, cluster in sides(verdict) if cluster.at is not None and cluster.by), None)
    return {
        "git": verdict.git.verdict,
        "commit": git.commit,
        "pull_request": git.pull_request,
        "author": git.author or (git.authored.author if git.authored is not None else None),
        "cluster_state": verdict.cluster.verdict,
        "reverted_at": _moment(ended.at) if ended is not None else None,
        "reverted_by": ended.by if ended is not None else None,
    }


def _telling(verdict: Verdict) -> GitVerdict:
    """The verdict that names a commit: the change's own, else that of a field."""
    if verdict.git.commit:
        return verdict.git
    return next((git for git, _ in sides(verdict) if git.commit), verdict.git)


def _evidence(evidence: tuple[Evidence, ...]) -> dict[str, Json]:
    first = next((one for one in evidence if one.origin is not None), None)
    if first is None or first.origin is None:
        return dict.fromkeys(("source", "offset", "audit_id", "sha256"))
    return {
        "source": first.origin.source,
        "offset": first.origin.offset,
        "audit_id": first.ref if first.kind == "audit" else None,
        "sha256": first.origin.sha256,
    }


def _said(field: FieldChange) -> str:
    first, second = pair_texts(field.before, field.after)
    return f"{paths.text(field.path)} {first} → {second}"


def _name(application: AppKey | None) -> Json:
    return application.name if application is not None else None


def _value(leaf: Leaf) -> Json:
    return leaf.value if leaf.state == "value" else None


def _moment(at: datetime | None) -> Json:
    return stamp(at) if at is not None else None
