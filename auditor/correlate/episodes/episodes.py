"""Break-glass episodes: what persons changed on one application by hand, from the freeze to the unfreeze."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from auditor.config import Config
from auditor.correlate.episodes.incident import HANDS, Background, Incident
from auditor.correlate.episodes.steps import steps
from auditor.model.application import ApplicationHistory, Freeze
from auditor.model.change import AppKey, Change
from auditor.model.coverage import Coverage
from auditor.model.episode import Episode, Step
from auditor.model.facts import Announcement, Commit
from auditor.model.verdict import FieldVerdict, Verdict

_GITOPS_OBJECTS = frozenset({"Application", "ApplicationSet", "AppProject"})
"""Changing these is how one freezes or bypasses: a step of the episode of what they deploy, no episode of theirs."""


def episodes(
    changes: Iterable[Change],
    verdicts: Mapping[str, Verdict],
    histories: Mapping[AppKey, ApplicationHistory],
    announcements: Sequence[Announcement],
    coverage: Coverage,
    commits: Sequence[Commit],
    config: Config,
) -> tuple[Episode, ...]:
    """All episodes, oldest first; at most one application each, so that none hides behind another."""
    background = Background(
        verdicts, announcements, coverage, config, _parents(commits), tuple(sorted({key.name for key in histories}))
    )
    found = [
        _episode(incident, background)
        for key, mine in _by_application(changes).items()
        for incident in _incidents(mine, histories.get(key) or ApplicationHistory(key, (), (), ()), coverage, config)
    ]
    return tuple(sorted(found, key=lambda episode: (episode.began_at, str(episode.application), episode.id)))


def _parents(commits: Iterable[Commit]) -> Mapping[str, tuple[str, ...]]:
    return {commit.sha: commit.parents for commit in commits}


def _by_application(changes: Iterable[Change]) -> Mapping[AppKey, list[Change]]:
    found: dict[AppKey, list[Change]] = defaultdict(list)
    for change in sorted(changes, key=lambda change: (change.write.at, change.write.position, change.id)):
        if change.application is not None and _by_hand(change):
            found[change.application].append(change)
    return found


def _by_hand(change: Change) -> bool:
    write = change.write
    gitops_object = write.object.group == "argoproj.io" and write.object.kind in _GITOPS_OBJECTS
    return (
        write.cause in ("out-of-band", "bypass")
        and write.actor.kind in HANDS
        and write.persisted == "proven"
        and not gitops_object
    )


@dataclass(frozen=True, slots=True)
class _Span:
    """A time in which an application was frozen, by one freeze or by several that overlap, until a hand ended it."""

    began_at: datetime
    ended_at: datetime | None

    def holds(self, moment: datetime) -> bool:
        return self.began_at <= moment and (self.ended_at is None or moment <= self.ended_at)


def _spans(freezes: Iterable[Freeze]) -> list[_Span]:
    spans: list[_Span] = []
    for freeze in sorted((each for each in freezes if not each.undone), key=lambda freeze: freeze.began_at):
        if spans and spans[-1].holds(freeze.began_at):
            ends = (spans[-1].ended_at, freeze.ended_at)
            spans[-1] = _Span(spans[-1].began_at, None if None in ends else max(end for end in ends if end))
        else:
            spans.append(_Span(freeze.began_at, freeze.ended_at))
    return spans


def _incidents(
    changes: Sequence[Change], history: ApplicationHistory, coverage: Coverage, config: Config
) -> Iterator[Incident]:
    """One application's changes, cut where a freeze ended and where it was quiet."""
    quiet = timedelta(minutes=config.goals.quiet_minutes)
    lead = timedelta(minutes=config.goals.announce_minutes)
    spans = _spans(history.freezes)
    groups = list(_groups(changes, spans, quiet))
    previous: datetime | None = None
    for place, (group, span) in enumerate(groups):
        following = groups[place + 1][0][0].write.at if place + 1 < len(groups) else None
        incident = _incident(group, span, history, quiet, coverage)
        settled = previous + lead if previous else None
        yield replace(
            incident,
            lead_from=min(incident.began_at, max(filter(None, (incident.began_at - lead, settled)))),
            following_at=following,
        )
        previous = incident.ended_at or group[-1].write.at


def _groups(
    changes: Sequence[Change], spans: Sequence[_Span], quiet: timedelta
) -> Iterator[tuple[list[Change], _Span | None]]:
    group: list[Change] = []
    span: _Span | None = None
    for change in changes:
        at = change.write.at
        if group and not _continues(group[-1].write.at, at, span, quiet):
            yield group, span
            group, span = [], None
        group.append(change)
        span = span or _span_of(spans, group, quiet)
    if group:
        yield group, span


