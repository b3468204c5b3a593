"""A report as it will be read: sections of blocks, complete, in order and worded. Renderers only set them."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from reports.contract.page_one import PageOne
from reports.words.rich import Span, Text

TableStyle: TypeAlias = Literal["plain", "times", "reg", "finds", "steps", "ev", "legend", "diff"]


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column and the room it takes."""

    title: Text
    width: str = ""
    """A CSS length; "" takes what is left."""
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Cells, one a column; the anchor makes it a target of links."""

    cells: tuple[Text, ...]
    anchor: str = ""
    also: tuple[str, ...] = ()
    """Further anchors: a row that several repeats share."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column heads its rows."""

    kind: ClassVar[str] = "table"
    caption: Text
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    style: TableStyle = "plain"
    stacked: bool = False
    """On a phone: stacked to be read whole, else it scrolls in its frame."""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Terms and what is said of them."""

    kind: ClassVar[str] = "facts"
    rows: tuple[tuple[str, Text], ...]


@dataclass(frozen=True, slots=True)
class Paste:
    """A block that pastes as it is."""

    kind: ClassVar[str] = "paste"
    text: str
    """Line breaks are kept, other control characters are visible."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or two."""

    kind: ClassVar[str] = "paragraph"
    text: Text


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a numbered list, with a block to paste where there is one."""

    text: Text
    paste: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A numbered list."""

    kind: ClassVar[str] = "items"
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below a section's own."""

    kind: ClassVar[str] = "heading"
    text: str
    note: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """One SVG element: a tag and attributes of ours, never of a record; only `text` may hold record text."""

    tag: Literal["rect", "path", "circle", "text"]
    attributes: tuple[tuple[str, str], ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing 720 units wide, with what it says in words."""

    kind: ClassVar[str] = "picture"
    anchor: str
    caption: Text
    title: str
    description: str
    height: int
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """One field of a change. Long values are cut in pieces: (text, whether it is the same on both sides)."""

    path: str
    short: Text
    """`a → b` on a line, () where the values stand one above the other."""
    before: tuple[tuple[str, bool], ...]
    after: tuple[tuple[str, bool], ...]
    git: Span
    git_note: Text
    cluster: Span
    cluster_note: Text


@dataclass(frozen=True, slots=True)
class ChangeBlock:
    """One change, or alike repeats of one."""

    kind: ClassVar[str] = "change"
    anchor: str
    also: tuple[str, ...]
    number: str
    marks: Text
    name: str
    object_kind: str
    owner: Text
    idents: Text
    """How the id of each of the changes begins, as `auditor show` takes it."""
    when: Text
    sources: Text
    fields: tuple[FieldDiff, ...]
    facts: tuple[tuple[str, Text], ...]


@dataclass(frozen=True, slots=True)
class Legend:
    """Tables side by side."""

    kind: ClassVar[str] = "legend"
    tables: tuple[Table, ...]


Block: TypeAlias = Table | Facts | Paste | Paragraph | Items | Heading | Picture | ChangeBlock | Legend


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    fresh: bool = False
    """Begins on a new page."""
    unlisted: bool = False
    """Not in the contents."""


@dataclass(frozen=True, slots=True)
class Document:
    """One report."""

    title: str
    running: str
    """The title in the head of each page."""
    digest: str
    """Foot of each page: digest of the records, and the program's version."""
    description: str
    first: PageOne
    sections: tuple[Section, ...]


ReportView: TypeAlias = Document
"""What `postmortem_view` gives."""
