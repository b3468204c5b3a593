"""One value before the course of its application: the table of git verdicts, from its first line to its last."""

import json
from dataclasses import replace
from typing import TypeAlias

from auditor.correlate.applications.hydration import dry_commit
from auditor.correlate.git.applied import Applied, synced_between
from auditor.correlate.git.authorship import authored_in, landed_verdict, written_since
from auditor.correlate.git.branches import on_branch
from auditor.correlate.git.course import Course, Step
from auditor.correlate.git.manifest import manifest_of, otherwise, value_in
from auditor.correlate.git.text import text_hint
from auditor.model.application import ApplicationHistory
from auditor.model.change import Change
from auditor.model.desired import DesiredState, Undeterminable
from auditor.model.resource import ABSENT, Leaf, ListItem, ObjectId, Path, leaf
from auditor.model.verdict import GitVerdict
from auditor.objects import paths
from auditor.objects.bare_items import BARE
from auditor.objects.leaves import equal

Value: TypeAlias = Leaf | Undeterminable | None
"""What git says of a field: a value or ABSENT, that it cannot be told, or None where git has not got the object."""

_NOT_IN_GIT = GitVerdict("not-in-git", "no manifest declares the object")
_NO_BODY = GitVerdict("unknown", "the record does not hold the value")
PRESENT = leaf(True)
"""Stands for the whole object where a created or deleted one is judged."""
_OTHERWISE = leaf(False)
"""Stands for an object that git declares with other values than it was created with."""
_NAMED_FIELDS = 3
"""How many fields with other values are named."""


