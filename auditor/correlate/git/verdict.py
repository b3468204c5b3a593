"""Whether git has what somebody did by hand: the git half of the verdict, for many changes of one case."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from auditor.correlate.git.applied import Applied
from auditor.correlate.git.course import Course, course
from auditor.correlate.git.landing import FirstSeen
from auditor.correlate.git.manifest import manifest_of
from auditor.correlate.git.trial import PRESENT, Trial
from auditor.model.application import ApplicationHistory, ApplicationState, RevisionSeen
from auditor.model.change import AppKey, Change, FieldChange, Write
from auditor.model.desired import DesiredState, GitReader, Undeterminable
from auditor.model.resource import ABSENT, UNKNOWN, Leaf, ObjectId, Path
from auditor.model.verdict import GIT_WORST_FIRST, GitVerdict
from auditor.objects.bare_items import stood_for

_NO_RECORDS = GitVerdict("unknown", "no record says which application, and so which repository, the object belongs to")
_NAMELESS = GitVerdict("unknown", "the record does not name the objects that were deleted")
_UNOWNED = GitVerdict("not-in-git", "no application owns the object")

_Tip: TypeAlias = tuple[AppKey, ApplicationState, DesiredState]
"""An application at the end, and its manifests there."""


class GitJudge:
    """Judges many changes of one case; what they share is worked out once."""

    def __init__(
        self,
        git: GitReader,
        applications: Mapping[AppKey, ApplicationHistory],
        seen: Sequence[RevisionSeen],
        as_of: datetime,
        writes: Iterable[Write] = (),
    ) -> None:
        """`writes` are all that are known: the controller's own tell what git says where nothing can render it."""
        self._applied = Applied(writes)
        self._git = git.following(seen)
        self._applications = applications
        self._seen = FirstSeen(seen)
        self._as_of = as_of
        self._nobodys: GitVerdict | None = None
        self._declared: Mapping[tuple[str, str], list[_Tip]] | None = None
        self._courses: dict[AppKey, Course | Undeterminable] = {}

    def course(self, application: AppKey) -> Course | Undeterminable:
        """The course of an application until the moment of judgement."""
        if application not in self._courses:
            history = self._applications.get(application)
            self._courses[application] = (
                Undeterminable("the application is not in the records")
                if history is None
                else course(history, self._applications, self._git, self._seen, self._as_of)
            )
        return self._courses[application]

    def judge(self, change: Change) -> tuple[GitVerdict, tuple[GitVerdict, ...]]:
        """The verdict of the change as a whole, and one for each of its fields in their order.

        For created and deleted objects the second is empty, as the verdict is on the object.
        """
        write = change.write
        if change.application is None:
            adopter = self._adopter(write.object)
            if adopter is not None:
                return self.judge(replace(change, application=adopter))
            verdict = self._of_nobody() if write.object.name else _NAMELESS
            return verdict, _for_fields(change, verdict)
        found = self.course(change.application)
        if isinstance(found, Undeterminable):
            unknown = GitVerdict("unknown", found.reason)
            return unknown, _for_fields(change, unknown)
        if write.operation != "update":
            whole = PRESENT if write.operation == "create" else ABSENT
            return self._judged(found, change, (), whole).judge_whole(), ()
        told = stood_for(write.fields, write.object)
        fields = tuple(self._of_field(found, change, *pair) for pair in zip(write.fields, told, strict=True))
        if fields:
            return min(fields, key=lambda verdict: GIT_WORST_FIRST.index(verdict.verdict)), fields
        return self._judged(found, change, (), UNKNOWN).judge_field(), ()

    def _adopter(self, of: ObjectId) -> AppKey | None:
        """The application that has come to declare an object which nobody owned when it was changed."""
        if self._declared is None:
            self._declared = self._declaring()
        fitting = self._declared.get((of.kind, of.name), ())
        return next((key for key, state, tip in fitting if _declares(state, tip, of)), None)

    def _declaring(self) -> Mapping[tuple[str, str], list[_Tip]]:
        """The applications whose manifests can be read at the end, by kind and name of what they declare."""
        found: dict[tuple[str, str], list[_Tip]] = defaultdict(list)
        for key in self._applications:
            steps = self.course(key)
            tip = steps if isinstance(steps, Undeterminable) else steps.desired(len(steps.steps) - 1)
            if isinstance(steps, Undeterminable) or isinstance(tip, Undeterminable):
                continue
            for named in {(each.kind, each.name): None for each in tip.objects}:
                found[named].append((key, steps.steps[-1].state, tip))
        return found

    def _of_nobody(self) -> GitVerdict:
        """Of an object that no application owns: in no manifest, as far as any manifest could be read."""
        if self._nobodys is None:
            reasons = [self._unread(self.course(key)) for key in self._applications]
            read_any = any(reason is None for reason in reasons)
            self._nobodys = (
                _UNOWNED if read_any else GitVerdict("unknown", reasons[0] or "") if reasons else _NO_RECORDS
            )
        return self._nobodys

    def _unread(self, found: Course | Undeterminable) -> str | None:
        """Why an application's manifests cannot be read at the end, None where they can be."""
        desired = found if isinstance(found, Undeterminable) else found.desired(len(found.steps) - 1)
        return desired.reason if isinstance(desired, Undeterminable) else None

    def _trial(self, found: Course, change: Change, path: Path, after: Leaf) -> Trial:
        history = self._applications[change.application] if change.application else None
        return Trial(found, change, path, after, self._applied, history)

    def _of_field(self, found: Course, change: Change, field: FieldChange, item: FieldChange) -> GitVerdict:
        """Of a field, or of the list item that it stands for, as far as git says no more of that than its keys."""
        if item is not field:
            of_item = self._judged(found, change, item.path, item.after)
            if of_item.is_bare():
                return of_item.judge_field()
        return self._judged(found, change, field.path, field.after).judge_field()

    def _judged(self, found: Course, change: Change, path: Path, after: Leaf) -> Trial:
        """Before the application that declares the object at the end."""
        trial, home = self._trial(found, change, path, after), self.home(change)
        moved = self.course(home) if home is not None and home != change.application else None
        if home is None or moved is None or isinstance(moved, Undeterminable):
            return trial
        return Trial(moved, change, path, after, self._applied, self._applications[home], trial)

    def home(self, change: Change) -> AppKey | None:
        """The application that declares the object at the end: another than when it was changed where git moved it."""
        found = self.course(change.application) if change.application else None
        if found is None or isinstance(found, Undeterminable):
            return change.application
        tip = found.desired(len(found.steps) - 1)
        if isinstance(tip, Undeterminable) or _declares(found.steps[-1].state, tip, change.write.object):
            return change.application
        return self._adopter(change.write.object) or change.application

    def value_then(self, change: Change) -> Callable[[Path], Leaf]:
        """What git said of the object's fields when the change was made; UNKNOWN where that cannot be told."""
        if change.application is None:
            return lambda path: UNKNOWN
        found = self.course(change.application)
        if isinstance(found, Undeterminable):
            return lambda path: UNKNOWN

        def value(path: Path) -> Leaf:
            said = self._trial(found, change, path, UNKNOWN).then()
            return said if isinstance(said, Leaf) else UNKNOWN if isinstance(said, Undeterminable) else ABSENT

        return value


def _declares(state: ApplicationState, tip: DesiredState, of: ObjectId) -> bool:
    home = state.destination_namespace
    return state.cluster == of.cluster and manifest_of(tip, of, home) is not None


def _for_fields(change: Change, verdict: GitVerdict) -> tuple[GitVerdict, ...]:
    return (verdict,) * len(change.write.fields) if change.write.operation == "update" else ()
