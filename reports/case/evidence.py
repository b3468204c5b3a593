"""The appendix to which every statement leads: records are numbered in the order in which they are first cited."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from auditor.model.change import Evidence
from auditor.model.coverage import Coverage
from auditor.model.facts import Commit, SourceMark
from reports.contract.document import Block, Column, Paragraph, Row, Section, Table
from reports.words.clock import Clock
from reports.words.rich import BREAK, Text, code, joined, ref, soft, words
from reports.words.wording import cut, grouped, middle_cut

_LETTERS = {"audit": "A", "argocd": "L", "git": "G", "announcements": "S", "objects": "O"}


@dataclass(slots=True)
class Citations:
    """Numbers for the records and commits that a report cites, given as they are cited."""

    clock: Clock
    commits: Mapping[str, Commit]
    sources: Mapping[str, str]
    """The letter and number of a source, by its name."""
    records: dict[tuple[str, str, int], tuple[Evidence, datetime | None]] = field(default_factory=dict)
    numbers: dict[tuple[str, str, int], int] = field(default_factory=dict)
    cited_commits: dict[str, int] = field(default_factory=dict)
    """Their numbers, by SHA."""

    def record(self, evidence: Evidence, at: datetime | None = None) -> Text:
        """A link to one record; commits lead to the table of commits, and a record without a place to nothing."""
        if evidence.kind == "commit":
            return self.commit(evidence.ref)
        key = _key(evidence)
        self.records.setdefault(key, (evidence, at))
        number = self.numbers.setdefault(key, len(self.records))
        return words(ref(f"E{number}", f"#e{number}"))

    def all(self, evidence: Iterable[Evidence], at: datetime | None = None, limit: int = 4) -> Text:
        """Links to records, the first `limit` of them."""
        found = list(dict.fromkeys(self.record(one, at) for one in list(evidence)[:limit]))
        return joined(found, " ")

    def commit(self, sha: str) -> Text:
        """A link to a commit, by its first nine digits."""
        number = self.cited_commits.setdefault(sha, len(self.cited_commits) + 1)
        return words(ref(sha[:9], f"#c{number}"))


def citations(clock: Clock, coverage: Coverage, commits: Iterable[Commit]) -> Citations:
    """An empty list of citations over the sources that were read."""
    counters: dict[str, int] = {}
    sources: dict[str, str] = {}
    for mark in sorted(coverage.marks, key=_place):
        if mark.source not in sources:
            letter = _LETTERS[mark.kind]
            counters[letter] = counters.get(letter, 0) + 1
            sources[mark.source] = f"{letter}{counters[letter]}"
    return Citations(clock, {commit.sha: commit for commit in commits}, sources)


def digest(cited: Citations, coverage: Coverage) -> str:
    """SHA-256 over the places and hashes of all cited records and the extent of all sources, first 16 digits."""
    lines = [f"{mark.kind} {mark.cluster} {mark.source} {mark.bytes} {mark.events}" for mark in coverage.marks]
    for evidence, _ in cited.records.values():
        if evidence.origin is not None:
            lines.append(f"{evidence.origin.source} {evidence.origin.offset} {evidence.origin.sha256}")
    lines += list(cited.cited_commits)
    return sha256("\n".join(sorted(lines)).encode(errors="surrogatepass")).hexdigest()[:16]


def evidence_section(cited: Citations, coverage: Coverage) -> Section:
    """Sources, records and commits that the report cites."""
    intro = words(
        "Every reference in this report leads here. ",
        code("auditor verify"),
        " hashes the bytes again; ",
        code("auditor show ID"),
        " prints a change with its raw records; IDs stand in the blocks and registers of changes, and in ",
        code("auditor changes"),
        ".",
    )
    tables = (_sources(cited, coverage), _records(cited), _commits(cited))
    blocks: list[Block] = [Paragraph(intro), *(table for table in tables if table.rows)]
    return Section("evidence", "Evidence", tuple(blocks))


def _sources(cited: Citations, coverage: Coverage) -> Table:
    used = {evidence.origin.source for evidence, _ in cited.records.values() if evidence.origin is not None}
    marks = [mark for mark in sorted(coverage.marks, key=_place) if mark.source in used or mark.kind == "git"]
    seen: dict[str, SourceMark] = {}
    for mark in marks:
        seen.setdefault(mark.source, mark)
    return Table(
        words("Sources cited ", soft("span in UTC, size, what was in it")),
        (
            Column(words("Ref."), "2.4rem"),
            Column(words("Source")),
            Column(words("Span"), "9.4rem"),
            Column(words("Bytes"), "5rem", numeric=True),
            Column(words("Holds"), "9.2rem"),
        ),
        tuple(_source_row(cited, mark) for mark in seen.values()),
        "ev",
    )


def _source_row(cited: Citations, mark: SourceMark) -> Row:
    name = cited.sources[mark.source]
    span = words("–")
    if mark.first_at is not None and mark.last_at is not None:
        span = words(cited.clock.time(mark.first_at), "–", cited.clock.time(mark.last_at))
    holds = f"{mark.format}, {grouped(mark.events)} events" if mark.kind == "audit" else mark.format
    cells = (words(name), words(code(mark.source)), span, words(grouped(mark.bytes)), words(soft(holds)))
    return Row(cells, name.lower())


def _records(cited: Citations) -> Table:
    rows = [_record_row(cited, number, evidence, at) for number, (evidence, at) in enumerate(cited.records.values(), 1)]
    return Table(
        words("Records cited ", soft("place, audit ID or line, SHA-256 of the bytes")),
        (
            Column(words("Ref."), "2.6rem"),
            Column(words("UTC"), "6.2rem"),
            Column(words("Place"), "12rem"),
            Column(words("Audit ID or name of the record, SHA-256")),
        ),
        tuple(rows),
        "ev",
    )


def _record_row(cited: Citations, number: int, evidence: Evidence, at: datetime | None) -> Row:
    origin = evidence.origin
    place: Text = words("place not recorded")
    if origin is not None:
        name = cited.sources.get(origin.source)
        source = words(ref(name, f"#{name.lower()}")) if name else words(middle_cut(origin.source, 40))
        place = words(source, f", byte {grouped(origin.offset)}, {grouped(origin.length)} long")
    told = words(code(middle_cut(evidence.ref, 90) or "–"))
    if origin is not None:
        told = words(told, BREAK, code(origin.sha256))
    when = words(cited.clock.exact(at)) if at is not None else words("–")
    return Row((words(f"E{number}"), when, place, told), f"e{number}")


def _commits(cited: Citations) -> Table:
    rows = [_commit_row(cited, number, sha) for sha, number in cited.cited_commits.items()]
    return Table(
        words("Commits cited ", soft("times are the committer’s clock; the author is as the commit says")),
        (
            Column(words("UTC"), "6.2rem"),
            Column(words("Commit"), "19rem"),
            Column(words("Author and subject")),
        ),
        tuple(rows),
        "ev",
    )


def _commit_row(cited: Citations, number: int, sha: str) -> Row:
    commit = cited.commits.get(sha)
    if commit is None:
        cells = (words("–"), words(code(sha)), words(soft("not among the commits that were read")))
        return Row(cells, f"c{number}")
    told = words(f"{commit.author_name}, ", soft(cut(commit.subject, 90)))
    return Row((words(cited.clock.time(commit.committed_at)), words(code(sha)), told), f"c{number}")


def _key(evidence: Evidence) -> tuple[str, str, int]:
    if evidence.origin is None:
        return evidence.kind, evidence.ref, -1
    return evidence.kind, evidence.origin.source, evidence.origin.offset


def _place(mark: SourceMark) -> tuple[int, str, str, str]:
    return list(_LETTERS).index(mark.kind), mark.cluster, mark.source, mark.stream
