"""Cases for the tests of reports: built by hand, so that a test reads what it needs and nothing more."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from auditor.model.application import ApplicationHistory
from auditor.model.case import Case, Scope
from auditor.model.change import Actor, ActorKind, AppKey, Change, Evidence, FieldChange, Write
from auditor.model.coverage import AsOf, Coverage, Gap
from auditor.model.facts import Origin, SourceMark
from auditor.model.resource import ListItem, ObjectId, Path, leaf
from auditor.model.verdict import (
    ClusterVerdict,
    ClusterWord,
    FieldVerdict,
    GitVerdict,
    GitWord,
    Prospect,
    Verdict,
)

DAY = "2026-11-30T"
NOON = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)


def at(time: str) -> datetime:
    """`07:00:34.395` on the day of the incident."""
    return datetime.fromisoformat(f"{DAY}{time}+00:00")


def origin(source: str, offset: int, length: int = 1200) -> Origin:
    return Origin(source, offset, length, sha256(f"{source}{offset}".encode(errors="replace")).hexdigest())


def evidence(ref: str, source: str = "audit/audit.log", offset: int = 0) -> Evidence:
    return Evidence(
        "audit", ref, origin(source, offset or int(sha256(ref.encode(errors="replace")).hexdigest()[:6], 16))
    )


def app(name: str, argocd: str = "argocd") -> AppKey:
    return AppKey(argocd, "argocd", name)


def target(kind: str, namespace: str, name: str, cluster: str = "acme", group: str = "apps") -> ObjectId:
    return ObjectId(cluster, group, kind, namespace, name)


def actor(name: str, kind: ActorKind = "person", **more: Any) -> Actor:
    return Actor(name, kind, known_by=more.pop("known_by", "authenticated user"), **more)


def container(name: str, *rest: str | ListItem) -> Path:
    return ("spec", "template", "spec", "containers", ListItem((("name", name),)), *rest)


def write(
    ident: str,
    moment: datetime,
    thing: ObjectId,
    who: Actor,
    channel: str,
    fields: Iterable[FieldChange] = (),
    **more: Any,
) -> Write:
    given = tuple(fields)
    defaults: dict[str, Any] = {
        "verb": "patch",
        "subresource": "",
        "outcome": "changed",
        "persisted": "proven",
        "operation": "update",
        "cause": "out-of-band",
        "patch_type": "strategic",
        "field_manager": "",
        "user_agent": "kubectl/v1.32.4",
        "side_effects": (),
        "notes": (),
        "resource_version": "",
        "code": 200,
        "reason": "",
        "fields_known": True,
        "known_by": "event",
        "evidence": (evidence(ident),),
        "asked": given,
    }
    return Write(id=ident, at=moment, object=thing, actor=who, channel=channel, fields=given, **(defaults | more))


def change(one: Write, application: AppKey | None, command: str = "") -> Change:
    owners = (application,) if application is not None else ()
    return Change(one, command or one.id, application, owners, "tracking-id" if application is not None else "")


def git(word: GitWord, **more: Any) -> GitVerdict:
    return GitVerdict(word, **more)


def cluster(word: ClusterWord, **more: Any) -> ClusterVerdict:
    return ClusterVerdict(word, **more)


def verdict(
    change_id: str,
    answers: Iterable[tuple[GitVerdict, ClusterVerdict]],
    prospect: Prospect,
    following: str = "",
    whole: bool = False,
    sees: bool | None = None,
) -> Verdict:
    pairs = tuple(answers)
    fields = () if whole else tuple(FieldVerdict(*pair) for pair in pairs)
    return Verdict(change_id, pairs[0][0], pairs[0][1], fields, sees, prospect, following)


def mark(kind: Any, source: str, where: str, first: str, last: str, **more: Any) -> SourceMark:
    form = more.pop("format", {"audit": "jsonl", "git": "git", "announcements": "slack"}.get(kind, "yaml"))
    return SourceMark(kind, where, source, "", form, first_at=at(first), last_at=at(last), **more)


def empty(**more: Any) -> Case:
    """A case that holds nothing but what is given."""
    nothing: dict[str, Any] = {
        "scope": Scope(),
        "coverage": Coverage((), (), AsOf({}, None, None, None, None), ()),
        "applications": {},
        "writes": (),
        "changes": (),
        "verdicts": {},
        "episodes": (),
        "staging": (),
        "announcements": (),
        "commits": (),
        "landings": {},
        "argo_events": (),
        "settings": (),
        "desired": {},
        "live": {},
    }
    return Case(**(nothing | more))


def generated(count: int, clusters: int = 1, hostile: str = "", spacing: float = 3.0) -> Case:
    """`count` changes of all states over several applications; `hostile` goes into every text of a record."""
    changes: list[Change] = []
    verdicts: dict[str, Verdict] = {}
    kinds: tuple[tuple[GitWord, ClusterWord, Prospect], ...] = (
        ("not-reflected", "standing", "undone-at-next-sync"),
        ("reflected", "standing", "settled"),
        ("not-reflected", "reverted-by-gitops", "settled"),
        ("not-declared", "standing", "invisible"),
        ("unknown", "standing", "unknown"),
        ("superseded", "overwritten", "settled"),
        ("not-in-git", "standing", "kept"),
        ("on-branch", "standing", "undone-at-manual-sync"),
    )
    for number in range(count):
        word, fate, prospect = kinds[number % len(kinds)]
        where = f"cluster-{number % clusters}" if clusters > 1 else "acme"
        name = f"app-{number % 11}{hostile}"
        field = FieldChange(container(f"main{hostile}", "image"), leaf(f"r/{hostile}:1"), leaf(f"r/{hostile}:{number}"))
        who = actor(f"user-{number % 7}@acme.example{hostile}", known_by=f"authenticated user{hostile}")
        one = write(
            f"w{number}",
            NOON + timedelta(seconds=spacing * number),
            target("Deployment" + hostile, f"ns-{number % 5}{hostile}", f"web-{number}{hostile}", where),
            who,
            f"kubectl set{hostile}",
            [field],
            notes=(f"note{hostile}",) if hostile else (),
            evidence=(evidence(f"audit-{number}{hostile}", f"audit/{where}{hostile}.log", number + 1),),
        )
        changes.append(change(one, None if prospect == "kept" else app(name)))
        sha = f"{number:040x}"
        commit = {"commit": sha, "at": one.at + timedelta(seconds=30)} if word in ("reflected", "on-branch") else {}
        verdicts[one.id] = verdict(
            one.id,
            [
                (
                    git(word, reason=f"because{hostile}", branch=f"fix{hostile}", author=f"A{hostile}", **commit),
                    cluster(fate, at=one.at + timedelta(seconds=5), by=f"argocd{hostile}"),
                )
            ],
            prospect,
            f"next{hostile}",
        )
    last = NOON + timedelta(seconds=spacing * count + 60)
    names = [f"cluster-{number}" for number in range(clusters)] if clusters > 1 else ["acme"]
    marks = tuple(
        SourceMark(
            "audit",
            name,
            f"audit/{name}{hostile}.log",
            "",
            "jsonl",
            10**6,
            5000,
            first_at=NOON,
            last_at=last,
            levels={"RequestResponse": 10},
        )
        for name in names
    )
    gaps = tuple(
        Gap(
            "audit", name, NOON, last, f"The audit log of {name}{hostile} has no events for 12 minutes.", "kubectl logs"
        )
        for name in names
    )
    return empty(
        changes=tuple(changes),
        writes=tuple(one.write for one in changes),
        verdicts=verdicts,
        applications={
            app(f"app-{n}{hostile}"): ApplicationHistory(app(f"app-{n}{hostile}"), (), (), ()) for n in range(11)
        },
        coverage=Coverage(marks, (), AsOf(dict.fromkeys(names, last), last, last, None, None), gaps),
    )
