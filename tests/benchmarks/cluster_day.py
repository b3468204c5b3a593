"""A day of a cluster in which Argo CD has several hundred applications: audit log, exports and git, from a seed.

Every application has one Deployment and six ConfigMaps, is deployed again all day long, is compared every few minutes
(a patch of its status, answered with the whole Application), and is changed by hand now and then. Controllers do what
follows from that, with their bodies; Leases, reads and status of pods fill the log. The bodies have the sizes that
kube-apiserver 1.34 and Argo CD 3.6 write.
"""

import heapq
import json
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

import orjson

BEGAN = datetime(2026, 11, 30, tzinfo=UTC)
DAY = 86_400.0
LATE = 600.0
URL = "http://git.acme.example/platform/deploy.git"
SERVER = "https://kubernetes.default.svc"
CONFIG_MAPS = 6
PEOPLE = tuple(f"{name}@acme.example" for name in ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi"))

_ARGO = ("system:serviceaccount:argocd:argocd-application-controller", "argocd-application-controller/v3.6.0 (linux)")
_BUILT_IN = "kube-controller-manager/v1.34.2 (linux/amd64) kubernetes/8cc511e"
_KUBECTL = "kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07"


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the day is."""

    applications: int = 300
    events: int = 1_500_000
    deployments: int = 24
    """Of each application: each writes the Deployment and all ConfigMaps."""
    changes: int = 1_000
    """By people, on Deployments."""
    reconciled: float = 300.0
    """Seconds between two comparisons of an application."""
    seed: int = 7


@dataclass(slots=True)
class _App:
    name: str
    number: int
    tag: int = 0
    """Of the image, and of what every ConfigMap holds: one more with each deployment."""
    image: str = "v0"
    pool: str = "20"
    replicas: int = 3
    generation: int = 1
    version: int = 0
    sha: str = ""
    history: list[dict[str, Any]] = field(default_factory=list)
    operation: dict[str, Any] = field(default_factory=dict)
    compared_at: str = ""
    versions: dict[str, int] = field(default_factory=dict)
    generation_of_app: int = 1


class ClusterDay:
    """Simulates the day in the order of time, writing each event as it happens."""

    def __init__(self, shape: Shape, folder: Path) -> None:
        self.shape = shape
        self.written = {"events": 0, "bodies": 0, "bytes": 0, "gitops": 0, "people": 0}
        self._folder = folder
        self._random = random.Random(shape.seed)
        self._apps = [_App(f"app-{number:03}", number) for number in range(shape.applications)]
        self._due: list[tuple[float, int, Callable[[float], None]]] = []
        self._planned = 0
        self._version = 1000
        self._commits: list[tuple[float, _App, int]] = []

    def write(self) -> None:
        """The recording: `audit/audit.log`, `argocd/`, `deploy.git`, the configuration, and `later/late.log`: the audit
        log's last ten minutes."""
        for name in ("audit", "argocd", "later"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        self._plan()
        self._import()
        with (
            (self._folder / "audit/audit.log").open("wb", buffering=1 << 20) as self._out,
            (self._folder / "later/late.log").open("wb") as late,
        ):
            self._run(late)
        self._export()
        (self._folder / "auditor.toml").write_text(_CONFIG)

    # What happens when

    def _plan(self) -> None:
        for app in self._apps:
            self._at(self._random.uniform(0, self.shape.reconciled), self._reconcile, app)
            step = DAY / self.shape.deployments
            for number in range(self.shape.deployments):
                at = number * step + self._random.uniform(20, step / 2)
                self._commits.append((at - 15, app, number + 1))
                self._at(at, self._deploy, app)
        for _ in range(self.shape.changes):
            self._at(self._random.uniform(DAY * 0.05, DAY * 0.95), self._change, self._random.choice(self._apps))
        self._commits.sort(key=lambda each: (each[0], each[1].number))

    def _at(self, at: float, act: Callable[[float, _App], None], app: _App) -> None:
        self._planned += 1
        heapq.heappush(self._due, (at, self._planned, lambda now: act(now, app)))

    def _run(self, late: BinaryIO) -> None:
        beside = self._noise()
        filled, expected = 0, self._expected()
        rate = max(self.shape.events - expected, 0) / DAY
        while self._due:
            at, _, act = heapq.heappop(self._due)
            while filled < at * rate:
                self._put(next(beside)(filled / rate))
                filled += 1
            if at > DAY - LATE:
                self._out = late
            act(at)

    def _expected(self) -> int:
        """About how many events the applications cause."""
        per_deployment = 1 + CONFIG_MAPS + 4 + 12
        compared = int(DAY / self.shape.reconciled)
        return self.shape.applications * (compared + self.shape.deployments * per_deployment) + self.shape.changes * 13

    def _reconcile(self, at: float, app: _App) -> None:
        app.compared_at = _second(at)
        self._patch_app(at, app, {"status": {"reconciledAt": app.compared_at}}, "merge-patch")
        if at + self.shape.reconciled < DAY:
            self._at(at + self.shape.reconciled * self._random.uniform(0.9, 1.1), self._reconcile, app)

    def _deploy(self, at: float, app: _App) -> None:
        app.tag += 1
        app.sha = self._shas[app.number, app.tag]
        self._begin_sync(at, app, healing=False)
        for number in range(CONFIG_MAPS):
            self._patch_config_map(at + 1 + number * 0.01, app, f"config-{number}")
        self._sync_deployment(at + 1.2, app)
        self._end_sync(at + 2, app)
        self._roll_out(at + 2.1, app)

    def _heal(self, at: float, app: _App) -> None:
        self._begin_sync(at, app, healing=True)
        self._sync_deployment(at + 0.5, app)
        self._end_sync(at + 1, app)
        self._roll_out(at + 1.1, app)

    def _change(self, at: float, app: _App) -> None:
        """A third is healed at once, the rest stands until the next deployment, or for good."""
        who = self._random.choice(PEOPLE)
        container: dict[str, Any] = {"name": "web"}
        if self._random.random() < 0.5:
            app.image = f"hotfix-{self._random.randrange(1000)}"
            container["image"] = f"registry.acme.example/{app.name}:{app.image}"
        else:
            app.pool = str(self._random.randrange(21, 90))
            container["env"] = [{"name": "DB_POOL", "value": app.pool}]
        body = {
            "spec": {
                "template": {"spec": {"$setElementOrder/containers": [{"name": "web"}], "containers": [container]}}
            }
        }
        self._patch_deployment(at, app, (who, _KUBECTL), "kubectl-set", body)
        self.written["people"] += 1
        self._roll_out(at + 0.1, app)
        if self._random.random() < 0.33:
            self._at(at + 4, self._heal, app)

    # Writes of Argo CD

    def _begin_sync(self, at: float, app: _App, healing: bool) -> None:
        sync: dict[str, Any] = {"revision": app.sha, "source": _source(app), "prune": True}
        if healing:
            sync["autoHealAttemptsCount"] = 1
        app.operation = {
            "operation": {"sync": sync, "initiatedBy": {"automated": True}, "retry": {"limit": 5}},
            "phase": "Running",
            "startedAt": _second(at),
        }
        self._patch_app(
            at, app, [{"op": "add", "path": "/status/operationState", "value": app.operation}], "json-patch"
        )

    def _end_sync(self, at: float, app: _App) -> None:
        results = [dict(zip(("group", "kind", "namespace", "name"), each, strict=True)) for each in _resources(app)]
        results = [
            each | {"version": "v1", "status": "Synced", "message": f"{each['name']} configured"} for each in results
        ]
        app.operation = app.operation | {
            "phase": "Succeeded",
            "finishedAt": _second(at),
            "message": "successfully synced (all tasks run)",
            "syncResult": {"resources": results, "revision": app.sha, "source": _source(app)},
        }
        entry = {
            "id": len(app.history) + app.tag,
            "revision": app.sha,
            "source": _source(app),
            "deployedAt": _second(at),
            "deployStartedAt": app.operation["startedAt"],
            "initiatedBy": {"automated": True},
        }
        app.history = [*app.history, entry][-10:]
        patch = {"status": {"operationState": app.operation, "history": app.history}}
        self._patch_app(at, app, patch, "merge-patch")

    def _patch_app(self, at: float, app: _App, body: Any, form: str) -> None:
        self._version += 1
        app.versions["app"] = self._version
        app.generation_of_app += 1
        answer = _application(app, at)
        self._write(at, "patch", _ARGO, "argoproj.io/v1alpha1", "applications", "argocd", app.name, "", body, answer)

    def _patch_config_map(self, at: float, app: _App, name: str) -> None:
        applied = _config_map(app, name)
        body = {"data": {"revision": f"r{app.tag}"}, "metadata": _last_applied(applied)}
        answer = applied | {"metadata": applied["metadata"] | self._meta(at, app, name, applied, "argocd-controller")}
        self._write(at, "patch", _ARGO, "v1", "configmaps", app.name, name, "argocd-controller", body, answer)
        self.written["gitops"] += 1

    def _sync_deployment(self, at: float, app: _App) -> None:
        app.image, app.pool = f"v{app.tag}", "20"
        container = {"name": "web", "image": f"registry.acme.example/{app.name}:{app.image}"}
        container["env"] = [{"name": "DB_POOL", "value": "20"}]  # type: ignore[assignment]
        body = {
            "metadata": _last_applied(_manifest(app)),
            "spec": {
                "template": {"spec": {"$setElementOrder/containers": [{"name": "web"}], "containers": [container]}}
            },
        }
        self._patch_deployment(at, app, _ARGO, "argocd-controller", body)
        self.written["gitops"] += 1

    # Writes of people and controllers

    def _patch_deployment(self, at: float, app: _App, who: tuple[str, str], manager: str, body: Any) -> None:
        app.generation += 1
        answer = self._deployment(at, app)
        self._write(at, "patch", who, "apps/v1", "deployments", app.name, "web", manager, body, answer)

    def _roll_out(self, at: float, app: _App) -> None:
        """What controllers do after a Deployment was changed."""
        for number in range(3):
            self._controller(at + number, "update", "deployment", "apps/v1", "deployments/status", app, "web")
        self._controller(at, "create", "deployment", "apps/v1", "replicasets", app, f"web-{app.generation:x}")
        self._controller(at + 1, "update", "deployment", "apps/v1", "replicasets", app, f"web-{app.generation - 1:x}")
        for number in range(3):
            name = f"web-{app.generation:x}"
            self._controller(at + number, "update", "replicaset", "apps/v1", "replicasets/status", app, name)
        for number in range(2):
            self._controller(at + 1, "create", "replicaset", "v1", "pods", app, f"web-{app.generation:x}-{number}")
            self._controller(at + 2, "delete", "replicaset", "v1", "pods", app, f"web-{app.generation - 1:x}-{number}")

    def _controller(self, at: float, verb: str, controller: str, api: str, resource: str, app: _App, name: str) -> None:
        who = (f"system:serviceaccount:kube-system:{controller}-controller", _BUILT_IN)
        answer = (
            self._deployment(at, app)
            if resource.startswith("deployments")
            else self._workload(at, app, api, resource, name)
        )
        self._write(at, verb, who, api, resource, app.name, name, "", None if verb == "delete" else answer, answer)

    def _deployment(self, at: float, app: _App) -> dict[str, Any]:
        applied = _manifest(app)
        meta = self._meta(at, app, "web", applied, "argocd-controller") | {"generation": app.generation}
        spec = applied["spec"] | {
            "progressDeadlineSeconds": 600,
            "revisionHistoryLimit": 10,
            "template": _pod(app, live=True),
        }
        status = {"observedGeneration": app.generation, "replicas": 3, "conditions": _CONDITIONS, "readyReplicas": 3}
        return applied | {"metadata": applied["metadata"] | meta, "spec": spec, "status": status}

    def _workload(self, at: float, app: _App, api: str, resource: str, name: str) -> dict[str, Any]:
        meta = self._meta(at, app, name, None, "kube-controller-manager") | {"name": name, "namespace": app.name}
        kind = "Pod" if resource == "pods" else "ReplicaSet"
        spec = _pod(app, live=True)["spec"] if kind == "Pod" else {"replicas": 3, "template": _pod(app, live=True)}
        return {"apiVersion": api, "kind": kind, "metadata": meta, "spec": spec, "status": {"conditions": _CONDITIONS}}

    def _meta(self, at: float, app: _App, name: str, applied: dict[str, Any] | None, manager: str) -> dict[str, Any]:
        self._version += 1
        meta = {
            "uid": f"{app.number:08x}-0000-4000-8000-{abs(hash_of(name)):012x}",
            "resourceVersion": str(self._version),
            "creationTimestamp": "2026-11-01T06:58:06Z",
            "managedFields": [{**entry, "time": _second(at)} for entry in _owners(manager)],
        }
        if applied is not None:
            meta["annotations"] = applied["metadata"]["annotations"] | _last_applied(applied)["annotations"]
        return meta

    # The log

    def _write(
        self,
        at: float,
        verb: str,
        who: tuple[str, str],
        api: str,
        resource: str,
        namespace: str,
        name: str,
        manager: str,
        body: Any,
        answer: Any,
    ) -> None:
        head, _, subresource = resource.partition("/")
        event = _event(self._random, at, verb, who, api, head, subresource, namespace, name, manager)
        event["level"] = "RequestResponse"
        event["responseStatus"] = {"metadata": {}, "code": 201 if verb == "create" else 200}
        if body is not None:
            event["requestObject"] = body
        event["responseObject"] = answer
        self.written["bodies"] += 1
        self._put(orjson.dumps(event))

    def _put(self, line: bytes) -> None:
        self._out.write(line + b"\n")
        self.written["events"] += 1
        self.written["bytes"] += len(line) + 1

    def _noise(self) -> Iterator[Callable[[float], bytes]]:
        """Leases, status of pods, and reads: none of them with bodies."""
        kubelet = "kubelet/v1.34.2 (linux/amd64) kubernetes/8cc511e"
        kinds = [
            ("update", "coordination.k8s.io/v1", "leases", ""),
            ("get", "v1", "configmaps", ""),
            ("patch", "v1", "pods", "status"),
            ("list", "apps/v1", "deployments", ""),
            ("watch", "v1", "services", ""),
        ]
        while True:
            for verb, api, resource, subresource in kinds:
                node = self._random.randrange(200)
                who = (f"system:node:worker-{node}.acme.example", kubelet)
                place = (api, resource, subresource, f"app-{node:03}", f"worker-{node}")
                yield lambda at, verb=verb, who=who, place=place: orjson.dumps(  # type: ignore[misc]
                    _event(self._random, at, verb, who, *place, "")
                )

    # Argo CD and git at the end

    def _export(self) -> None:
        documents = [_application(app, DAY) for app in self._apps]
        export = {"apiVersion": "v1", "kind": "List", "items": documents}
        (self._folder / "argocd/applications.json").write_bytes(orjson.dumps(export))

    def _import(self) -> None:
        """One commit a deployment, with all manifests of the application."""
        place = self._folder / "deploy.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", place], check=True)
        marks = self._folder / "marks"
        command = ["git", "-C", str(place), "fast-import", "--quiet", f"--export-marks={marks}"]
        subprocess.run(command, input=b"".join(self._stream()), check=True)
        shas = dict(line.split() for line in marks.read_text().splitlines())
        marks.unlink()
        self._shas = {(app.number, tag): shas[f":{mark}"] for mark, (_, app, tag) in enumerate(self._commits, 2)}
        for app in self._apps:
            app.sha = shas[":1"]

    def _stream(self) -> Iterator[bytes]:
        yield _commit(1, -3600.0, "Begin", [each for app in self._apps for each in _files(app, 0)])
        for mark, (at, app, tag) in enumerate(self._commits, 2):
            yield _commit(mark, at, f"{app.name}: v{tag}", _files(app, tag))


