"""How far each kind of record reaches, and what the records do not hold: two short lists of page one."""

from collections.abc import Sequence
from datetime import datetime

from auditor.model.facts import RecordKind, SourceMark
from reports.case.dossier import Dossier, Numbered, marks, with_state
from reports.case.reach import short_lines
from reports.contract.page_one import AsOfRow
from reports.sections.limits import skipped_lines
from reports.words.rich import Text, ref, soft, text, words
from reports.words.wording import count, cut, grouped, middle_cut

GAPS = 4
GAP_LINE = 100.0
"""Two lines in half a page, in the units of `wording.width`."""
HOLDS = 25.0


def as_of_rows(dossier: Dossier) -> tuple[AsOfRow, ...]:
    """Five rows, one a kind of record, whatever the number of clusters."""
    ends = dossier.case.coverage.as_of
    rows = [_audit(dossier)]
    simple: tuple[tuple[RecordKind, str, datetime | None, str], ...] = (
        ("argocd", "Argo CD", ends.argocd, _forms(dossier, "argocd")),
        ("git", "Git", ends.git, _git(dossier)),
        ("announcements", "Announcements", ends.announcements, _channels(dossier)),
        ("objects", "Live objects", ends.objects, _forms(dossier, "objects")),
    )
    rows += [_row(dossier, name, at, held, _read(dossier, kind)) for kind, name, at, held in simple]
    return tuple(rows)


def gap_lines(dossier: Dossier) -> tuple[Text, ...]:
    """At most five lines; the section on limits has all."""
    found = [*_unrecorded(dossier), *(words(text(cut(gap.sentence, GAP_LINE))) for gap in dossier.case.coverage.gaps)]
    found[:0] = [words(text(cut(line, GAP_LINE))) for line in short_lines(dossier)]
    found += [words(text(cut(line, GAP_LINE))) for line in skipped_lines(dossier)]
    if len(found) <= GAPS + 1:
        return tuple(found) or (words(soft("none that the records show")),)
    rest = words(f"and {grouped(len(found) - GAPS)} more, ", ref("What the records cannot say", "#cannot"))
    return (*found[:GAPS], rest)


def _audit(dossier: Dossier) -> AsOfRow:
    ends = dossier.case.coverage.as_of.audit
    sources = _read(dossier, "audit")
    if len(ends) < 2:
        cluster = next(iter(ends), "")
        name = f"Audit, {middle_cut(cluster, 14)}" if cluster else "Audit log"
        return _row(dossier, name, ends.get(cluster), _level(sources), sources)
    first, last = min(ends.items(), key=lambda end: (end[1], end[0])), max(ends.values())
    held = words(soft(middle_cut(first[0], 10)), soft(" until "))
    held = words(held, soft(dossier.clock.utc(first[1]))) if last != first[1] else words(soft(_level(sources)))
    return AsOfRow(f"Audit, {count(len(ends), 'cluster')}", words(dossier.clock.time(last)), held)


def _row(dossier: Dossier, name: str, at: datetime | None, held: str, sources: Sequence[SourceMark]) -> AsOfRow:
    if at is None:
        return AsOfRow(name, words("–"), words(soft("not read" if not sources else "no time in the records")))
    return AsOfRow(name, words(dossier.clock.time(at)), words(soft(held)))


def _read(dossier: Dossier, kind: RecordKind) -> list[SourceMark]:
    return [mark for mark in dossier.case.coverage.marks if mark.kind == kind and not mark.problem]


def _level(sources: Sequence[SourceMark]) -> str:
    levels = {level for mark in sources for level in mark.levels}
    if "RequestResponse" in levels:
        return "writes with bodies"
    return "requests, no responses" if "Request" in levels else "Metadata: no bodies" if "Metadata" in levels else ""


def _forms(dossier: Dossier, kind: RecordKind) -> str:
    sources = {mark.source for mark in _read(dossier, kind)}
    return count(len(sources), "source")


def _git(dossier: Dossier) -> str:
    repositories = {mark.source for mark in _read(dossier, "git")}
    commits = len(dossier.case.commits)
    return cut(f"{count(commits, 'commit')}, {count(len(repositories), 'repository', 'repositories')}", HOLDS)


def _channels(dossier: Dossier) -> str:
    channels = {one.channel for one in dossier.case.announcements if one.channel}
    return count(len(channels), "channel") if channels else _forms(dossier, "announcements")


def _unrecorded(dossier: Dossier) -> list[Text]:
    """Changes that no event tells of, those whose contents no record holds, and those of which git cannot be told."""
    unheard = tuple(one for one in dossier.counted if one.write.known_by == "ownership")
    facts = tuple(one for one in dossier.counted if not one.write.fields_known)
    lines = [words("Writes that the audit log has no event of: ", marks(unheard, 4))] if unheard else []
    lines += [_unrecorded_line(facts)] if facts else []
    unknown = with_state(dossier, "unknown")
    if unknown and len(lines) < GAPS:
        lines.append(words("Git verdicts that cannot be told: ", marks(unknown, 4)))
    return lines


def _unrecorded_line(facts: tuple[Numbered, ...]) -> Text:
    kinds = sorted({cut(one.write.object.kind, 16) for one in facts})
    return words(f"Contents of {' and '.join(kinds[:2])}: no body in the record ", marks(facts, 4))
