"""Freeze and unfreeze: the first and the last step of an episode."""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime

from auditor.correlate.episodes.fix import Answer, listed
from auditor.correlate.episodes.incident import Background, Incident, clock, home, recorded, untaken
from auditor.model.application import ApplicationHistory, ApplicationState, Freeze
from auditor.model.episode import Step, StepState

_FORMS = {
    "automated-removed": "auto-sync was removed",
    "automated-disabled": "auto-sync was disabled",
    "self-heal-off": "self-heal was switched off; a new commit still syncs",
    "sync-window": "a sync window denied syncs",
    "skip-reconcile": "reconciling was skipped by annotation",
    "controller-scaled": "the application controller was scaled to 0",
    "rollback": "a rollback switched auto-sync off",
    "suspended": "reconciling was suspended",
    "reconcile-disabled": "Flux was told to leave the object alone",
}


def freeze_step(incident: Incident, background: Background) -> Step:
    """Whether the application was kept from syncing before it was changed, in any of the forms that Argo CD has."""
    freeze = _resting_on(incident)
    if freeze is not None and _may_lie_before(freeze, incident.first_at):
        detail = f"{_FORMS[freeze.form]} by {clock(freeze.began_at)}; no record says when"
        return untaken("freeze", "not-recorded", detail, freeze.evidence[0])
    if freeze is not None:
        state: StepState = "done" if freeze.began_at <= incident.first_at else "out-of-order"
        return Step("freeze", state, freeze.began_at, freeze.began_by.name or None, _how(freeze), freeze.evidence)
    before = _state_before(incident.history, incident.first_at)
    if before is None:
        return untaken("freeze", "not-recorded", "no record says how the application synced then")
    if before.waits_for_a_hand:
        return _never_automated(incident, before)
    if recorded(background.coverage, "audit", incident.first_at, home(incident, background.config)):
        return untaken("freeze", "missing", _synced_by(before), before.evidence)
    return untaken("freeze", "not-recorded", "the audit log of Argo CD's cluster does not reach over that time")


def _resting_on(incident: Incident) -> Freeze | None:
    """The last freeze begun before the first change, one that held before one that was undone; else the first."""
    before = [freeze for freeze in incident.freezes if freeze.began_at <= incident.first_at]
    held = [freeze for freeze in before if freeze.ended_at is None or freeze.ended_at >= incident.first_at]
    later = [freeze for freeze in incident.freezes if freeze.began_at > incident.first_at]
    return next(iter([*held[-1:], *before[-1:], *later[:1]]), None)


def _may_lie_before(freeze: Freeze, moment: datetime) -> bool:
    """Whether it is open if a freeze began before a moment: only states before and after that are recorded."""
    return freeze.not_before is not None and freeze.not_before <= moment < freeze.began_at


def _how(freeze: Freeze) -> str:
    said = f"{_FORMS[freeze.form]} ({freeze.description})" if freeze.description else _FORMS[freeze.form]
    if not freeze.undone or freeze.ended_at is None:
        return said
    return f"{said}; undone by {freeze.undone_by or 'something else'} at {clock(freeze.ended_at)}"


def _synced_by(before: ApplicationState) -> str:
    """What started syncs while nothing held them."""
    return "auto-sync was on" if before.automated else f"the ApplicationSet {before.rolled_out_by} starts the syncs"


def _state_before(history: ApplicationHistory, moment: datetime) -> ApplicationState | None:
    return max((state for state in history.states if state.at <= moment), key=lambda state: state.at, default=None)


def _never_automated(incident: Incident, before: ApplicationState) -> Step:
    if any(state.automated for state in incident.history.states if state.at <= before.at):
        return untaken(
            "freeze", "not-recorded", "auto-sync was off; the records do not say since when", before.evidence
        )
    if _switched_on(incident) is not None:
        return untaken("freeze", "not-recorded", "auto-sync was already off when the records begin", before.evidence)
    return untaken("freeze", "not-needed", "the application waits for a manual sync", before.evidence)


def _switched_on(incident: Incident) -> ApplicationState | None:
    return next((s for s in incident.history.states if s.at > incident.first_at and s.automated), None)


