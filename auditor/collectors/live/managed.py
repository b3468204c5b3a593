"""Which objects Applications manage, in which cluster: from their `status.resources` and their destinations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from auditor.collectors.argocd.exports import kind_of
from auditor.collectors.files.document_files import MAX_FILE
from auditor.collectors.files.documents import Document, documents, recognise
from auditor.collectors.files.source_files import SourceFile, read_content, read_head, source_files
from auditor.config import ArgoCDConfig, Config
from auditor.errors import SourceError
from auditor.model.resource import JsonObject
from auditor.objects.document import child, text

_IN_CLUSTER = ("https://kubernetes.default.svc", "in-cluster")
"""Server and name by which a destination means the cluster that its Argo CD runs in."""


@dataclass(frozen=True, slots=True, order=True)
class ManagedObject:
    """An object as an Application lists it."""

    group: str
    kind: str
    version: str
    namespace: str
    """"" for a cluster-scoped one."""
    name: str


class ManagedObjects:
    """The objects of all Applications that were looked at, by cluster."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._by_cluster: dict[str, set[ManagedObject]] = {}
        self.applications = 0
        """How many were looked at."""

    def in_cluster(self, cluster: str) -> list[ManagedObject]:
        """Those of one cluster, by kind, namespace and name."""
        return sorted(self._by_cluster.get(cluster, ()))

    def look(self, argocd: ArgoCDConfig, document: JsonObject) -> None:
        """Take what an Application manages; a destination that no configured cluster claims is none of ours."""
        if kind_of(document) != "Application":
            return
        self.applications += 1
        destination = child(child(document, "spec"), "destination")
        cluster = _cluster(text(destination, "server"), text(destination, "name"), self._config, argocd.cluster)
        listed = child(document, "status").get("resources")
        if cluster and isinstance(listed, list):
            found = self._by_cluster.setdefault(cluster, set())
            found.update(_managed(each) for each in listed if isinstance(each, dict) and each.get("name"))

    def look_into_exports(self, argocd: ArgoCDConfig) -> None:
        """Take what the Applications in an Argo CD's exports manage. Their own collector says what is unreadable."""
        for source in source_files(self._config.folder, argocd.exports):
            if isinstance(source, SourceFile):
                for document in _exported(source.path):
                    self.look(argocd, document)


def _managed(listed: Mapping[str, object]) -> ManagedObject:
    def word(key: str) -> str:
        value = listed.get(key)
        return value if isinstance(value, str) else ""

    return ManagedObject(word("group"), word("kind"), word("version") or "v1", word("namespace"), word("name"))


def _exported(path: Path) -> Iterator[JsonObject]:
    try:
        if recognise(read_head(path)):
            found = documents(read_content(path, MAX_FILE))
            yield from (each.value for each in found if isinstance(each, Document))
    except (OSError, SourceError):
        return


def _cluster(server: str, name: str, config: Config, home: str) -> str:
    """The configured cluster that a destination means, "" where none or more than one claims it."""
    if server == _IN_CLUSTER[0] or (not server and name == _IN_CLUSTER[1]):
        return home
    wanted = {each.rstrip("/") for each in (server, name) if each}
    claiming = [
        cluster.name
        for cluster in config.clusters
        if wanted & {cluster.name, *(each.rstrip("/") for each in cluster.server)}
    ]
    return claiming[0] if len(claiming) == 1 else ""
