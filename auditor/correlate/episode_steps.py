"""The five steps of an episode: freeze, change, announce, fix git, unfreeze.

A step is *missing* only where a source that would hold it was read for that time, else *not-recorded*, and the
detail names the source.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from auditor.config import Config
from auditor.correlate.announcing import Subject, announcement_of
from auditor.model.application import ApplicationHistory, ApplicationState, Freeze
from auditor.model.change import ActorKind, Change, Evidence
from auditor.model.coverage import Coverage
from auditor.model.episode import Step, StepName, StepState
from auditor.model.facts import Announcement, RecordKind
from auditor.model.resource import Path
from auditor.model.verdict import FieldVerdict, Verdict
from auditor.objects.paths import text

HANDS: frozenset[ActorKind] = frozenset({"person", "shared-credential"})

_ANNOUNCED_WITHIN = timedelta(hours=24)
"""What is written a day after an episode's end speaks of something else."""

_RESTARTED = "kubectl.kubernetes.io/restartedAt"

_FORMS = {
    "automated-removed": "auto-sync was removed",
    "automated-disabled": "auto-sync was disabled",
    "self-heal-off": "self-heal was switched off; a new commit still syncs",
    "sync-window": "a sync window denied syncs",
    "skip-reconcile": "reconciling was skipped by annotation",
    "controller-scaled": "the application controller was scaled to 0",
    "rollback": "a rollback switched auto-sync off",
}


@dataclass(frozen=True, slots=True)
class Incident:
    """Changes of one application that belong together, with the freezes around them."""

    history: ApplicationHistory
    changes: tuple[Change, ...]
    """Oldest first, at least one."""
    freezes: tuple[Freeze, ...]
    """Oldest first."""
    began_at: datetime
    ended_at: datetime | None
    lead_from: datetime
    """From when on a message may announce what is about to be done."""
    following_at: datetime | None
    """The first change of the application's next incident."""

    @property
    def first_at(self) -> datetime:
        """The time of the first change."""
        return self.changes[0].write.at

    @property
    def people(self) -> tuple[str, ...]:
        """Who changed, froze or unfroze, in that order."""
        ends = [actor for freeze in self.freezes for actor in (freeze.began_by, freeze.ended_by) if actor]
        actors = [*(change.write.actor for change in self.changes), *ends]
        return tuple(dict.fromkeys(actor.name for actor in actors if actor.kind in HANDS))


@dataclass(frozen=True, slots=True)
class Background:
    """What all episodes are judged by."""

    verdicts: Mapping[str, Verdict]
    announcements: Sequence[Announcement]
    coverage: Coverage
    config: Config
    parents: Mapping[str, tuple[str, ...]]
    """Parents by commit."""
    applications: tuple[str, ...]


def steps(incident: Incident, background: Background) -> tuple[Step, ...]:
    """The five, in the order of `STEP_NAMES`."""
    freeze = _freeze(incident, background)
    fields = _fields(incident, background.verdicts)
    unfreeze = _unfreeze(incident, freeze, fields, background)
    return (
        freeze,
        _change(incident),
        _announce(incident, background),
        _git(fields, unfreeze),
        unfreeze,
    )


def recorded(coverage: Coverage, kind: RecordKind, moment: datetime, cluster: str = "") -> bool:
    """Whether what was read of this kind reaches over the moment. Rotated files are one record: between the last
    event of one and the first of the next lies no gap unless `Coverage.gaps` tells of one. An export of messages
    holds all of its first day."""
    marks = [mark for mark in coverage.marks if mark.kind == kind and not mark.problem]
    mine = [mark for mark in marks if not cluster or mark.cluster == cluster]
    begins = min((mark.first_at for mark in mine if mark.first_at), default=None)
    ends = max((mark.last_at for mark in mine if mark.last_at), default=None)
    if begins is None or ends is None:
        return False
    if kind == "announcements":
        begins = begins.replace(hour=0, minute=0, second=0, microsecond=0)
    return begins <= moment <= ends and not any(
        gap.kind == kind
        and gap.cluster in ("", cluster)
        and gap.first_at is not None
        and gap.first_at <= moment <= (gap.last_at or moment)
        for gap in coverage.gaps
    )


