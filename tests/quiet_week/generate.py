"""A week in which nothing goes wrong, the same bytes each time: what 300 applications and their cluster do by routine.

Releases, UI syncs and refreshes, rollout restarts from a pipeline through Argo CD, Image Updater (to git and to the
Application), HPA, KEDA and VPA, External and Sealed Secrets, certificate renewals, node upgrades, pull-request
previews by an ApplicationSet, and applications that are taken down with their namespaces.

    python -m tests.quiet_week.generate FOLDER [DAYS] [APPLICATIONS]
"""

import heapq
import itertools
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import yaml

from tests.quiet_week.api_server import (
    APPLICATION_SETS,
    CA_INJECTOR,
    CERT_MANAGER,
    CONTROLLER,
    EXTERNAL_SECRETS,
    HPA,
    IMAGE_UPDATER,
    KEDA,
    NODE_MANAGER,
    NOTIFICATIONS,
    SEALED_SECRETS,
    VPA_RECOMMENDER,
    VPA_UPDATER,
    ApiServer,
    kube,
)
from tests.quiet_week.argocd import ArgoCD, seconds
from tests.quiet_week.estate import REPOSITORY, App, Body, Root
from tests.quiet_week.repository import Repository

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
DEVELOPERS = ("Erin Holt <erin@acme.example>", "Frank Moor <frank@acme.example>", "Gina Rowe <gina@acme.example>")
SRE = "hal@acme.example"
PIPELINE = "system:serviceaccount:ci:pipeline"
OPERATOR = "system:serviceaccount:ledger-system:ledger-operator"
KUBECTL = "kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07"

Step = Callable[[datetime], None]


