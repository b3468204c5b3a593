"""What all sections of a report draw on: the case, its numbered changes, the clock and the list of citations."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from auditor.model.case import Case
from auditor.model.change import AppKey, Change, Write
from auditor.model.resource import ObjectId
from auditor.model.verdict import ClusterVerdict, FieldVerdict, GitVerdict, Verdict
from reports.case.evidence import Citations, citations
from reports.case.idents import short_idents
from reports.contract.options import Options
from reports.words.clock import Clock, clock
from reports.words.rich import Span, Text, text, words
from reports.words.wording import grouped

State: TypeAlias = Literal["git", "act", "stand", "back", "untraced", "unknown"]
URGENCY: tuple[State, ...] = ("act", "stand", "untraced", "unknown", "git", "back")
"""Most urgent first: what gets a block when there are too many."""
STATE_WORDS: Mapping[State, str] = {
    "git": "in git",
    "act": "not in git, the next sync undoes it",
    "stand": "not in git, stands",
    "back": "not in git, put back or overwritten",
    "untraced": "not in git, what became of it is not recorded",
    "unknown": "whether git has it cannot be told",
}
BLOCKS = 20
"""Changes that have a block of their own; the register has the rest."""
ROWS = 500
"""Changes that have a row in the postmortem; the register report has all."""
_IN_GIT = ("reflected", "already")
_ARGO_SETTINGS = ("Application", "ApplicationSet", "AppProject")
_FLUX_GROUPS = (".toolkit.fluxcd.io",)


@dataclass(frozen=True, slots=True)
class Numbered:
    """A proven change, out-of-band or bypass."""

    number: int
    label: str
    """What its mark shows: the number, for settings A and a number of their own."""
    change: Change
    verdict: Verdict
    state: State
    href: str
    """Its block, else its row in the register."""

    @property
    def write(self) -> Write:
        """The write behind the change."""
        return self.change.write

    @property
    def mark(self) -> Span:
        """Its number in the shape that says its state."""
        return Span("mark", self.label, f"change {self.label}, {STATE_WORDS[self.state]}", self.href, self.state)


@dataclass(frozen=True, slots=True)
class Dossier:
    """A case made ready to be told: made once a report by `dossier`."""

    case: Case
    options: Options
    clock: Clock
    cited: Citations
    first_at: datetime | None
    last_at: datetime | None
    counted: tuple[Numbered, ...]
    """Oldest first, numbered from 1."""
    settings: tuple[Numbered, ...]
    """Changes of the GitOps tool's own objects, freezes among them: listed apart as A1, A2 …"""
    unproven: tuple[Change, ...]
    """Out-of-band or bypass writes that may have changed something: listed apart, counted in nothing."""
    by_id: Mapping[str, Numbered]
    writes: Mapping[str, Write]
    idents: Mapping[str, str]
    """How each change's id begins: as much of it as tells it from all others."""

    def called(self, application: AppKey) -> str:
        """What an application is called so that it is no other."""
        return self.case.called(application)

    @property
    def clusters(self) -> tuple[str, ...]:
        """The clusters that were asked for, else all of the records, in order."""
        if self.case.scope.clusters:
            return self.case.scope.clusters
        found = {change.write.object.cluster for change in self.case.changes}
        return tuple(sorted(found | set(self.case.coverage.as_of.audit)))

    def of(self, ids: tuple[str, ...]) -> tuple[Numbered, ...]:
        """The numbered changes among `ids`, oldest first."""
        found = {self.by_id[one].change.id: self.by_id[one] for one in ids if one in self.by_id}
        return tuple(sorted(found.values(), key=lambda one: (one.write.at, one.number)))


def dossier(case: Case, options: Options, *, writes_first: bool = False) -> Dossier:
    """Numbers the changes of a case and readies its clock; RenderError for an unknown zone. `writes_first`: the
    records of the counted changes are E1, E2 … as the changes are 1, 2 …"""
    first, last = _window(case)
    told = [change for change in case.changes if change.write.cause in ("out-of-band", "bypass")]
    proven = [change for change in told if change.write.persisted == "proven"]
    ours = clock(options.zone, first, last)
    cited = citations(ours, case.coverage, case.commits)
    counted = _numbered([change for change in proven if not is_setting(change)], case.verdicts)
    settings = _settings([change for change in proven if is_setting(change)], case.verdicts)
    for one in counted if writes_first else ():
        for evidence in one.write.evidence[:1]:
            cited.record(evidence, one.write.at)
    return Dossier(
        case,
        options,
        ours,
        cited,
        first,
        last,
        counted,
        settings,
        tuple(change for change in told if change.write.persisted != "proven"),
        {one.change.id: one for one in (*counted, *settings)},
        {write.id: write for write in case.writes} | {change.id: change.write for change in case.changes},
        short_idents([*(write.id for write in case.writes), *(change.id for change in case.changes)]),
    )