def _event(
    rng: random.Random,
    at: float,
    verb: str,
    who: tuple[str, str],
    api: str,
    resource: str,
    subresource: str,
    namespace: str,
    name: str,
    manager: str,
) -> dict[str, Any]:
    group, _, version = api.rpartition("/")
    root = f"/apis/{api}" if group else f"/api/{api}"
    place = f"{root}/namespaces/{namespace}/{resource}/{name}" + (f"/{subresource}" if subresource else "")
    reference = {"resource": resource, "namespace": namespace, "name": name, "apiVersion": version}
    reference |= {"apiGroup": group} if group else {}
    reference |= {"subresource": subresource} if subresource else {}
    user, agent = who
    reason = f'RBAC: allowed by ClusterRoleBinding "{user}" of ClusterRole "{user}" to User "{user}"'
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": f"{rng.getrandbits(128):032x}",
        "stage": "ResponseComplete",
        "requestURI": place + (f"?fieldManager={manager}" if manager else ""),
        "verb": verb,
        "user": {
            "username": user,
            "groups": ["system:authenticated"],
            "extra": {"authentication.kubernetes.io/credential-id": ["JTI=457582ce-5885-44e0-9778-6e1eda328164"]},
        },
        "sourceIPs": ["10.0.3.17"],
        "userAgent": agent,
        "objectRef": reference,
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": _micro(at),
        "stageTimestamp": _micro(at + 0.008),
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": reason},
    }


