"""Facts as rows and rows as facts: one codec a fact, made from the fields of its value."""

import hashlib
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec

from auditor.model import facts
from auditor.model.facts import Fact, Origin, SourceMark
from auditor.store.compression import BODIES
from auditor.store.database import Row

F = TypeVar("F", bound=Fact | SourceMark)

TABLES: Mapping[type[Any], str] = {
    facts.AuditEvent: "audit_event",
    facts.ApplicationSnapshot: "application_snapshot",
    facts.ArgoSettings: "argo_settings",
    facts.ArgoEvent: "argo_event",
    facts.Commit: "git_commit",
    facts.GitRef: "git_ref",
    facts.Announcement: "announcement",
    facts.ObjectSnapshot: "object_snapshot",
    facts.Skipped: "skipped",
    facts.SourceMark: "source_mark",
}
_NAMED_BY_THEMSELVES = frozenset({facts.AuditEvent, facts.Commit, facts.GitRef, facts.SourceMark})
"""Their fields are a key. The others are keyed by a digest of what they say, wherever it was found."""

_ORIGIN = ("source", "offset", "length", "sha256")
_UNIQUE = frozenset({"id", "audit_id", "request_uri", "uid", "object_version"})
"""Text of audit events that seldom recurs."""


def time_text(at: datetime) -> str:
    """RFC 3339 in UTC with six decimals: sorts as text."""
    utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    return utc.isoformat(timespec="microseconds")[: -len("+00:00")] + "Z"


@dataclass(frozen=True, slots=True)
class Codec(Generic[F]):
    """How one kind of fact is written and read."""

    table: str
    columns: tuple[str, ...]
    to_row: Callable[[F], Row]
    from_row: Callable[[Row], F]


def codec(kind: type[F]) -> Codec[F]:
    """The codec of a fact."""
    key: Any = kind  # mypy does not see that a type is hashable
    found: Codec[F] = _codec(key)
    return found


@cache
def _codec(kind: Any) -> Codec[Any]:
    """Its columns are the digest, where it has one, then the fields, the origin last as four."""
    hints = typing.get_type_hints(kind)
    plain = [name for name in hints if name != "origin"]
    values_of = attrgetter(*plain)
    written = [_writer(hints[name]) for name in plain]
    writers = [(place, write) for place, write in enumerate(written) if write is not None]
    repeats = kind is facts.AuditEvent
    read = [_reader(hints[name], repeats=repeats and name not in _UNIQUE) for name in plain]
    readers = [(place, each) for place, each in enumerate(read) if each is not None]
    keyed = kind not in _NAMED_BY_THEMSELVES
    has_origin = "origin" in hints

    def to_row(fact: Any) -> Row:
        values = list(values_of(fact))
        for place, write in writers:
            values[place] = write(values[place])
        if keyed:
            values.insert(0, _digest(fact, plain))
        if has_origin:
            origin: Origin = fact.origin
            values += (origin.source, origin.offset, origin.length, origin.sha256)
        return values

    def from_row(row: Row) -> Any:
        start = 1 if keyed else 0
        values = list(row[start : start + len(plain)])
        for place, read_one in readers:
            values[place] = read_one(values[place])
        if has_origin:
            source, *place_in_it = row[-4:]
            values.append(Origin(_shared(source), *place_in_it))
        return kind(*values)

    columns = (*(("digest",) if keyed else ()), *plain, *(_ORIGIN if has_origin else ()))
    return Codec(TABLES[kind], columns, to_row, from_row)


def _digest(fact: Any, names: list[str]) -> str:
    said = msgspec.json.encode([getattr(fact, name) for name in names], order="deterministic")
    return hashlib.sha256(said).hexdigest()


def _writer(hint: Any) -> Callable[[Any], Any] | None:
    if bytes in _alternatives(hint):
        return lambda value: value if value is None else BODIES.pack(value)
    if datetime in _alternatives(hint):
        return lambda value: value if value is None else time_text(value)
    return _text_of if _is_structure(hint) else None


def _text_of(value: Any) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()


def _reader(hint: Any, *, repeats: bool = False) -> Callable[[Any], Any] | None:
    if bytes in _alternatives(hint):
        return lambda value: value if value is None else BODIES.unpack(value)
    if datetime in _alternatives(hint):
        return lambda value: value if value is None else datetime.fromisoformat(value)
    if hint is str and repeats:
        return _shared
    if _is_structure(hint):
        decode: Callable[[Any], Any] = msgspec.json.Decoder(hint).decode
        return lru_cache(maxsize=4096)(decode) if repeats else decode
    return bool if hint is bool else None


@lru_cache(maxsize=16_384)
def _shared(text: str) -> str:
    """Equal text as one object: accounts, programs and places recur in every event, and what is told holds them."""
    return text


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


def _is_structure(hint: Any) -> bool:
    return typing.get_origin(hint) in (tuple, Mapping)
