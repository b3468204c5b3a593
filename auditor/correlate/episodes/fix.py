"""Whether git was fixed in the same incident: the fourth step of an episode."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from auditor.correlate.episodes.incident import RESTARTED_AT, Incident, untaken
from auditor.model.change import Change, Evidence
from auditor.model.episode import Step
from auditor.model.resource import Path
from auditor.model.verdict import FieldVerdict, GitVerdict, Verdict
from auditor.objects.paths import text

_OPEN = frozenset({"not-reflected", "not-in-git", "on-branch"})


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of git and the cluster, and what it is about."""

    path: Path | None
    """None for a whole object."""
    change: Change
    verdict: FieldVerdict

    @property
    def name(self) -> str:
        """The field's path, or the object."""
        return text(self.path) if self.path is not None else str(self.change.write.object)

    @property
    def standing(self) -> bool:
        """Whether the cluster still has it."""
        return self.verdict.cluster.verdict == "standing"


def answers(incident: Incident, verdicts: Mapping[str, Verdict]) -> list[Answer]:
    """All that the incident set. A restart is an act: git need not know of it."""
    found = [field for change in incident.changes for field in _of_change(change, verdicts.get(change.id))]
    return [field for field in found if not (field.path and field.path[-1] == RESTARTED_AT)]


def _of_change(change: Change, verdict: Verdict | None) -> Iterator[Answer]:
    if verdict is None:
        return
    if not verdict.fields:
        yield Answer(None, change, FieldVerdict(verdict.git, verdict.cluster))
    for field, told in zip(change.write.fields, verdict.fields, strict=False):
        yield Answer(field.path, change, told)


def fix(fields: Sequence[Answer], unfreeze: Step) -> Step:
    """Done where git has at least one of the values and none stands without it; late after the unfreeze."""
    if not fields:
        return untaken("git", "not-needed", "nothing was set that git would hold")
    reflected = [field for field in fields if field.verdict.git.verdict == "reflected"]
    open_ones = [field for field in fields if field.standing and field.verdict.git.verdict in _OPEN]
    if reflected and not open_ones:
        return _in_git(reflected, fields, unfreeze)
    if all(field.verdict.git.verdict == "already" for field in fields):
        return untaken("git", "not-needed", "git had the values already", *_commits(fields))
    if all(_taken_back(field) for field in fields):
        return untaken("git", "not-needed", "the same people took it back themselves")
    unknown = [field for field in fields if field.verdict.git.verdict == "unknown"]
    if unknown and not open_ones:
        return untaken("git", "not-recorded", unknown[0].verdict.git.reason or "git was not read")
    return untaken("git", "missing", _without_git(open_ones or fields), *_commits(reflected))


def _in_git(reflected: Sequence[Answer], fields: Sequence[Answer], unfreeze: Step) -> Step:
    last = _last_landed([field.verdict.git for field in reflected])
    at = last.landed_at
    late = unfreeze.at is not None and at is not None and at > unfreeze.at
    beside = [f.name for f in fields if f.verdict.git.verdict in ("not-declared", "not-in-git") and f.standing]
    detail = f"git does not declare {listed(beside)}" if beside else ""
    author = last.authored.author if last.authored else last.author
    return Step("git", "late" if late else "done", at, author, detail, tuple(_commits(reflected)))


def _last_landed(verdicts: Sequence[GitVerdict]) -> GitVerdict:
    landed = [(at, place) for place, verdict in enumerate(verdicts) if (at := verdict.landed_at) is not None]
    return verdicts[max(landed)[1]] if landed else verdicts[0]


def _commits(fields: Iterable[Answer]) -> Iterator[Evidence]:
    for sha in dict.fromkeys(field.verdict.git.commit for field in fields):
        if sha:
            yield Evidence("commit", sha, None)


def _taken_back(field: Answer) -> bool:
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


def _without_git(fields: Sequence[Answer]) -> str:
    named: dict[str, list[str]] = {}
    for field in fields:
        deleted = field.path is None and field.change.write.operation == "delete"
        words = "git still declares" if deleted else _MISSING_WORDS.get(field.verdict.git.verdict)
        if words:
            named.setdefault(words, []).append(field.name)
    return "; ".join(f"{words} {listed(names)}" for words, names in named.items())


def listed(names: Sequence[str]) -> str:
    """The first four of these names, each once, and how many more there are."""
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")
