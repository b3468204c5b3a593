"""The five steps of an episode: freeze, change, announce, fix git, unfreeze.

A step is *missing* only where a source that would hold it was read for that time, else *not-recorded*, and the
detail names the source.
"""

from datetime import timedelta

from auditor.correlate.episodes.announcing import Subject, announcement_of
from auditor.correlate.episodes.fix import answers, fix
from auditor.correlate.episodes.freeze import freeze_step, unfreeze_step
from auditor.correlate.episodes.incident import Background, Incident, recorded, untaken
from auditor.model.change import Evidence
from auditor.model.episode import Step

_ANNOUNCED_WITHIN = timedelta(hours=24)
"""What is written a day after an episode's end speaks of something else."""


def steps(incident: Incident, background: Background) -> tuple[Step, ...]:
    """The five, in the order of `STEP_NAMES`."""
    freeze = freeze_step(incident, background)
    fields = answers(incident, background.verdicts)
    unfreeze = unfreeze_step(incident, freeze, fields, background)
    return (
        freeze,
        _change(incident),
        _announce(incident, background),
        fix(fields, unfreeze),
        unfreeze,
    )


def _change(incident: Incident) -> Step:
    objects = {change.write.object for change in incident.changes}
    count = len(incident.changes)
    detail = f"{count} {'change' if count == 1 else 'changes'} of {len(objects)} "
    detail += "object" if len(objects) == 1 else "objects"
    evidence = tuple(each for change in incident.changes for each in change.write.evidence)
    return Step("change", "done", incident.first_at, incident.changes[0].write.actor.name, detail, evidence)


def _announce(incident: Incident, background: Background) -> Step:
    config = background.config
    message = announcement_of(
        _subject(incident, background), background.announcements, background.applications, config.people
    )
    if message is not None:
        late = message.at - incident.first_at > timedelta(minutes=config.goals.announce_minutes)
        evidence = Evidence("announcement", f"{message.channel} {message.at.isoformat()}", message.origin)
        where = f"in {message.channel}" if message.channel else ""
        return Step("announce", "late" if late else "done", message.at, message.author or None, where, (evidence,))
    if recorded(background.coverage, "announcements", incident.first_at):
        return untaken("announce", "missing", "no message that was read is about this")
    return untaken("announce", "not-recorded", "no announcements were read for that time")


def _subject(incident: Incident, background: Background) -> Subject:
    objects = [change.write.object for change in incident.changes]
    as_of = background.coverage.as_of.moment or incident.first_at
    latest = (incident.ended_at or as_of) + _ANNOUNCED_WITHIN
    return Subject(
        application=incident.history.key.name,
        namespaces=frozenset(each.namespace for each in objects if each.namespace),
        objects=frozenset(each.name for each in objects),
        actors=incident.people,
        anybody=any(change.write.actor.kind == "shared-credential" for change in incident.changes)
        or any(not freeze.began_by.name for freeze in incident.freezes),
        began_at=incident.began_at,
        lead_from=incident.lead_from,
        until=min(filter(None, (latest, incident.following_at))),
    )
