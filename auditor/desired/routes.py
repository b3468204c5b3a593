"""Which way a branch came to its tip, where first parents do not tell.

A fast-forward to a branch that had merged the tracked one makes the tracked branch's own commits second parents, and a
forced push takes commits out of its history. Records of revisions and tips of earlier collections show where it was.
"""

from collections.abc import Iterable, Set

from auditor.desired.history import Changes, Graph, Line
from auditor.model.facts import Commit


def route(graph: Graph, tip: str, seen: Set[str], former: Iterable[str]) -> Line:
    """The line of a branch. `seen` are commits that it was at by some record; `former` are tips that are no longer in
    its history."""
    first_parents = graph.chain(tip, {})
    line = Line(first_parents)
    through = _turns(graph, line, seen)
    chain = graph.chain(tip, through) if through else first_parents
    against = {merge: graph.difference(parent, merge, line) for merge, parent in through.items()}
    for lost in former:
        chain = _spliced(graph, chain, lost, against, line)
    return Line(chain, against) if against else line


def _turns(graph: Graph, line: Line, seen: Set[str]) -> dict[str, str]:
    """For merges where the branch came by another parent than the first: that parent."""
    aside = {sha for sha in seen if sha in graph.commits and sha not in line.positions}
    if not aside:
        return {}
    landed = graph.brought(line.commits)
    through: dict[str, str] = {}
    reached = len(line.commits)
    for position in sorted({landed[sha] for sha in aside if sha in landed}, reverse=True):
        # Between a merge and the fork the chain goes the other way: merges there are no longer on it.
        turn = _turn(graph, line, position, aside, seen) if position < reached else None
        if turn is not None:
            through[line.commits[position].sha], reached = turn
    return through


def _turn(graph: Graph, line: Line, position: int, aside: Set[str], seen: Set[str]) -> tuple[str, int] | None:
    """The parent by which the branch came to a merge, and the position at which that way left the chain."""
    for parent in line.commits[position].parents[1:]:
        brought = graph.beyond(parent, line.positions)
        if aside.isdisjoint(brought):
            continue
        ends = [end for sha in brought for end in graph.commits[sha].parents if end in line.positions]
        fork = max((line.positions[end] for end in ends), default=-1)
        # The branch can only have come this way if nothing says that it was on the other one as well.
        if seen.isdisjoint(commit.sha for commit in line.commits[fork + 1 : position]):
            return parent, fork
    return None


def _spliced(graph: Graph, chain: list[Commit], lost: str, against: dict[str, Changes], line: Line) -> list[Commit]:
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
    against[after] = graph.difference(aside[-1].sha, after, line)
    return [*chain[: fork + 1], *aside, *chain[fork + 1 :]]