def _freeze(incident: Incident, background: Background) -> Step:
    freeze = _resting_on(incident)
    if freeze is not None:
        state: StepState = "done" if freeze.began_at <= incident.first_at else "out-of-order"
        return Step("freeze", state, freeze.began_at, freeze.began_by.name or None, _how(freeze), freeze.evidence)
    before = _state_before(incident.history, incident.first_at)
    if before is None:
        return _none("freeze", "not-recorded", "no record says how the application synced then")
    if not before.automated:
        return _never_automated(incident, before)
    if recorded(background.coverage, "audit", incident.first_at, _home(incident, background.config)):
        return _none("freeze", "missing", "auto-sync was on", before.evidence)
    return _none("freeze", "not-recorded", "the audit log of Argo CD's cluster does not reach over that time")


def _resting_on(incident: Incident) -> Freeze | None:
    """The last freeze begun before the first change, one that held before one that was undone; else the first."""
    before = [freeze for freeze in incident.freezes if freeze.began_at <= incident.first_at]
    held = [freeze for freeze in before if freeze.ended_at is None or freeze.ended_at >= incident.first_at]
    later = [freeze for freeze in incident.freezes if freeze.began_at > incident.first_at]
    return next(iter([*held[-1:], *before[-1:], *later[:1]]), None)


def _how(freeze: Freeze) -> str:
    said = f"{_FORMS[freeze.form]} ({freeze.description})" if freeze.description else _FORMS[freeze.form]
    if not freeze.undone or freeze.ended_at is None:
        return said
    return f"{said}; undone by {freeze.undone_by or 'something else'} at {_clock(freeze.ended_at)}"


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M:%S} UTC"


def _state_before(history: ApplicationHistory, moment: datetime) -> ApplicationState | None:
    return max((state for state in history.states if state.at <= moment), key=lambda state: state.at, default=None)


def _never_automated(incident: Incident, before: ApplicationState) -> Step:
    if any(state.automated for state in incident.history.states if state.at <= before.at):
        return _none("freeze", "not-recorded", "auto-sync was off; the records do not say since when", before.evidence)
    if _switched_on(incident) is not None:
        return _none("freeze", "not-recorded", "auto-sync was already off when the records begin", before.evidence)
    return _none("freeze", "not-needed", "the application waits for a manual sync", before.evidence)


def _switched_on(incident: Incident) -> ApplicationState | None:
    return next((s for s in incident.history.states if s.at > incident.first_at and s.automated), None)


def _home(incident: Incident, config: Config) -> str:
    """The cluster where the application's Argo CD runs, "" where the configuration does not say."""
    name = incident.history.key.argocd
    return next((argocd.cluster for argocd in config.argocds if argocd.name == name), "")


def _none(name: StepName, state: StepState, detail: str, *evidence: Evidence) -> Step:
    return Step(name, state, None, None, detail, evidence)


def _change(incident: Incident) -> Step:
    objects = {change.write.object for change in incident.changes}
    count = len(incident.changes)
    detail = f"{count} {'change' if count == 1 else 'changes'} of {len(objects)} "
    detail += "object" if len(objects) == 1 else "objects"
    evidence = tuple(each for change in incident.changes for each in change.write.evidence)
    return Step("change", "done", incident.first_at, incident.changes[0].write.actor.name, detail, evidence)


def _announce(incident: Incident, background: Background) -> Step:
    config = background.config
    message = announcement_of(
        _subject(incident, background), background.announcements, background.applications, config.people
    )
    if message is not None:
        late = message.at - incident.first_at > timedelta(minutes=config.goals.announce_minutes)
        evidence = Evidence("announcement", f"{message.channel} {message.at.isoformat()}", message.origin)
        where = f"in {message.channel}" if message.channel else ""
        return Step("announce", "late" if late else "done", message.at, message.author or None, where, (evidence,))
    if recorded(background.coverage, "announcements", incident.first_at):
        return _none("announce", "missing", "no message that was read is about this")
    return _none("announce", "not-recorded", "no announcements were read for that time")


