"""What a client says of itself and who it was authenticated as do not agree."""

from collections import defaultdict
from collections.abc import Iterator

from auditor.config import Config
from auditor.detectors import Detector
from auditor.detectors.conclusion import conclude, times
from auditor.model.case import Case
from auditor.model.change import Write
from auditor.model.finding import Finding


def detect(case: Case, config: Config) -> Iterator[Finding]:
    """One finding for each credential and claim."""
    claims: dict[tuple[str, str], list[Write]] = defaultdict(list)
    for write in case.writes:
        if write.disagreement:
            claims[(write.actor.account or write.actor.name, write.disagreement)].append(write)
    for (account, sentence), writes in claims.items():
        yield conclude(
            "identity-mismatch",
            "medium",
            f"{sentence} ({times(len(writes))}, first on {writes[0].object})",
            "Trust the authenticated account: ask its holder, and see who else has that credential.",
            key=(account, sentence),
            subject=writes[0].object,
            actors=filter(None, (account,)),
            first_at=writes[0].at,
            last_at=writes[-1].at,
            count=len(writes),
            evidence=tuple(evidence for write in writes for evidence in write.evidence),
        )


DETECTOR = Detector("identity-mismatch", "a client's claim and its authenticated account differ", detect)
