"""The break-glass checklist: one table an episode, five steps each with its state and its record."""

from collections.abc import Mapping

from auditor.model.episode import Episode, Step, StepName
from reports.case.dossier import Dossier, has_audit, marks
from reports.contract.document import Block, Column, Paragraph, Row, Section, Table
from reports.words.rich import Text, sign, soft, strong, words
from reports.words.wording import count, cut, duration, grouped, middle_cut

EPISODES = 12
NAMES: Mapping[StepName, str] = {
    "freeze": "Auto-sync off first",
    "change": "Changed",
    "announce": "Announced",
    "git": "Git in the same incident",
    "unfreeze": "Auto-sync on, diff empty",
}


def checklist_section(dossier: Dossier) -> Section:
    """The episodes of the window; those with something missing first when there are too many."""
    episodes = dossier.case.episodes
    if not episodes:
        said = "No person changed an application past git in this window, so there is no episode."
        if not has_audit(dossier):
            said = "No audit log was read, so whether there was an episode cannot be told."
        return Section("checklist", "Break-glass checklist", (Paragraph(words(said)),))
    worst = sorted(range(len(episodes)), key=lambda place: (-_open_steps(episodes[place]), place))[:EPISODES]
    tables: list[Block] = [_table(dossier, episodes[place], place) for place in sorted(worst)]
    if len(episodes) > EPISODES:
        rest = grouped(len(episodes) - EPISODES)
        tables.append(Paragraph(words(f"And {rest} more episodes, with fewer steps open: auditor episodes.")))
    return Section("checklist", "Break-glass checklist", tuple(tables))


def anchor(place: int) -> str:
    """Of the table of the episode with this place in the case."""
    return f"episode-{place + 1}"


def _open_steps(episode: Episode) -> int:
    return sum(step.state in ("missing", "late", "out-of-order") for step in episode.steps)


def _table(dossier: Dossier, episode: Episode, place: int) -> Table:
    return Table(
        words(f"{middle_cut(dossier.called(episode.application), 60)} ", soft(_summary(dossier, episode))),
        (
            Column(words("Step"), "11.4rem"),
            Column(words("State"), "7.8rem"),
            Column(dossier.clock.heading, "8.6rem" if dossier.clock.foreign else "5.4rem"),
            Column(words("What the records say")),
        ),
        tuple(_row(dossier, episode, step) for step in episode.steps),
        "steps",
        stacked=True,
        anchor=anchor(place),
    )


def _summary(dossier: Dossier, episode: Episode) -> str:
    times = (
        ("announced after", episode.seconds_to_announce),
        ("in git after", episode.seconds_to_git),
        ("frozen for", episode.seconds_frozen),
        ("without git for", episode.seconds_exposed),
    )
    parts = [f"{said} {duration(seconds)}" for said, seconds in times if seconds is not None and seconds >= 0]
    changes = dossier.of(episode.changes)
    parts.insert(0, count(len(changes) or len(episode.changes), "change"))
    if episode.ended_at is None:
        parts.append("open when the records end")
    return ", ".join(parts)


def _row(dossier: Dossier, episode: Episode, step: Step) -> Row:
    said = _said(dossier, episode, step)
    source = dossier.cited.all(step.evidence, step.at, 3)
    told = words(said, " · " if said and source else "", source) or words("–")
    return Row(
        (words(NAMES[step.name]), words(sign(step.state, f"step-{step.state}")), dossier.clock.both(step.at), told)
    )


def _said(dossier: Dossier, episode: Episode, step: Step) -> Text:
    by = middle_cut(step.by or "", 60)
    detail = cut(step.detail, 260)
    if step.name == "change":
        people = ", ".join(middle_cut(actor, 40) for actor in episode.actors[:3])
        return words(marks(dossier.of(episode.changes), 12), " ", people or detail)
    named = by if by and by not in step.detail else ""
    if step.name == "git" and step.at is not None:
        return _landed(dossier, episode, named, detail)
    return words(named, ", " if named and detail else "", _emphasised(detail))


def _landed(dossier: Dossier, episode: Episode, author: str, beside: str) -> Text:
    """Which changes git has and by whom, so that what it does not declare is read as said of the others."""
    found = tuple(one for one in dossier.of(episode.changes) if one.state == "git")
    by = f"{', ' if found else ''}by {author}" if author else ""
    return words(marks(found, 12), " in git" if found else "", by, f"; open beside it: {beside}" if beside else "")


def _emphasised(detail: str) -> Text:
    """A freeze can be done, and undone: that word stands out."""
    before, undone, after = detail.partition("undone")
    return words(before, strong(undone), after)
