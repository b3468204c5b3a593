"""Findings that say no more than others beside them."""

from collections.abc import Iterator, Sequence

from auditor.model.finding import SEVERITIES, Finding

BARE = "out-of-band-change"
"""The rule that says no more than that a change was made past git: any other finding about the change says it too."""


def folded(found: Sequence[Finding]) -> Iterator[tuple[Finding, list[Finding]]]:
    """The findings in their order, each with those that say no more than that its changes were made past git.

    Such a one goes to the first that is about all of its changes and no less severe; where there is none it stands for
    itself.
    """
    about: dict[str, list[int]] = {}
    for place, finding in enumerate(found):
        for change in finding.changes if finding.ident != BARE else ():
            about.setdefault(change, []).append(place)
    also: dict[int, list[Finding]] = {}
    alone: set[int] = set()
    for place, finding in enumerate(found):
        near = about.get(finding.changes[0], []) if finding.ident == BARE and finding.changes else []
        above = next((one for one in near if _covers(found[one], finding)), None)
        if above is None:
            alone.add(place)
        else:
            also.setdefault(above, []).append(finding)
    yield from ((found[place], also.get(place, [])) for place in sorted(alone))


def _covers(one: Finding, bare: Finding) -> bool:
    milder = SEVERITIES.index(one.severity) < SEVERITIES.index(bare.severity)
    return not milder and set(bare.changes) <= set(one.changes)
