"""A week in which nothing goes wrong, the same bytes each time: what 300 applications and their cluster do by routine.

Releases, UI syncs and refreshes, rollout restarts from a pipeline through Argo CD, Image Updater (to git and to the
Application), HPA, KEDA and VPA, External and Sealed Secrets, certificate renewals, node upgrades, pull-request
previews by an ApplicationSet, and applications that are taken down with their namespaces.

    python -m tests.quiet_week.generate FOLDER [DAYS] [APPLICATIONS]
"""

import itertools
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import yaml

from tests.quiet_week.api_server import (
    APPLICATION_SETS,
    CONTROLLER,
    IMAGE_UPDATER,
    kube,
)
from tests.quiet_week.argocd import seconds
from tests.quiet_week.cluster import Cluster
from tests.quiet_week.estate import REPOSITORY, App, Body, Root
from tests.quiet_week.repository import Repository

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
DEVELOPERS = ("Erin Holt <erin@acme.example>", "Frank Moor <frank@acme.example>", "Gina Rowe <gina@acme.example>")


class Week(Cluster):
    """The story, moved forward in the order of time."""

    def __init__(self, folder: Path, applications: int, git: Repository) -> None:
        super().__init__(applications)
        self.folder = folder
        self.git = git
        self.root = Root(self.apps)
        self.pull_requests = itertools.count(100)

    def install(self) -> None:
        """Everything is there and in sync when the records begin."""
        at = MONDAY - timedelta(days=30)
        files: dict[str, str | None] = {}
        for app in self.apps:
            files |= app.files() | self._declared(app)
        sha = self.git.commit(at, DEVELOPERS[0], "Begin", files)
        self.argocd.install(at, self.root, sha)
        for app in self.apps:
            self.argocd.install(at, app, sha)
            if app.has("webhook"):
                self.inject(at, app)
        self._export("start")
        declared = ("Deployment", "Service", "ConfigMap", "ValidatingWebhookConfiguration", "HorizontalPodAutoscaler")
        live = [body for (kind, *_), body in sorted(self.api.objects.items()) if kind in declared]
        snapshot = {"apiVersion": "v1", "kind": "List", "items": live}
        (self.folder / "live" / "start.json").write_bytes(orjson.dumps(snapshot))

    def day(self, number: int) -> None:
        """One day's records, in files of their own."""
        start = MONDAY + timedelta(days=number)
        self._plan(start)
        audit, logs = self.folder / "audit", self.folder / "argocd"
        with (
            (audit / f"audit-{start:%Y-%m-%d}.log").open("w") as self.api.log,
            (logs / f"argocd-server-{start:%Y-%m-%d}.log").open("w") as self.argocd.server_log,
            (logs / f"argocd-application-controller-{start:%Y-%m-%d}.log").open("w") as self.argocd.controller_log,
        ):
            self.until(start + timedelta(days=1))
        self._export(f"{start:%Y-%m-%d}")

    def _plan(self, start: datetime) -> None:
        for app in list(self.apps):
            if app.has("overrides"):
                self.on(self.office(start), lambda at, app=app: self._override(at, app))
            elif self.rng.random() < 0.8:
                self.on(self.office(start), lambda at, app=app: self._release(at, app))
            if self.rng.random() < 0.1:
                self.on(self.office(start), lambda at, app=app: self.argocd.refresh(at, app, self.git.tip(), True))
            if self.rng.random() < 0.1:
                self.on(self.office(start), lambda at, app=app: self._press_sync(at, app))
            if self.rng.random() < 0.1:
                self.on(self.office(start), lambda at, app=app: self.argocd.restart(at, app, "ci-deploy"))
            for hour in range(2, 24, 6):
                at = start + timedelta(hours=hour, seconds=self.rng.randrange(3600))
                self.on(at, lambda at, app=app: self._look(at, app))
        self.plan_routine(start)
        self._previews(start)
        if len(self.apps) > 20:
            self.on(self.office(start), self._take_down)

    # What people and pipelines do by way of git

    def _release(self, at: datetime, app: App) -> None:
        if not self.alive(app):
            return
        app.version += 1
        author = (
            "argocd-image-updater <noreply@argoproj.io>" if app.has("image-updater") else self.rng.choice(DEVELOPERS)
        )
        subject = f"Release {app.name} 1.{app.version}.0 (#{next(self.pull_requests)})"
        sha = self.git.commit(at, author, subject, app.files())
        self.argocd.release(at + seconds(self.rng.randrange(5, 180)), app, sha)
        if app.has("manual"):
            self.on(at + timedelta(minutes=20), lambda at: self._press_sync(at, app))
        self.on(at + seconds(200), lambda at: self.rolled_out(at, app))

    def _press_sync(self, at: datetime, app: App) -> None:
        if self.alive(app):
            self.argocd.sync(at, app, self.git.tip(), "carol")

    def _look(self, at: datetime, app: App) -> None:
        if self.alive(app):
            self.argocd.refresh(at, app, self.git.tip())

    def _override(self, at: datetime, app: App) -> None:
        """Image Updater that writes to the Application instead of git."""
        if not self.alive(app):
            return
        app.overridden += 1
        document = self.argocd.document(app)
        document["spec"]["source"]["kustomize"] = {"images": [app.running]}
        self.api.update(at, IMAGE_UPDATER, document)
        self.argocd.release(at + seconds(3), app, self.git.tip())
        self.on(at + seconds(60), lambda at: self.rolled_out(at, app))
        if app.has("manual"):
            self.on(at + timedelta(minutes=20), lambda at: self._press_sync(at, app))

    # What comes and goes

    def _previews(self, start: datetime) -> None:
        for _ in range(max(1, len(self.apps) // 30)):
            self.on(self.office(start), self._preview)

    def _preview(self, at: datetime) -> None:
        app = App(next(self.pull_requests), preview=True)
        sha = self.git.commit(
            at, self.rng.choice(DEVELOPERS), f"Try {app.number}", app.files(), f"feature/{app.number}"
        )
        made = app.application(sha)
        owner = {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "name": "previews", "uid": "u"}
        made["metadata"] |= {
            "ownerReferences": [owner | {"controller": True}],
            "finalizers": ["resources-finalizer.argocd.argoproj.io"],
        }
        self.api.create(at + seconds(30), APPLICATION_SETS, made)
        self.argocd.sync(at + seconds(35), app, sha)
        self.on(at + timedelta(hours=self.rng.randrange(1, 5)), lambda at: self._close(at, app))

    def _close(self, at: datetime, app: App) -> None:
        leaving = {"metadata": {"deletionTimestamp": f"{at:%Y-%m-%dT%H:%M:%SZ}"}}
        self.api.request(
            at, APPLICATION_SETS, self.argocd.document(app), "delete", answer=self.argocd.document(app) | leaving
        )
        self.argocd.delete(at + seconds(1), app)
        self._namespace(at + seconds(5), app)

    def _namespace(self, at: datetime, app: App) -> None:
        """The namespace goes, and the namespace controller empties it."""
        namespace: Body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": app.name}}
        self.api.request(at, CONTROLLER, namespace, "delete")
        left = [body for (_, place, _), body in self.api.objects.items() if place == app.name]
        for kind in sorted({body["kind"] for body in left}):
            gone = [body for body in left if body["kind"] == kind]
            self.api.delete_all(at + seconds(1), kube("namespace-controller"), gone[0], gone)

    def _take_down(self, at: datetime) -> None:
        """An application is dropped from git; the root application prunes it with all that it has."""
        app = self.apps.pop(self.rng.randrange(len(self.apps)))
        files: dict[str, str | None] = {app.folder: None, f"root/{app.name}.yaml": None}
        sha = self.git.commit(at, self.rng.choice(DEVELOPERS), f"Retire {app.name}", files)
        self.argocd.prune(at + seconds(58), self.root, app, sha)
        self.argocd.delete(at + seconds(61), app)
        self._namespace(at + seconds(70), app)

    # What is on disk

    def _declared(self, app: App) -> dict[str, str | None]:
        files: dict[str, str | None] = {f"root/{app.name}.yaml": yaml.safe_dump(app.application())}
        if app.has("overrides"):
            files[f"{app.folder}/kustomization.yaml"] = yaml.safe_dump({"resources": ["all.yaml"]})
        return files

    def _export(self, name: str) -> None:
        items = [body for (kind, *_), body in sorted(self.api.objects.items()) if kind == "Application"]
        path = self.folder / "argocd" / f"applications-{name}.json"
        path.write_bytes(orjson.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def weeks(
    folder: Path, days: int = 7, applications: int = 300, beside: Callable[[Week], None] | None = None
) -> Iterator[int]:
    """Write the records day by day into an empty folder; yields the day's number when it is complete.

    `beside` plans what happens beside the routine.

    The records of the days before are the same bytes, however many days follow.
    """
    for name in ("audit", "argocd", "live"):
        (folder / name).mkdir(parents=True)
    (folder / "auditor.toml").write_text(_CONFIG)
    with Repository(folder / "deploy.git") as git:
        week = Week(folder, applications, git)
        week.install()
        if beside is not None:
            beside(week)
        for number in range(days):
            week.day(number)
            git.settle()
            yield number


_CONFIG = f"""\
[store]
url = "sqlite:///auditor.db"
cache = "cache"

[redaction]
key_file = "redaction.key"

[[cluster]]
name = "prod"
server = ["https://kubernetes.default.svc"]
audit = ["audit/"]
objects = ["live/"]

[[argocd]]
name = "main"
cluster = "prod"
exports = ["argocd/"]

[[repository]]
url = "{REPOSITORY}"
path = "deploy.git"
"""


def main(folder: str, days: str = "7", applications: str = "300") -> None:
    """The command line."""
    shutil.rmtree(folder, ignore_errors=True)
    for number in weeks(Path(folder), int(days), int(applications)):
        print(f"day {number + 1} of {days}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
