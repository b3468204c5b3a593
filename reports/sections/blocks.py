"""One block a change: what, who, git, what became of it, what happens next; each with its evidence."""

from auditor.model.change import FieldChange
from auditor.model.verdict import ClusterVerdict, GitVerdict
from auditor.objects import paths
from reports.case.describe import when_after, whole, whole_change
from reports.case.dossier import BLOCKS, Dossier, Numbered, has_audit, sides
from reports.case.reach import beyond
from reports.case.repeats import Repeat, repeats
from reports.contract.document import ChangeBlock, FieldDiff, Paragraph, Section
from reports.sections.change_facts import change_facts
from reports.words.clock import Clock
from reports.words.rich import BECOMES, Span, Text, code, joined, ref, sign, words
from reports.words.wording import (
    BECOMES_LIMIT,
    count,
    cut,
    duration,
    grouped,
    middle_cut,
    pair_texts,
    pieces,
    value_span,
)

FIELDS = 12
"""Fields that a block shows; the count of the rest stands below."""
IDENTS = 4
"""Of alike repeats, those whose ids a block shows."""


def changes_section(dossier: Dossier) -> Section:
    """Blocks of the most urgent changes, oldest first."""
    with_block = [one for one in dossier.counted if one.href.startswith("#change-")]
    rest = len(dossier.counted) - len(with_block)
    if not dossier.counted:
        none = "is in the records of this window" if has_audit(dossier) else "can be told: no audit log was read"
        said = beyond(dossier) or words(f"No change made past git {none}.")
        return Section("changes", "Changes", (Paragraph(said),))
    intro = words(
        "Every change made past git, oldest first. The ", ref("register", "#register"), " has them in a table."
    )
    if rest:
        intro = words(
            f"Blocks for the {BLOCKS} most urgent of {count(len(dossier.counted), 'change')}, oldest first. The ",
            ref("register", "#register"),
            f" has the other {grouped(rest)}.",
        )
    found = tuple(_block(dossier, repeat) for repeat in repeats(with_block))
    return Section("changes", "Changes", (Paragraph(intro), *found))


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
        owner=_owner(dossier, one),
        idents=_idents(dossier, repeat),
        when=_when(dossier.clock, repeat),
        sources=_sources(dossier, repeat),
        fields=fields[:FIELDS],
        facts=change_facts(dossier, repeat, len(fields) - FIELDS),
    )


def _idents(dossier: Dossier, repeat: Repeat) -> Text:
    shown = [words(code(dossier.idents[each.change.id])) for each in repeat.changes[:IDENTS]]
    rest = len(repeat.changes) - IDENTS
    return words(joined(shown), f" and {grouped(rest)} more" if rest > 0 else "")


def _own_mark(one: Numbered) -> Span:
    mark = one.mark
    return Span("mark", mark.text, mark.label, "", mark.state)


def _owner(dossier: Dossier, one: Numbered) -> Text:
    application = one.change.application
    if application is None:
        return words("no application owns it")
    also = [dossier.called(owner) for owner in one.change.owners if owner != application]
    said = f"application {middle_cut(dossier.called(application), 50)}"
    return words(said + (f"; {', '.join(cut(name, 40) for name in also[:2])} claims it too" if also else ""))


def _when(ours: Clock, repeat: Repeat) -> Text:
    at = repeat.first.write.at
    local = (", ", Span("local", f"{ours.local(at)} {ours.place}")) if ours.foreign else ("",)
    return words(ours.time(at), " UTC", *local, f"; {repeat.times}" if repeat.times else "")


def _sources(dossier: Dossier, repeat: Repeat) -> Text:
    parts = [dossier.cited.all(each.write.evidence, each.write.at, 2) for each in repeat.changes[:4]]
    shown = words("write ", joined([part for part in parts if part], " "))
    later = _later(dossier, repeat.first)
    return words(shown, " · undone by ", later) if later else shown


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
