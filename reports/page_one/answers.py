"""The three answers, counted: what changed, who changed it, does git reflect it now. The counts add up."""

from collections import Counter

from reports.case.describe import person, whole
from reports.case.dossier import Dossier, Numbered, State, has_audit, marks, with_state
from reports.case.reach import beyond
from reports.contract.page_one import Answer, Question
from reports.sections.applications import applications_line
from reports.words.rich import Text, act, strong, text, words
from reports.words.wording import count, cut, grouped, middle_cut, width

WHO_BUDGET = 150.0
"""Two lines, in the units of `wording.width`."""


def questions(dossier: Dossier) -> tuple[Question, ...]:
    """The answers table of page one."""
    return (
        Question("What changed?", _what(dossier)),
        Question("Who changed it?", _who(dossier)),
        Question("Does git reflect it now?", _git(dossier)),
    )


def lead(dossier: Dossier) -> Text:
    """The answer in few sentences, one for each state that its changes are in."""
    total = len(dossier.counted)
    if not total:
        return _nothing(dossier)
    in_git, undone = with_state(dossier, "git"), with_state(dossier, "act")
    unknown = with_state(dossier, "unknown")
    if len(unknown) == total:
        cannot = strong(f"whether git has {'it' if total == 1 else 'them'} cannot be told")
        return words(f"{count(total, 'change')} went past git; ", cannot, ".", _beside(dossier))
    standing = with_state(dossier, "act", "stand")
    back, untraced = with_state(dossier, "back"), with_state(dossier, "untraced")
    parts: list[Text] = [
        words(
            f"{count(total, 'change')} went past git; ", strong(f"{grouped(len(in_git))} {_be(in_git)} in git now"), "."
        )
    ]
    if standing:
        undo = words(", of which ", act(f"the next sync {_of(undone)}undoes {grouped(len(undone))}")) if undone else ()
        parts.append(words(f" {grouped(len(standing))} {_verb(standing, 'stand')} without it", undo, "."))
    if back:
        parts.append(words(f" {grouped(len(back))} {_was(back)} put back or overwritten."))
    if untraced:
        parts.append(words(f" What became of {grouped(len(untraced))} is not recorded."))
    if unknown:
        parts.append(words(f" For {grouped(len(unknown))} git cannot be told."))
    return words(*parts, _beside(dossier))


def _beside(dossier: Dossier) -> str:
    """What no reader may miss where records without bodies prove less than half of what was asked for."""
    unproven = len(dossier.unproven)
    if unproven < len(dossier.counted):
        return ""
    return f" {count(unproven, 'more write')} may have changed something, which no record shows."


def _nothing(dossier: Dossier) -> Text:
    if not has_audit(dossier):
        cannot = words("No audit log was read, so ", strong("what was changed past git cannot be told"), ".")
        return words(cannot, applications_line(dossier))
    outside = beyond(dossier)
    if outside:
        return outside
    if dossier.unproven:
        writes = count(len(dossier.unproven), "write")
        return words(f"No change past git is proven. {writes} may have changed something and cannot be shown to.")
    return words(strong("No change past git is in the records"), " of this window.")


def _what(dossier: Dossier) -> tuple[Answer, ...]:
    full = [one for one in dossier.counted if _known(one) == "full"]
    part = tuple(one for one in dossier.counted if _known(one) == "part")
    fact = tuple(one for one in dossier.counted if _known(one) == "fact")
    found = [Answer(grouped(len(full)), words("known in full", _by_what(full)))]
    if part:
        found.append(
            Answer(grouped(len(part)), words("known in part: a value before or after is missing"), _some(part))
        )
    if fact or not part:
        kinds = ", ".join(sorted({cut(one.write.object.kind, 20) for one in fact})[:2])
        reason = f"known as a fact: {kinds}, contents not recorded" if fact else "known as a fact only"
        found.append(Answer(grouped(len(fact)), words(reason), _some(fact)))
    return tuple(found)


def _by_what(full: list[Numbered]) -> str:
    """`: 17 fields in 16 changes, before and after; 2 whole objects`: the changes add up."""
    objects = sum(whole(one.change) for one in full)
    fields = sum(len(one.write.fields) for one in full if not whole(one.change))
    within = f" in {count(len(full) - objects, 'change')}" if objects or fields != len(full) else ""
    named = [f"{count(fields, 'field')}{within}, before and after"] if fields else []
    named += [count(objects, "whole object")] if objects else []
    return ": " + "; ".join(named) if named else ""


def _known(one: Numbered) -> str:
    if whole(one.change):
        return "full" if one.write.fields_known else "fact"
    if not one.write.fields:
        return "fact"
    return "full" if all(field.before.known and field.after.known for field in one.write.fields) else "part"


