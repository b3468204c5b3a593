"""A log that leaves out what the GitOps controller writes: syncs that other records show cast doubt on what stands."""

from dataclasses import replace
from datetime import datetime

from auditor.model.application import ApplicationHistory, SyncRecord
from auditor.model.change import Change
from auditor.model.verdict import CLUSTER_WORST_FIRST, ClusterVerdict, FieldVerdict, Verdict

_UNTOLD = "Whether it is still there cannot be told, so neither can what the next sync does."


def doubted_by_sync(change: Change, verdict: Verdict, history: ApplicationHistory | None, as_of: datetime) -> Verdict:
    """The verdict of a change in a cluster of whose GitOps controller no write is recorded.

    What the next sync would undo cannot be said to stand where a sync has gone over it already.
    """
    if history is None or change.write.cause == "bypass" or not verdict.prospect.startswith("undone-"):
        return verdict
    sync = next((each for each in history.syncs if each.started_at <= as_of and _went_over(change, each)), None)
    if sync is None:
        return verdict
    reason = "a sync has gone over it since, and the log holds no write of the GitOps controller"
    doubt = ClusterVerdict("unknown", reason, sync.started_at)
    if not verdict.fields:
        return _with(verdict, (), _doubted(verdict.git.verdict, verdict.git.reason, verdict.cluster, doubt))
    fields = tuple(_of_field(field, verdict, doubt) for field in verdict.fields)
    return _with(verdict, fields, min((field.cluster for field in fields), key=_rank))


def _went_over(change: Change, sync: SyncRecord) -> bool:
    of = change.write.object
    chosen = sync.extent != "selective" or (of.group, of.kind, of.name) in sync.selected
    ended = sync.finished_at or sync.started_at  # whole seconds: it may have begun after the change in the same one
    return ended > change.write.at and sync.phase == "Succeeded" and chosen and not sync.dry_run


def _of_field(field: FieldVerdict, verdict: Verdict, doubt: ClusterVerdict) -> FieldVerdict:
    if not (field.prospect or verdict.prospect).startswith("undone-"):
        return field
    cluster = _doubted(field.git.verdict, field.git.reason, field.cluster, doubt)
    return field if cluster is field.cluster else FieldVerdict(field.git, cluster, "unknown", _UNTOLD)


def _doubted(word: str, reason: str, cluster: ClusterVerdict, doubt: ClusterVerdict) -> ClusterVerdict:
    """A reason tells that git had the value for a time: a sync then left it."""
    return doubt if cluster.verdict == "standing" and word == "not-reflected" and not reason else cluster


def _with(verdict: Verdict, fields: tuple[FieldVerdict, ...], cluster: ClusterVerdict) -> Verdict:
    if fields == verdict.fields and cluster == verdict.cluster:
        return verdict
    return replace(verdict, fields=fields, cluster=cluster, prospect="unknown", next=_UNTOLD)


def _rank(cluster: ClusterVerdict) -> int:
    return CLUSTER_WORST_FIRST.index(cluster.verdict)