class Week:
    """The story, moved forward in the order of time."""

    def __init__(self, folder: Path, applications: int, git: Repository) -> None:
        self.folder = folder
        self.git = git
        self.rng = random.Random(20261123)
        self.api = ApiServer(random.Random(7))
        self.argocd = ArgoCD(self.api)
        self.apps = [App(number) for number in range(1, applications + 1)]
        self.pull_requests = itertools.count(100)
        self._agenda: list[tuple[datetime, int, Step]] = []
        self._numbers = itertools.count()

    def on(self, at: datetime, step: Step) -> None:
        """Something that happens then."""
        heapq.heappush(self._agenda, (at, next(self._numbers), step))

    def install(self) -> None:
        """Everything is there and in sync when the records begin."""
        at = MONDAY - timedelta(days=30)
        files: dict[str, str | None] = {}
        for app in self.apps:
            files |= app.files() | self._declared(app)
        sha = self.git.commit(at, DEVELOPERS[0], "Begin", files)
        self.root = Root(self.apps)
        self.argocd.install(at, self.root, sha)
        for app in self.apps:
            self.argocd.install(at, app, sha)
            if app.has("webhook"):
                self._inject(at, app)
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
            while self._agenda and self._agenda[0][0] < start + timedelta(days=1):
                at, _, step = heapq.heappop(self._agenda)
                step(at)
        self._export(f"{start:%Y-%m-%d}")

    def _plan(self, start: datetime) -> None:
        for app in list(self.apps):
            if app.has("overrides"):
                self.on(self._office(start), lambda at, app=app: self._override(at, app))
            elif self.rng.random() < 0.8:
                self.on(self._office(start), lambda at, app=app: self._release(at, app))
            if self.rng.random() < 0.1:
                self.on(self._office(start), lambda at, app=app: self.argocd.refresh(at, app, self.git.tip(), True))
            if self.rng.random() < 0.1:
                self.on(self._office(start), lambda at, app=app: self._press_sync(at, app))
            if self.rng.random() < 0.1:
                self.on(self._office(start), lambda at, app=app: self.argocd.restart(at, app, "ci-deploy"))
            for hour in range(2, 24, 6):
                at = start + timedelta(hours=hour, seconds=self.rng.randrange(3600))
                self.on(at, lambda at, app=app: self._look(at, app))
            self._controllers(start, app)
        self._nodes(start)
        self._drain(start)
        self._elsewhere(start)
        self._previews(start)
        if len(self.apps) > 20:
            self.on(self._office(start), self._take_down)

    def _office(self, start: datetime) -> datetime:
        return start + timedelta(hours=8, seconds=self.rng.randrange(9 * 3600), milliseconds=self.rng.randrange(1000))

    def _alive(self, app: App) -> bool:
        return self.api.has(app.application())

    # What people and pipelines do by way of git

    def _release(self, at: datetime, app: App) -> None:
        if not self._alive(app):
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
        self.on(at + seconds(200), lambda at: self._rolled_out(at, app))

    def _press_sync(self, at: datetime, app: App) -> None:
        if self._alive(app):
            self.argocd.sync(at, app, self.git.tip(), "carol")

    def _look(self, at: datetime, app: App) -> None:
        if self._alive(app):
            self.argocd.refresh(at, app, self.git.tip())

    def _rolled_out(self, at: datetime, app: App) -> None:
        """The controllers of Kubernetes at a new pod template, and the notification that it is done."""
        if not self._alive(app):
            return
        deployment = app.manifests()[0]
        name = f"{app.name}-{self.rng.getrandbits(40):010x}"
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": app.name, "uid": "u", "controller": True}
        metadata = {"name": name, "namespace": app.name, "ownerReferences": [owner]}
        replicas: Body = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": {"replicas": 2}}
        self.api.create(at, kube("deployment-controller"), replicas)
        self.api.update(at, kube("deployment-controller"), self.api.get(deployment), "status")
        for number in range(2):
            self._pod(at + seconds(1 + number), app, f"{name}-{number}")
        done = {
            "metadata": {
                "annotations": {
                    "notified.notifications.argoproj.io": orjson.dumps({app.name: int(at.timestamp())}).decode()
                }
            }
        }
        self.api.patch(at + seconds(5), NOTIFICATIONS, app.application(), done)

    def _pod(self, at: datetime, app: App, name: str) -> None:
        pod: Body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": app.name}, "spec": {}}
        mutated = {
            "mutation.webhook.admission.k8s.io/round_0_index_0": '{"configuration":"vpa-webhook-config",'
            f'"webhook":"vpa.k8s.io","mutated":{"true" if app.has("vpa") else "false"}}}'
        }
        self.api.create(at, kube("replicaset-controller"), pod, annotations=mutated)
        self.api.request(
            at, "system:kube-scheduler", pod, "create", subresource="binding", code=201, agent="kube-scheduler"
        )
        self.api.request(at, "system:node:worker-1", pod, "patch", subresource="status", level="Metadata")

    def _override(self, at: datetime, app: App) -> None:
        """Image Updater that writes to the Application instead of git."""
        if not self._alive(app):
            return
        app.overridden += 1
        document = self.argocd.document(app)
        document["spec"]["source"]["kustomize"] = {"images": [app.running]}
        self.api.update(at, IMAGE_UPDATER, document)
        self.argocd.release(at + seconds(3), app, self.git.tip())
        self.on(at + seconds(60), lambda at: self._rolled_out(at, app))
        if app.has("manual"):
            self.on(at + timedelta(minutes=20), lambda at: self._press_sync(at, app))

    # What controllers do

    def _controllers(self, start: datetime, app: App) -> None:
        if app.has("hpa"):
            for hour in range(0, 24, 3):
                at = start + timedelta(hours=hour, seconds=self.rng.randrange(9000))
                self.on(at, lambda at: self._scale(at, app, HPA, self.rng.randrange(2, 9)))
        if app.has("keda"):
            for hour, replicas in ((6, 1), (9, 4), (20, 0)):
                self.on(
                    start + timedelta(hours=hour), lambda at, replicas=replicas: self._scale(at, app, KEDA, replicas)
                )
        if app.has("vpa"):
            self.on(start + timedelta(hours=3, seconds=app.number), lambda at: self._recommend(at, app))
        if app.has("external-secret"):
            for hour in range(0, 24, 4):
                self.on(start + timedelta(hours=hour, seconds=app.number), lambda at: self._fetch(at, app))
        if app.has("sealed-secret"):
            self.on(
                start + timedelta(hours=1, seconds=app.number),
                lambda at: self._status(at, SEALED_SECRETS, app, "SealedSecret"),
            )
        if app.has("certificate"):
            self.on(start + timedelta(hours=4, seconds=app.number), lambda at: self._renew(at, app))
        if app.has("webhook"):
            self.on(start + timedelta(hours=5, seconds=app.number), lambda at: self._inject(at, app))

    def _scale(self, at: datetime, app: App, user: str, replicas: int) -> None:
        if self._alive(app):
            self.api.scale(at, user, app.manifests()[0], replicas)

    def _recommend(self, at: datetime, app: App) -> None:
        self._status(at, VPA_RECOMMENDER, app, "VerticalPodAutoscaler")
        pod: Body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{app.name}-0", "namespace": app.name}}
        self.api.request(at + seconds(1), VPA_UPDATER, pod, "create", subresource="eviction", code=201)

    def _status(self, at: datetime, user: str, app: App, kind: str) -> None:
        manifest = next(each for each in app.manifests() if each["kind"] == kind)
        if self._alive(app):
            stored = self.api.get(manifest) | {"status": {"observedAt": f"{at:%Y-%m-%dT%H:%M:%SZ}"}}
            self.api.update(at, user, stored, "status")

    def _secret(self, app: App, suffix: str) -> Body:
        return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": app.name + suffix, "namespace": app.name}}

    def _fetch(self, at: datetime, app: App) -> None:
        self._status(at, EXTERNAL_SECRETS, app, "ExternalSecret")
        self.api.request(at + seconds(1), EXTERNAL_SECRETS, self._secret(app, "-db"), "update")

    def _renew(self, at: datetime, app: App) -> None:
        metadata = {"name": f"{app.name}-{at:%m%d}", "namespace": app.name}
        asked: Body = {
            "apiVersion": "cert-manager.io/v1",
            "kind": "CertificateRequest",
            "metadata": metadata,
            "spec": {},
        }
        self.api.create(at, CERT_MANAGER, asked)
        self.api.request(at + seconds(2), CERT_MANAGER, self._secret(app, "-tls"), "update")
        self._status(at + seconds(3), CERT_MANAGER, app, "Certificate")
        self.api.delete(at + seconds(4), CERT_MANAGER, asked)

    def _inject(self, at: datetime, app: App) -> None:
        if self._alive(app):
            hooks = next(each for each in app.manifests() if each["kind"].startswith("Validating"))
            stored = self.api.get(hooks)
            bundle = f"Y2VydGlmaWNhdGUgb2YgdGhlIGRheSA={at:%m%d}"
            body = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}]
            assert stored["webhooks"]
            self.api.patch(at, CA_INJECTOR, hooks, body, "json-patch")

    def _nodes(self, start: datetime) -> None:
        """Each night one node is replaced: cordoned, drained by evictions, deleted; a new one joins."""
        at = start + timedelta(hours=2)
        node: Body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"worker-{start:%d}"}, "spec": {}}
        self.on(at, lambda at: self._joins(at, node))
        self.on(at + seconds(60), lambda at: self._close_node(at, node))
        for number, app in enumerate(self.apps[:20]):
            pod: Body = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"{app.name}-1", "namespace": app.name},
            }
            self.on(at + seconds(90 + number), lambda at, pod=pod: self._evict(at, pod))
        self.on(at + seconds(600), lambda at: self.api.delete(at, NODE_MANAGER, node))

    def _close_node(self, at: datetime, node: Body) -> None:
        self.api.patch(at, NODE_MANAGER, node, {"spec": {"unschedulable": True}})

    def _drain(self, start: datetime) -> None:
        """Somebody drains a node with kubectl, and uncordons it once its kernel is new."""
        node: Body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-9"}, "spec": {}}
        at = start + timedelta(hours=10)
        if not self.api.has(node):
            self.on(at - timedelta(hours=1), lambda at: self._joins(at, node))
        self.on(at, lambda at: self._cordon(at, node, True))
        for number, app in enumerate(self.apps[:8]):
            pod: Body = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"{app.name}-0", "namespace": app.name},
            }
            self.on(at + seconds(2 + number), lambda at, pod=pod: self._evict(at, pod, SRE, KUBECTL))
        self.on(at + seconds(900), lambda at: self._cordon(at, node, False))

    def _joins(self, at: datetime, node: Body) -> None:
        self.api.create(at, f"system:node:{node['metadata']['name']}", node)

    def _cordon(self, at: datetime, node: Body, closed: bool) -> None:
        body = {"spec": {"unschedulable": True if closed else None}}
        self.api.patch(at, SRE, node, body, "strategic", agent=KUBECTL)

    def _elsewhere(self, start: datetime) -> None:
        """A pipeline in its own namespace, a restart by it with kubectl, and an operator at its own objects."""
        at = self._office(start)
        self.on(at, lambda at: self._build(at, f"build-{start:%d}"))
        lucky = self.apps[start.day % len(self.apps)]
        self.on(at + timedelta(hours=1), lambda at: self._restart(at, lucky))
        for hour in range(0, 24, 6):
            self.on(start + timedelta(hours=hour), lambda at: self._operate(at))

    def _build(self, at: datetime, name: str) -> None:
        place = {"name": name, "namespace": "ci"}
        pod: Body = {"apiVersion": "v1", "kind": "Pod", "metadata": dict(place), "spec": {}}
        job: Body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": dict(place), "spec": {}}
        for body in (job, pod):
            self.api.create(at, PIPELINE, body, agent=KUBECTL)
        self.api.delete(at + seconds(300), PIPELINE, pod)
        self.api.delete(at + seconds(301), PIPELINE, job)

    def _restart(self, at: datetime, app: App) -> None:
        if self._alive(app):
            stamp = {"kubectl.kubernetes.io/restartedAt": f"{at:%Y-%m-%dT%H:%M:%SZ}"}
            body = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
            self.api.patch(at, PIPELINE, app.manifests()[0], body, "strategic", "kubectl-rollout", agent=KUBECTL)

    def _operate(self, at: datetime) -> None:
        metadata = {"name": f"ledger-{at:%d%H}", "namespace": "ledger-system"}
        body: Body = {"apiVersion": "acme.example/v1", "kind": "Ledger", "metadata": metadata, "spec": {"size": 1}}
        self.api.create(at, OPERATOR, body)
        self.api.update(at + seconds(2), OPERATOR, self.api.get(body) | {"status": {"ready": True}}, "status")

    def _evict(self, at: datetime, pod: Body, by: str = NODE_MANAGER, agent: str = "") -> None:
        self.api.request(at, by, pod, "create", subresource="eviction", code=201, agent=agent)
        self.api.request(at + seconds(5), "system:node:worker-1", pod, "delete")

    # What comes and goes

    def _previews(self, start: datetime) -> None:
        for _ in range(max(1, len(self.apps) // 30)):
            self.on(self._office(start), self._preview)

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


def weeks(folder: Path, days: int = 7, applications: int = 300) -> Iterator[int]:
    """Write the records day by day into an empty folder; yields the day's number when it is complete.

    The records of the days before are the same bytes, however many days follow.
    """
    for name in ("audit", "argocd", "live"):
        (folder / name).mkdir(parents=True)
    (folder / "auditor.toml").write_text(_CONFIG)
    with Repository(folder / "deploy.git") as git:
        week = Week(folder, applications, git)
        week.install()
        for number in range(days):
            week.day(number)
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