def _who(dossier: Dossier) -> tuple[Answer, ...]:
    groups: dict[str, list[Numbered]] = {"named": [], "shared": [], "untold": []}
    for one in dossier.counted:
        actor = one.write.actor
        group = "untold" if not actor.name else "shared" if actor.kind == "shared-credential" else "named"
        groups[group].append(one)
    found = [Answer(grouped(len(groups["named"])), words(_names(groups["named"]) or "by a credential of its own"))]
    if groups["shared"]:
        by = f"by a credential that several people may hold: {_names(groups['shared'])}"
        found.append(Answer(grouped(len(groups["shared"])), words(cut(by, WHO_BUDGET))))
    untold = tuple(groups["untold"])
    found.append(Answer(grouped(len(untold)), words("cannot be told"), _some(untold)))
    return tuple(found)


def _names(changes: list[Numbered]) -> str:
    """`alice 7, dave 6`, most first, as many as two lines hold."""
    counts = Counter(person(one.write.actor) for one in changes)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown: list[str] = []
    for name, number in ordered:
        entry = f"{middle_cut(name, 44)} {grouped(number)}"
        if sum(width(one) + 2 for one in shown) + width(entry) > WHO_BUDGET - 20:
            break
        shown.append(entry)
    rest = len(ordered) - len(shown)
    return ", ".join(shown) + (f" and {count(rest, 'other')}" if rest else "")


def _git(dossier: Dossier) -> tuple[Answer, ...]:
    in_git = with_state(dossier, "git")
    absent = with_state(dossier, "act", "stand", "back", "untraced")
    unknown = with_state(dossier, "unknown")
    rows = [
        Answer(grouped(len(in_git)), words(strong("in git"), _since(in_git)), _some(in_git)),
        Answer(grouped(len(absent)), words(strong("not in git"), ", of which" if absent else "")),
        *_fates(dossier),
        Answer(grouped(len(unknown)), words("cannot be told", _why(unknown)), _some(unknown)),
    ]
    return tuple(rows)


def _fates(dossier: Dossier) -> list[Answer]:
    fates: tuple[tuple[State, Text, int], ...] = (
        ("act", words(act("the next sync undoes")), 12),
        ("stand", words(_touch(with_state(dossier, "stand"))), 12),
        ("back", words("were put back or overwritten"), 8),
        ("untraced", words("what became of them is not recorded"), 5),
    )
    found = [(with_state(dossier, state), label, limit) for state, label, limit in fates]
    return [
        Answer(grouped(len(changes)), label, _some(changes, limit), inner=True)
        for changes, label, limit in found
        if changes
    ]


def _some(changes: tuple[Numbered, ...], limit: int = 12) -> Text:
    """All marks where they are few, else five and the number of the rest: one line or two."""
    return marks(changes, limit if len(changes) <= limit else 5)


def _touch(standing: tuple[Numbered, ...]) -> str:
    unsure = any(one.verdict.prospect == "unknown" for one in standing)
    return "stand; what a sync does is not known for all" if unsure else "stand, and no sync touches"


def _since(changes: tuple[Numbered, ...]) -> str:
    """`: 2 since #41, 1 was there already`."""
    already = sum(one.verdict.git.verdict == "already" for one in changes)
    pulls = sorted({_pull(one) for one in changes if one.verdict.git.verdict == "reflected"} - {0})
    since = len(changes) - already
    parts = []
    if since:
        room = 2 if already else 3
        requests = ", ".join(f"#{pull}" for pull in pulls[:room]) + (" …" if len(pulls) > room else "")
        parts.append(f"{grouped(since)} since" + (f" {requests}" if requests else " the change"))
    if already:
        parts.append(f"{grouped(already)} {'was' if already == 1 else 'were'} there already")
    return ": " + ", ".join(parts) if parts else ""


def _pull(one: Numbered) -> int:
    return one.verdict.git.pull_request or next(
        (field.git.pull_request for field in one.verdict.fields if field.git.pull_request), 0
    )


def _why(changes: tuple[Numbered, ...]) -> Text:
    reasons = Counter(one.verdict.git.reason for one in changes if one.verdict.git.reason)
    if not reasons:
        return ()
    reason, _ = max(reasons.items(), key=lambda item: (item[1], item[0]))
    return words(": ", text(cut(reason, 44)), " and other reasons" if len(reasons) > 1 else "")


def _be(changes: tuple[Numbered, ...]) -> str:
    return "is" if len(changes) == 1 else "are"


def _was(changes: tuple[Numbered, ...]) -> str:
    return "was" if len(changes) == 1 else "were"


def _verb(changes: tuple[Numbered, ...], verb: str) -> str:
    return verb + "s" if len(changes) == 1 else verb


def _of(changes: tuple[Numbered, ...]) -> str:
    applications = {one.change.application for one in changes}
    only = next(iter(applications)) if len(applications) == 1 else None
    return f"of {middle_cut(only.name, 40)} " if only is not None else ""
