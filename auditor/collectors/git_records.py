"""The output of `git log --raw -z --format=raw` as commits.

The raw format is the commit object as git stores it, its message indented by four spaces (`git help log`, "PRETTY
FORMATS"): nothing in it has to be escaped, and a signature is in the header, so that no signature program runs.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from auditor.collectors.git_mailmap import Mailmap
from auditor.model.facts import Commit, PathChange
from auditor.objects.redaction import Redactor

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

_IDENTITY = re.compile(rb"(.*?) ?<([^>]*)>? (-?\d+) [-+]\d{4}", re.DOTALL)
_LATEST = 253_402_300_799
"""Seconds of the last moment of the year 9999: a clock cannot say more."""
_CARRIAGE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def commits(chunks: Iterable[bytes], repository: str, mailmap: Mailmap, redactor: Redactor) -> Iterator[Commit]:
    """The commits in their order. `chunks` are bytes cut anywhere."""
    head = b""
    changes: list[PathChange] = []
    tokens = _tokens(chunks)
    for token in tokens:
        if token.startswith(b"commit "):
            if head:
                yield _commit(head, changes, repository, mailmap, redactor)
            head, _, first = token.partition(b"\n\n:")
            changes = [_change(first, tokens)] if first else []
        elif token.startswith(b":"):
            changes.append(_change(token[1:], tokens))
    if head:
        yield _commit(head, changes, repository, mailmap, redactor)


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


def _commit(head: bytes, changes: list[PathChange], repository: str, mailmap: Mailmap, redactor: Redactor) -> Commit:
    header, _, message = head.partition(b"\n\n")
    lines = header.split(b"\n")
    values: dict[bytes, bytes] = {}
    parents: list[str] = []
    for line in lines:
        key, _, value = line.partition(b" ")
        if key == b"parent":
            parents.append(value.decode("ascii"))
        else:
            values.setdefault(key, value)
    author, author_mail, authored_at = _identity(values.get(b"author", b""))
    committer, committer_mail, committed_at = _identity(values.get(b"committer", b""))
    author, author_mail = mailmap.resolve(author, author_mail)
    committer, committer_mail = mailmap.resolve(committer, committer_mail)
    subject, body = _message(message)
    return Commit(
        repository=repository,
        sha=values[b"commit"].decode("ascii"),
        parents=tuple(parents),
        tree=values.get(b"tree", b"").decode("ascii"),
        author_name=author,
        author_email=author_mail,
        authored_at=authored_at,
        committer_name=committer,
        committer_email=committer_mail,
        committed_at=committed_at,
        subject=redactor.text(subject),
        body=redactor.text(body),
        signature="E" if b"gpgsig" in values or b"gpgsig-sha256" in values else "N",
        changes=tuple(changes),
    )


def _identity(value: bytes) -> tuple[str, str, datetime]:
    found = _IDENTITY.match(value)
    if found is None:
        return _text(value), "", datetime.fromtimestamp(0, UTC)
    seconds = min(max(int(found[3][:20]), 0), _LATEST)
    return _text(found[1]), _text(found[2]), datetime.fromtimestamp(seconds, UTC)


def _message(message: bytes) -> tuple[str, str]:
    """The subject (the first paragraph on one line, as git shows it) and the rest."""
    text = _text(message)
    lines = [line[4:] if line.startswith("    ") else line for line in text.split("\n")]
    paragraph, _, body = "\n".join(lines).strip("\n").partition("\n\n")
    return " ".join(paragraph.split("\n")), body.strip("\n")


def _text(value: bytes) -> str:
    text = value.decode("utf-8", "replace")
    return _CARRIAGE.sub("\ufffd", text) if _CARRIAGE.search(text) else text
