"""The output of `git log --raw -z --format=raw` as commits.

The raw format is the commit object as git stores it, its message indented by four spaces (`git help log`, "PRETTY
FORMATS"): nothing in it has to be escaped, and a signature is in the header, so that no signature program runs.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from auditor.collectors.git.mailmap import Mailmap
from auditor.model.facts import Commit, PathChange
from auditor.objects.redaction import Redactor
from auditor.objects.timestamps import LATEST

LOG = (
    "log",
    "--raw",
    "-z",
    "--no-abbrev",
    "--format=raw",
    "--diff-merges=first-parent",
    "--find-renames=100%",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-notes",
    "--no-decorate",
    "--no-show-signature",
    "--ignore-missing",
    "--stdin",
)
"""Every commit against its first parent, which for a merge is what it brought to the branch."""

_HEADER = re.compile(
    rb"commit ([0-9a-f]+)[^\n]*(?:\ntree ([0-9a-f]+))?((?:\nparent [0-9a-f]+)*)"
    rb"(?:\nauthor ([^\n]*))?(?:\ncommitter ([^\n]*))?(.*)",
    re.DOTALL,
)
_LATEST = int(LATEST.timestamp()) - 1
"""Seconds since 1970: a clock cannot say more."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def commits(chunks: Iterable[bytes], repository: str, mailmap: Mailmap, redactor: Redactor) -> Iterator[Commit]:
    """The commits in their order. `chunks` are bytes cut anywhere."""
    read = _Reader(repository, mailmap, redactor)
    head = b""
    changes: list[PathChange] = []
    tokens = _tokens(chunks)
    for token in tokens:
        if token.startswith(b"commit "):
            if head:
                yield read.commit(head, changes)
            head, _, first = token.partition(b"\n\n:")
            changes = [_change(first, tokens)] if first else []
        elif token.startswith(b":"):
            changes.append(_change(token[1:], tokens))
    if head:
        yield read.commit(head, changes)


def _tokens(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _change(meta: bytes, tokens: Iterator[bytes]) -> PathChange:
    """One entry: modes, object names and a status letter, followed by one path, or two for a rename."""
    old_mode, mode, old_blob, blob, status = meta.decode("ascii").split(" ", 4)
    path = next(tokens, b"").decode("utf-8", "backslashreplace")
    old_path = ""
    if status[0] in "RC":
        old_path, path = path, next(tokens, b"").decode("utf-8", "backslashreplace")
    return PathChange(
        path,
        "" if old_mode == "000000" else old_mode,
        "" if mode == "000000" else mode,
        old_blob if old_blob.strip("0") else "",
        blob if blob.strip("0") else "",
        old_path,
    )


class _Reader:
    """Reads commits of one repository. Names recur in nearly every commit: each is worked out once."""

    def __init__(self, repository: str, mailmap: Mailmap, redactor: Redactor) -> None:
        self._repository = repository
        self._mailmap = mailmap
        self._redactor = redactor
        self._people: dict[bytes, tuple[str, str]] = {}

    def commit(self, head: bytes, changes: list[PathChange]) -> Commit:
        header, _, message = head.partition(b"\n\n")
        found = _HEADER.match(header)
        sha, tree, parents, wrote, committed, rest = found.groups(b"") if found else (header[7:], *[b""] * 5)
        author, author_mail, authored_at = self._identity(wrote)
        same = committed == wrote
        committer, mail, committed_at = (author, author_mail, authored_at) if same else self._identity(committed)
        subject, body = _message(message)
        return Commit(
            self._repository,
            sha.decode("ascii", "replace"),
            tuple(parents.decode("ascii").split("\nparent ")[1:]),
            tree.decode("ascii"),
            author,
            author_mail,
            authored_at,
            committer,
            mail,
            committed_at,
            self._redactor.text(subject),
            self._redactor.text(body) if body else "",
            "E" if b"\ngpgsig" in rest else "N",
            tuple(changes),
        )

    def _identity(self, value: bytes) -> tuple[str, str, datetime]:
        """Name, address and time of `Name <address> seconds zone`."""
        who, _, when = value.rpartition(b"> ")
        if who not in self._people:
            given, _, address = who.rpartition(b"<")
            name, mail = self._mailmap.resolve(_text(given.strip()), _text(address))
            self._people[who] = self._redactor.name(name), self._redactor.name(mail)
        digits = when.partition(b" ")[0]
        seconds = min(int(digits), _LATEST) if digits.isdigit() and len(digits) < 20 else 0
        return *self._people[who], datetime.fromtimestamp(seconds, UTC)


def _message(message: bytes) -> tuple[str, str]:
    """The subject (the first paragraph on one line, as git shows it) and the rest, without the indentation."""
    text = _text(message)
    paragraph, _, body = (
        (text[4:] if text.startswith("    ") else text).replace("\n    ", "\n").strip("\n").partition("\n\n")
    )
    return paragraph.replace("\n", " "), body.strip("\n")


def _text(value: bytes) -> str:
    text = value.decode("utf-8", "replace")
    return _CONTROL.sub("\ufffd", text) if _CONTROL.search(text) else text
