"""What the records do not cover, and what is unknown for it."""

from collections.abc import Iterator

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude
from auditor.model.case import Case
from auditor.model.finding import Finding


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each gap that coverage names."""
    for gap in case.coverage.gaps:
        yield conclude(
            "records-gap",
            "info",
            gap.sentence,
            f"Export it: {gap.export}" if gap.export else "Nothing can bring it back.",
            key=(gap.kind, gap.cluster, gap.sentence),
            values=(gap.kind, gap.cluster),
            first_at=gap.first_at,
            last_at=gap.last_at,
        )


DETECTOR = Detector("records-gap", "something that a source would hold is not in the records", detect)
