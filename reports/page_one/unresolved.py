"""What is unresolved, most urgent first, folded to at most eight rows whatever its number."""

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.model.application import Freeze
from auditor.model.change import AppKey
from reports.case.course import freezes, still_frozen
from reports.case.describe import RESTART, is_restart, short_object, told, what_briefly
from reports.case.dossier import Dossier, Numbered, has_audit, marks, with_state
from reports.contract.page_one import OpenGroup, OpenRow
from reports.sections.actions import action_links
from reports.words.rich import Text, soft, strong, words
from reports.words.wording import count, cut, duration, grouped, listed, middle_cut, width

ROWS = 8
LINE = 73.0
"""One line of the list, in the units of `wording.width`."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Changes that are unresolved for one reason."""

    title: str
    note: str
    hot: bool
    changes: tuple[Numbered, ...]


def unresolved(dossier: Dossier) -> tuple[OpenGroup, ...]:
    """The groups of page one's list. The last row always says what is frozen."""
    fixed = [*_half_applied(dossier), _frozen(dossier)]
    reasons = _reasons(dossier)
    room = ROWS - sum(len(group.rows) for group in fixed)
    groups = _folded(dossier, reasons, room)
    frozen_now = bool(still_frozen(dossier))
    return tuple([fixed[-1], *groups, *fixed[:-1]] if frozen_now and not _hot(groups) else [*groups, *fixed])


def unresolved_caption(dossier: Dossier) -> Text:
    """The heading of the list, and what it leaves out."""
    head = words(strong("Unresolved "), soft("most urgent first"))
    restarts = tuple(one for one in with_state(dossier, "stand") if is_restart(one))
    if not restarts:
        return head
    return words(head, soft("; without "), marks(restarts, 4), soft(f": {RESTART}"))


def _hot(groups: Sequence[OpenGroup]) -> bool:
    return any(group.hot for group in groups)


def _reasons(dossier: Dossier) -> list[Reason]:
    found = _next_sync(dossier)
    standing = [one for one in with_state(dossier, "stand") if not is_restart(one)]
    by_kind: dict[str, list[Numbered]] = {}
    for one in standing:
        by_kind.setdefault(_kind(one), []).append(one)
    titles = {
        "override": "Set past the branch",
        "stands": "Stands without git",
        "invisible": "Argo CD cannot see it",
        "unowned": "No application owns it",
    }
    found += [Reason(title, "", False, tuple(by_kind[kind])) for kind, title in titles.items() if kind in by_kind]
    untraced, unknown = with_state(dossier, "untraced"), with_state(dossier, "unknown")
    undone = tuple(one for one in dossier.settings if one.state == "act")
    if undone:
        found.append(Reason("Own objects, undone", "", True, undone))
    if untraced:
        found.append(Reason("Not traced further", "", False, untraced))
    if unknown:
        found.append(Reason("Git cannot be told", "", False, unknown))
    return found


def _kind(one: Numbered) -> str:
    if one.change.application is None:
        return "unowned"
    if one.write.cause == "bypass":
        return "override"
    return "invisible" if one.verdict.prospect == "invisible" else "stands"


def _next_sync(dossier: Dossier) -> list[Reason]:
    by_application: dict[AppKey | None, list[Numbered]] = {}
    for one in with_state(dossier, "act"):
        by_application.setdefault(one.change.application, []).append(one)
    if len(by_application) > 2:
        together = tuple(one for changes in by_application.values() for one in changes)
        note = count(len(by_application), "application")
        return [Reason("Next sync undoes it", note, True, tuple(sorted(together, key=lambda one: one.number)))]
    return [
        Reason("Next sync undoes it", _how(dossier, application, changes), True, tuple(changes))
        for application, changes in by_application.items()
    ]


def _how(dossier: Dossier, application: AppKey | None, changes: list[Numbered]) -> str:
    prospects = {one.verdict.prospect for one in changes}
    name = middle_cut(dossier.called(application), 24) if application is not None else ""
    if prospects == {"undone-at-manual-sync"}:
        return f"{name}, synced by hand"
    if prospects == {"undone-at-next-revision"}:
        return f"{name}, at any new commit"
    return name


def _folded(dossier: Dossier, reasons: list[Reason], room: int) -> list[OpenGroup]:
    """One row a reason at least; what room is left goes to the most urgent, a row a change."""
    shown = reasons if len(reasons) <= room else reasons[: max(room - 1, 0)]
    spare = room - len(shown) - (len(shown) < len(reasons))
    groups: list[OpenGroup] = []
    for reason in shown:
        rows = min(len(reason.changes), 1 + spare, 3)
        spare -= rows - 1
        groups.append(_group(dossier, reason, rows))
    left = reasons[len(shown) :]
    if left:
        rest = tuple(one for reason in left for one in reason.changes)
        row = OpenRow(words(marks(rest, 8)), rest[0].href, f"change {rest[0].label}")
        groups.append(OpenGroup(f"And {grouped(len(rest))} more", "", False, (row,)))
    return groups


