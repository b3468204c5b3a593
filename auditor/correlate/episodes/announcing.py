"""Which message announced an incident, and which only sounds like it.

A message counts where it names the application, or its author changed it and names a changed object and no other
application; where it comes from one of the incident's people, or names one of them or what they changed; and where it
was written in the incident's time. Other incidents in the same channel name other applications or other people.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from auditor.config import Person
from auditor.model.facts import Announcement

_ABOUT_THE_ACT = re.compile(
    r"(?i)\b(auto-?sync|sync|freez\w*|froze\w*|paus\w*|suspend\w*|roll(ing|ed)?[ -]?back|hot-?fix\w*|break[ -]?glass|"
    r"scal(e|ed|ing)|patch(ed|ing)?|edit(ed|ing)?|chang(e|ed|ing)|rais(e|ed|ing)|set(ting)?|mov(e|ed|ing))\b"
)

_ISSUED = re.compile(r"\A(?!system:|arn:)[^@\s]*[:#]([^\s:#@/]+(?:@[^\s:#@/]+)?)\Z")
"""`oidc:carol`, `https://login.acme.example#carol@acme.example`: a name or mail address behind a prefix."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a message must be about to announce an incident."""

    application: str
    namespaces: frozenset[str]
    """Of the changed objects."""
    objects: frozenset[str]
    """Names of the changed objects."""
    actors: tuple[str, ...]
    """Names as the records have them."""
    anybody: bool
    """Whether one of them is a credential that people share, or a step was taken that no record names the hand of: it
    may be any author's."""
    began_at: datetime
    lead_from: datetime
    """A message before the incident counts from here on, if it says what is about to be done."""
    until: datetime


def announcement_of(
    subject: Subject,
    messages: Sequence[Announcement],
    applications: Collection[str],
    people: Iterable[Person],
) -> Announcement | None:
    """The first message that announces the incident: one within it before one ahead of it. `applications` are the
    names of all applications, to tell whose incident a message is about."""
    mine = [identities(actor, people) for actor in subject.actors]
    near = [message for message in messages if subject.lead_from <= message.at <= subject.until]
    told = [message for message in near if _tells(message, subject, applications, mine)]
    within = [message for message in told if message.at >= subject.began_at]
    ahead = [message for message in told if message.at < subject.began_at and _ABOUT_THE_ACT.search(message.text)]
    return min(within, key=_order, default=max(ahead, key=_order, default=None))


def identities(name: str, people: Iterable[Person]) -> frozenset[str]:
    """All names of one person, as the configuration joins them; a mail address also by its local part, and without
    the prefix that the API server puts before what an OpenID Connect provider calls a user."""
    known = {name, *_ISSUED.findall(name)}
    for person in people:
        if any(each.casefold() in {one.casefold() for one in _all_names(person)} for each in tuple(known)):
            known |= {*_all_names(person)}
    return frozenset(each.casefold() for one in known for each in (one, one.partition("@")[0]))


def _all_names(person: Person) -> tuple[str, ...]:
    return (person.name, *person.identities)


def _order(message: Announcement) -> tuple[datetime, str, int]:
    return message.at, message.channel, message.origin.offset


def _tells(
    message: Announcement, subject: Subject, applications: Collection[str], actors: Sequence[frozenset[str]]
) -> bool:
    names_it = mentions(message.text, subject.application)
    by_actor = any(wrote(message, actor) for actor in actors)
    if names_it:
        if subject.anybody and _ABOUT_THE_ACT.search(message.text):
            return True
        told_by = {*(subject.objects - {subject.application}), *(name for actor in actors for name in actor)}
        return by_actor or any(mentions(message.text, name) for name in told_by)
    others = any(mentions(message.text, name) for name in applications if name != subject.application)
    thing = any(mentions(message.text, name) for name in subject.objects | subject.namespaces)
    return by_actor and thing and not others


def wrote(message: Announcement, actor: frozenset[str]) -> bool:
    """Whether the message's author is this person: by mail address where both have one, by name else."""
    mail, shown = message.author_email.casefold(), message.author.casefold()
    if mail and any("@" in name for name in actor):
        # A display name with a blank is no local part of an address: it is there as the configuration joins it.
        return mail in actor or (" " in shown and shown in actor)
    return shown in actor or mail.partition("@")[0] in actor - {""}


def mentions(text: str, name: str) -> bool:
    """Whether a text names something, and not something else whose name contains it."""
    return bool(name) and _naming(name).search(text) is not None


@lru_cache(maxsize=4096)
def _naming(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)(?<![\w.-]){re.escape(name)}(?![\w-])")
