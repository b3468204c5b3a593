"""A freeze that something other than a person undid: the changes made under it were never safe."""

from collections.abc import Iterator

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, span
from auditor.model.application import Freeze
from auditor.model.case import Case
from auditor.model.finding import Finding


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each freeze that was undone."""
    for history in case.applications.values():
        for freeze in history.freezes:
            if freeze.undone and freeze.ended_at is not None:
                yield _finding(case, freeze, (freeze.ended_at - freeze.began_at).total_seconds())


def _finding(case: Case, freeze: Freeze, held: float) -> Finding:
    undone_by = freeze.undone_by or (freeze.ended_by.name if freeze.ended_by else "") or "something not recorded"
    return conclude(
        "freeze-did-not-hold",
        "high",
        f"{case.called(freeze.app)} was frozen by {freeze.began_by.name or 'a credential that is not recorded'} "
        f"({freeze.form.replace('-', ' ')}); {undone_by} undid it after {span(held)}.",
        "Freeze where the setting is declared: in the parent application or ApplicationSet (ignoreDifferences or "
        "ignoreApplicationDifferences on spec.syncPolicy), or by a deny window in the AppProject, which holds.",
        key=(freeze.form, freeze.began_at.isoformat()),
        application=freeze.app,
        actors=filter(None, (freeze.began_by.name,)),
        values=(undone_by,),
        first_at=freeze.began_at,
        last_at=freeze.ended_at,
        evidence=freeze.evidence,
    )


DETECTOR = Detector("freeze-did-not-hold", "a freeze was undone by a parent application or ApplicationSet", detect)
