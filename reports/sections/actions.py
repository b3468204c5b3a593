"""What is left to do, each with the changes it is about and, where one is known, a block to paste."""

from auditor.model.finding import Finding
from reports.case.course import still_frozen
from reports.case.describe import is_restart, short_object, what_is_left
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
        return Section("actions", "Action items", (Paragraph(words("Nothing that the records show to be open.")),))
    rest = len(items) - MOST
    more = (Paragraph(words(f"And {count(rest, 'more item')}: auditor findings.")),) if rest > 0 else ()
    return Section("actions", "Action items", (Items(tuple(items[:MOST])), *more))


def _before_sync(dossier: Dossier) -> list[Item]:
    groups: dict[str, list[Numbered]] = {}
    for one in with_state(dossier, "act"):
        name = one.change.application.name if one.change.application is not None else "its application"
        groups.setdefault(name, []).append(one)
    found = []
    for name, changes in groups.items():
        first = words(sign("", "act"), act(f"Before the next sync of {middle_cut(name, 60)}:"))
        said: Text = ()
        for one in changes[:4]:
            said = words(said, "; " if said else " ", one.mark, " ", _choice(one))
        rest = tuple(changes[4:])
        found.append(Item(words(first, said, "; " if rest else "", marks(rest, 8), ".")))
    return found


def _choice(one: Numbered) -> Text:
    git = one.verdict.git
    if git.verdict == "on-branch" and git.branch:
        return words(f"merge {middle_cut(git.branch, 50)}, or take what the tracked branch has")
    return words("commit ", what_is_left(one), ", or take it back")


def _frozen(dossier: Dossier) -> list[Item]:
    names = [middle_cut(freeze.app.name, 40) for freeze in still_frozen(dossier)]
    if not names:
        return []
    return [
        Item(
            words(
                f"Switch auto-sync on again, or say until when it stays off: {listed(list(dict.fromkeys(names)), 6)}."
            )
        )
    ]


def _standing(dossier: Dossier) -> list[Item]:
    """Changes that stand: one item an application, one for what nobody owns, one for overrides. A restart asks for
    nothing."""
    groups: dict[tuple[str, str], list[Numbered]] = {}
    for one in with_state(dossier, "stand"):
        if is_restart(one):
            continue
        if one.change.application is None:
            groups.setdefault(("unowned", ""), []).append(one)
        elif one.write.cause == "bypass":
            groups.setdefault(("bypass", one.change.application.name), []).append(one)
        else:
            groups.setdefault(("git", one.change.application.name), []).append(one)
    return [_standing_item(dossier, kind, name, tuple(changes)) for (kind, name), changes in groups.items()]


def _standing_item(dossier: Dossier, kind: str, name: str, changes: tuple[Numbered, ...]) -> Item:
    objects = listed(list(dict.fromkeys(short_object(one.write.object, dossier.clusters) for one in changes)), 3)
    endings = {
        "unowned": f"Give {objects} an application, or accept with a reason and an expiry.",
        "bypass": f"Put what was set past the branch of {middle_cut(name, 50)} into git, or take it out: {objects}.",
        "git": f"Put what stands in {middle_cut(name, 50)} into git, or take it out: {objects}.",
    }
    return Item(words(marks(changes, 8), " ", endings[kind]))


def _from_findings(dossier: Dossier) -> list[Item]:
    """The remedies of findings, each once."""
    seen: set[tuple[str, str]] = set()
    found = []
    for one in ordered(dossier.case.findings):
        key = (one.remedy, str(one.application))
        if not one.remedy or one.severity == "info" or key in seen:
            continue
        seen.add(key)
        found.append(Item(words(_about(one), cut(one.remedy, 300)), "" if one.ident == "sync-loop" else one.snippet))
    return found


def _about(one: Finding) -> str:
    return f"{middle_cut(one.application.name, 50)}, {one.ident}: " if one.application is not None else f"{one.ident}: "
