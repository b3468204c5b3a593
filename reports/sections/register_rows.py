"""The register inside the postmortem: a row a change, alike repeats in one."""

from collections.abc import Sequence

from reports.case.describe import before_after, whole, whole_change
from reports.case.dossier import ROWS, Dossier, Numbered, sides
from reports.case.repeats import Repeat, repeats
from reports.contract.document import Block, Column, Paragraph, Row, Section, Table
from reports.words.rich import BREAK, Span, Text, code, joined, sign, soft, words
from reports.words.wording import count, cut, dense_path, grouped, middle_cut

FIELDS = 4
VALUES = 44


def register_section(dossier: Dossier) -> Section:
    """All counted changes, oldest first; above `ROWS` the most urgent of them."""
    shown = [one for one in dossier.counted if one.href != "#register"]
    total = count(len(dossier.counted), "change")
    caption = words(f"All {total} made past git, oldest first " if len(dossier.counted) != 1 else "The one change ")
    if len(shown) < len(dossier.counted):
        caption = words(f"{ROWS} of {total} made past git, the most urgent, oldest first ")
    note = "“…” stands for spec.template.spec.containers, or for the registry of an image"
    table = _table(dossier, words(caption, soft(note)), shown, "register")
    blocks: list[Block] = [table] if shown else [Paragraph(words("No change is counted."))]
    rest = len(dossier.counted) - len(shown)
    if rest:
        blocks.append(Paragraph(words(f"The other {grouped(rest)} are in ", code("auditor report register"), ".")))
    return Section("register-s", "Register of changes", tuple(blocks), unlisted=True)


def settings_section(dossier: Dossier) -> Section | None:
    """Changes of the GitOps tool's own objects: freezes, new applications, switched revisions."""
    if not dossier.settings:
        return None
    total = count(len(dossier.settings), "change")
    intro = f"{total} of the objects by which the GitOps tool is told what to deploy; not among the changes above."
    shown = dossier.settings[:ROWS]
    table = _table(dossier, words("Applications, projects and the like ", soft("oldest first")), shown, "settings")
    return Section("own", "The GitOps tool’s own objects", (Paragraph(words(intro)), table))


def _table(dossier: Dossier, caption: Text, shown: Sequence[Numbered], anchor: str) -> Table:
    return Table(
        caption,
        (
            Column(words("No."), "2.2rem"),
            Column(dossier.clock.heading, "4.4rem"),
            Column(words("Object"), "12.2rem"),
            Column(words("Field, before → after")),
            Column(words("Credential, channel"), "9.2rem"),
            Column(words("Git, then cluster"), "8.6rem"),
        ),
        tuple(_row(dossier, repeat) for repeat in repeats(shown)),
        "reg",
        anchor=anchor,
    )


def unproven_section(dossier: Dossier) -> Section | None:
    """Writes that may have changed something: apart, and counted in nothing."""
    if not dossier.unproven:
        return None
    shown = dossier.unproven[:40]
    rows = tuple(
        Row(
            (
                dossier.clock.both(change.write.at),
                words(
                    f"{change.write.object.kind} ",
                    cut(_place(change.write.object.namespace, change.write.object.name), 80),
                ),
                words(
                    middle_cut(change.write.actor.name or "nobody named", 60),
                    BREAK,
                    soft(cut(change.write.channel, 40)),
                ),
                words(dossier.cited.all(change.write.evidence, change.write.at, 1)) or words("–"),
                words(code(dossier.idents[change.id])),
            )
        )
        for change in shown
    )
    table = Table(
        words("Writes that may have changed something ", soft("the record cannot show it; counted in nothing")),
        (
            Column(dossier.clock.heading, "8.6rem" if dossier.clock.foreign else "5.4rem"),
            Column(words("Object")),
            Column(words("Credential, channel"), "13rem"),
            Column(words("Source"), "4rem"),
            Column(words("ID"), "5.4rem"),
        ),
        rows,
        "times",
    )
    rest = len(dossier.unproven) - len(shown)
    more = (Paragraph(words(f"And {grouped(rest)} more.")),) if rest else ()
    intro = Paragraph(
        words("A no-op apply, a diff and a dry-run delete look the same as these in records without bodies.")
    )
    return Section("unproven", "Unproven writes", (intro, table, *more))


