"""Whole stories, from an audit log, an Application and a repository to what `auditor changes` says of them."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from auditor.cli import app, run
from auditor.console.status import Status
from tests.factories import minute
from tests.scenario import (
    ALICE,
    ARGOCD,
    BOB,
    Body,
    Cluster,
    Repository,
    application,
    config_map,
    deployment,
    save,
)

IMAGE = "spec.template.spec.containers[name=app].image"


class Shop:
    """One application, `shop-prod`, deployed from `apps/shop` with manual sync, and what happens to it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys
        self.cluster = Cluster()
        self.repository = Repository(folder / "repository")
        self.manifests = {"web.yaml": deployment(), "settings.yaml": config_map(TIMEOUT="30")}
        self.first = self.commit(-60, "Start")
        for manifest in self.manifests.values():
            self.cluster.create(ARGOCD, _tracked(manifest))

    def commit(self, at: float, message: str, *, branch: str = "main") -> str:
        self.repository.branch(branch)
        files = {f"apps/shop/{name}": yaml.safe_dump(manifest) for name, manifest in self.manifests.items()}
        return self.repository.commit(minute(at), files, message)

    def changes(self, *arguments: str) -> list[dict[str, Any]]:
        """What `auditor changes` says, once everything is collected."""
        self.repository.branch("main")
        exported = application("shop-prod", "apps/shop") | {"status": self._status()}
        save(self.folder, [self.cluster], [exported], self.repository)
        config = str(self.folder / "auditor.toml")
        assert run(partial(app(), ["collect", "--config", config])) == Status.CLEAN
        self.capsys.readouterr()
        run(partial(app(), ["changes", "--config", config, "--format", "json", *arguments]))
        answer = json.loads(self.capsys.readouterr().out)
        self.as_of: dict[str, Any] = answer["as_of"]
        said: list[dict[str, Any]] = answer["changes"]
        return said

    def _status(self) -> Body:
        resources = [
            {
                "kind": each["kind"],
                "group": "apps" if each["kind"] == "Deployment" else "",
                "name": each["metadata"]["name"],
            }
            | {"namespace": "shop-prod", "status": "Synced"}
            for each in self.manifests.values()
        ]
        sync = {"status": "Synced", "revision": self.first}
        return {"sync": sync, "resources": resources, "reconciledAt": "2026-11-30T08:30:00Z"}


def _tracked(manifest: Body) -> Body:
    group, kind, name = (
        ("apps" if "apps" in manifest["apiVersion"] else ""),
        manifest["kind"],
        manifest["metadata"]["name"],
    )
    mark = {"argocd.argoproj.io/tracking-id": f"shop-prod:{group}/{kind}:shop-prod/{name}"}
    return manifest | {"metadata": manifest["metadata"] | {"annotations": mark}}


@pytest.fixture
def shop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shop:
    return Shop(tmp_path, capsys)


def test_a_hotfix_that_reached_git_is_reflected(shop: Shop) -> None:
    patch = [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "app:2"}]
    shop.cluster.patch(ALICE, deployment(), patch, "json-patch")
    shop.manifests["web.yaml"]["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2"
    fix = shop.commit(20, "Pin web to the hotfix")
    [change] = shop.changes()
    [field] = change["fields"]
    assert (change["application"], change["actor"]["name"], change["argocd_sees"]) == ("shop-prod", ALICE, True)
    assert (field["path"], field["after"]) == (IMAGE, "app:2")
    assert (field["git"]["verdict"], field["git"]["commit"]) == ("reflected", fix)
    assert field["cluster"]["verdict"] == "standing"


def test_a_commit_that_records_show_was_made_by_then_whatever_its_clock_said(shop: Shop) -> None:
    shop.cluster.scale(ALICE, deployment(), 6)
    shop.manifests["web.yaml"]["spec"]["replicas"] = 6
    shop.first = ahead = shop.commit(600, "Six replicas, by a clock that runs ahead")
    [change] = shop.changes()
    [field] = change["fields"]
    assert (field["git"]["verdict"], field["git"]["commit"]) == ("already", ahead)
    assert shop.as_of["git"] == shop.as_of["argocd"] == "2026-11-30T08:30:00Z"


def test_a_commit_that_no_record_shows_may_have_been_made_after_all_of_them(shop: Shop) -> None:
    shop.cluster.scale(ALICE, deployment(), 6)
    shop.manifests["web.yaml"]["spec"]["replicas"] = 6
    later = shop.commit(600, "Six replicas, after the records")
    [change] = shop.changes()
    assert change["fields"][0]["git"]["commit"] == later
    assert shop.as_of["git"] == minute(600).isoformat().replace("+00:00", "Z")


def test_an_edit_that_self_heal_put_back_never_reached_git(shop: Shop) -> None:
    settings = shop.manifests["settings.yaml"]
    shop.cluster.patch(ALICE, settings, {"data": {"TIMEOUT": "90"}}, field_manager="kubectl-edit")
    shop.cluster.patch(ARGOCD, settings, {"data": {"TIMEOUT": "30"}}, field_manager="argocd-controller")
    [change] = shop.changes()
    assert change["channel"] == "kubectl edit"
    [field] = change["fields"]
    assert (field["git"]["verdict"], field["cluster"]["verdict"]) == ("not-reflected", "reverted-by-gitops")
    assert field["cluster"]["by"] == ARGOCD


def test_a_field_that_git_does_not_declare_is_out_of_argo_cds_sight(shop: Shop) -> None:
    shop.cluster.patch(BOB, deployment(), {"spec": {"paused": True}})
    [change] = shop.changes()
    assert (change["git"], change["argocd_sees"], change["cluster_state"]) == ("not-declared", False, "standing")


def test_an_object_that_nobody_owns_has_no_application(shop: Shop) -> None:
    shop.cluster.create(BOB, config_map("notes", text="x"), field_manager="kubectl-create")
    [change] = shop.changes()
    assert (change["application"], change["operation"], change["fields"]) == (None, "create", [])
    assert (change["git"], change["argocd_sees"]) == ("not-in-git", False)


def test_a_dry_run_and_a_refused_request_are_no_changes(shop: Shop) -> None:
    shop.cluster.scale(ALICE, deployment(), 7, code=403)
    assert shop.changes() == []