def with_state(dossier: Dossier, *states: State) -> tuple[Numbered, ...]:
    """Counted changes that are in one of the states, by number."""
    return tuple(one for one in dossier.counted if one.state in states)


def marks(changes: tuple[Numbered, ...], limit: int = 12) -> Text:
    """The marks of changes in a row, the first `limit` of them, `and 42 more`."""
    row: list[Span] = []
    for one in changes[:limit]:
        row += [text(" "), one.mark] if row else [one.mark]
    rest = len(changes) - limit
    return words(row, f" and {grouped(rest)} more" if rest > 0 else "")


def state_of(verdict: Verdict) -> State:
    """Where a change is now, in one word, by both of its verdicts."""
    if verdict.git.verdict == "unknown":
        return "unknown"
    if verdict.git.verdict in _IN_GIT:
        return "git"
    clusters = [cluster.verdict for git, cluster in sides(verdict) if git.verdict not in _IN_GIT]
    if "standing" in clusters:
        return "act" if verdict.prospect.startswith("undone-") else "stand"
    return "untraced" if "unknown" in clusters else "back"


def has_audit(dossier: Dossier) -> bool:
    """Whether an audit log was read: without one, that nothing is told of a change means nothing."""
    return any(mark.kind == "audit" and not mark.problem for mark in dossier.case.coverage.marks)


def is_left(git: GitVerdict, cluster: ClusterVerdict) -> bool:
    """Whether a value stands in the cluster and git has it not."""
    return cluster.verdict == "standing" and git.verdict not in _IN_GIT


def sides(verdict: Verdict) -> tuple[tuple[GitVerdict, ClusterVerdict], ...]:
    """Both answers field by field, or for the whole object where it has no fields."""
    if not verdict.fields:
        return ((verdict.git, verdict.cluster),)
    return tuple((one.git, one.cluster) for one in verdict.fields)


def is_setting(change: Change) -> bool:
    """Whether a change is of the GitOps tool's own objects: what deploys, not what is deployed."""
    return is_own_object(change.write.object)


def is_own_object(target: ObjectId) -> bool:
    """Whether an object says what the GitOps tool deploys, as an Application does."""
    return (target.group == "argoproj.io" and target.kind in _ARGO_SETTINGS) or target.group.endswith(_FLUX_GROUPS)


def no_verdict(change: Change) -> Verdict:
    """For a change that nobody judged: unknown is an answer."""
    git, cluster = GitVerdict("unknown", "not judged"), ClusterVerdict("unknown", "not judged")
    fields = tuple(FieldVerdict(git, cluster) for _ in change.write.fields)
    return Verdict(change.id, git, cluster, fields, None, "unknown", "")


def _numbered(changes: list[Change], verdicts: Mapping[str, Verdict]) -> tuple[Numbered, ...]:
    judged = [verdicts.get(change.id) or no_verdict(change) for change in changes]
    states = [state_of(verdict) for verdict in judged]
    urgent = sorted(range(len(changes)), key=lambda place: (URGENCY.index(states[place]), place))
    anchors = dict.fromkeys(urgent[:BLOCKS], "change") | dict.fromkeys(urgent[BLOCKS:ROWS], "row")
    return tuple(
        Numbered(
            place + 1,
            str(place + 1),
            change,
            judged[place],
            states[place],
            f"#{anchors[place]}-{place + 1}" if place in anchors else "#register",
        )
        for place, change in enumerate(changes)
    )


def _settings(changes: list[Change], verdicts: Mapping[str, Verdict]) -> tuple[Numbered, ...]:
    judged = [verdicts.get(change.id) or no_verdict(change) for change in changes]
    return tuple(
        Numbered(number, f"A{number}", change, verdict, state_of(verdict), f"#row-A{number}" if number <= ROWS else "")
        for number, (change, verdict) in enumerate(zip(changes, judged, strict=True), 1)
    )


def _window(case: Case) -> tuple[datetime | None, datetime | None]:
    """What the report covers: as asked for, else the span of the audit log, without one from the first sync on."""
    scope, marks_read = case.scope, case.coverage.marks
    first = [mark.first_at for mark in marks_read if mark.kind == "audit" and mark.first_at is not None]
    if not first:
        first += [sync.started_at for history in case.applications.values() for sync in history.syncs]
    first += [change.write.at for change in case.changes[:1]]
    last = [change.write.at for change in case.changes[-1:]]
    last += [mark.last_at for mark in marks_read if mark.kind == "audit" and mark.last_at is not None]
    since = scope.since or min(first, default=None)
    until = scope.until or max([*last, *case.coverage.as_of.audit.values()], default=case.coverage.as_of.moment)
    if since is None or until is None:
        moment = case.coverage.as_of.moment
        return since or moment, until or moment
    return since, max(since, until)