def verdict_lines(one: Numbered) -> Text:
    """The distinct words of git, then those of the cluster, a line each."""
    gits = list(dict.fromkeys(git.verdict for git, _ in sides(one.verdict)))
    clusters = list(dict.fromkeys(cluster.verdict for _, cluster in sides(one.verdict)))
    lines = [words(sign(word, f"git-{word}")) for word in gits[:3]]
    lines += [words(sign(word, f"cluster-{word}")) for word in clusters[:3]]
    return _lines(lines)


def field_lines(one: Numbered) -> Text:
    """Fields with both values, a line each; the rest counted."""
    if whole(one.change):
        return words(Span("path", "whole object"), whole_change(one.change))
    fields = one.write.fields
    if not fields:
        return words(Span("path", "fields"), Span("unknown", "unknown"))
    lines = [words(Span("path", dense_path(field.path)), before_after(field, VALUES)) for field in fields[:FIELDS]]
    if len(fields) > FIELDS:
        lines.append(words(soft(f"and {count(len(fields) - FIELDS, 'more field')}")))
    return _lines(lines)


def _row(dossier: Dossier, repeat: Repeat) -> Row:
    one = repeat.first
    numbers = _lines([words(_linked(each)) for each in repeat.changes[:12]])
    cells = (
        numbers,
        _time(dossier, repeat),
        _object(dossier, one),
        field_lines(one),
        _credential(one),
        verdict_lines(one),
    )
    anchors = tuple(f"row-{each.label}" for each in repeat.changes)
    return Row(cells, anchors[0], anchors[1:])


def _linked(one: Numbered) -> Span:
    mark = one.mark
    return mark if one.href.startswith("#change-") else Span("mark", mark.text, mark.label, "", mark.state)


def _time(dossier: Dossier, repeat: Repeat) -> Text:
    """When, and the record of it."""
    ours, at = dossier.clock, repeat.first.write.at
    lines = [words(ours.time(at)), words(Span("local", ours.local(at))) if ours.foreign else ()]
    cited = [dossier.cited.all(each.write.evidence, each.write.at, 1) for each in repeat.changes[:4]]
    return _lines(
        [*lines, words(soft(repeat.times)), joined([one for one in cited if one], " "), *_ident(dossier, repeat)]
    )


def _ident(dossier: Dossier, repeat: Repeat) -> list[Text]:
    """How the id of a change begins, where no block says so."""
    one = repeat.first
    return [] if one.href.startswith("#change-") else [words(code(dossier.idents[one.change.id]))]


def _object(dossier: Dossier, one: Numbered) -> Text:
    target = one.write.object
    lines = [words(cut(target.kind, 40)), words(cut(_place(target.namespace, target.name), 110))]
    if len(dossier.clusters) > 1:
        lines.append(words(soft(f"in {cut(target.cluster, 40)}")))
    if one.change.application is None:
        lines.append(words(soft("no application")))
    elif (name := dossier.called(one.change.application)) != target.namespace:
        lines.append(words(soft(cut(name, 50))))
    return _lines(lines)


def _credential(one: Numbered) -> Text:
    acting = f", acting as {middle_cut(one.write.actor.acting_as, 50)}" if one.write.actor.acting_as else ""
    bypass = " (bypass)" if one.write.cause == "bypass" else ""
    name = middle_cut(one.write.actor.name, 80) or "nobody named"
    return words(name, BREAK, soft(f"{cut(one.write.channel, 40)}{acting}{bypass}"))


def _place(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _lines(lines: list[Text]) -> Text:
    found: list[Span] = []
    for one in lines:
        if one and found:
            found.append(BREAK)
        found.extend(one)
    return tuple(found)
