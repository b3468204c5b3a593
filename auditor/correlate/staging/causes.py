"""Why one field differs between two environments: what it was when the records begin, and who or what set it since."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from auditor.correlate.git.source import epochs
from auditor.correlate.writes.overlap import holds, same_place
from auditor.model.application import ApplicationHistory, ApplicationState
from auditor.model.case import LiveState
from auditor.model.change import AppKey, Change, FieldChange
from auditor.model.desired import DesiredState, GitReader, Landing, ManifestKey, Undeterminable
from auditor.model.resource import ABSENT, UNKNOWN, Json, JsonObject, Leaf, ObjectId, Path, leaf
from auditor.model.staging import StagingCause
from auditor.model.verdict import GitVerdict, Verdict
from auditor.objects import defaults, leaves
from auditor.objects.paths import lookup

PRESENT = leaf("present")
"""The value of a whole object on the side that has it."""

_SETTLED_LANDINGS = 50
"""How far back the commit that brought a value is looked for."""


@dataclass(frozen=True, slots=True)
class Records:
    """What differences are explained from."""

    histories: Mapping[AppKey, ApplicationHistory]
    live: Mapping[ObjectId, LiveState]
    desired: Mapping[AppKey, DesiredState | Undeterminable]
    changes: Mapping[ObjectId, Sequence[Change]]
    """By object, oldest first; proven ones of all causes."""
    verdicts: Mapping[str, Verdict]
    landings: Mapping[AppKey, Sequence[Landing]]
    git: GitReader | None


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause of a difference, in words that continue a sentence."""

    cause: StagingCause
    because: str
    changes: tuple[str, ...] = ()
    commit: str | None = None
    settled: bool = False
    """Nobody needs to decide anything: a controller owns the value."""


@dataclass(frozen=True, slots=True)
class Side:
    """One field (or, with an empty path, one whole object) in one environment."""

    subject: ObjectId
    path: Path
    now: Leaf
    state: ApplicationState
    records: Records

    @property
    def start(self) -> Leaf:
        """The value when the records begin: before its first change, else the one it has now. What an object was
        created with is its start."""
        first = next(iter(self._set()), None)
        return self.now if first is None else first[1]

    @property
    def moved(self) -> bool:
        """Whether it is not what it was when the records begin, or a hand took it back there from what git declares."""
        return not self.equals(self.start) or self._held_back

    @property
    def setter(self) -> Change | None:
        """The change that set the value it has now; None where no recorded change did."""
        made = [change for change in self._changes if change.write.operation == "create"][-1:]
        last = list(self._set())[-1:]
        if self.path and made and (not last or self._changes.index(made[0]) > self._changes.index(last[0][0])):
            return made[0]
        return last[0][0] if last and self.equals(last[0][2]) else None

    @property
    def declared(self) -> Leaf | None:
        """What git declares at the tip, None where that cannot be told."""
        desired = self.records.desired.get(self.state.key)
        return self._of(desired) if isinstance(desired, DesiredState) else None

    def equals(self, other: Leaf) -> bool:
        """Whether this side's value is the same to the API server."""
        return leaves.equal(self.subject.group, self.subject.kind, self.path, self.now, other)

    def hand_before(self) -> Change | None:
        """A change by hand, before git brought the value, that had set the same one."""
        hands = [entry[0] for entry in self._set() if is_by_hand(entry[0]) and self.equals(entry[2])]
        return hands[-1] if hands else None

    def verdict(self, change: Change) -> GitVerdict | None:
        """What git says of this field of a change."""
        verdict = self.records.verdicts.get(change.id)
        if verdict is None or not self.path:
            return verdict.git if verdict else None
        pairs = zip(change.write.fields, verdict.fields, strict=False)
        return next((told.git for field, told in pairs if holds(field.path, self.path)), verdict.git)

    def commit_of(self, change: Change) -> Landing | None:
        """The landing with which the tracked branch got the value that a sync applied; None where that is not sure."""
        landings = [each for each in self.records.landings.get(self.state.key, ()) if each.at <= change.write.at]
        if self.records.git is None:
            return self._synced(change, landings)
        source = self._source(change.write.at, self.records.git)
        found: Landing | None = None
        for landing in reversed(landings[-_SETTLED_LANDINGS:]):
            rendered = self.records.git.render(source, landing.sha)
            if not isinstance(rendered, DesiredState):
                return None
            if not self.equals(self._of(rendered)):
                return found
            found = landing
        return found if len(landings) <= _SETTLED_LANDINGS else None

    @property
    def _held_back(self) -> bool:
        setter, declared = self.setter, self.declared
        if setter is None or not is_by_hand(setter):
            return False
        return declared is not None and declared.state == "value" and not self.equals(declared)

    @property
    def _changes(self) -> Sequence[Change]:
        return self.records.changes.get(self.subject, ())

    def _source(self, moment: datetime, git: GitReader) -> ApplicationState:
        """The application with the source that is its own by right then, without what a bypass put into it."""
        history = self.records.histories[self.state.key]
        found = epochs(history, self.records.histories, git, moment)
        return found[-1].state if found else self.state

    def _synced(self, change: Change, landings: Sequence[Landing]) -> Landing | None:
        """The landing whose revision the sync of that time names."""
        at = change.write.at
        syncs = self.records.histories[self.state.key].syncs
        around = [
            sync for sync in syncs if sync.started_at <= at and (sync.finished_at is None or at <= sync.finished_at)
        ]
        revisions = {revision for sync in around for revision in sync.revisions}
        return next((landing for landing in landings if landing.sha in revisions), None)

    def _of(self, desired: DesiredState) -> Leaf:
        key = ManifestKey(self.subject.group, self.subject.kind, self.subject.namespace, self.subject.name)
        manifest: JsonObject | None = desired.objects.get(key)
        if manifest is None or not self.path:
            return PRESENT if manifest is not None else ABSENT
        return lookup(manifest, self.path)

    def _set(self) -> Iterator[tuple[Change, Leaf, Leaf]]:
        """Changes of this field with its value before and after, oldest first."""
        for change in self._changes:
            if not self.path:
                yield from _whole(change)
            elif change.write.operation == "update":
                yield from ((change, *sides) for field in change.write.fields for sides in _within(field, self.path))


