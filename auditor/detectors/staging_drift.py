"""What production has from an incident and staging lacks, the morning after."""

from collections.abc import Iterator

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, shown
from auditor.model.case import Case
from auditor.model.finding import Finding, Severity
from auditor.model.staging import StagingDifference, StagingPair
from auditor.objects import paths

SEVERITY: dict[str, Severity] = {
    "hotfix-not-in-git": "medium",
    "production-hotfix": "medium",
    "staging-change": "low",
    "unexplained": "low",
}

ADVICE = {
    "promote": "Bring the value to staging too, so that the next promotion does not take it back.",
    "revert": "Take the value out of staging again, or let it come by a commit.",
    "decide": "Decide which of the two is meant, and commit it for both.",
}


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each difference that is neither an overlay nor a promotion on its way."""
    for pair in case.staging:
        for difference in pair.differences:
            if difference.causes and difference.causes[0] in SEVERITY:
                yield _finding(case, pair, difference)


def _finding(case: Case, pair: StagingPair, difference: StagingDifference) -> Finding:
    where = paths.text(difference.path) if difference.path else "the whole object"
    return conclude(
        "staging-drift",
        SEVERITY[difference.causes[0]],
        f"{difference.object} {where}: {shown(difference.production)} in {case.called(pair.production)}, "
        f"{shown(difference.staging)} in {case.called(pair.staging)}; {difference.because}.",
        ADVICE.get(difference.advice, "Nothing is owed."),
        key=(pair.staging, difference.changes[:1]),
        application=pair.production,
        subject=difference.object,
        path=paths.text(difference.path) if difference.path else None,
        values=(difference.staging.value, difference.production.value),
        changes=difference.changes,
    )


DETECTOR = Detector("staging-drift", "production and staging differ by more than their overlays", detect)
