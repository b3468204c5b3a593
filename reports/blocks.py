"""One block a change: what, who, git, what became of it, what happens next; each with its evidence."""

from collections.abc import Iterable
from dataclasses import dataclass

from auditor.model.change import FieldChange
from auditor.model.verdict import ClusterVerdict, GitVerdict
from auditor.objects import paths
from reports.clock import Clock
from reports.describe import SERVICE_ACCOUNT, when_after, whole, whole_change
from reports.document import ChangeBlock, FieldDiff, Paragraph, Section
from reports.dossier import BLOCKS, Dossier, Numbered, sides
from reports.rich import BECOMES, Span, Text, act, code, joined, ref, sign, soft, words
from reports.wording import (
    BECOMES_LIMIT,
    count,
    cut,
    duration,
    field_name,
    grouped,
    middle_cut,
    pair_texts,
    pieces,
    value_span,
)

FIELDS = 12
"""Fields that a block shows; the count of the rest stands below."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Alike changes that follow each other: one row, one block."""

    changes: tuple[Numbered, ...]

    @property
    def first(self) -> Numbered:
        return self.changes[0]

    @property
    def times(self) -> str:
        """`3 times in 50 s`, "" for a single one."""
        if len(self.changes) == 1:
            return ""
        span = (self.changes[-1].write.at - self.first.write.at).total_seconds()
        return f"{grouped(len(self.changes))} times in {duration(span)}"


def repeats(changes: Iterable[Numbered]) -> tuple[Repeat, ...]:
    """Changes with alike ones that follow on the same object folded into one."""
    folded: list[list[Numbered]] = []
    latest: dict[object, list[Numbered]] = {}
    for one in changes:
        run = latest.get(one.write.object)
        if run is not None and _alike(run[-1], one):
            run.append(one)
            continue
        run = [one]
        latest[one.write.object] = run
        folded.append(run)
    return tuple(Repeat(tuple(run)) for run in folded)


def changes_section(dossier: Dossier) -> Section:
    """Blocks of the most urgent changes, oldest first."""
    with_block = [one for one in dossier.counted if one.href.startswith("#change-")]
    rest = len(dossier.counted) - len(with_block)
    intro = words(
        "Every change made past git, oldest first. The ", ref("register", "#register"), " has them in a table."
    )
    if rest:
        intro = words(
            f"A block for the {BLOCKS} most urgent of {count(len(dossier.counted), 'change')}, unresolved ones first. The ",
            ref("register", "#register"),
            f" has the other {grouped(rest)}.",
        )
    found = tuple(_block(dossier, repeat) for repeat in repeats(with_block))
    return Section("changes", "Changes", (Paragraph(intro), *found))


def _alike(one: Numbered, other: Numbered) -> bool:
    return (
        one.write.fields == other.write.fields
        and one.write.operation == other.write.operation
        and bool(one.write.fields)
        and one.write.actor.name == other.write.actor.name
        and one.write.channel == other.write.channel
        and one.state == other.state
        and _signature(one) == _signature(other)
    )


def _signature(one: Numbered) -> list[tuple[str, str]]:
    return [(git.verdict, cluster.verdict) for git, cluster in sides(one.verdict)]


def _block(dossier: Dossier, repeat: Repeat) -> ChangeBlock:
    one = repeat.first
    place = f"{one.write.object.namespace}/" if one.write.object.namespace else ""
    cluster = f" in {one.write.object.cluster}" if len(dossier.clusters) > 1 else ""
    fields = _fields(dossier, one)
    return ChangeBlock(
        anchor=f"change-{one.number}",
        also=tuple(f"change-{each.number}" for each in repeat.changes[1:]),
        number=", ".join(each.label for each in repeat.changes[:4]) + (" …" if len(repeat.changes) > 4 else ""),
        marks=joined([words(_own_mark(each)) for each in repeat.changes[:12]], " "),
        name=cut(f"{place}{one.write.object.name}", 90),
        object_kind=cut(f"{one.write.object.kind}{cluster}", 60),
        owner=_owner(one),
        when=_when(dossier.clock, repeat),
        sources=_sources(dossier, repeat),
        fields=fields[:FIELDS],
        facts=_facts(dossier, repeat, len(fields) - FIELDS),
    )


def _own_mark(one: Numbered) -> Span:
    mark = one.mark
    return Span("mark", mark.text, mark.label, "", mark.state)


def _owner(one: Numbered) -> Text:
    application = one.change.application
    if application is None:
        return words("no application owns it")
    also = [owner.name for owner in one.change.owners if owner != application]
    said = f"application {middle_cut(application.name, 50)}"
    return words(said + (f"; {', '.join(cut(name, 40) for name in also[:2])} claims it too" if also else ""))