def _group(dossier: Dossier, reason: Reason, rows: int) -> OpenGroup:
    single = reason.changes[: rows - 1] if len(reason.changes) > rows else reason.changes
    found = [_row(dossier, one) for one in single]
    rest = reason.changes[len(single) :]
    if rest:
        found.append(_folded_row(dossier, rest))
    return OpenGroup(reason.title, reason.note, reason.hot, tuple(found))


def _row(dossier: Dossier, one: Numbered) -> OpenRow:
    said = words(one.mark, " ", told(dossier, one), _tail(one))
    return OpenRow(said, one.href, f"change {one.label}", action_links(dossier).get(one.label, ""))


def _tail(one: Numbered) -> str:
    git = one.verdict.git
    if git.verdict == "on-branch":
        return "; on a branch"
    return "; in no commit" if one.state == "act" and git.verdict == "not-reflected" and not git.commit else ""


def _folded_row(dossier: Dossier, changes: tuple[Numbered, ...]) -> OpenRow:
    """Marks, and the objects that they are about."""
    objects = list(
        dict.fromkeys(f"{short_object(one.write.object, dossier.clusters)} {what_briefly(one)}" for one in changes)
    )
    most = 8 if len(changes) <= 8 else 4
    room = LINE - (2.6 + 1.1 * len(str(changes[-1].number))) * min(len(changes), most) - (12 if len(changes) > 8 else 0)
    said = words(marks(changes, most), " ", _as_many(objects, max(room, 20)))
    action = action_links(dossier).get(changes[0].label, "")
    return OpenRow(said, changes[0].href, f"change {changes[0].label}", action)


def _as_many(objects: list[str], room: float) -> str:
    """As many whole names as there is room for; where not even one fits it is cut, and the number of the others not."""
    for limit in (2, 1):
        if width(said := listed(objects, limit)) <= room:
            return said
    more = said.removeprefix(objects[0])
    return cut(objects[0], room - width(more)) + more


def _half_applied(dossier: Dossier) -> list[OpenGroup]:
    found = [finding for finding in dossier.case.findings if finding.ident == "unfinished-sync"]
    if not found:
        return []
    first = found[0]
    message, owner = first.message, first.application.name if first.application is not None else ""
    name = middle_cut(dossier.called(first.application), 24) if first.application is not None else ""
    said = name + message.removeprefix(owner) if message.startswith(owner) else f"{name}: {message}"
    more = f" and {count(len(found) - 1, 'more')}" if len(found) > 1 else ""
    text = words(cut(said, LINE - len(more)), more)
    action = action_links(dossier)["unfinished-sync"]
    return [OpenGroup("Half applied", "", False, (OpenRow(text, "#findings", "Findings", action),))]


def _frozen(dossier: Dossier) -> OpenGroup:
    open_now = still_frozen(dossier)
    target = "#checklist" if dossier.case.episodes else "#timeline"
    if open_now:
        said = [
            f"{middle_cut(dossier.called(freeze.app), 30)} since {dossier.clock.utc(freeze.began_at)}"
            for freeze in open_now
        ]
        action = action_links(dossier)["frozen"]
        return OpenGroup("Still frozen", "", False, (OpenRow(words(_fit(said)), target, "Checklist", action),))
    if not dossier.case.applications:
        said_none = words("not known: no record of Argo CD was read")
        return OpenGroup("Still frozen", "", False, (OpenRow(said_none, "#cannot", "Limits"),))
    if not has_audit(dossier):
        return OpenGroup("Still frozen", "", False, (OpenRow(words(_by_hand(dossier)), "#cannot", "Limits"),))
    ended = [freeze for freeze in freezes(dossier) if freeze.ended_at is not None]
    past = [f"{middle_cut(dossier.called(freeze.app), 30)} was for {_length(freeze)}" for freeze in ended]
    text = f"nothing; {_fit(past)}" if past else "nothing"
    return OpenGroup("Still frozen", "", False, (OpenRow(words(text), target, "Checklist"),))


def _by_hand(dossier: Dossier) -> str:
    """Without an audit log nobody knows since when an application is not synced by itself, or whether it ever was."""
    last = [history.states[-1] for history in dossier.case.applications.values() if history.states]
    manual = sum(state.waits_for_a_hand or state.skip_reconcile for state in last)
    verb = "syncs" if manual == 1 else "sync"
    return f"not recorded; {grouped(manual)} of {count(len(last), 'application')} {verb} by hand alone"


def _length(freeze: Freeze) -> str:
    ended = freeze.ended_at or freeze.began_at
    return duration((ended - freeze.began_at).total_seconds())


def _fit(parts: list[str]) -> str:
    shown = [part for place, part in enumerate(parts) if sum(len(one) + 2 for one in parts[: place + 1]) < LINE - 14]
    return listed(parts, max(len(shown), 1))