def _application(app: _App, at: float) -> dict[str, Any]:
    spec = {
        "project": "default",
        "source": _source(app),
        "destination": {"server": SERVER, "namespace": app.name},
        "syncPolicy": {"automated": {"prune": True, "selfHeal": True}, "syncOptions": ["CreateNamespace=true"]},
    }
    keys = ("group", "kind", "namespace", "name")
    resources = [dict(zip(keys, each, strict=True)) | {"status": "Synced", "version": "v1"} for each in _resources(app)]
    status = {
        "sync": {
            "status": "Synced",
            "revision": app.sha,
            "comparedTo": {"source": _source(app), "destination": spec["destination"]},
        },
        "health": {"status": "Healthy"},
        "resources": resources,
        "history": app.history,
        "operationState": app.operation,
        "reconciledAt": app.compared_at,
        "summary": {"images": [f"registry.acme.example/{app.name}:{app.image}"]},
    }
    meta = {
        "name": app.name,
        "namespace": "argocd",
        "uid": f"{app.number:08x}-1111-4000-8000-000000000000",
        "resourceVersion": str(app.versions.get("app", 1)),
        "generation": app.generation_of_app,
        "creationTimestamp": "2026-11-01T06:58:06Z",
        "managedFields": [{**entry, "time": _second(at)} for entry in _owners("argocd-application-controller")],
    }
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": meta,
        "spec": spec,
        "status": status,
    }


