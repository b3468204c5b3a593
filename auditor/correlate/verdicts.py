"""The two answers for each change that did not come through git, and what happens to it next."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from auditor.correlate.applications.bypass import Bypasses
from auditor.correlate.applications.declared import Declared
from auditor.correlate.applications.flux_freezes import concerns
from auditor.correlate.cluster.prospect import Outlook, outlook
from auditor.correlate.cluster.sight import argocd_sees, ignore_rules
from auditor.correlate.cluster.unlogged import doubted_by_sync
from auditor.correlate.cluster.verdict import is_gitops, judge_cluster
from auditor.correlate.git.manifest import manifest_of, otherwise
from auditor.correlate.git.verdict import GitJudge
from auditor.model.application import ApplicationHistory, ApplicationState, Freeze
from auditor.model.case import LiveState
from auditor.model.change import AppKey, Change, Write
from auditor.model.desired import Undeterminable
from auditor.model.facts import ArgoSettings
from auditor.model.resource import ABSENT, JsonObject, ObjectId, Path
from auditor.model.verdict import FieldVerdict, Verdict
from auditor.objects.document import child
from auditor.objects.leaves import equal
from auditor.objects.paths import lookup

JUDGED = frozenset({"out-of-band", "bypass"})


@dataclass(frozen=True, slots=True)
class Bench:
    """What judging looks at."""

    histories: Mapping[AppKey, ApplicationHistory]
    settings: Sequence[ArgoSettings]
    git: GitJudge
    declared: Declared
    bypasses: Bypasses
    live: Mapping[ObjectId, LiveState]
    as_of: datetime


def verdicts(changes: Iterable[Change], writes: Iterable[Write], bench: Bench) -> dict[str, Verdict]:
    """By change id; controllers' and GitOps changes have none."""
    by_object: dict[ObjectId, list[Write]] = defaultdict(list)
    for write in writes:
        by_object[write.object].append(write)
    logged = {of.cluster for of, each in by_object.items() if of.group != "argoproj.io" and any(map(is_gitops, each))}
    judged = {}
    for change in (each for each in changes if each.write.cause in JUDGED):
        of = change.write.object
        verdict = _verdict(change, by_object[of], _sweeps(of, by_object), bench)
        history = bench.histories.get(change.application) if change.application else None
        in_log = of.cluster in logged
        judged[change.id] = verdict if in_log else doubted_by_sync(change, verdict, history, bench.as_of)
    return judged


def _sweeps(subject: ObjectId, by_object: Mapping[ObjectId, Sequence[Write]]) -> Iterator[Write]:
    """Deletes of the object's namespace, and of objects of its kind that the records do not name."""
    yield from by_object.get(replace(subject, name=""), ())
    if subject.namespace:
        namespace = replace(subject, group="", kind="Namespace", namespace="", name=subject.namespace)
        yield from by_object.get(namespace, ())


def _verdict(change: Change, writes: Sequence[Write], sweeps: Iterable[Write], bench: Bench) -> Verdict:
    write = change.write
    git, in_git = bench.git.judge(change)
    cluster, in_cluster = judge_cluster(
        change,
        writes,
        bench.git.value_then(change),
        bench.as_of,
        bench.live.get(write.object),
        lambda later: _pressed(change.application, later, bench.bypasses),
        sweeps,
    )
    fields = tuple(FieldVerdict(*pair) for pair in zip(in_git, in_cluster, strict=True)) if in_cluster else ()
    now = replace(change, application=bench.git.home(change))
    declared = _manifest(now, bench.as_of, bench)
    await_next = partial(
        outlook,
        state=_state(now, bench.as_of, bench),
        declared=declared,
        rules=_rules(now, bench.as_of, bench),
        freezes=_open_freezes(now, bench),
        otherwise=_left_otherwise(write, declared, bench.live.get(write.object)),
        keeper=_keeper(write, bench),
    )
    prospect, following = await_next(change, git, cluster, fields)
    if len(fields) > 1 and prospect.startswith("undone-"):
        fields = tuple(_alone(change, place, fields[place], await_next) for place in range(len(fields)))
    return Verdict(write.id, git, cluster, fields, _seen(change, bench), prospect, following)


def _alone(change: Change, place: int, field: FieldVerdict, await_next: Callable[..., Outlook]) -> FieldVerdict:
    """The verdict of one field of several with what happens to this one: a sync may undo some and leave others."""
    own = replace(change, write=replace(change.write, fields=(change.write.fields[place],)))
    prospect, following = await_next(own, field.git, field.cluster, (field,))
    return replace(field, prospect=prospect, next=following)


def _keeper(write: Write, bench: Bench) -> str:
    """The Application whose `managedNamespaceMetadata` has the label or annotation of a namespace that was changed, ""
    for none: Argo CD compares none of it, and each sync sets all of it."""
    of = write.object
    for key, history in bench.histories.items() if of.group_kind == "/Namespace" else ():
        state = history.at(bench.as_of)
        if state is not None and (state.cluster, state.destination_namespace) == (of.cluster, of.name):
            policy = child(child(state.document, "spec"), "syncPolicy")
            kept: JsonObject = {"metadata": child(policy, "managedNamespaceMetadata")}
            if any(lookup(kept, field.path).state == "value" for field in write.fields):
                return key.name
    return ""


def _left_otherwise(
    create: Write, declared: JsonObject | Undeterminable | None, live: LiveState | None
) -> tuple[Path, ...]:
    """What git declares with other values than an object was created with, as far as nobody changed it since."""
    fields = otherwise(declared, create) if isinstance(declared, dict) else ()
    body = live.body if live is not None else None
    if not fields or body is None:
        return fields
    of, made = create.object, {field.path: field.after for field in create.asked}
    return tuple(path for path in fields if equal(of.group, of.kind, path, made.get(path, ABSENT), lookup(body, path)))


def _seen(change: Change, bench: Bench) -> bool | None:
    at = change.write.at
    return argocd_sees(change, _manifest(change, at, bench), _rules(change, at, bench))


def _state(change: Change, at: datetime, bench: Bench) -> ApplicationState | None:
    history = bench.histories.get(change.application) if change.application else None
    return history.at(at) if history else None


def _manifest(change: Change, at: datetime, bench: Bench) -> JsonObject | Undeterminable | None:
    """What Argo CD compares the object with at a moment; None where the application declares no such object."""
    if change.application is None:
        return None
    desired = bench.declared.at(change.application, at)
    state = _state(change, at, bench)
    if isinstance(desired, Undeterminable) or state is None:
        return desired if isinstance(desired, Undeterminable) else None
    return manifest_of(desired, change.write.object, state.destination_namespace)


def _rules(change: Change, at: datetime, bench: Bench) -> tuple[JsonObject, ...]:
    state = _state(change, at, bench)
    if state is None:
        return ()
    return ignore_rules(state, [each for each in bench.settings if each.argocd == state.key.argocd])


def _open_freezes(change: Change, bench: Bench) -> list[Freeze]:
    history = bench.histories.get(change.application) if change.application else None
    freezes = history.freezes if history else ()
    return [freeze for freeze in freezes if freeze.ended_at is None and concerns(freeze, change.write.object)]


def _pressed(application: AppKey | None, write: Write, bypasses: Bypasses) -> str:
    """Who asked for the sync that a write of the controller belongs to, as a clause."""
    sync = bypasses.sync_of(application, write.object, write.at) if application else None
    if sync is None or sync.origin != "manual" or sync.requested_by is None or not sync.requested_by.name:
        return ""
    return f"in a sync that {sync.requested_by.name} asked for"
