"""What the controllers of an ordinary cluster do by routine: scaling, renewing, injecting, replacing nodes."""

import heapq
import itertools
import random
from collections.abc import Callable
from datetime import datetime, timedelta

import orjson

from tests.quiet_week.api_server import (
    CA_INJECTOR,
    CERT_MANAGER,
    EXTERNAL_SECRETS,
    HPA,
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
from tests.quiet_week.estate import App, Body

SRE = "hal@acme.example"
PIPELINE = "system:serviceaccount:ci:pipeline"
OPERATOR = "system:serviceaccount:ledger-system:ledger-operator"
KUBECTL = "kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07"

Step = Callable[[datetime], None]


class Cluster:
    """A cluster with an agenda: each step happens in the order of time."""

    def __init__(self, applications: int) -> None:
        self.rng = random.Random(20261123)
        self.api = ApiServer(random.Random(7))
        self.argocd = ArgoCD(self.api)
        self.apps = [App(number) for number in range(1, applications + 1)]
        self._agenda: list[tuple[datetime, int, Step]] = []
        self._numbers = itertools.count()

    def on(self, at: datetime, step: Step) -> None:
        """Something that happens then."""
        heapq.heappush(self._agenda, (at, next(self._numbers), step))

    def until(self, end: datetime) -> None:
        """All that happens before a moment."""
        while self._agenda and self._agenda[0][0] < end:
            at, _, step = heapq.heappop(self._agenda)
            step(at)

    def plan_routine(self, start: datetime) -> None:
        """One day of what nobody asked for."""
        for app in list(self.apps):
            self._controllers(start, app)
        self._nodes(start)
        self._drain(start)
        self._elsewhere(start)

    def office(self, start: datetime) -> datetime:
        """Some moment of a working day."""
        return start + timedelta(hours=8, seconds=self.rng.randrange(9 * 3600), milliseconds=self.rng.randrange(1000))

    def alive(self, app: App) -> bool:
        """Whether it has not been taken down."""
        return self.api.has(app.application())

    def rolled_out(self, at: datetime, app: App) -> None:
        """The controllers of Kubernetes at a new pod template, and the notification that it is done."""
        if not self.alive(app):
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
            self.on(start + timedelta(hours=5, seconds=app.number), lambda at: self.inject(at, app))

    def _scale(self, at: datetime, app: App, user: str, replicas: int) -> None:
        if self.alive(app):
            self.api.scale(at, user, app.manifests()[0], replicas)

    def _recommend(self, at: datetime, app: App) -> None:
        self._status(at, VPA_RECOMMENDER, app, "VerticalPodAutoscaler")
        pod = pod_of(app, 0)
        self.api.request(at + seconds(1), VPA_UPDATER, pod, "create", subresource="eviction", code=201)

    def _status(self, at: datetime, user: str, app: App, kind: str) -> None:
        manifest = next(each for each in app.manifests() if each["kind"] == kind)
        if self.alive(app):
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

    def inject(self, at: datetime, app: App) -> None:
        if self.alive(app):
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
            pod = pod_of(app, 1)
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
            pod = pod_of(app, 0)
            self.on(at + seconds(2 + number), lambda at, pod=pod: self._evict(at, pod, SRE, KUBECTL))
        self.on(at + seconds(900), lambda at: self._cordon(at, node, False))

    def _joins(self, at: datetime, node: Body) -> None:
        self.api.create(at, f"system:node:{node['metadata']['name']}", node)

    def _cordon(self, at: datetime, node: Body, closed: bool) -> None:
        body = {"spec": {"unschedulable": True if closed else None}}
        self.api.patch(at, SRE, node, body, "strategic", agent=KUBECTL)

    def _elsewhere(self, start: datetime) -> None:
        """A pipeline in its own namespace, a restart by it with kubectl, and an operator at its own objects."""
        at = self.office(start)
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
        if self.alive(app):
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


def pod_of(app: App, number: int) -> Body:
    """A pod of its Deployment."""
    metadata = {"name": f"{app.name}-{number}", "namespace": app.name}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
