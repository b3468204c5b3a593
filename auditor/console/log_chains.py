"""Whether whole audit logs are still what was read, also in what no statement cites: a line taken out is told too."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from auditor.collectors.files.sources import Source, expand, open_stream
from auditor.collectors.kube_audit.chain import Link, first_difference
from auditor.collectors.kube_audit.resume import link_of, recognise
from auditor.config import Config
from auditor.console.evidence import Standing, named
from auditor.errors import SourceError
from auditor.model.facts import SourceMark


@dataclass(frozen=True, slots=True)
class LogStanding:
    """How a log stands now. `gone`: nothing can be opened there any more."""

    source: str
    """Under which name it was read."""
    cluster: str
    standing: Standing
    bytes: int
    """How much of it was read."""
    sha256: str
    """The end of its chain, as hex."""
    changed_from: int | None = None
    """Up to this byte it is what was read; None where it did not change."""


def log_places(config: Config, marks: Sequence[SourceMark]) -> dict[str, Source]:
    """Where the content of each mark lies now, by the name under which it was read: a log that was rotated since is
    known by its content. One that is recognised nowhere is looked for under its name."""
    places = {mark.source: named(config.folder, mark.source) for mark in marks}
    for cluster in sorted({mark.cluster for mark in marks}):
        places |= _recognised(config, cluster, [mark for mark in marks if mark.cluster == cluster and link_of(mark)])
    return places


def log_standings(marks: Iterable[SourceMark], places: Mapping[str, Source]) -> Iterator[LogStanding]:
    """Every log that was read, by cluster and name."""
    chained = [(mark.cluster, mark.source, link) for mark in marks if (link := link_of(mark))]
    for cluster, name, link in sorted(chained, key=itemgetter(0, 1)):
        standing, changed_from = _stands(places[name], link)
        yield LogStanding(name, cluster, standing, link.length, link.sha256, changed_from)


def _recognised(config: Config, cluster: str, marks: Iterable[SourceMark]) -> dict[str, Source]:
    patterns = [pattern for one in config.clusters if one.name == cluster for pattern in one.audit if pattern != "-"]
    sources = [source for source in expand(config.folder, patterns) if isinstance(source, Source)]
    return {known.mark.source: known.source for known in recognise(sources, marks) if known.mark}


def _stands(place: Source, link: Link) -> tuple[Standing, int | None]:
    if place.name == "-":
        return "not-kept", None
    try:
        stream = open_stream(place)
    except SourceError:
        return "gone", None
    try:
        changed_from = first_difference(stream, link)
    finally:
        stream.close()
    return ("unchanged" if changed_from is None else "changed"), changed_from