def _subject(incident: Incident, background: Background) -> Subject:
    objects = [change.write.object for change in incident.changes]
    as_of = background.coverage.as_of.moment or incident.first_at
    latest = (incident.ended_at or as_of) + _ANNOUNCED_WITHIN
    return Subject(
        application=incident.history.key.name,
        namespaces=frozenset(each.namespace for each in objects if each.namespace),
        objects=frozenset(each.name for each in objects),
        actors=incident.people,
        shared=any(change.write.actor.kind == "shared-credential" for change in incident.changes),
        began_at=incident.began_at,
        lead_from=incident.lead_from,
        until=min(filter(None, (latest, incident.following_at))),
    )


@dataclass(frozen=True, slots=True)
class _Field:
    """One answer of git and the cluster, and what it is about."""

    path: Path | None
    """None for a whole object."""
    change: Change
    verdict: FieldVerdict

    @property
    def name(self) -> str:
        return text(self.path) if self.path is not None else str(self.change.write.object)

    @property
    def standing(self) -> bool:
        return self.verdict.cluster.verdict == "standing"


def _fields(incident: Incident, verdicts: Mapping[str, Verdict]) -> list[_Field]:
    """All that the incident set. A restart is an act and no value: git need not know of it."""
    found = [field for change in incident.changes for field in _of_change(change, verdicts.get(change.id))]
    return [field for field in found if not (field.path and field.path[-1] == _RESTARTED)]


def _of_change(change: Change, verdict: Verdict | None) -> Iterator[_Field]:
    if verdict is None:
        return
    if not verdict.fields:
        yield _Field(None, change, FieldVerdict(verdict.git, verdict.cluster))
    for field, told in zip(change.write.fields, verdict.fields, strict=False):
        yield _Field(field.path, change, told)


def _git(fields: Sequence[_Field], unfreeze: Step) -> Step:
    if not fields:
        return _none("git", "not-needed", "nothing was set that git would hold")
    reflected = [field for field in fields if field.verdict.git.verdict == "reflected"]
    open_ones = [
        f for f in fields if f.standing and f.verdict.git.verdict in ("not-reflected", "not-in-git", "on-branch")
    ]
    if reflected and not open_ones:
        return _in_git(reflected, fields, unfreeze)
    if all(field.verdict.git.verdict == "already" for field in fields):
        return _none("git", "not-needed", "git had the values already", *_commits(fields))
    if all(_taken_back(field) for field in fields):
        return _none("git", "not-needed", "the same people took it back themselves")
    unknown = [field for field in fields if field.verdict.git.verdict == "unknown"]
    if unknown and not open_ones:
        return _none("git", "not-recorded", unknown[0].verdict.git.reason or "git was not read")
    return _none("git", "missing", _without_git(open_ones or fields), *_commits(reflected))


def _in_git(reflected: Sequence[_Field], fields: Sequence[_Field], unfreeze: Step) -> Step:
    last = max(reflected, key=lambda field: (field.verdict.git.at is not None, field.verdict.git.at)).verdict.git
    late = unfreeze.at is not None and last.at is not None and last.at > unfreeze.at
    beside = [f.name for f in fields if f.verdict.git.verdict in ("not-declared", "not-in-git") and f.standing]
    detail = f"git does not declare {_listed(beside)}" if beside else ""
    author = last.authored.author if last.authored else last.author
    return Step("git", "late" if late else "done", last.at, author, detail, tuple(_commits(reflected)))


def _commits(fields: Iterable[_Field]) -> Iterator[Evidence]:
    for sha in dict.fromkeys(field.verdict.git.commit for field in fields):
        if sha:
            yield Evidence("commit", sha, None)


def _taken_back(field: _Field) -> bool:
    cluster = field.verdict.cluster
    return cluster.verdict == "reverted" and cluster.by in (
        field.change.write.actor.name,
        field.change.write.actor.account,
    )


_MISSING_WORDS = {
    "not-reflected": "git has another value for",
    "not-in-git": "no manifest declares",
    "on-branch": "only an unmerged branch has",
    "not-declared": "git does not declare",
    "superseded": "git has moved on to another value for",
    "unknown": "it cannot be told for",
}