def unfreeze_step(incident: Incident, freeze: Step, fields: Sequence[Answer], background: Background) -> Step:
    """Whether auto-sync was put back, and Argo CD then said Synced at a revision with what git got."""
    if freeze.state in ("missing", "not-needed"):
        before = _state_before(incident.history, incident.first_at)
        rolled = before is not None and not before.automated and before.rolled_out_by
        said = "nothing held the syncs that its ApplicationSet starts" if rolled else "auto-sync was not switched off"
        return untaken("unfreeze", "not-needed", said)
    if not incident.freezes:
        return _unfrozen_without_record(incident)
    if all(each.undone for each in incident.freezes):
        last = incident.freezes[-1]
        return untaken("unfreeze", "not-needed", f"{last.undone_by or 'something else'} had put auto-sync back")
    if any(each.ended_at is None for each in incident.freezes if not each.undone):
        return _still_frozen(incident, background)
    last = max((f for f in incident.freezes if not f.undone), key=lambda freeze: freeze.ended_at or freeze.began_at)
    return _ended(last, incident, fields, background)


def _unfrozen_without_record(incident: Incident) -> Step:
    state = _switched_on(incident)
    if state is None:
        return untaken("unfreeze", "not-recorded", "the records do not say how the application synced")
    return Step("unfreeze", "done", state.at, None, "auto-sync was on again by then", (state.evidence,))


def _still_frozen(incident: Incident, background: Background) -> Step:
    as_of = background.coverage.as_of
    end = as_of.audit.get(home(incident, background.config)) or as_of.argocd
    if end is None:
        return untaken("unfreeze", "not-recorded", "no record says whether auto-sync is on again")
    return untaken("unfreeze", "missing", f"still frozen at {clock(end)}, when the records end")


def _ended(freeze: Freeze, incident: Incident, fields: Sequence[Answer], background: Background) -> Step:
    ended = freeze.ended_at or freeze.began_at
    by = freeze.ended_by.name if freeze.ended_by else None
    fixes = {f.verdict.git.commit for f in fields if f.verdict.git.verdict == "reflected" and f.verdict.git.commit}
    later = [state for state in incident.history.states if state.at >= ended]
    synced = _synced_with(fixes, (state for state in later if _compared_since(state, ended)), background.parents)
    if synced is not None:
        return Step("unfreeze", "done", ended, by, _how_synced(synced, fields), (*freeze.evidence, synced.evidence))
    if not later:
        detail = "auto-sync is on again; no later record says whether the application became Synced"
        return Step("unfreeze", "not-recorded", ended, by, detail, freeze.evidence)
    wanted = " at a revision with the fix" if fixes else ""
    detail = f"auto-sync is on again; no record since says Synced{wanted}"
    return Step("unfreeze", "missing", ended, by, detail, freeze.evidence)


def _compared_since(state: ApplicationState, moment: datetime) -> bool:
    """Whether Argo CD compared after the moment: what it said before stays in the document until then."""
    return state.reconciled_at is None or state.reconciled_at >= moment.replace(microsecond=0)


def _how_synced(synced: ApplicationState, fields: Sequence[Answer]) -> str:
    said = [f"Synced at {', '.join(each[:8] for each in synced.revisions)}"]
    if fields and all(field.verdict.git.verdict == "unknown" for field in fields):
        said.append("whether that has the fix is not recorded")
    hidden = [field.name for field in fields if field.standing and field.verdict.git.verdict == "not-declared"]
    if hidden:
        unseen = "git does not declare" if synced.key.is_flux else "Argo CD cannot see"
        said.append(f"{unseen} {listed(hidden)}")
    return "; ".join(said)


def _synced_with(
    fixes: Set[str], states: Iterable[ApplicationState], parents: Mapping[str, tuple[str, ...]]
) -> ApplicationState | None:
    """The first state that says Synced at revisions which contain all fixes."""
    contained: dict[tuple[str, ...], bool] = {}
    for state in states:
        if state.sync_status == "Synced":
            if state.revisions not in contained:
                contained[state.revisions] = fixes <= _ancestry(state.revisions, parents)
            if contained[state.revisions]:
                return state
    return None


def _ancestry(revisions: Iterable[str], parents: Mapping[str, tuple[str, ...]]) -> Set[str]:
    """The commits in the history of any of the revisions, themselves included."""
    seen: set[str] = set()
    waiting = list(revisions)
    while waiting:
        sha = waiting.pop()
        if sha not in seen:
            seen.add(sha)
            waiting.extend(parents.get(sha, ()))
    return seen