def _source(app: _App) -> dict[str, str]:
    return {"repoURL": URL, "path": f"apps/{app.name}", "targetRevision": "main"}


def _resources(app: _App) -> list[tuple[str, str, str, str]]:
    maps = [("", "ConfigMap", app.name, f"config-{number}") for number in range(CONFIG_MAPS)]
    return [("apps", "Deployment", app.name, "web"), *maps]


def _manifest(app: _App) -> dict[str, Any]:
    tracking = {"argocd.argoproj.io/tracking-id": f"{app.name}:apps/Deployment:{app.name}/web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": app.name, "annotations": tracking},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": app.name}}, "template": _pod(app, live=False)},
    }


def _pod(app: _App, live: bool) -> dict[str, Any]:
    image, pool = (app.image, app.pool) if live else (f"v{app.tag}", "20")
    container: dict[str, Any] = {
        "name": "web",
        "image": f"registry.acme.example/{app.name}:{image}",
        "ports": [{"containerPort": 8080}],
        "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "DB_POOL", "value": pool}],
        "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
    }
    spec: dict[str, Any] = {"containers": [container]}
    if live:
        container["ports"] = [{"containerPort": 8080, "protocol": "TCP"}]
        container |= {"terminationMessagePath": "/dev/termination-log", "imagePullPolicy": "IfNotPresent"}
        spec |= {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30}
        spec |= {"schedulerName": "default-scheduler", "securityContext": {}}
    return {"metadata": {"labels": {"app": app.name}}, "spec": spec}


