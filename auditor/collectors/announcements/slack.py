"""Messages of a Slack export: `users.json`, and one file of messages a channel and day."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from auditor.collectors.announcements.written_time import written_moment
from auditor.model.facts import Announcement, Origin
from auditor.model.resource import JsonObject
from auditor.objects.document import child, maps, text
from auditor.objects.redaction import Redactor

_SAID_BY_PEOPLE = frozenset({"", "bot_message", "thread_broadcast", "me_message", "file_share", "file_comment"})
"""Subtypes that somebody wrote. The others (channel_join, channel_topic …) Slack writes itself."""

_WRAPPING = frozenset({"message_changed", "message_deleted"})

_MENTION = re.compile(r"<@(\w+)(?:\|([^>]*))?>")
_CHANNEL = re.compile(r"<#\w+\|([^>]*)>")
_LINK = re.compile(r"<([^<>|]+)(?:\|([^>]*))?>")


@dataclass(frozen=True, slots=True)
class SlackUser:
    """A member as the export shows it."""

    name: str
    email: str


def is_user(document: JsonObject) -> bool:
    """Whether an object is an entry of `users.json`."""
    return "id" in document and "ts" not in document and ("profile" in document or "real_name" in document)


def is_message(document: JsonObject) -> bool:
    """Whether an object is a message."""
    return "ts" in document and ("text" in document or document.get("type") == "message")


def is_channel(document: JsonObject) -> bool:
    """Whether an object is an entry of `channels.json`: it holds no words of anybody."""
    return text(document, "id")[:1] in {"C", "G", "D"} and "ts" not in document and "text" not in document


def users(documents: Iterable[JsonObject]) -> Mapping[str, SlackUser]:
    """The members by id."""
    return {text(document, "id"): _user(document) for document in documents if is_user(document)}


def read_message(
    document: JsonObject, channel: str, members: Mapping[str, SlackUser], origin: Origin, redactor: Redactor
) -> Announcement | str | None:
    """The announcement in a message, None for one that nobody wrote, and the reason where its time is none."""
    if text(document, "subtype") in _WRAPPING:
        return _read_wrapped(document, channel, members, origin, redactor)
    if text(document, "subtype") not in _SAID_BY_PEOPLE:
        return None
    said = _said(document, members)
    at = written_moment(str(document.get("ts", "")), None)
    if isinstance(at, str) or not said:
        return at if isinstance(at, str) else None
    author = members.get(text(document, "user")) or _author_in(document)
    return Announcement(at, author.name, author.email, redactor.text(said + _edited(document)), channel, origin)


def _read_wrapped(
    document: JsonObject, channel: str, members: Mapping[str, SlackUser], origin: Origin, redactor: Redactor
) -> Announcement | str | None:
    """What was said before somebody edited or deleted it: a message counts as it was when it was sent."""
    said = child(document, "previous_message")
    return read_message(said, channel, members, origin, redactor) if said and "ts" in said else None


def _edited(document: JsonObject) -> str:
    """A note on an edited message: what it says, it says only since then."""
    at = written_moment(str(child(document, "edited").get("ts", "")), None)
    return "" if isinstance(at, str) else f" (edited {at:%H:%M} UTC)"


def _user(document: JsonObject) -> SlackUser:
    profile = child(document, "profile")
    name = (
        text(profile, "display_name")
        or text(profile, "real_name")
        or text(document, "real_name")
        or text(document, "name")
    )
    return SlackUser(name, text(profile, "email"))


def _author_in(document: JsonObject) -> SlackUser:
    """The author as the message itself names it: what `users.json` lacks, and bots."""
    profile = child(document, "user_profile") or child(document, "bot_profile")
    name = text(profile, "display_name") or text(profile, "real_name") or text(profile, "name")
    return SlackUser(name or text(document, "username") or text(document, "user"), "")


def _said(document: JsonObject, members: Mapping[str, SlackUser]) -> str:
    """The text of a message, else what its attachments or blocks hold: bots leave the text empty."""
    own = text(document, "text") or "\n".join(_in_attachments(document)) or "\n".join(_in_blocks(document))
    return _readable(own, members).strip()


def _in_attachments(document: JsonObject) -> Iterator[str]:
    for part in maps(document, "attachments"):
        said = text(part, "text") or text(part, "fallback")
        yield from filter(None, (text(part, "pretext"), text(part, "title"), said))
        yield from _in_blocks(part)


def _in_blocks(document: JsonObject) -> Iterator[str]:
    for block in maps(document, "blocks"):
        own = [text(child(block, "text"), "text"), *(text(field, "text") for field in maps(block, "fields"))]
        lines = ["".join(text(piece, "text") for piece in maps(line, "elements")) for line in maps(block, "elements")]
        yield from filter(None, (*own, *lines))


def _readable(markup: str, members: Mapping[str, SlackUser]) -> str:
    """Slack's markup as a reader sees it: names for ids, labels for links."""

    def name(match: re.Match[str]) -> str:
        member = members.get(match.group(1))
        return f"@{member.name if member else match.group(2) or match.group(1)}"

    named = _CHANNEL.sub(r"#\1", _MENTION.sub(name, markup))
    return html.unescape(_LINK.sub(lambda match: match.group(2) or match.group(1).lstrip("!"), named))
