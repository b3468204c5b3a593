"""What bears on applications: which commits and messages a report on them tells."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta

from auditor.correlate.episodes.announcing import mentions
from auditor.model.case import Scope
from auditor.model.change import AppKey
from auditor.model.desired import Landing
from auditor.model.episode import Episode
from auditor.model.facts import Announcement, Origin
from auditor.model.verdict import Verdict

AROUND_EPISODE = timedelta(minutes=5)
"""What happened so shortly before and after an episode belongs to its story."""


def landings(
    found: Mapping[AppKey, tuple[Landing, ...]], applications: Collection[AppKey], verdicts: Iterable[Verdict]
) -> dict[AppKey, tuple[Landing, ...]]:
    """What landed in what the applications are rendered from, and what verdicts name of what landed elsewhere."""
    told = {git.commit for one in verdicts for git in (one.git, *(field.git for field in one.fields))}
    return {
        key: row if key in applications else tuple(landing for landing in row if landing.sha in told)
        for key, row in found.items()
    }


def messages(
    found: Iterable[Announcement], episodes: Sequence[Episode], applications: Collection[str], others: Collection[str]
) -> tuple[Announcement, ...]:
    """The messages that episodes rest on, those that name one of the applications, and of those that name none what
    was written in the time of an episode: it may be about it."""
    cited = cited_in(episodes)

    def bears(message: Announcement) -> bool:
        if message.origin in cited or names_one(message, applications):
            return True
        return not names_one(message, others) and any(_during(message, episode) for episode in episodes)

    return tuple(message for message in found if bears(message))


def names(scope: Scope) -> frozenset[str]:
    """Of the applications of a scope, as messages have them: without namespace."""
    return frozenset(name.rpartition("/")[2] for name in scope.applications)


def cited_in(episodes: Iterable[Episode]) -> set[Origin | None]:
    """Where the records lie that the steps of episodes rest on."""
    return {evidence.origin for episode in episodes for step in episode.steps for evidence in step.evidence}


def names_one(message: Announcement, applications: Iterable[str]) -> bool:
    """Whether a message names one of the applications."""
    return any(mentions(message.text, name) for name in applications)


def _during(message: Announcement, episode: Episode) -> bool:
    if message.at < episode.began_at - AROUND_EPISODE:
        return False
    return episode.ended_at is None or message.at <= episode.ended_at + AROUND_EPISODE
