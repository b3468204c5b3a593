"""Changes on a terminal: a line of who and what, then a line a field with both verdicts."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from auditor.console.answer import console, tally, text
from auditor.model.change import FieldChange
from auditor.model.coverage import AsOf
from auditor.model.resource import Leaf
from auditor.model.verdict import ClusterVerdict, GitVerdict
from auditor.objects.paths import text as path_text
from auditor.store import Recorded
from reports.case.past_git import part_of, parted
from reports.words.rich import plain, visible

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.padding import Padding
    from rich.text import Text

GIT_STYLES = {"reflected": "cyan", "already": "cyan", "not-reflected": "yellow", "not-in-git": "yellow"}
PAST_GIT = ("out-of-band", "bypass")
_INDENT = 10
_LONG = 100
"""Characters of a value that are shown."""


def show_changes(
    found: Iterable[Recorded], ends: AsOf, times: str, as_of: datetime | None = None, *, called: str = "change"
) -> None:
    """All of them, oldest first, under the day they were made on; for none, what `times` were asked for.

    `ends` is where the records end, `as_of` a moment before which the answer leaves them.
    """
    out, day, count, parts = console(), None, 0, Counter[int]()
    for recorded in found:
        if (today := recorded.write.at.date()) != day:
            out.print(text(f"{today.isoformat()}, times in UTC", "bold"))
            day = today
        for line in change_lines(recorded):
            out.print(line)
        out.print()
        count += 1
        parts[part_of(recorded.write)] += recorded.change is not None and recorded.write.cause in PAST_GIT
    out.print(text(closing(count, ends, times, as_of, called), "dim"))
    if apart := plain(parted(parts[0], parts[1], parts[2])):
        out.print(text(f"Past git: {apart}. The postmortem counts the first.", "dim"))


def closing(count: int, ends: AsOf, times: str, as_of: datetime | None = None, called: str = "change") -> str:
    """How many there were, and up to when the records reach; where there were none, also for which `times`."""
    if not count and not ends.audit:
        return "No audit log was read, so what was changed cannot be told. `auditor sources` says what is missing."
    end = f"The records end {ends.moment:%Y-%m-%d %H:%M:%S} UTC." if ends.moment and as_of is None else ""
    return f"{tally(count, called, f'{called}s', times)} {end}".rstrip()


def change_lines(recorded: Recorded, *, date: bool = False) -> "Iterator[RenderableType]":
    """One change: heading (with its date, where none stands above), fields, what is left to say."""
    from rich.table import Table
    from rich.text import Text

    write, verdict = recorded.write, recorded.verdict
    who = f"{write.actor.name or 'nobody named'}{f' as {write.actor.acting_as}' if write.actor.acting_as else ''}"
    at = text(f"{write.at:%Y-%m-%d %H:%M:%S}" if date else f"{write.at:%H:%M:%S}", "bold")
    cause = text(f"  {write.cause}" if write.cause != "out-of-band" else "", "magenta")
    said = Text.assemble(text(who, "bold"), "  ", text(write.channel), cause, "  ", text(write.id[:12], "dim"))
    heading = Table.grid(padding=(0, 2, 0, 0))
    heading.add_column(no_wrap=True)
    heading.add_row(at, said)
    yield heading
    yield _indented(text(_what(recorded)))
    if write.outcome == "refused":
        yield _indented(text(f"refused with {write.code}: {write.reason}", "yellow"))
    for place, field in enumerate(write.fields if write.operation == "update" else ()):
        yield _indented(text(field_words(field)))
        if verdict and place < len(verdict.fields):
            yield _indented(verdict_line(verdict.fields[place].git, verdict.fields[place].cluster), _INDENT + 2)
    if verdict and not (write.operation == "update" and verdict.fields):
        yield _indented(verdict_line(verdict.git, verdict.cluster), _INDENT + 2)
    for line in _remarks(recorded):
        yield _indented(text(line, "dim"))


def field_words(field: FieldChange) -> str:
    """`spec.replicas: 2 → 5`."""
    return f"{path_text(field.path)}: {value_words(field.before)} → {value_words(field.after)}"


def value_words(leaf: Leaf) -> str:
    """A value as the record has it, cut where it is long."""
    if leaf.state != "value":
        return leaf.state
    import msgspec

    shown = leaf.value if isinstance(leaf.value, str) and leaf.value else msgspec.json.encode(leaf.value).decode()
    shown = visible(str(shown))
    return shown if len(shown) <= _LONG else shown[: _LONG - 1] + "…"


def verdict_line(git: GitVerdict, cluster: ClusterVerdict) -> "Text":
    """Both answers on a line; round stands for git, square for the cluster, as in the reports."""
    from rich.text import Text

    where = f" {commit_words(git)}" if git.commit else f" on {git.branch}" if git.branch else ""
    by = f" by {cluster.by}" if cluster.by else ""
    told = text(f"● git: {git.verdict}{where}", GIT_STYLES.get(git.verdict, ""))
    return Text.assemble(told, "   ", text(f"■ cluster: {cluster.verdict}{by}"))


def commit_words(git: GitVerdict) -> str:
    """`b648bbc3f by Dave Park, pull request 41`; the author's mail stands in `git_explained`."""
    author = f" by {git.author.partition(' <')[0]}" if git.author else ""
    request = f", pull request {git.pull_request}" if git.pull_request else ""
    return f"{(git.commit or '')[:9]}{author}{request}"


