"""Whole stories of a cluster that Flux deploys to, from its records to what `auditor` says of them."""

import copy
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from auditor.cli import app, run
from auditor.console.status import Status
from tests.factories import minute
from tests.scenario import ALICE, REPOSITORY, Body, Cluster, Repository, deployment, save

KUSTOMIZE = "system:serviceaccount:flux-system:kustomize-controller"
AGENT = "kustomize-controller/v0.0.0 (linux/amd64) kubernetes/$Format"
IMAGE = "spec.template.spec.containers[name=app].image"
LABELS = {"kustomize.toolkit.fluxcd.io/name": "shop", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}


class Shop:
    """A Kustomization `flux-system/shop` of `apps/shop`, and what happens to it and to its Deployment."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.cluster = Cluster()
        self.repository = Repository(folder / "repository")
        self.manifest = deployment()
        self.first = self.commit(-60, "Start")
        self.source = git_repository()
        self.kustomization = kustomization()
        self.cluster.create("system:admin", self.source)
        self.cluster.create("system:admin", self.kustomization)
        self.cluster.create(KUSTOMIZE, self._labelled(), user_agent=AGENT)
        self.reconciled(self.first)

    def commit(self, at: float, message: str) -> str:
        files = {"apps/shop/deploy/web.yaml": yaml.safe_dump(self.manifest)}
        return self.repository.commit(minute(at), files, message)

    def edit(self, image: str) -> None:
        patch = [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image}]
        self.cluster.patch(ALICE, deployment(), patch, "json-patch", field_manager="kubectl-edit")

    def reconciled(self, sha: str, applies: bool = False) -> None:
        """Flux looks for drift by a dry run, applies what it found, and says how it went."""
        self._status("Unknown", self._applied())
        given: dict[str, Any] = {"field_manager": "kustomize-controller", "force": True, "user_agent": AGENT}
        self.cluster.patch(KUSTOMIZE, deployment(), self._labelled(), "apply", dry_run=True, **given)
        if applies:
            self.cluster.patch(KUSTOMIZE, deployment(), self._labelled(), "apply", **given)
        self._status("True", f"main@sha1:{sha}")

    def patch_kustomization(self, change: Body, user: str = ALICE, agent: str = "flux/v2.7.0") -> None:
        self.cluster.patch(user, self.kustomization, change, "merge", field_manager="flux", user_agent=agent)

    def changes(self) -> list[dict[str, Any]]:
        """The changes of the Deployment."""
        return [each for each in self.answers("changes") if each["object"]["kind"] == "Deployment"]

    def answers(self, command: str) -> list[dict[str, Any]]:
        """What `auditor` says, once everything is collected."""
        if not (self.folder / "auditor.toml").exists():
            exported = [self.cluster.get(self.source), self.cluster.get(self.kustomization)]
            save(self.folder, [self.cluster], exported, self.repository)
        config = str(self.folder / "auditor.toml")
        assert run(partial(app(), ["collect", "--config", config])) == Status.CLEAN
        self.capsys.readouterr()
        run(partial(app(), [command, "--config", config, "--format", "json"]))
        said: list[dict[str, Any]] = json.loads(self.capsys.readouterr().out)[command]
        return said

    def _labelled(self) -> Body:
        return self.manifest | {"metadata": self.manifest["metadata"] | {"labels": LABELS}}

    def _applied(self) -> str:
        return str(self.cluster.get(self.kustomization).get("status", {}).get("lastAppliedRevision", ""))

    def _status(self, ready: str, revision: str) -> None:
        at = f"{minute(self.cluster.minutes):%Y-%m-%dT%H:%M:%SZ}"
        condition = {"type": "Ready", "status": ready, "reason": "x", "message": "Applied", "lastTransitionTime": at}
        status: Body = {"conditions": [condition], "inventory": {"entries": [{"id": "shop-prod_web_apps_Deployment"}]}}
        if revision:
            status |= {"lastAppliedRevision": revision, "lastAttemptedRevision": revision}
        given: dict[str, Any] = {"subresource": "status", "user_agent": AGENT}
        self.cluster.patch(KUSTOMIZE, self.kustomization, {"status": status}, "merge", **given)


def git_repository() -> Body:
    return {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": {"name": "deploy", "namespace": "flux-system"},
        "spec": {"url": REPOSITORY, "ref": {"branch": "main"}, "interval": "1m"},
    }


def kustomization(**spec: Any) -> Body:
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": "shop", "namespace": "flux-system"},
        "spec": {"sourceRef": {"kind": "GitRepository", "name": "deploy"}, "path": "./apps/shop", "prune": True} | spec,
    }


@pytest.fixture
def shop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shop:
    return Shop(tmp_path, capsys)


def test_flux_reverts_an_edit_by_hand_after_a_dry_run(shop: Shop) -> None:
    shop.edit("app:2")
    shop.reconciled(shop.first, applies=True)
    [change] = shop.changes()
    [field] = change["fields"]
    assert (change["application"], change["actor"]["name"], change["cause"]) == ("shop", ALICE, "out-of-band")
    assert (field["path"], field["after"]) == (IMAGE, "app:2")
    assert field["git"]["verdict"] == "not-reflected"
    assert (field["cluster"]["verdict"], field["cluster"]["by"]) == ("reverted-by-gitops", KUSTOMIZE)


def test_a_hotfix_under_suspension_that_reached_git_is_a_whole_episode(shop: Shop) -> None:
    shop.patch_kustomization({"spec": {"suspend": True}})
    shop.edit("app:2")
    shop.manifest["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2"
    fix = shop.commit(shop.cluster.minutes + 1, "Pin web to the hotfix")
    shop.cluster.minutes += 2
    shop.patch_kustomization({"spec": {"suspend": None}})
    shop.reconciled(fix)
    [change] = shop.changes()
    assert (change["fields"][0]["git"]["verdict"], change["fields"][0]["git"]["commit"]) == ("reflected", fix)
    assert change["cluster_state"] == "standing"
    [episode] = shop.answers("episodes")
    steps = {name: step["state"] for name, step in episode["steps"].items()}
    assert (steps["freeze"], steps["change"], steps["git"], steps["unfreeze"]) == ("done", "done", "done", "done")
    assert episode["steps"]["freeze"]["by"] == ALICE


def test_a_suspension_that_nobody_lifts_is_a_finding(shop: Shop) -> None:
    shop.patch_kustomization({"spec": {"suspend": True}})
    [found] = (each for each in shop.answers("findings") if each["ident"] == "freeze-not-lifted")
    assert found["application"] == "shop"
    assert "flux resume kustomization shop --namespace flux-system" in found["remedy"]


def test_an_object_that_flux_was_told_to_leave_alone_is_frozen(shop: Shop) -> None:
    key = "kustomize.toolkit.fluxcd.io/reconcile"
    told: Body = {"metadata": {"annotations": {key: "disabled"}}}
    shop.cluster.patch(ALICE, deployment(), told, field_manager="kubectl-annotate")
    shop.edit("app:2")
    change = next(each for each in shop.changes() if each["fields"][0]["path"] == IMAGE)
    assert change["next"].startswith("An annotation tells Flux to leave the object alone")
    [found] = (each for each in shop.answers("findings") if each["ident"] == "freeze-not-lifted")
    assert ALICE in found["message"]


def test_another_branch_in_the_git_repository_is_a_bypass_of_its_author(shop: Shop) -> None:
    other = copy.deepcopy(shop.manifest)
    other["spec"]["template"]["spec"]["containers"][0]["image"] = "app:canary"
    shop.repository.branch("canary")
    tip = shop.repository.commit(minute(-50), {"apps/shop/deploy/web.yaml": yaml.safe_dump(other)}, "Try a canary")
    shop.repository.branch("main")
    shop.cluster.patch(ALICE, shop.source, {"spec": {"ref": {"branch": "canary"}}}, "merge", field_manager="x")
    shop.manifest = other
    shop.reconciled(tip, applies=True)
    [change] = shop.changes()
    assert (change["cause"], change["actor"]["name"], change["application"]) == ("bypass", ALICE, "shop")
    assert (change["fields"][0]["git"]["verdict"], change["fields"][0]["git"]["branch"]) == ("on-branch", "canary")


def test_another_path_in_the_kustomization_is_a_bypass_of_its_author(shop: Shop) -> None:
    other = copy.deepcopy(shop.manifest)
    other["spec"]["template"]["spec"]["containers"][0]["image"] = "app:canary"
    shop.repository.commit(minute(-50), {"apps/canary/web.yaml": yaml.safe_dump(other)}, "Add a canary")
    shop.patch_kustomization({"spec": {"path": "./apps/canary"}}, agent="kubectl/v1.34.0 (linux/amd64)")
    shop.manifest = other
    shop.reconciled(shop.first, applies=True)
    [change] = shop.changes()
    assert (change["cause"], change["actor"]["name"], change["application"]) == ("bypass", ALICE, "shop")
    assert (change["fields"][0]["path"], change["fields"][0]["git"]["verdict"]) == (IMAGE, "not-reflected")