def _whole(change: Change) -> Iterator[tuple[Change, Leaf, Leaf]]:
    if change.write.operation == "create":
        yield change, ABSENT, PRESENT
    elif change.write.operation == "delete":
        yield change, PRESENT, ABSENT


def _within(field: FieldChange, path: Path) -> Iterator[tuple[Leaf, Leaf]]:
    """The values of `path` before and after a field change, if that is about it."""
    if same_place(field.path, path):
        yield field.before, field.after
    elif holds(field.path, path):
        rest = path[len(field.path) :]
        yield _below(field.before, rest), _below(field.after, rest)
    elif holds(path, field.path):
        yield UNKNOWN, UNKNOWN


def _below(value: Leaf, rest: Path) -> Leaf:
    return lookup(value.value, rest) if value.state == "value" else value


def is_by_hand(change: Change) -> bool:
    """Whether it was made outside the tracked branch."""
    return change.write.cause in ("out-of-band", "bypass")


def reasons(staging: Side, production: Side) -> list[Reason]:
    """All causes of the difference between the two sides, at least one."""
    if not staging.moved and not production.moved:
        return [_standing_apart(staging, production)]
    told = list(_overlay_at_start(staging, production))
    if production.moved:
        told.append(_of_production(production, staging))
    if staging.moved:
        told.append(_of_staging(staging, production))
    return told


def _standing_apart(staging: Side, production: Side) -> Reason:
    """Nothing was changed since the records begin: an overlay, unless git says otherwise on one side."""
    for side, name in ((production, "production"), (staging, "staging")):
        if _contradicts_git(side):
            what = (
                "declares another value" if side.declared and side.declared.state == "value" else "does not declare it"
            )
            return Reason("unexplained", f"git {what} for {name}, and the records do not hold who set it")
    if all(side.declared is not None and side.equals(side.declared) for side in (staging, production)):
        return Reason("overlay", "git declares both, and both had these values when the records begin")
    return Reason("overlay", "both had these values when the records begin")


def _contradicts_git(side: Side) -> bool:
    declared = side.declared
    if declared is None or side.equals(declared):
        return False
    return side.now.state != "value" or not defaults.is_defaultable(
        side.subject.group, side.subject.kind, side.path, side.now.value
    )


def _overlay_at_start(staging: Side, production: Side) -> Iterator[Reason]:
    start = production.start
    if start.known and staging.start.known and not _same(staging, staging.start, start):
        yield Reason(
            "overlay", f"{_shown(staging.start)} against {_shown(start)} was the overlay when the records begin"
        )