def git_explained(recorded: Recorded) -> Iterator[str]:
    """Each commit that verdicts of a change name, whole: who wrote it, and when it landed."""
    verdict = recorded.verdict
    told = [verdict.git, *(field.git for field in verdict.fields)] if verdict else []
    for git in {git.commit: git for git in told if git.commit}.values():
        request = f", pull request {git.pull_request}" if git.pull_request else ""
        at = f", on the branch since {git.at:%Y-%m-%d %H:%M:%S} UTC" if git.at else ""
        written = f", written as {git.authored.commit}" if git.authored and git.authored.commit != git.commit else ""
        yield f"git: commit {git.commit} by {git.author or 'nobody named'}{request}{at}{written}"


def explanation(recorded: Recorded) -> "Iterator[Padding]":
    """How each part of a change is known, and where its records lie."""
    write, change = recorded.write, recorded.change
    said = [f"who: {write.actor.known_by or 'as recorded'}{f' (rule {write.actor.rule})' if write.actor.rule else ''}"]
    if write.actor.account:
        said.append(f"account: {write.actor.account}")
    said.append(f"by what: user agent {write.user_agent or '(none)'}, field manager {write.field_manager or '(none)'}")
    if change and change.application:
        said.append(f"whose object: {change.application}, by {change.owner_known_by}")
    said += git_explained(recorded)
    said += [f"not the actor's: {path_text(one.path)}, {one.by}" for one in write.side_effects]
    for one in write.evidence:
        place = f"{one.origin.source} at byte {one.origin.offset}, {one.origin.length} bytes" if one.origin else ""
        said.append(f"evidence: {one.kind} {one.ref} {place}".rstrip())
    for line in said:
        yield _indented(text(line))


def _indented(line: "Text", left: int = _INDENT) -> "Padding":
    """A line whose continuation, where the terminal is too narrow for it, stands below its own beginning."""
    from rich.padding import Padding

    return Padding(line, (0, 0, 0, left), expand=False)


def _what(recorded: Recorded) -> str:
    write, change = recorded.write, recorded.change
    done = {"create": "created ", "delete": "deleted ", "update": ""}[write.operation]
    owner = (
        "" if change is None else f", application {change.application}" if change.application else ", no application"
    )
    sub = f"/{write.subresource}" if write.subresource else ""
    return f"{done}{write.object}{sub} ({write.object.cluster}{owner})"


def _remarks(recorded: Recorded) -> Iterator[str]:
    write, verdict = recorded.write, recorded.verdict
    if write.persisted == "unproven" and recorded.change:
        yield "unproven: the records cannot show that it was stored"
    if not write.fields_known and write.operation == "update" and recorded.change:
        yield "which fields is not recorded: the audit level keeps no bodies"
    yield from write.notes
    if verdict and verdict.next:
        yield verdict.next