class Trial:
    """One value before the course of its application: the first line of the table that holds."""

    def __init__(
        self,
        course: Course,
        change: Change,
        path: Path,
        after: Leaf,
        applied: Applied,
        history: ApplicationHistory | None,
        former: "Trial | None" = None,
    ) -> None:
        """`path` is () and `after` PRESENT or ABSENT for a whole object. `former` is the same on the application that
        declared the object when it was changed, where git has it in another one now."""
        self._course = course
        self._change = change
        self._object: ObjectId = change.write.object
        self._by_name = False
        """Whether a created object is judged by its name alone, whatever git declares of it."""
        self._at = change.write.at
        self._path = path
        self._after = after
        self._now = len(course.steps) - 1
        self._change_step = course.tip_at(self._at)
        self._applied = applied
        self._history = history
        self._doubts = ""
        self._former = former

    # What git says

    def value(self, number: int) -> Value:
        """What a step says of the field; before the first step git has nothing."""
        if number < 0:
            return None if self._course.complete else Undeterminable("the clone does not go back that far")
        desired = self._course.desired(number)
        if isinstance(desired, Undeterminable) and self._path:
            applied = self._applied_at(number)
            if applied is not None:
                self._doubts = f"{desired.reason}; what the controller last asked for stands for it"
                return applied
        return self.value_at(self._course.steps[number], desired)

    def _applied_at(self, number: int) -> Leaf | None:
        """What the controller asked for while a step was the latest, if it synced in that time."""
        steps = self._course.steps
        step = steps[number]
        until = steps[number + 1].earliest if number + 1 < len(steps) else self._course.as_of
        if self._history is None or not synced_between(self._history, step.earliest, until):
            return None
        return self._applied.value(self._object, self._path, until)

    def value_at(self, step: Step, desired: DesiredState | Undeterminable) -> Value:
        """What manifests rendered for a step's application say of the field."""
        if isinstance(desired, Undeterminable):
            return desired
        namespace = step.state.destination_namespace
        if self._path:
            return value_in(desired, self._object, namespace, self._path)
        manifest = manifest_of(desired, self._object, namespace)
        if manifest is None:
            return None
        return _OTHERWISE if not self._by_name and otherwise(manifest, self._change.write) else PRESENT

    def then(self) -> Value:
        """What git said when the change was made: a revision that does not render leaves the one before in force."""
        if self._former is not None:
            return self._former.then()
        number = self._change_step
        while number >= 0 and isinstance(said := self.value(number), Undeterminable):
            if not self._renders_at_all():
                return said
            number -= 1
        return self.value(number)

    def _renders_at_all(self) -> bool:
        return not isinstance(self._course.desired(self._now), Undeterminable)

    def _is(self, value: Value, wanted: Value) -> bool:
        """Whether two answers of git are the same; one that cannot be told is like its neighbours."""
        if isinstance(value, Undeterminable) or isinstance(wanted, Undeterminable):
            return False
        if value is None or wanted is None:
            return value is wanted
        return equal(self._object.group, self._object.kind, self._path, value, wanted)

    def run_begins(self, wanted: Value, until: int | None = None) -> int:
        """The step that begins the run of a value that lasts until a step, the last one by default."""
        end = self._now if until is None else until
        begin = end
        for number in range(end - 1, -1, -1):
            said = self.value(number)
            if self._is(said, wanted):
                begin = number
            elif not isinstance(said, Undeterminable):
                break
        return begin

    def is_bare(self) -> bool:
        """Whether git has no more of a list item than its keys, or has none such, now as when the change was made."""
        return all(
            not isinstance(said, Leaf) or said in (ABSENT, BARE) for said in (self.value(self._now), self.then())
        )

    # The table

    def judge_field(self) -> GitVerdict:
        """The verdict for one field; for a change without known fields, for the change."""
        now, then = self.value(self._now), self.then()
        for said in (now, then):
            if isinstance(said, Undeterminable):
                return self._unknown(said)
        if now is None and then is None:
            return _NOT_IN_GIT
        if not self._after.known:
            return _NO_BODY
        if now is not None and self._is(now, self._after):
            return self._has_it(now)
        return self._has_it_not(now, then)

    def _unknown(self, said: Undeterminable) -> GitVerdict:
        hint = "" if self._renders_at_all() else text_hint(self._course, self._path, self._after)
        return GitVerdict("unknown", "; ".join(filter(None, (said.reason, hint))), confidence="low" if hint else "high")

    def judge_whole(self) -> GitVerdict:
        """The verdict for a created or a deleted object."""
        now, then = self.value(self._now), self.then()
        for said in (now, then):
            if isinstance(said, Undeterminable):
                return GitVerdict("unknown", said.reason)
        if self._after == ABSENT:
            return self._deleted(now, then)
        if now == _OTHERWISE:
            return self._has_another()
        if now is not None:
            return self._has_it(now)
        self._by_name = True
        branch = self._branch()
        if branch is not None:
            return branch
        return _NOT_IN_GIT if then is None else self._dropped()

    def _has_another(self) -> GitVerdict:
        """Git declares the object, and not as it was created."""
        step, desired = self._course.steps[self._now], self._course.desired(self._now)
        assert isinstance(desired, DesiredState)
        manifest = manifest_of(desired, self._object, step.state.destination_namespace)
        fields = [paths.text(path) for path in otherwise(manifest or {}, self._change.write)]
        named = ", ".join(fields[:_NAMED_FIELDS]) + (" and more" if len(fields) > _NAMED_FIELDS else "")
        self._by_name = True
        verdict = self._has_it(PRESENT)
        return replace(verdict, reason="; ".join(filter(None, (verdict.reason, f"git has other values for {named}"))))

    def _deleted(self, now: Value, then: Value) -> GitVerdict:
        if now is not None:
            return GitVerdict("not-reflected", "git still declares the object")
        if then is None and self._landed_for_sure(self.run_begins(None)):
            return _NOT_IN_GIT
        return self._landed("reflected", self.run_begins(None), None)

    def _has_it(self, now: Value) -> GitVerdict:
        """`already` or `reflected`: git has the value."""
        if self._former is not None and self._is(now, self._former.then()):
            return self._former.had_it(now)
        begin = self.run_begins(now)
        step = self._course.steps[begin]
        if begin == 0 and self._is(now, ABSENT) and self._course.complete:
            return GitVerdict("already", "git never declared the field")
        if begin == 0 and not self._course.complete:
            return GitVerdict("unknown", f"git has the value, and the clone does not go back to before {step.sha[:12]}")
        if self._landed_for_sure(begin):
            return self._landed("already", begin, now)
        return self._landed("reflected", begin, now)

    def had_it(self, value: Value) -> GitVerdict:
        """`already`: git had the value when the change was made, and took it elsewhere with its object since."""
        begin = self.run_begins(value, max(self._change_step, 0))
        if begin == 0 and self._is(value, ABSENT) and self._course.complete:
            return GitVerdict("already", "git never declared the field")
        return self._landed("already", begin, value)

    def _landed_for_sure(self, number: int) -> bool:
        """Whether a record shows that the step had landed when the change was made."""
        step = self._course.steps[number]
        return step.earliest <= self._at and step.latest is not None and step.latest <= self._at

    def _has_it_not(self, now: Value, then: Value) -> GitVerdict:
        if now is None:
            return self._dropped()
        absent = self._is(now, ABSENT)
        if not absent and not self._is(now, then):
            return self._landed("superseded", self.run_begins(now), now)
        branch = self._branch()
        if branch is not None:
            return branch
        if absent and self._after.state == "value":
            if then is not None and not self._is(then, ABSENT):
                return self._landed("not-declared", self.run_begins(now), now)
            return self._doubted(GitVerdict("not-declared", "git declares the object and not this field"))
        return self._doubted(GitVerdict("not-reflected", self._had_it_between(), says=self._said(now)))

    def _doubted(self, verdict: GitVerdict) -> GitVerdict:
        """The verdict with what speaks against it."""
        doubt = self._doubt()
        if not doubt:
            return verdict
        return replace(verdict, reason="; ".join(filter(None, (verdict.reason, doubt))), confidence="low")

    def _dropped(self) -> GitVerdict:
        return self._landed("superseded", self.run_begins(None), None)

    def _had_it_between(self) -> str:
        """From when to when git had the value after the change, "" where it never had."""
        held = [
            number for number in range(self._change_step + 1, self._now) if self._is(self.value(number), self._after)
        ]
        if not held:
            return ""
        first, last = self._course.steps[held[0]], self._course.steps[held[-1] + 1]
        return f"git had it from {_clock(first)} until {_clock(last)}"

    def _said(self, value: Value) -> str:
        """The value as text to read; of a list item that is all key there is nothing else to read."""
        is_item = bool(self._path) and isinstance(self._path[-1], ListItem)
        return "the item" if is_item and isinstance(value, Leaf) and value == BARE else _shown(value)

    # Commits

    def _landed(self, word: str, number: int, value: Value) -> GitVerdict:
        step = self._course.steps[number]

        def has(sha: str) -> bool:
            said = self.value_at(step, self._course.git.render(step.state, sha)) if sha else None
            return self._is(said, value)

        git = self._course.git
        authored = authored_in(written_since(step, self._at, has, git), has, git)
        if self._history is not None:
            authored = dry_commit(self._history, authored, git) or authored
        return landed_verdict(word, step, authored, self._at, self._said(value), self._doubt())

    def _branch(self) -> GitVerdict | None:
        step = self._course.steps[self._now]

        def has(sha: str) -> bool:
            said = self.value_at(step, self._course.git.render(step.state, sha)) if sha else None
            return said is not None and self._is(said, self._after)

        return on_branch(step.state, has, self._course.git, self._course.as_of)

    def _doubt(self) -> str:
        if self._doubts:
            return self._doubts
        desired = self._course.desired(self._now)
        return desired.reason if isinstance(desired, DesiredState) and desired.confidence == "low" else ""


def _shown(value: Value) -> str:
    """The value as text to read."""
    if value is None or isinstance(value, Undeterminable) or value.state != "value":
        return ""
    return value.value if isinstance(value.value, str) else json.dumps(value.value, ensure_ascii=False, sort_keys=True)


def _clock(step: Step) -> str:
    return f"{step.landing.at:%Y-%m-%d %H:%M:%S} UTC"
