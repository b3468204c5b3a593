"""Values for tests: each with the fewest fields that make it true, all else given by name."""

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast

import msgspec

from auditor.correlate.coverage import as_of
from auditor.model.application import ApplicationHistory, ApplicationState, AppSource, Freeze
from auditor.model.change import Actor, AppKey, Change, Evidence, FieldChange, Write
from auditor.model.coverage import Coverage, Gap
from auditor.model.facts import Announcement, AuditEvent, Commit, Origin, SourceMark
from auditor.model.resource import ABSENT, Leaf, ObjectId, leaf
from auditor.model.verdict import ClusterVerdict, ClusterWord, FieldVerdict, GitVerdict, GitWord, Verdict
from auditor.objects import paths

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ORIGIN = Origin(source="audit.log", offset=0, length=1, sha256="0" * 64)
KUBECTL = "kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07"


V = TypeVar("V")


def replace(value: V, **given: Any) -> V:
    """The same value with other fields, whether it is a Struct or of a dataclass."""
    kept: Any = value
    made = msgspec.structs.replace if isinstance(value, msgspec.Struct) else dataclasses.replace
    return cast(V, made(kept, **given))


def minute(minutes: float) -> datetime:
    """So many minutes after the hour at which all stories begin."""
    return START + timedelta(minutes=minutes)


def audit_event(**given: Any) -> AuditEvent:
    """A patch of Deployment shop-prod/web by alice with kubectl."""
    fields: dict[str, Any] = {
        "id": "event",
        "cluster": "prod",
        "audit_id": "audit-id",
        "stage": "ResponseComplete",
        "level": "RequestResponse",
        "verb": "patch",
        "at": START,
        "stage_at": START,
        "user": "alice@acme.example",
        "groups": ("system:authenticated",),
        "extra": {},
        "impersonated_user": "",
        "impersonated_groups": (),
        "source_ips": ("192.0.2.10",),
        "user_agent": KUBECTL,
        "request_uri": "/apis/apps/v1/namespaces/shop-prod/deployments/web",
        "api_group": "apps",
        "api_version": "v1",
        "resource": "deployments",
        "subresource": "",
        "namespace": "shop-prod",
        "name": "web",
        "uid": "",
        "object_version": "",
        "code": 200,
        "reason": "",
        "dry_run": False,
        "field_manager": "",
        "force": False,
        "request": None,
        "response": None,
        "annotations": {},
        "truncated": False,
        "dialect": "audit",
        "stream": "",
        "origin": ORIGIN,
    }
    return AuditEvent(**(fields | given))


def actor(name: str = "alice@acme.example", kind: Any = "person", **given: Any) -> Actor:
    """A person, known as the authenticated user."""
    return Actor(name, kind, **{"known_by": "authenticated user", **given})


def thing(name: str = "web", kind: str = "Deployment", namespace: str = "shop-prod", group: str = "apps") -> ObjectId:
    """Deployment shop-prod/web of cluster prod."""
    return ObjectId("prod", group, kind, namespace, name)


def field(path: str = "spec.replicas", before: Any = 3, after: Any = 6) -> FieldChange:
    """A field change; `...` stands for absent."""
    return FieldChange(paths.parse(path), value(before), value(after))


def value(of: Any) -> Leaf:
    """A leaf; `...` stands for absent."""
    return ABSENT if of is ... else leaf(of)


def evidence(ref: str = "audit-id") -> Evidence:
    """A pointer to an audit event."""
    return Evidence("audit", ref, ORIGIN)


def write(ident: str, at: float, *fields: FieldChange, **given: Any) -> Write:
    """A person's proven `kubectl patch` of Deployment shop-prod/web, `at` minutes past the hour."""
    made: dict[str, Any] = {
        "id": ident,
        "at": minute(at),
        "object": thing(),
        "verb": "patch",
        "subresource": "",
        "outcome": "changed",
        "persisted": "proven",
        "operation": "update",
        "actor": actor(),
        "channel": "kubectl patch",
        "cause": "out-of-band",
        "patch_type": "strategic",
        "field_manager": "kubectl-patch",
        "user_agent": KUBECTL,
        "asked": fields,
        "fields": fields,
        "side_effects": (),
        "notes": (),
        "resource_version": "",
        "code": 200,
        "reason": "",
        "fields_known": True,
        "known_by": "event",
        "evidence": (evidence(ident),),
    }
    return Write(**(made | given))


