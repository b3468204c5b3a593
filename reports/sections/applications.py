"""Applications as the GitOps tool's own records last have them: what there is to say where no audit log was read."""

from collections.abc import Iterator

from auditor.model.application import ApplicationHistory, ApplicationState, SyncRecord
from reports.case.dossier import Dossier, has_audit
from reports.contract.document import Column, Row, Section, Table
from reports.words.rich import BREAK, Text, code, soft, strong, words
from reports.words.wording import count, cut, grouped, middle_cut

ROWS = 40
RESOURCES = 3
"""Of an application that is out of sync, the resources that are named."""


def applications_section(dossier: Dossier) -> Section | None:
    """A table, those that need a person first; None where an audit log was read, or no application is known."""
    found = sorted(_last_states(dossier), key=lambda each: (_synced(each[1]), str(each[1].key)))
    if has_audit(dossier) or not found:
        return None
    rest = len(found) - ROWS
    note = "those that are not in sync first" + (f"; {grouped(rest)} more are not listed" if rest > 0 else "")
    table = Table(
        words("As last recorded ", soft(note)),
        (
            Column(words("Application"), "9.6rem"),
            Column(words("Argo CD or Flux says")),
            Column(words("At revision"), "6.6rem"),
            Column(words("Syncs"), "8rem"),
            Column(words("Last sync"), "9rem"),
            Column(words("Source"), "3.4rem"),
        ),
        tuple(_row(dossier, history, state) for history, state in found[:ROWS]),
        "finds",
    )
    return Section("applications", "Applications", (table,))


def applications_line(dossier: Dossier) -> Text:
    """` Argo CD calls 1 of 9 applications not Synced.`, () where no application is known."""
    states = [state for _, state in _last_states(dossier)]
    if not states:
        return ()
    astray = sum(not _synced(state) for state in states)
    said = f"{grouped(astray)} of {count(len(states), 'application')} {'is' if astray == 1 else 'are'}"
    return words(" By their own records ", strong(said), " not in sync.")


def _last_states(dossier: Dossier) -> Iterator[tuple[ApplicationHistory, ApplicationState]]:
    for history in dossier.case.applications.values():
        if history.states and history.removed_at is None:
            yield history, history.states[-1]


def _synced(state: ApplicationState) -> bool:
    return state.sync_status == "Synced"


def _row(dossier: Dossier, history: ApplicationHistory, state: ApplicationState) -> Row:
    revision = next(iter(state.revisions), "")
    return Row(
        (
            words(middle_cut(dossier.called(state.key), 50)),
            _said(state),
            words(code(revision[:9])) if revision else words("–"),
            words(_how(state)),
            _last_sync(dossier, history),
            dossier.cited.all((state.evidence,), state.at) or words("–"),
        )
    )


def _said(state: ApplicationState) -> Text:
    verdict = ", ".join(cut(word, 30) for word in (state.sync_status, state.health) if word) or "no status recorded"
    astray = [f"{kind} {middle_cut(name, 40)}" for _, kind, _, name, status in state.resources if status == "OutOfSync"]
    if not astray:
        return words(verdict)
    rest = len(astray) - RESOURCES
    more = f" and {grouped(rest)} more" if rest > 0 else ""
    return words(verdict, BREAK, soft(f"{', '.join(astray[:RESOURCES])}{more}"))


def _how(state: ApplicationState) -> str:
    if state.skip_reconcile:
        return "not reconciled"
    if state.waits_for_a_hand:
        return "by hand"
    if not state.automated:
        return f"as the ApplicationSet {middle_cut(state.rolled_out_by, 30)} starts it"
    return "by itself, undoes drift" if state.self_heal else "by itself, at new commits"


def _last_sync(dossier: Dossier, history: ApplicationHistory) -> Text:
    if not history.syncs:
        return words("none recorded")
    last: SyncRecord = history.syncs[-1]
    by = f" by {middle_cut(last.initiated_by, 30)}" if last.initiated_by else ""
    return words(f"{cut(last.phase, 20) or 'recorded'}{by}", BREAK, dossier.clock.time(last.started_at))
