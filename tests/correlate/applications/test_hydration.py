"""The source hydrator: which branch is synced, and who wrote what it rendered."""

from typing import Any

from auditor.correlate.applications.documents import parse_sources
from auditor.correlate.applications.hydration import dry_commit
from auditor.model.application import ApplicationHistory
from auditor.model.desired import Landing
from tests.factories import app_state, history, minute

HYDRATOR = {
    "drySource": {"repoURL": "http://git.acme.example/deploy.git", "path": "charts/web", "targetRevision": "main"},
    "syncSource": {"targetBranch": "environments/prod", "path": "web"},
}


class Graph:
    """Commits d1 <- d2 <- d3 of the dry branch."""

    def commit(self, repo_url: str, sha: str) -> Landing:
        return Landing(sha, minute(0), "Erin Holt <erin@acme.example>", sha, None, (), "", repo_url)

    def first_parent(self, repo_url: str, sha: str) -> str:
        return {"d3": "d2", "d2": "d1"}.get(sha, "")


def hydrated(*pairs: tuple[str, str]) -> ApplicationHistory:
    return history(*(app_state(at, document=document(*pair)) for at, pair in enumerate(pairs)))


def document(hydrated_sha: str, dry_sha: str) -> dict[str, Any]:
    operation = {"hydratedSHA": hydrated_sha, "drySHA": dry_sha}
    return {
        "spec": {"sourceHydrator": HYDRATOR},
        "status": {"sourceHydrator": {"lastSuccessfulOperation": operation}},
    }


def author(of: ApplicationHistory, sha: str) -> str | None:
    landing = Landing(sha, minute(0), "Argo CD <argocd@acme.example>", "hydrate", None, (), "")
    graph: Any = Graph()
    found = dry_commit(of, landing, graph)
    return found.sha if found else None


def test_the_synced_branch_is_the_one_that_the_hydrator_commits_to() -> None:
    (source,) = parse_sources({"sourceHydrator": HYDRATOR})
    assert (source.repo_url, source.path) == ("http://git.acme.example/deploy.git", "web")
    assert source.target_revision == "environments/prod"


def test_a_hydrated_commit_is_its_dry_commit_s_work() -> None:
    assert author(hydrated(("h1", "d1"), ("h2", "d2")), "h2") == "d2"


def test_a_hydrated_commit_that_brought_several_dry_ones_is_nobody_s_in_particular() -> None:
    assert author(hydrated(("h1", "d1"), ("h2", "d3")), "h2") is None


def test_the_first_hydrated_commit_of_the_records_may_have_brought_more() -> None:
    assert author(hydrated(("h1", "d1")), "h1") is None