def _without_git(fields: Sequence[_Field]) -> str:
    named: dict[str, list[str]] = {}
    for field in fields:
        words = _MISSING_WORDS.get(field.verdict.git.verdict)
        if words:
            named.setdefault(words, []).append(field.name)
    return "; ".join(f"{words} {_listed(names)}" for words, names in named.items())


def _listed(names: Sequence[str]) -> str:
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")


def _unfreeze(incident: Incident, freeze: Step, fields: Sequence[_Field], background: Background) -> Step:
    if freeze.state in ("missing", "not-needed"):
        return _none("unfreeze", "not-needed", "auto-sync was not switched off")
    if not incident.freezes:
        return _unfrozen_without_record(incident)
    if all(each.undone for each in incident.freezes):
        last = incident.freezes[-1]
        return _none("unfreeze", "not-needed", f"{last.undone_by or 'something else'} had put auto-sync back")
    if any(each.ended_at is None for each in incident.freezes if not each.undone):
        return _still_frozen(incident, background)
    last = max((f for f in incident.freezes if not f.undone), key=lambda freeze: freeze.ended_at or freeze.began_at)
    return _ended(last, incident, fields, background)


def _unfrozen_without_record(incident: Incident) -> Step:
    state = _switched_on(incident)
    if state is None:
        return _none("unfreeze", "not-recorded", "the records do not say how the application synced")
    return Step("unfreeze", "done", state.at, None, "auto-sync was on again by then", (state.evidence,))


def _still_frozen(incident: Incident, background: Background) -> Step:
    home = _home(incident, background.config)
    end = background.coverage.as_of.audit.get(home) or background.coverage.as_of.argocd
    if end is None:
        return _none("unfreeze", "not-recorded", "no record says whether auto-sync is on again")
    return _none("unfreeze", "missing", f"still frozen at {_clock(end)}, when the records end")


def _ended(freeze: Freeze, incident: Incident, fields: Sequence[_Field], background: Background) -> Step:
    ended = freeze.ended_at or freeze.began_at
    fixes = {f.verdict.git.commit for f in fields if f.verdict.git.verdict == "reflected" and f.verdict.git.commit}
    later = [state for state in incident.history.states if state.at >= ended]
    synced = _synced_with(fixes, later, background.parents)
    by = freeze.ended_by.name if freeze.ended_by else None
    if synced is not None:
        detail = f"Synced at {', '.join(each[:8] for each in synced.revisions)}"
        hidden = [field.name for field in fields if field.standing and field.verdict.git.verdict == "not-declared"]
        detail += f"; Argo CD cannot see {_listed(hidden)}" if hidden else ""
        return Step("unfreeze", "done", ended, by, detail, (*freeze.evidence, synced.evidence))
    if not later:
        detail = "auto-sync is on again; no later record says whether the application became Synced"
        return Step("unfreeze", "not-recorded", ended, by, detail, freeze.evidence)
    wanted = " at a revision with the fix" if fixes else ""
    detail = f"auto-sync is on again; no record since says Synced{wanted}"
    return Step("unfreeze", "missing", ended, by, detail, freeze.evidence)


def _synced_with(
    fixes: Set[str], states: Iterable[ApplicationState], parents: Mapping[str, tuple[str, ...]]
) -> ApplicationState | None:
    """The first state that says Synced at revisions which contain all fixes."""
    contained: dict[tuple[str, ...], bool] = {}
    for state in states:
        if state.sync_status == "Synced":
            if state.revisions not in contained:
                contained[state.revisions] = fixes <= _ancestry(state.revisions, parents)
            if contained[state.revisions]:
                return state
    return None


def _ancestry(revisions: Iterable[str], parents: Mapping[str, tuple[str, ...]]) -> Set[str]:
    """The commits in the history of any of the revisions, themselves included."""
    seen: set[str] = set()
    waiting = list(revisions)
    while waiting:
        sha = waiting.pop()
        if sha not in seen:
            seen.add(sha)
            waiting.extend(parents.get(sha, ()))
    return seen
