"""How far the records reach, and what they leave unknown: read from the marks of the sources, never assumed."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from auditor.config import ClusterConfig, Config
from auditor.correlate.silence import silences
from auditor.desired.source import same_repository
from auditor.model.application import ApplicationHistory
from auditor.model.change import AppKey
from auditor.model.coverage import AsOf, Coverage, Gap
from auditor.model.facts import RecordKind, Skipped, SourceMark

EXPORTS: Mapping[str, str] = {
    "events": "kubectl get events -n argocd -o yaml > argocd/events.yaml",
    "applications": "kubectl get applications,appprojects,applicationsets -A -o yaml > argocd/applications.yaml",
    "settings": "kubectl get configmap argocd-cm -n argocd -o yaml > argocd/argocd-cm.yaml",
    "server-log": "kubectl logs -n argocd deployment/argocd-server --since=24h --timestamps=false > argocd/server.log",
    "audit": "copy the API server's --audit-log-path with its rotated files, or export the provider's audit stream",
    "objects": "kubectl get deployments,configmaps,services -A -o yaml --show-managed-fields > live/objects.yaml",
    "git": "git clone --mirror URL",
    "announcements": "export the incident channel (Slack: Settings, Export), or keep a timeline as CSV",
}
"""What brings a missing record; the most perishable first: Events live an hour, history has ten entries."""


def coverage(
    config: Config,
    marks: Sequence[SourceMark],
    skipped: Sequence[Skipped],
    histories: Mapping[AppKey, ApplicationHistory],
    told: bool = False,
    ends: AsOf | None = None,
) -> Coverage:
    """What was read, as of when, and what is missing for the three questions.

    `told`: there are Events or log lines of Argo CD among the records. `ends`: of the records, where more is known of
    them than the marks say.
    """
    ends = ends or as_of(marks)
    gaps = [
        *_unread(marks),
        *_argocd(config, marks, told),
        *_audit(config, marks, ends),
        *_git(config, marks, histories),
        *_announcements(marks),
        *_unmapped(histories),
        *_stopped(skipped),
        *_undecodable(marks, skipped),
    ]
    return Coverage(tuple(marks), tuple(skipped), ends, tuple(gaps))


def as_of(marks: Iterable[SourceMark]) -> AsOf:
    """The end of each kind of record."""
    audit: dict[str, datetime] = {}
    ends: dict[RecordKind, datetime] = {}
    for mark in marks:
        if mark.last_at is None:
            continue
        if mark.kind == "audit":
            audit[mark.cluster] = max(mark.last_at, audit.get(mark.cluster, mark.last_at))
        else:
            ends[mark.kind] = max(mark.last_at, ends.get(mark.kind, mark.last_at))
    return AsOf(audit, ends.get("argocd"), ends.get("git"), ends.get("announcements"), ends.get("objects"))


def _read(marks: Iterable[SourceMark], kind: RecordKind) -> list[SourceMark]:
    return [mark for mark in marks if mark.kind == kind and not mark.problem]


def _gap(kind: RecordKind, cluster: str, sentence: str, export: str = "", *, failed: bool = False) -> Gap:
    return Gap(kind, cluster, None, None, sentence, export, failed)


def _unread(marks: Iterable[SourceMark]) -> Iterator[Gap]:
    """Sources that could not be read, in the words of their collector."""
    for mark in marks:
        if mark.problem:
            yield _gap(mark.kind, mark.cluster, mark.complaint, failed=True)
        elif not mark.complete:
            yield _gap(mark.kind, mark.cluster, f"{mark.source} was not read to its end.", failed=True)


def _audit(config: Config, marks: Sequence[SourceMark], ends: AsOf) -> Iterator[Gap]:
    read = _read(marks, "audit")
    names = [cluster.name for cluster in config.clusters] or sorted({mark.cluster for mark in read})
    for name in names:
        mine = [mark for mark in read if mark.cluster == name]
        if not any(mark.events for mark in mine):
            yield _gap(
                "audit",
                name,
                f"No audit log of cluster {name}: what was changed there, and by whom, is unknown.",
                EXPORTS["audit"],
            )
        else:
            yield from _levels(name, mine)
            yield from silences(name, mine)
            yield from _late(next((each for each in config.clusters if each.name == name), None), mine, ends.moment)
    if not names:
        yield _gap("audit", "", "No audit log: what was changed, and by whom, is unknown.", EXPORTS["audit"])


def _levels(cluster: str, marks: Iterable[SourceMark]) -> Iterator[Gap]:
    levels: dict[str, int] = defaultdict(int)
    for mark in marks:
        for level, count in mark.levels.items():
            levels[level] += count
    if levels and not levels.get("Request") and not levels.get("RequestResponse"):
        yield _gap(
            "audit",
            cluster,
            f"The audit log of {cluster} holds no bodies: who and when are known, the fields and values are not.",
            "set level: RequestResponse for writes in the audit policy",
        )
    elif levels.get("Request") and not levels.get("RequestResponse"):
        yield _gap("audit", cluster, f"The audit log of {cluster} holds requests without responses.")


def _late(cluster: ClusterConfig | None, mine: Iterable[SourceMark], latest: datetime | None) -> Iterator[Gap]:
    """An expected source that ends long before the other records do. Late is not a gap unless `max_lag` says so."""
    limit = _seconds(cluster.max_lag) if cluster and cluster.max_lag else None
    ends = [mark.last_at for mark in mine if mark.last_at]
    if cluster and limit and ends and latest and (latest - max(ends)).total_seconds() > limit:
        yield Gap(
            "audit",
            cluster.name,
            max(ends),
            latest,
            f"The audit log of {cluster.name} ends {max(ends):%Y-%m-%d %H:%M:%S} UTC, later than its max_lag allows.",
            EXPORTS["audit"],
            failed=True,
        )


def _seconds(text: str) -> int | None:
    """`90s`, `30m`, `2h`, `1d`; the configuration has checked the form."""
    unit = {"s": 1, "m": 60, "h": 3600, "d": 86400}.get(text[-1:])
    return int(text[:-1]) * unit if unit and text[:-1].isdigit() else None


def _argocd(config: Config, marks: Sequence[SourceMark], told: bool) -> Iterator[Gap]:
    read = _read(marks, "argocd")
    names = [argocd.name for argocd in config.argocds] or [""]
    if not any(mark.events for mark in read):
        yield _gap(
            "argocd",
            names[0],
            "No Argo CD records: syncs, freezes and who used its UI are known only as far as the audit log has them.",
            EXPORTS["applications"],
        )
    elif not told and not any(mark.format == "events" for mark in read):
        yield _gap(
            "argocd",
            names[0],
            "No Argo CD Events or server log: edits in its UI cannot be joined to a person.",
            EXPORTS["events"],
        )


def _git(config: Config, marks: Sequence[SourceMark], histories: Mapping[AppKey, ApplicationHistory]) -> Iterator[Gap]:
    configured = {repository.name for repository in config.repositories}
    wanted: dict[str, list[str]] = defaultdict(list)
    for key, history in histories.items():
        for source in history.states[-1].sources if history.states else ():
            if not source.chart and not any(same_repository(source.repo_url, name) for name in configured):
                wanted[source.repo_url].append(key.name)
    for url, names in sorted(wanted.items()):
        whose = ", ".join(sorted(set(names))[:5])
        said = (
            f"The repository {url} of {whose} is not configured" if url else f"No record names a repository of {whose}"
        )
        export = EXPORTS["git"].replace("URL", url) if url else ""
        yield _gap("git", "", f"{said}: whether git has a value of theirs is unknown.", export)
    if configured and not any(mark.kind == "git" for mark in marks):
        yield _gap("git", "", "No git repository was read yet: whether git has a value is unknown.")
    if not configured and not wanted:
        yield _gap("git", "", "No git repository: whether git has a value is unknown.", EXPORTS["git"])


def _announcements(marks: Sequence[SourceMark]) -> Iterator[Gap]:
    if not _read(marks, "announcements"):
        yield _gap(
            "announcements",
            "",
            "No announcements were read: whether a change was announced is not recorded.",
            EXPORTS["announcements"],
        )


def _unmapped(histories: Mapping[AppKey, ApplicationHistory]) -> Iterator[Gap]:
    """Destinations that the configuration does not name: their objects are in no cluster that we know."""
    unmapped: dict[str, list[str]] = defaultdict(list)
    for key, history in histories.items():
        state = history.states[-1] if history.states else None
        if state is not None and not state.cluster:
            unmapped[state.destination_server or state.destination_name].append(key.name)
    for server, names in sorted(unmapped.items()):
        yield _gap(
            "argocd",
            "",
            f"The destination {server or '(none)'} of {', '.join(sorted(set(names))[:5])} is not a configured "
            "cluster: add it to `server` of a [[cluster]].",
        )


def _stopped(skipped: Iterable[Skipped]) -> Iterator[Gap]:
    """Audit logs that came to an end before theirs, as a cut archive does: a place without a length."""
    for place in skipped:
        if place.kind == "audit" and not place.length:
            sentence = f"{place.source} could be read to byte {place.offset:,} and not beyond: {place.reason}."
            yield _gap(place.kind, place.cluster, sentence, EXPORTS["audit"], failed=True)


def _undecodable(marks: Iterable[SourceMark], skipped: Iterable[Skipped]) -> Iterator[Gap]:
    """What could not be read, and why where all that was left out has one reason.

    Foreign records are no gap: they would have said nothing.
    """
    counts: dict[tuple[RecordKind, str, str], int] = defaultdict(int)
    for mark in marks:
        counts[(mark.kind, mark.cluster, mark.source)] += mark.undecodable
    reasons: dict[tuple[RecordKind, str, str], set[str]] = defaultdict(set)
    for place in skipped:
        if place.length:
            reasons[(place.kind, place.cluster, place.source)].add(place.reason)
    for key, count in sorted(counts.items()):
        if count:
            kind, cluster, source = key
            why = f": {', '.join(reasons[key])}" if len(reasons[key]) == 1 else ""
            records = "record" if count == 1 else "records"
            export = EXPORTS["audit"] if kind == "audit" else ""
            yield _gap(kind, cluster, f"{source}: {count} {records} could not be read{why}.", export)
