"""What is left to do, each with the changes it is about and, where one is known, a block to paste."""

from collections.abc import Mapping

from auditor.model.finding import Finding
from reports.case.course import still_frozen
from reports.case.describe import RESTART, is_restart, short_object, what_is_left
from reports.case.dossier import Dossier, Numbered, marks, with_state
from reports.contract.document import Item, Items, Paragraph, Section
from reports.sections.findings import ordered
from reports.words.rich import Text, act, sign, words
from reports.words.wording import count, cut, listed, middle_cut

MOST = 20


def actions_section(dossier: Dossier) -> Section:
    """Most urgent first. A decision is the reader's: each item says both ways out."""
    items = [*_before_sync(dossier), *_frozen(dossier), *_standing(dossier), *_from_findings(dossier)]
    if not items:
        none = Paragraph(words("Nothing that the records show to be open."))
        return Section("actions", "Action items", (none, *_restarts(dossier)))
    rest = len(items) - MOST
    more = (Paragraph(words(f"And {count(rest, 'more item')}: auditor findings.")),) if rest > 0 else ()
    return Section("actions", "Action items", (Items(tuple(items[:MOST])), *more, *_restarts(dossier)))


def _restarts(dossier: Dossier) -> tuple[Paragraph, ...]:
    """What stands and asks for nothing."""
    found = tuple(one for one in with_state(dossier, "stand") if is_restart(one))
    return (Paragraph(words("Nothing is asked for ", marks(found, 8), f": {RESTART}.")),) if found else ()


def action_links(dossier: Dossier) -> Mapping[str, str]:
    """`#anchor` of the action item about each change, by its label; `frozen` and `unfinished-sync` have one too."""
    links = {"frozen": "#do-frozen", "unfinished-sync": "#do-unfinished-sync"}
    for changes in [*_undone(dossier).values(), *_left(dossier).values()]:
        links |= dict.fromkeys([one.label for one in changes], f"#{_anchor(changes)}")
    return links


def _anchor(changes: list[Numbered]) -> str:
    return f"do-{changes[0].label}"


def _undone(dossier: Dossier) -> dict[str, list[Numbered]]:
    """What the next sync undoes, by application."""
    groups: dict[str, list[Numbered]] = {}
    for one in with_state(dossier, "act"):
        name = dossier.called(one.change.application) if one.change.application is not None else "its application"
        groups.setdefault(name, []).append(one)
    return groups


def _before_sync(dossier: Dossier) -> list[Item]:
    found = []
    for name, changes in _undone(dossier).items():
        first = words(sign("", "act"), act(f"Before the next sync of {middle_cut(name, 60)}:"))
        said: Text = ()
        for one in changes[:4]:
            said = words(said, "; " if said else " ", one.mark, " ", _choice(one))
        rest = tuple(changes[4:])
        found.append(Item(words(first, said, "; " if rest else "", marks(rest, 8), "."), anchor=_anchor(changes)))
    return found


def _choice(one: Numbered) -> Text:
    git = one.verdict.git
    if git.verdict == "on-branch" and git.branch:
        return words(f"merge {middle_cut(git.branch, 50)}, or take what the tracked branch has")
    return words("commit ", what_is_left(one), ", or take it back")


def _frozen(dossier: Dossier) -> list[Item]:
    names = [middle_cut(dossier.called(freeze.app), 40) for freeze in still_frozen(dossier)]
    if not names:
        return []
    return [
        Item(
            words(
                f"Switch auto-sync on again, or say until when it stays off: {listed(list(dict.fromkeys(names)), 6)}."
            ),
            anchor="do-frozen",
        )
    ]


def _standing(dossier: Dossier) -> list[Item]:
    """Changes that stand: one item an application, one for what nobody owns, one for overrides."""
    return [_standing_item(dossier, kind, name, changes) for (kind, name), changes in _left(dossier).items()]


def _left(dossier: Dossier) -> dict[tuple[str, str], list[Numbered]]:
    """What stands, by how it gets into git and for which application. A restart asks for nothing."""
    groups: dict[tuple[str, str], list[Numbered]] = {}
    for one in with_state(dossier, "stand"):
        if is_restart(one):
            continue
        if one.change.application is None:
            groups.setdefault(("unowned", ""), []).append(one)
        elif one.write.cause == "bypass":
            groups.setdefault(("bypass", dossier.called(one.change.application)), []).append(one)
        else:
            groups.setdefault(("git", dossier.called(one.change.application)), []).append(one)
    return groups


def _standing_item(dossier: Dossier, kind: str, name: str, changes: list[Numbered]) -> Item:
    objects = listed(list(dict.fromkeys(short_object(one.write.object, dossier.clusters) for one in changes)), 3)
    endings = {
        "unowned": f"Of no application: {objects}. Give them to one, or accept with a reason and an expiry.",
        "bypass": f"Put what was set past the branch of {middle_cut(name, 50)} into git, or take it out: {objects}.",
        "git": f"Put what stands in {middle_cut(name, 50)} into git, or take it out: {objects}.",
    }
    return Item(words(marks(tuple(changes), 8), " ", endings[kind]), anchor=_anchor(changes))


def _from_findings(dossier: Dossier) -> list[Item]:
    """The remedies of findings, each once."""
    seen: set[tuple[str, str]] = set()
    found: list[Item] = []
    for one in ordered(dossier.case.findings):
        key = (one.remedy, str(one.application))
        if not one.remedy or one.severity == "info" or key in seen:
            continue
        seen.add(key)
        anchor = f"do-{one.ident}"
        told = words(_about(dossier, one), cut(one.remedy, 300))
        first = all(item.anchor != anchor for item in found)
        found.append(Item(told, "" if one.ident == "sync-loop" else one.snippet, anchor if first else ""))
    return found


def _about(dossier: Dossier, one: Finding) -> str:
    where = f"{middle_cut(dossier.called(one.application), 50)}, " if one.application is not None else ""
    return f"{where}{one.ident}: "
