"""Page one as data: what must fit on one page whatever the number of changes."""

from dataclasses import dataclass

from reports.words.rich import Text


@dataclass(frozen=True, slots=True)
class Answer:
    """One counted line under a question."""

    number: str
    text: Text
    marks: Text = ()
    inner: bool = False
    """Part of the line above: `of which`."""


@dataclass(frozen=True, slots=True)
class Question:
    """One of the questions, with its counted answers."""

    text: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class OpenRow:
    """One line of the unresolved list."""

    text: Text
    page: str
    """The anchor whose page is shown."""
    page_label: str
    action: str = ""
    """The anchor of the action item about it, "" where there is none."""


@dataclass(frozen=True, slots=True)
class OpenGroup:
    """What is unresolved for one reason."""

    title: str
    note: str
    hot: bool
    """Will be undone by the next sync."""
    rows: tuple[OpenRow, ...]


@dataclass(frozen=True, slots=True)
class AsOfRow:
    """How far one kind of record reaches."""

    record: str
    until: Text
    holds: Text


@dataclass(frozen=True, slots=True)
class PageOne:
    """All of page one, in the order in which it is read."""

    kicker: str
    scope: tuple[tuple[str, Text], ...]
    lead: Text
    caption: Text
    """The heading of the answers, with what is said beside it."""
    questions: tuple[Question, ...]
    remark: Text
    """Below the answers: what is counted in nothing. () for none."""
    unresolved_caption: Text
    unresolved: tuple[OpenGroup, ...]
    as_of_caption: Text
    as_of: tuple[AsOfRow, ...]
    gaps: tuple[Text, ...]
    contents: tuple[tuple[str, str], ...]
    """(title, anchor)."""
    dense: bool = False
    """Set closer, as there are more lines than a page has at the usual distance."""