def _continues(last: datetime, at: datetime, span: _Span | None, quiet: timedelta) -> bool:
    if span is not None and span.ended_at is None:
        return True
    if span is not None and span.ended_at is not None and last <= span.ended_at:
        return at <= span.ended_at
    return at - last <= quiet


def _span_of(spans: Sequence[_Span], group: Sequence[Change], quiet: timedelta) -> _Span | None:
    """The freeze that the last change was made in, or that came within the quiet minutes after it."""
    first, last = group[0].write.at, group[-1].write.at
    return next((span for span in spans if span.holds(last) or first <= span.began_at <= last + quiet), None)


def _incident(
    group: Sequence[Change],
    span: _Span | None,
    history: ApplicationHistory,
    quiet: timedelta,
    coverage: Coverage,
) -> Incident:
    first, last = group[0].write.at, group[-1].write.at
    freezes = tuple(freeze for freeze in history.freezes if _belongs(freeze, span, first, last, quiet))
    began = min([first, *(freeze.began_at for freeze in freezes)])
    as_of = coverage.as_of.moment or last
    ended = span.ended_at if span else (last + quiet if last + quiet <= as_of else None)
    return Incident(history, tuple(group), freezes, began, ended, began, None)


def _belongs(freeze: Freeze, span: _Span | None, first: datetime, last: datetime, quiet: timedelta) -> bool:
    if not freeze.undone:
        return span is not None and span.holds(freeze.began_at)
    over = freeze.ended_at or last
    return freeze.began_at <= last and (over >= first or first - freeze.began_at <= quiet)


def _episode(incident: Incident, background: Background) -> Episode:
    taken = steps(incident, background)
    return Episode(
        id=_ident(incident),
        application=incident.history.key,
        actors=incident.people,
        began_at=incident.began_at,
        ended_at=incident.ended_at,
        steps=taken,
        changes=tuple(change.id for change in incident.changes),
        seconds_to_announce=_to_announce(incident, taken[2]),
        seconds_to_git=_to_git(incident, taken[3]),
        seconds_frozen=_frozen(incident, background.coverage),
        seconds_exposed=_exposed(incident, background.verdicts),
    )


def _ident(incident: Incident) -> str:
    key = incident.history.key
    digest = hashlib.sha256("\0".join((key.argocd, key.namespace, key.name, incident.changes[0].id)).encode())
    return f"{key.name}-{digest.hexdigest()[:8]}"


def _to_announce(incident: Incident, step: Step) -> float | None:
    """Seconds from the first change to its announcement; 0 where that came before."""
    return None if step.at is None else max(0.0, (step.at - incident.first_at).total_seconds())


def _to_git(incident: Incident, step: Step) -> float | None:
    """Seconds from the first change to the landing of the last fix; None where the landing's clock is before it."""
    if step.at is None or step.at < incident.first_at:
        return None
    return (step.at - incident.first_at).total_seconds()


def _frozen(incident: Incident, coverage: Coverage) -> float | None:
    """Seconds in which the application was frozen, up to the end of the records while it still is."""
    ends = [freeze.ended_at or coverage.as_of.moment for freeze in incident.freezes]
    known = [end for end in ends if end is not None]
    if not known or len(known) < len(ends):
        return None
    return (max(known) - min(freeze.began_at for freeze in incident.freezes)).total_seconds()


def _exposed(incident: Incident, verdicts: Mapping[str, Verdict]) -> float | None:
    ends: list[datetime] = []
    for change in incident.changes:
        verdict = verdicts.get(change.id)
        if verdict is None:
            return None
        for field in verdict.fields or (FieldVerdict(verdict.git, verdict.cluster),):
            end = _exposed_until(field, change.write.at)
            if end is None:
                return None
            ends.append(end)
    return max(0.0, (max(ends) - incident.first_at).total_seconds()) if ends else None


def _exposed_until(field: FieldVerdict, at: datetime) -> datetime | None:
    """When a value no longer stood without git: git got it, or the cluster lost it. None where it still does, or
    where the records do not tell."""
    if field.git.verdict == "already":
        return at
    in_git = field.git.landed_at if field.git.verdict == "reflected" else None
    gone = field.cluster.at if field.cluster.verdict not in ("standing", "unknown") else None
    return min((end for end in (in_git, gone) if end is not None), default=None)