def _when(ours: Clock, repeat: Repeat) -> Text:
    at = repeat.first.write.at
    local = (", ", Span("local", f"{ours.local(at)} {ours.place}")) if ours.foreign else ("",)
    return words(ours.time(at), " UTC", *local, f"; {repeat.times}" if repeat.times else "")


def _sources(dossier: Dossier, repeat: Repeat) -> Text:
    parts = [dossier.cited.all(each.write.evidence, each.write.at, 2) for each in repeat.changes[:4]]
    shown = words(joined([part for part in parts if part], " "), " write")
    later = _later(dossier, repeat.first)
    return words(shown, " · ", later, " undone by") if later else shown


def _later(dossier: Dossier, one: Numbered) -> Text:
    """The write that ended a value, as evidence."""
    ids = {cluster.write for _, cluster in sides(one.verdict) if cluster.write and cluster.write != one.write.id}
    found = [dossier.writes[write] for write in sorted(ids) if write in dossier.writes]
    return joined([dossier.cited.all(write.evidence, write.at, 1) for write in found[:2]], " ")


def _fields(dossier: Dossier, one: Numbered) -> tuple[FieldDiff, ...]:
    if whole(one.change):
        return (_diff(dossier, one, "whole object", whole_change(one.change), one.verdict.git, one.verdict.cluster),)
    if not one.write.fields:
        nothing = words(Span("unknown", "unknown"), " ", BECOMES, " ", Span("unknown", "unknown"))
        return (_diff(dossier, one, "fields", nothing, one.verdict.git, one.verdict.cluster),)
    answers = sides(one.verdict)
    if len(answers) != len(one.write.fields):
        answers = ((one.verdict.git, one.verdict.cluster),) * len(one.write.fields)
    return tuple(
        _field(dossier, one, field, git, cluster)
        for field, (git, cluster) in zip(one.write.fields, answers, strict=True)
    )


def _field(dossier: Dossier, one: Numbered, field: FieldChange, git: GitVerdict, cluster: ClusterVerdict) -> FieldDiff:
    first, second = pair_texts(field.before, field.after)
    path = paths.text(field.path)
    both = field.before.state == field.after.state == "value"
    if both and len(first) + len(second) > BECOMES_LIMIT:
        return _diff(dossier, one, path, (), git, cluster, pieces(first, second), pieces(second, first))
    short = words(value_span(field.before, first, 300), " ", BECOMES, " ", value_span(field.after, second, 300))
    return _diff(dossier, one, path, short, git, cluster)


def _diff(
    dossier: Dossier,
    one: Numbered,
    path: str,
    short: Text,
    git: GitVerdict,
    cluster: ClusterVerdict,
    before: tuple[tuple[str, bool], ...] = (),
    after: tuple[tuple[str, bool], ...] = (),
) -> FieldDiff:
    return FieldDiff(
        path,
        short,
        before,
        after,
        sign(git.verdict, f"git-{git.verdict}"),
        words(_git_note(git)),
        sign(cluster.verdict, f"cluster-{cluster.verdict}"),
        words(_cluster_note(dossier, one, cluster)),
    )


def _git_note(git: GitVerdict) -> str:
    if git.verdict in ("reflected", "superseded") and git.delay_seconds is not None and git.delay_seconds >= 0:
        return f"after {duration(git.delay_seconds)}"
    if git.verdict == "on-branch":
        return middle_cut(git.branch or "", 26)
    return cut(git.says, 48)


def _cluster_note(dossier: Dossier, one: Numbered, cluster: ClusterVerdict) -> str:
    if cluster.verdict == "standing":
        end = dossier.case.scope.as_of or dossier.case.coverage.as_of.audit.get(one.write.object.cluster)
        return f"at {dossier.clock.utc(end)}" if end is not None else ""
    return when_after(cluster.at, one.write.at)


def _facts(dossier: Dossier, repeat: Repeat, hidden: int) -> tuple[tuple[str, Text], ...]:
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
    through = (
        "through Argo CD’s UI or CLI" if write.channel == "Argo CD UI or CLI" else f"with {cut(write.channel, 40)}"
    )
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
    if actor.account:
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
    why = f" {_sentence(cluster.reason)}" if cluster.reason else ""
    return words(verbs.get(cluster.verdict, cluster.verdict), *at, by, " " if source else "", source, ".", why)


def _beside(one: Numbered) -> str:
    notes = [cut(note, 90) for note in one.write.notes[:3]]
    effects = [
        f"{cut(field_name(effect.path), 40)} by {cut(effect.by, 60)}, not by this credential"
        for effect in one.write.side_effects[:3]
    ]
    rest = len(one.write.notes) + len(one.write.side_effects) - len(notes) - len(effects)
    return "; ".join(notes + effects) + (f" and {count(rest, 'more')}" if rest > 0 else "") + "."


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
    return shown if not shown or shown[-1] in ".…!?" else f"{shown}."
