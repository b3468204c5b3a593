"""What the records do not cover, and what is unknown for it."""

from collections.abc import Iterator

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, evidence_of
from auditor.model.case import Case
from auditor.model.change import Change
from auditor.model.finding import Finding


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each gap that coverage names, and one for each cluster whose audit log lacks stored writes."""
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
    unheard = [change for change in case.changes if change.write.known_by == "ownership"]
    for cluster in dict.fromkeys(change.write.object.cluster for change in unheard):
        yield _unheard(cluster, [change for change in unheard if change.write.object.cluster == cluster])


def _unheard(cluster: str, changes: list[Change]) -> Finding:
    writes = "1 write" if len(changes) == 1 else f"{len(changes)} writes"
    return conclude(
        "records-gap",
        "medium",
        f"The audit log of {cluster} that was read has no event of {writes} that managedFields tell of: "
        "who sent them is not recorded, and what else was sent beside them may be missing too.",
        "Look for a rotated file, an API server whose log is not collected, or a rule of the audit policy that leaves "
        "these requests out.",
        key=("audit", cluster, "unheard"),
        values=("audit", cluster),
        first_at=changes[0].write.at,
        last_at=changes[-1].write.at,
        count=len(changes),
        changes=(change.id for change in changes),
        evidence=evidence_of(changes),
    )


DETECTOR = Detector("records-gap", "something that a source would hold is not in the records", detect)