def _config_map(app: _App, name: str) -> dict[str, Any]:
    tracking = {"argocd.argoproj.io/tracking-id": f"{app.name}:/ConfigMap:{app.name}/{name}"}
    meta = {"name": name, "namespace": app.name, "annotations": tracking}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": _data(app.tag)}


def _data(tag: int) -> dict[str, str]:
    return {"revision": f"r{tag}"} | {f"setting-{number}": f"value of setting {number}" for number in range(12)}


def _files(app: _App, tag: int) -> list[tuple[str, bytes]]:
    """The manifests as git has them: without what Argo CD adds."""
    then = _App(app.name, app.number, tag)
    documents = [
        ("web", _manifest(then)),
        *((f"config-{n}", _config_map(then, f"config-{n}")) for n in range(CONFIG_MAPS)),
    ]
    for _, document in documents:
        del document["metadata"]["annotations"], document["metadata"]["namespace"]
    return [(f"apps/{app.name}/{name}.json", json.dumps(document).encode()) for name, document in documents]


def _commit(mark: int, at: float, subject: str, files: list[tuple[str, bytes]]) -> bytes:
    when = f"{int((BEGAN + timedelta(seconds=at)).timestamp())} +0000"
    dev = f"Dev <dev@acme.example> {when}"
    head = f"commit refs/heads/main\nmark :{mark}\nauthor {dev}\ncommitter {dev}\n"
    body = b"".join(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(data), data) for name, data in files)
    return f"{head}data {len(subject)}\n{subject}\n".encode() + body


