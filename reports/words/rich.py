"""Text with meaning: a sentence is a tuple of spans, which each renderer sets in its own way.

Record text becomes visible here and nowhere else: a span cannot hold a control character.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

SpanKind: TypeAlias = Literal[
    "text",
    "strong",
    "act",
    "soft",
    "code",
    "path",
    "value",
    "absent",
    "unknown",
    "becomes",
    "time",
    "local",
    "mark",
    "ref",
    "page",
    "sign",
    "quote",
    "break",
]

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    """`text` with every character that has no shape written as an escape: controls, bidirectional marks, surrogates."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if unicodedata.category(character) not in _UNSEEN:
        return character
    names = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    code = ord(character)
    return names.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}")


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text of one kind."""

    kind: SpanKind
    text: str = ""
    label: str = ""
    """For a time its RFC 3339 form; for a mark its words; for a sign its shape; for a page what it leads to."""
    href: str = ""
    """`#anchor` inside the report, never a record's own address."""
    state: str = ""
    """For a mark: git, act, stand, back, untraced, unknown."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", visible(self.text))
        object.__setattr__(self, "label", visible(self.label))


Text: TypeAlias = tuple[Span, ...]

BREAK = Span("break")
BECOMES = Span("becomes", "→", "becomes")


def text(words: str) -> Span:
    """Plain text."""
    return Span("text", words)


def strong(words: str) -> Span:
    """Text that stands out."""
    return Span("strong", words)


def act(words: str) -> Span:
    """Something that will be undone, or that needs action."""
    return Span("act", words)


def soft(words: str) -> Span:
    """How we know, and other second-rank text."""
    return Span("soft", words)


def code(words: str) -> Span:
    """A name or command, in the mono face."""
    return Span("code", words)


def ref(words: str, href: str) -> Span:
    """A link inside the report."""
    return Span("ref", words, href=href)


def sign(word: str, shape: str) -> Span:
    """A word of the contract with its shape."""
    return Span("sign", word, label=shape)


def words(*parts: "str | Span | Iterable[Span]") -> Text:
    """One text of strings, spans and texts."""
    spans: list[Span] = []
    for part in parts:
        if isinstance(part, str):
            spans.append(text(part))
        elif isinstance(part, Span):
            spans.append(part)
        else:
            spans.extend(part)
    return tuple(span for span in spans if span.text or span.kind in ("break", "page", "sign"))


def joined(parts: Iterable[Text], separator: str = ", ") -> Text:
    """Texts in a row with `separator` between them."""
    row: list[Span] = []
    for part in parts:
        if row:
            row.append(text(separator))
        row.extend(part)
    return tuple(row)


def plain(spans: Text) -> str:
    """The text without its kinds."""
    return "".join(" " if span.kind == "break" else span.text for span in spans)
