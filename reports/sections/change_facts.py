"""What is said of a change: who, git, what became of it in the cluster, what happens next."""

import re

from auditor.model.verdict import ClusterVerdict, GitVerdict
from reports.case.describe import SERVICE_ACCOUNT
from reports.case.dossier import Dossier, Numbered, sides
from reports.case.repeats import Repeat
from reports.words.rich import Text, act, code, joined, sign, soft, words
from reports.words.wording import count, cut, field_name, grouped, middle_cut

_PLAIN_WORD = re.compile(r"[a-z]+ ")
"""How a sentence may begin that a rule wrote as a clause; no name of a file or of a field does."""


def change_facts(dossier: Dossier, repeat: Repeat, hidden: int) -> tuple[tuple[str, Text], ...]:
    """What is said of a change below its fields; `hidden` fields are not among those."""
    one = repeat.first
    rows: list[tuple[str, Text]] = []
    if hidden > 0:
        rows.append(
            ("More", words(f"{count(hidden, 'further field')} of this change: ", code(f"auditor show {one.change.id}")))
        )
    if not one.write.fields_known:
        rows.append(("What", words(_unknown_what(one))))
    elif one.write.known_by == "ownership":
        rows.append(("What", words("Known by field ownership: the write’s own event is not in the records.")))
    rows.append(("Who", who(one)))
    rows += _git_facts(dossier, one)
    rows += _cluster_facts(dossier, one)
    if one.write.notes or one.write.side_effects:
        rows.append(("Beside", words(_beside(one))))
    rows.append(("Next", _next(one)))
    return tuple(rows)


def _unknown_what(one: Numbered) -> str:
    done = {"create": "created", "delete": "deleted", "update": "changed"}[one.write.operation]
    return f"The object was {done}. Which fields, and to what, is not recorded: the record holds no body."


def who(one: Numbered) -> Text:
    """The credential, its channel, and how we know: no more than the record names."""
    actor, write = one.write.actor, one.write
    name = middle_cut(actor.name, 120)
    in_argocd = write.channel == "Argo CD UI or CLI"
    through = "through Argo CD’s UI or CLI" if in_argocd else f"with {cut(write.channel, 40)}"
    acting = f", acting as {middle_cut(actor.acting_as, 80)}" if actor.acting_as else ""
    past = ", by a sync that is not from the tracked branch" if write.cause == "bypass" else ""
    if not name:
        return words(f"No record names who. The write came {through}{past}.")
    kinds = {
        "person": f"The credential {name}, a person’s",
        "shared-credential": f"The credential {name}, which several people may hold",
        "ci": f"The credential {name}, a pipeline’s",
        "unknown": f"The credential {name}; whose it is, is not known",
    }
    said = kinds.get(actor.kind, f"The credential {name}")
    if actor.account and in_argocd:
        said = f"{name}, an account of Argo CD"
    return words(f"{said}, {through}{acting}{past}. ", soft(_known(one)))


def _known(one: Numbered) -> str:
    actor = one.write.actor
    how = cut(actor.known_by or "the authenticated user", 160)
    if actor.account:
        return f"The API server saw only {middle_cut(actor.account, 80)}; the name is known by: {how}."
    return f"Known by: {how}."


def _git_facts(dossier: Dossier, one: Numbered) -> list[tuple[str, Text]]:
    """One row for each distinct thing that git says, with the fields that it is about."""
    groups: dict[GitVerdict, list[str]] = {}
    names = [field_name(field.path) for field in one.write.fields] or [""]
    for place, (git, _) in enumerate(sides(one.verdict)):
        groups.setdefault(git, []).append(names[place] if place < len(names) else "")
    rows = []
    for git, fields in list(groups.items())[:4]:
        about = f"{', '.join(cut(name, 30) for name in fields[:3])}: " if len(groups) > 1 else ""
        rows.append(("Git", words(about, git_words(dossier, git))))
    return rows


def git_words(dossier: Dossier, git: GitVerdict) -> Text:
    """What git says, with commit, author and time as the commit has them."""
    parts: list[Text] = []
    if git.commit:
        pull = f", pull request #{git.pull_request}" if git.pull_request else ""
        at = (", ", dossier.clock.time(git.at)) if git.at is not None else ("",)
        verb = {"on-branch": "Has it on a branch: ", "superseded": "Set to another value by "}.get(git.verdict, "")
        parts.append(
            words(verb, dossier.cited.commit(git.commit), pull, *at, _branch(git), _authored(dossier, git), ".")
        )
        parts.append(words(soft(_landing(dossier, git))))
    if git.verdict == "unknown" or git.reason:
        parts.append(words(_sentence(git.reason or "No reason is recorded")))
    if git.says and git.verdict not in ("reflected", "already"):
        parts.append(words(soft(f"Git has {cut(git.says, 120)}.")))
    if git.confidence == "low":
        parts.append(words(soft("With lower confidence: nothing could render this revision.")))
    return joined([part for part in parts if part], " ") or words(_default_git(git))


