"""Which way a branch came to its tip, where first parents do not tell.

A fast-forward to a branch that had merged the tracked one makes the tracked branch's own commits second parents, and a
forced push takes commits out of its history. Records of revisions and tips of earlier collections show where it was.
"""

from collections.abc import Iterable, Set

from auditor.desired.history import Changes, Graph, Line
from auditor.model.facts import Commit

_MOST_TURNS = 100


def route(graph: Graph, tip: str, seen: Set[str], former: Iterable[str]) -> Line:
    """The line of a branch. `seen` are commits that it was at by some record; `former` are tips that are no longer in
    its history."""
    through = _turns(graph, tip, seen)
    chain = graph.chain(tip, through)
    against = {merge: graph.difference(parent, merge) for merge, parent in through.items()}
    for lost in former:
        chain = _spliced(graph, chain, lost, against)
    return Line(chain, against)


def _turns(graph: Graph, tip: str, seen: Set[str]) -> dict[str, str]:
    """For merges where the branch came by another parent than the first: that parent."""
    through: dict[str, str] = {}
    while len(through) < _MOST_TURNS:
        chain = graph.chain(tip, through)
        positions = {commit.sha: place for place, commit in enumerate(chain)}
        aside = {sha for sha in seen if sha in graph.commits and sha not in positions}
        turn = _turn(graph, chain, positions, aside, seen) if aside else None
        if turn is None:
            break
        through[turn[0]] = turn[1]
    return through


def _turn(
    graph: Graph, chain: list[Commit], positions: dict[str, int], aside: Set[str], seen: Set[str]
) -> tuple[str, str] | None:
    """The last merge that brought a commit which the branch had been at already, and the parent that has it."""
    for merge in reversed(chain):
        for parent in merge.parents[1:]:
            brought = graph.beyond(parent, positions)
            if aside.isdisjoint(brought):
                continue
            # The branch can only have come this way if nothing says that it was on the other one as well.
            ends = [end for sha in brought for end in graph.commits[sha].parents if end in positions]
            fork = max((positions[end] for end in ends), default=-1)
            between = {commit.sha for commit in chain[fork + 1 : positions[merge.sha]]}
            if seen.isdisjoint(between):
                return merge.sha, parent
    return None


def _spliced(graph: Graph, chain: list[Commit], lost: str, against: dict[str, Changes]) -> list[Commit]:
    """The chain with the commits that were pushed over where they once stood."""
    positions = {commit.sha: place for place, commit in enumerate(chain)}
    aside = [commit for commit in graph.chain(lost, {}) if commit.sha not in positions]
    if not aside or not aside[0].parents or aside[0].parents[0] not in positions:
        return chain
    fork = positions[aside[0].parents[0]]
    if fork + 1 == len(chain):
        # Set back to an older commit and nothing since: no commit would begin what the branch has now.
        return chain
    after = chain[fork + 1].sha
    against[after] = graph.difference(aside[-1].sha, after)
    return [*chain[: fork + 1], *aside, *chain[fork + 1 :]]