def _same(side: Side, one: Leaf, other: Leaf) -> bool:
    return leaves.equal(side.subject.group, side.subject.kind, side.path, one, other)


def _shown(value: Leaf) -> str:
    return "absent" if value.state == "absent" else _text(value.value)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else str(value)


def _of_production(side: Side, staging: Side) -> Reason:
    setter = side.setter
    if setter is None:
        return Reason("unexplained", "no recorded change gave production this value")
    if is_by_hand(setter):
        return _hotfix(side, setter, staging)
    if setter.write.cause == "controller":
        return _controller(setter, "production")
    hand = side.hand_before()
    if hand is not None:
        return _hotfix(side, hand, staging)
    landing = side.commit_of(setter)
    if staging.declared is not None and side.equals(staging.declared):
        return _on_its_way("staging", setter, landing)
    return Reason(
        "overlay", f"git changed it for production{_commit(landing)}", (setter.id,), landing.sha if landing else None
    )


def _of_staging(side: Side, production: Side) -> Reason:
    setter = side.setter
    if setter is None:
        return Reason("unexplained", "no recorded change gave staging this value")
    if is_by_hand(setter):
        return _hand_on_staging(side, setter)
    if setter.write.cause == "controller":
        return _controller(setter, "staging")
    landing = side.commit_of(setter)
    if production.declared is not None and side.equals(production.declared):
        return _on_its_way("production", setter, landing)
    because = f"a promotion on its way: staging has a newer commit{_commit(landing)}"
    return Reason("promotion", because, (setter.id,), landing.sha if landing else None)


def _hand_on_staging(side: Side, change: Change) -> Reason:
    """A change on staging itself; one that git has for staging since is a promotion on its way."""
    git = side.verdict(change)
    told = f"changed on staging by {_who(change)}"
    if git is None or git.verdict != "reflected" or git.commit is None:
        return Reason("staging-change", told, (change.id,))
    commit = f"({_sha(git.commit)}{_request(git.pull_request)})"
    return Reason("promotion", f"a promotion on its way: {told}, and in git since {commit}", (change.id,), git.commit)


def _on_its_way(missing: str, setter: Change, landing: Landing | None) -> Reason:
    because = f"git has it for both{_commit(landing)}, and {missing} does not run it yet"
    return Reason("promotion", because, (setter.id,), landing.sha if landing else None)


def _controller(setter: Change, where: str) -> Reason:
    because = f"{setter.write.actor.name} ({setter.write.actor.kind}) set it in {where}"
    return Reason("unexplained", because, (setter.id,), settled=True)


def _hotfix(side: Side, change: Change, staging: Side) -> Reason:
    git = side.verdict(change) or GitVerdict("unknown", "git was not asked")
    told = f"production hotfix of {_who(change)}"
    if git.verdict in ("reflected", "already"):
        commit = f" ({_sha(git.commit)}{_request(git.pull_request)})" if git.commit else ""
        way = "that went to git" if git.verdict == "reflected" else "of what git had before"
        both = staging.declared is not None and side.equals(staging.declared)
        whom = f" for both{commit}, and staging does not run it yet" if both else f" for production only{commit}"
        return Reason("production-hotfix", f"{told} {way}{whom}", (change.id,), git.commit)
    if git.verdict == "unknown":
        return Reason("production-hotfix", f"{told}; whether git has it is unknown: {git.reason}", (change.id,))
    if git.verdict == "on-branch":
        where = f"that only the branch {git.branch} has" if git.branch else "that only an unmerged branch has"
        return Reason("hotfix-not-in-git", f"{told} {where}", (change.id,), git.commit)
    return Reason("hotfix-not-in-git", f"{told} that never reached git", (change.id,))


def _who(change: Change) -> str:
    write = change.write
    return f"{write.actor.name} ({write.channel}, {write.at:%Y-%m-%d %H:%M:%S} UTC)"


def _commit(landing: Landing | None) -> str:
    if landing is None:
        return ""
    request = "" if f"#{landing.pull_request}" in landing.subject else _request(landing.pull_request)
    return f" ({_sha(landing.sha)}{request}, {landing.subject})"


def _sha(commit: str) -> str:
    return commit[:8]


def _request(number: int | None) -> str:
    return f", #{number}" if number is not None else ""
