"""Argo CD's source hydrator: it renders one branch (dry) and commits the manifests to another, from which it syncs.

The synced branch decides what git says; who wrote a value stands in the dry commit that was rendered.
"""

from collections.abc import Iterator

from auditor.model.application import ApplicationHistory
from auditor.model.desired import GitReader, Landing
from auditor.model.resource import JsonObject
from auditor.objects.document import child, text


def dry_commit(history: ApplicationHistory, hydrated: Landing, git: GitReader) -> Landing | None:
    """The commit whose rendering a commit of the synced branch is, where a record says so and it brought just one."""
    known = dict(_operations(history))
    places = list(known)
    if hydrated.sha not in known or not places.index(hydrated.sha):
        return None
    url, sha = known[hydrated.sha]
    _, before = known[places[places.index(hydrated.sha) - 1]]
    return git.commit(url, sha) if git.first_parent(url, sha) == before else None


def _operations(history: ApplicationHistory) -> Iterator[tuple[str, tuple[str, str]]]:
    """Hydrated commits in their order, each with the repository and the commit that was rendered."""
    for state in history.states:
        operation = child(child(child(state.document, "status"), "sourceHydrator"), "lastSuccessfulOperation")
        hydrated, dry = text(operation, "hydratedSHA"), text(operation, "drySHA")
        if hydrated and dry:
            yield hydrated, (_repository(state.document), dry)


def _repository(document: JsonObject) -> str:
    return text(child(child(child(document, "spec"), "sourceHydrator"), "drySource"), "repoURL")