def _last_applied(document: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n"
    return {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": text}}


def _owners(manager: str) -> list[dict[str, Any]]:
    names = ("image", "imagePullPolicy", "name", "ports", "resources", "env", "terminationMessagePath")
    owned = {'k:{"name":"web"}': {".": {}} | {f"f:{name}": {} for name in names}}
    spec = {"f:spec": {"f:replicas": {}, "f:selector": {}, "f:template": {"f:spec": {"f:containers": owned}}}}
    state = {"f:status": {"f:conditions": {".": {}, "f:lastUpdateTime": {}, "f:message": {}}, "f:replicas": {}}}
    common = {"operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1"}
    return [
        {"manager": manager, **common, "fieldsV1": spec},
        {"manager": "kube-controller-manager", **common, "fieldsV1": state, "subresource": "status"},
    ]


def hash_of(name: str) -> int:
    """The same number for the same name in every process."""
    return int.from_bytes(name.encode()[-6:], "big")


def _second(at: float) -> str:
    return (BEGAN + timedelta(seconds=int(at))).strftime("%Y-%m-%dT%H:%M:%SZ")


def _micro(at: float) -> str:
    return (BEGAN + timedelta(seconds=at)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


_CONDITIONS = [
    {
        "type": kind,
        "status": "True",
        "lastUpdateTime": "2026-11-30T06:58:06Z",
        "lastTransitionTime": "2026-11-30T06:58:06Z",
        "reason": "NewReplicaSetAvailable",
        "message": 'ReplicaSet "web-64d86dc79f" has successfully progressed.',
    }
    for kind in ("Available", "Progressing")
]
_CONFIG = f"""[store]
url = "sqlite:///auditor.db"

[[cluster]]
name = "acme"
server = ["{SERVER}"]
audit = ["audit/"]

[[argocd]]
name = "argocd"
cluster = "acme"
exports = ["argocd/"]

[[repository]]
url = "{URL}"
path = "deploy.git"
"""