SHOP = AppKey("argocd", "argocd", "shop-prod")


def change(ident: str, at: float, *fields: FieldChange, application: AppKey | None = SHOP, **given: Any) -> Change:
    """A write of `write` as a change of shop-prod."""
    owners = (application,) if application else ()
    return Change(write(ident, at, *fields, **given), ident, application, owners, "tracking-id" if application else "")


def verdict(ident: str, *answers: tuple[str, str], whole: bool = False, **git: Any) -> Verdict:
    """The verdict of a change: a pair of git's and the cluster's word for each field, or one for the whole object.

    `git` is given to each of git's answers.
    """
    fields = tuple(
        FieldVerdict(GitVerdict(cast(GitWord, word), **git), ClusterVerdict(cast(ClusterWord, state)))
        for word, state in answers
    )
    return Verdict(ident, fields[0].git, fields[0].cluster, () if whole else fields, None, "unknown", "")


def app_state(at: float, key: AppKey = SHOP, **given: Any) -> ApplicationState:
    """An automated, self-healing, Synced application of one kustomize source."""
    source = AppSource("http://git.acme.example/deploy.git", f"apps/{key.name}", "main")
    made: dict[str, Any] = {
        "key": key,
        "at": minute(at),
        "resource_version": str(int(at * 1000)),
        "project": "default",
        "sources": (source,),
        "destination_server": "https://kubernetes.default.svc",
        "destination_name": "",
        "destination_namespace": key.name,
        "cluster": "prod",
        "automated": True,
        "self_heal": True,
        "prune": True,
        "skip_reconcile": False,
        "sync_options": (),
        "ignore_differences": (),
        "labels": {},
        "tracking_id": "",
        "owner_set": "",
        "sync_status": "Synced",
        "revisions": ("c0",),
        "health": "Healthy",
        "resources": (),
        "conditions": (),
        "reconciled_at": minute(at),
        "document": {},
        "evidence": Evidence("application", f"{key.name}@{at}", ORIGIN),
    }
    return ApplicationState(**(made | given))


def freeze(began: float, ended: float | None, key: AppKey = SHOP, **given: Any) -> Freeze:
    """Auto-sync removed and put back by alice."""
    made: dict[str, Any] = {
        "app": key,
        "form": "automated-removed",
        "began_at": minute(began),
        "began_by": actor(),
        "ended_at": None if ended is None else minute(ended),
        "ended_by": None if ended is None else actor(),
        "undone": False,
        "undone_by": "",
        "description": "",
        "evidence": (evidence("freeze"),),
    }
    return Freeze(**(made | given))


def history(*states: ApplicationState, key: AppKey = SHOP, **given: Any) -> ApplicationHistory:
    """An application's states, with no syncs and no freezes unless given."""
    made: dict[str, Any] = {"key": key, "states": states, "syncs": (), "freezes": ()}
    return ApplicationHistory(**(made | given))


def mark(kind: Any, first: float, last: float, cluster: str = "") -> SourceMark:
    """A source that was read from one minute to another."""
    return SourceMark(kind, cluster, kind, "", "test", events=1, first_at=minute(first), last_at=minute(last))


def coverage(*marks: SourceMark, gaps: tuple[Gap, ...] = ()) -> Coverage:
    """What these marks cover: three hours of audit log, Argo CD, git and announcements unless given."""
    read = marks or (
        mark("audit", -60, 120, "prod"),
        mark("argocd", -60, 120, "argocd"),
        mark("git", -60, 120),
        mark("announcements", -60, 120),
    )
    return Coverage(read, (), as_of(read), gaps)


def message(at: float, text: str, author: str = "alice", mail: str = "alice@acme.example") -> Announcement:
    """A message in the incident channel."""
    return Announcement(minute(at), author, mail, text, "incidents", ORIGIN)


def commit(sha: str, at: float, *parents: str) -> Commit:
    """A commit of the deploy repository."""
    return Commit(
        "http://git.acme.example/deploy.git", sha, parents, "", "Erin Holt", "erin@acme.example", minute(at),
        "Erin Holt", "erin@acme.example", minute(at), f"Commit {sha}", "", "N", (),
    )  # fmt: skip
