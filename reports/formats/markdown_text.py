"""Markdown for the body of a pull request or an issue: at most 65,536 characters, whole sections or none."""

import re

from auditor.model.case import Case
from reports.contract.document import (
    Block,
    ChangeBlock,
    Document,
    Facts,
    Heading,
    Items,
    Legend,
    Paragraph,
    Paste,
    Section,
    Table,
)
from reports.contract.options import Options
from reports.contract.page_one import PageOne
from reports.contract.report import Renderer, Report
from reports.words.rich import Span, Text, visible

LIMIT = 65_536
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_LINE_START = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")


def markdown(document: Document) -> str:
    """Page one always; then sections in their order, as long as they fit. What does not fit is named."""
    written = [_first(document)]
    left: list[str] = []
    used = len(written[0]) + 600
    for section in document.sections:
        text = _section(section)
        if used + len(text) > LIMIT:
            left.append(section.title)
            continue
        used += len(text)
        written.append(text)
    if left:
        written.append(
            f"_Left out, as a comment holds {LIMIT:,} characters: {', '.join(left)}. The HTML report has all._\n"
        )
    written.append(f"<sub>{escaped(document.digest)}</sub>\n")
    return "\n".join(written)


def _first(document: Document) -> str:
    first = document.first
    lines = [f"# {escaped(document.title)}", ""]
    lines += [f"- **{escaped(term)}**: {_text(said)}" for term, said in first.scope]
    lines += [
        "",
        _text(first.lead),
        "",
        _answers(first),
        *([_unresolved(first)] if first.unresolved else []),
        _as_of(first),
        "**Gaps in the records**",
        "",
    ]
    lines += [f"- {_text(gap)}" for gap in first.gaps]
    return "\n".join([*lines, ""])


def _answers(first: PageOne) -> str:
    rows = ["| Question | | Answer | Which |", "|---|---:|---|---|"]
    for question in first.questions:
        for place, answer in enumerate(question.answers):
            asked = f"**{escaped(question.text)}**" if place == 0 else ""
            inner = "↳ " if answer.inner else ""
            rows.append(f"| {asked} | {answer.number} | {inner}{_text(answer.text)} | {_text(answer.marks)} |")
    remark = f"\n{_text(first.remark)}\n" if first.remark else ""
    return "\n".join([*rows, remark, ""])


def _unresolved(first: PageOne) -> str:
    rows = [_caption(first.unresolved_caption), "", "| What happens next | To what |", "|---|---|"]
    for group in first.unresolved:
        title = f"**{escaped(group.title)}**" if group.hot else escaped(group.title)
        note = f" ({escaped(group.note)})" if group.note else ""
        rows += [f"| {title}{note} | {_text(row.text)} |" for row in group.rows]
    return "\n".join([*rows, ""])


def _as_of(first: PageOne) -> str:
    rows = ["| As of | UTC | Holds |", "|---|---|---|"]
    rows += [f"| {escaped(row.record)} | {_text(row.until)} | {_text(row.holds)} |" for row in first.as_of]
    return "\n".join([*rows, ""])


def _section(section: Section) -> str:
    written = [_block(block) for block in section.blocks]
    return "\n".join([f"## {escaped(section.title)}", "", *(text for text in written if text), ""])


def _block(block: Block) -> str:
    """One block. A picture is left to the formats that can draw: the table below it says the same."""
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Facts):
        return _facts(block.rows)
    if isinstance(block, Paste):
        return _paste(block.text)
    if isinstance(block, Items):
        return _items(block)
    if isinstance(block, Heading):
        return f"### {escaped(block.text)}" + (f" ({escaped(block.note)})" if block.note else "") + "\n"
    if isinstance(block, ChangeBlock):
        return _change(block)
    if isinstance(block, Legend):
        return "\n".join(_table(table) for table in block.tables)
    return _text(block.text) + "\n" if isinstance(block, Paragraph) else ""


def _table(table: Table) -> str:
    head = "| " + " | ".join(_text(column.title) for column in table.columns) + " |"
    rule = "|" + "|".join("---:" if column.numeric else "---" for column in table.columns) + "|"
    rows = ["| " + " | ".join(_text(cell) for cell in row.cells) + " |" for row in table.rows]
    return "\n".join([_caption(table.caption), "", head, rule, *rows, ""])