def _default_git(git: GitVerdict) -> str:
    return {
        "not-in-git": "No manifest declares the object.",
        "not-declared": "Git declares the object and not this field.",
        "not-reflected": "The tracked branch has another value, as before the change.",
    }.get(git.verdict, "Nothing further.")


def _branch(git: GitVerdict) -> str:
    return f" on {middle_cut(git.branch or 'a branch', 60)}, which is not merged" if git.verdict == "on-branch" else ""


def _authored(dossier: Dossier, git: GitVerdict) -> Text:
    wrote = git.authored
    if wrote is None or wrote.commit == git.commit:
        author = git.author or (wrote.author if wrote is not None else "")
        return words(f", by {_author(author)}, as the commit says") if author else ()
    return words(
        "; written in ", dossier.cited.commit(wrote.commit), f" by {_author(wrote.author)}, as the commit says"
    )


def _author(author: str) -> str:
    """`Name` of `Name <mail>`: the appendix has the rest."""
    return cut(author.split(" <", 1)[0] or author, 50)


def _landing(dossier: Dossier, git: GitVerdict) -> str:
    if git.at is None or git.landed_by is None or git.verdict not in ("reflected", "already"):
        return ""
    first, last = dossier.clock.utc(git.at), dossier.clock.utc(git.landed_by)
    if git.landed_by < git.at:
        return f"It landed by {last} (the first record of it); the committer’s clock ran ahead."
    return f"It landed between {first} (the committer’s clock) and {last} (the first record of it)."


def _cluster_facts(dossier: Dossier, one: Numbered) -> list[tuple[str, Text]]:
    """What ended the values, for those that do not stand."""
    groups: dict[ClusterVerdict, list[str]] = {}
    names = [field_name(field.path) for field in one.write.fields] or [""]
    for place, (_, cluster) in enumerate(sides(one.verdict)):
        if cluster.verdict != "standing":
            groups.setdefault(cluster, []).append(names[place] if place < len(names) else "")
    rows = []
    for cluster, fields in list(groups.items())[:4]:
        about = f"{', '.join(cut(name, 30) for name in fields[:3])}: " if any(fields) else ""
        rows.append(("Cluster", words(about, _cluster_words(dossier, cluster))))
    return rows


def _cluster_words(dossier: Dossier, cluster: ClusterVerdict) -> Text:
    verbs = {
        "reverted-by-gitops": "put back",
        "reverted": "put back",
        "overwritten": "overwritten",
        "deleted": "gone with its object",
        "unknown": "what became of it is not recorded",
    }
    at = (" at ", dossier.clock.time(cluster.at)) if cluster.at is not None else ("",)
    by = f" by {middle_cut(cluster.by.removeprefix(SERVICE_ACCOUNT), 70)}" if cluster.by else ""
    write = dossier.writes.get(cluster.write or "")
    source = dossier.cited.all(write.evidence, write.at, 1) if write is not None else ()
    why = f", {cluster.reason.strip()}" if cluster.reason else ""
    ended = words(verbs.get(cluster.verdict, cluster.verdict), *at, by, _sentence(why))
    return words(ended, "" if why else ".", " " if source else "", source)


def _beside(one: Numbered) -> str:
    notes = [cut(note, 90) for note in one.write.notes[:3]]
    effects = [
        f"{cut(field_name(effect.path), 40)} by {cut(effect.by, 60)}, not by this credential"
        for effect in one.write.side_effects[:3]
    ]
    rest = len(one.write.notes) + len(one.write.side_effects) - len(notes) - len(effects)
    return "; ".join(notes + effects) + (f" and {grouped(rest)} more" if rest > 0 else "") + "."


def _next(one: Numbered) -> Text:
    said = _sentence(one.verdict.next) if one.verdict.next else _prospect(one)
    if one.state != "act":
        return words(said)
    return words(sign("", "act"), act("The next sync undoes it."), " ", said)


def _prospect(one: Numbered) -> str:
    return {
        "undone-at-next-sync": "Auto-sync and self-heal are on.",
        "undone-at-next-revision": "Without self-heal, as soon as the branch or the source moves.",
        "undone-at-manual-sync": "The application is synced by hand, so when somebody presses Sync.",
        "kept": "A sync leaves it as it is.",
        "invisible": "Argo CD cannot see it, so no sync removes it.",
        "settled": "Nothing; git and cluster have the same value.",
        "unknown": "Cannot be told from these records.",
    }[one.verdict.prospect]


def _sentence(said: str) -> str:
    shown = cut(said.strip(), 320)
    if _PLAIN_WORD.match(shown):
        shown = shown[0].upper() + shown[1:]
    return shown if not shown or shown[-1] in ".…!?" else f"{shown}."