def _caption(spans: Text) -> str:
    """The name of a table in bold, and what is said beside it."""
    return " ".join([f"**{escaped(spans[0].text.strip())}**", _text(spans[1:])]).rstrip() if spans else ""


def _facts(rows: tuple[tuple[str, Text], ...]) -> str:
    return "\n".join([*(f"- {f'**{escaped(term)}**: ' if term else ''}{_text(said)}" for term, said in rows), ""])


def _paste(text: str) -> str:
    """A fenced block with its lines kept; the fence is longer than any in it."""
    lines = [visible(line) for line in text.rstrip("\n").split("\n")]
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return "\n".join([fence, *lines, fence, ""])


def _items(block: Items) -> str:
    lines: list[str] = []
    for number, item in enumerate(block.items, 1):
        lines.append(f"{number}. {_text(item.text)}")
        if item.paste:
            lines += ["", *(f"   {line}" if line else "" for line in _paste(item.paste).split("\n"))]
    return "\n".join([*lines, ""])


def _change(block: ChangeBlock) -> str:
    lines = [
        f"### {escaped(block.number)} {escaped(block.name)} ({escaped(block.object_kind)})",
        "",
        f"{_text(block.when)}; {_text(block.owner)}; ID {_text(block.idents)}; {_text(block.sources)}",
        "",
        "| Field | Before → after | Git says | The cluster says |",
        "|---|---|---|---|",
    ]
    for field in block.fields:
        values = _text(field.short) or f"{_pieces(field.before)} → {_pieces(field.after)}"
        git, cluster = _noted(field.git, field.git_note), _noted(field.cluster, field.cluster_note)
        lines.append(f"| {_code(field.path)} | {values} | {git} | {cluster} |")
    return "\n".join([*lines, "", _facts(block.facts)])


def _noted(sign: Span, note: Text) -> str:
    return _span(sign) + (f", {_text(note)}" if note else "")


def _pieces(pieces: tuple[tuple[str, bool], ...]) -> str:
    return _code("".join(text for text, _ in pieces))


def _text(spans: Text) -> str:
    """The spans in a row; a path, which has a line of its own elsewhere, stands between spaces."""
    written, apart = "", False
    for span in spans:
        part = _span(span)
        beside_path = (apart or span.kind == "path") and not written.endswith((" ", "<br>"))
        written += f" {part}" if beside_path and written and not part.startswith((" ", "<br>")) else part
        apart = span.kind == "path"
    return written.strip(" ")


def _span(span: Span) -> str:
    match span.kind:
        case "strong" | "act":
            return f"**{escaped(span.text.strip())}**" if span.text.strip() else ""
        case "code" | "path" | "value":
            return _code(span.text)
        case "absent" | "unknown":
            return f"_{span.kind}_"
        case "mark":
            return f"**{escaped(span.text)}**" if span.state in ("act", "stand") else escaped(span.text)
        case "local":
            return f"({escaped(span.text)})"
        case "break":
            return "<br>"
        case _:
            return escaped(span.text)


def _code(text: str) -> str:
    """A code span; as escaped text where its own backticks and pipes would end it, or the cell that it stands in."""
    shown = visible(text)
    return escaped(shown) if "`" in shown or "|" in shown or not shown.strip() else f"`{shown}`"


def escaped(text: str) -> str:
    """Text that is no markup, no link, and mentions nobody."""
    shown = _SPECIAL.sub(r"\\\1", visible(text))
    shown = re.sub(r"(?<![\w.])@(?=\w)", "@<!-- -->", shown)
    shown = re.sub(r"(?i)\b(https?|ftp)://", r"\1:<!-- -->//", shown)
    shown = re.sub(r"(?i)\bwww\.", "www<!-- -->.", shown)
    return _LINE_START.sub(r"\1\\\2", shown)


def _render(report: Report, case: Case, options: Options) -> bytes:
    return markdown(report.document(case, options)).encode("utf-8", errors="replace")


RENDERER = Renderer("markdown", ".md", _render)
