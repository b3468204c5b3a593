"""An Argo CD at work on the simulated cluster: it writes Applications, workloads and its own log."""

import copy
from datetime import datetime, timedelta
from typing import Any, TextIO

from tests.quiet_week.api_server import CONTROLLER, SERVER, ApiServer
from tests.quiet_week.estate import App, Body, applied, defaulted

_CLUSTER_SCOPED = frozenset({"ValidatingWebhookConfiguration", "Namespace"})


def seconds(amount: float) -> timedelta:
    """So many seconds."""
    return timedelta(seconds=amount)


class ArgoCD:
    """What the application controller and the API server of one Argo CD do, as the records have it."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self.server_log: TextIO | None = None
        self.controller_log: TextIO | None = None

    def document(self, app: App) -> Body:
        """The Application as it is stored."""
        return self.api.get(app.application())

    def install(self, at: datetime, app: App, revision: str, target: str = "main") -> None:
        """The state before the records: created and synced once."""
        sent = applied("root", app.application(target), "argocd")
        sent["metadata"] |= {"uid": "", "creationTimestamp": _time(at)}
        self.api.create(at, CONTROLLER, sent)
        for manifest in app.manifests():
            self._apply(at, app, manifest)
        self._end(at, app, revision, self._operation(app, revision, ""), at)

    def release(self, at: datetime, app: App, revision: str) -> None:
        """It sees a commit that changes the application, and syncs by itself or waits for a hand."""
        self._compared(at, app, revision, "OutOfSync")
        if "automated" in self.document(app)["spec"]["syncPolicy"]:
            self.sync(at + seconds(1), app, revision)

    def sync(self, at: datetime, app: App, revision: str, by: str = "") -> None:
        """A full sync, by the controller's own motion or by somebody at its UI."""
        operation = self._operation(app, revision, by)
        requested = self.document(app) | {"operation": operation}
        self.api.update(at, SERVER if by else CONTROLLER, copy.deepcopy(requested))
        self._say(
            at,
            app,
            f"{by} initiated sync to main ({revision})" if by else f"Initiated automated sync to '{revision}'",
            by,
        )
        running = {"operation": operation, "phase": "Running", "startedAt": _time(at)}
        began: list[Body] = [{"op": "add", "path": "/status/operationState", "value": running}]
        self.api.patch(at + seconds(0.1), CONTROLLER, app.application(), began, "json-patch")
        if app.has("sealed-secret"):
            self._migrate(at + seconds(0.2), app)
        for number, manifest in enumerate(app.rendered()):
            self._apply(at + seconds(0.3 + number / 10), app, manifest)
        self._end(at + seconds(2), app, revision, operation, at)
        self._say(at + seconds(2), app, f"Sync operation to {revision} succeeded", "", "OperationCompleted")
        self._compared(at + seconds(3), app, revision, "Synced")

    def refresh(self, at: datetime, app: App, revision: str, by_hand: bool = False) -> None:
        """A comparison that finds nothing: of its own, or because somebody pressed the button."""
        if not self.api.has(app.application()):
            return
        if by_hand:
            asked = {"metadata": {"annotations": {"argocd.argoproj.io/refresh": "normal"}}}
            self.api.patch(at, SERVER, app.application(), asked)
            taken = {"metadata": {"annotations": {"argocd.argoproj.io/refresh": None}}}
            self.api.patch(at + seconds(0.1), CONTROLLER, app.application(), taken)
        status = self.document(app)["status"]["sync"]["status"]
        self._compared(at + seconds(0.3), app, revision, status)

    def restart(self, at: datetime, app: App, user: str) -> None:
        """The resource action `restart`, asked for by a pipeline through Argo CD's API."""
        deployment = app.manifests()[0]
        if not self.api.has(deployment):
            return
        stamp = {"kubectl.kubernetes.io/restartedAt": _time(at)}
        body = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
        self.api.patch(at, SERVER, deployment, body)
        said = f"{user} ran action restart on resource apps/Deployment/{app.name}"
        self._say(at, app, said, user, "ResourceActionRan")

    def delete(self, at: datetime, app: App) -> None:
        """Its finalizer: the objects go, the namespace too, then the Application."""
        for manifest in reversed(app.manifests()):
            if self.api.has(manifest):
                self.api.delete(at, CONTROLLER, manifest)
        self.api.delete(at + seconds(1), CONTROLLER, app.application())

    def prune(self, at: datetime, root: App, gone: App, revision: str) -> None:
        """The application of applications drops one, and has synced."""
        operation = self._operation(root, revision, "")
        self.api.update(at, CONTROLLER, copy.deepcopy(self.document(root) | {"operation": operation}))
        self._say(at, root, f"Initiated automated sync to '{revision}'", "")
        leaving = self.document(gone)
        self.api.request(at + seconds(1), CONTROLLER, leaving, "delete", answer=leaving)
        self._end(at + seconds(2), root, revision, operation, at)

    def _migrate(self, at: datetime, app: App) -> None:
        """A PreSync hook: a Job that is deleted once it succeeded."""
        metadata: Body = {"name": f"{app.name}-migrate", "namespace": app.name}
        annotations = {"argocd.argoproj.io/hook": "PreSync", "argocd.argoproj.io/hook-delete-policy": "HookSucceeded"}
        job: Body = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": metadata | {"annotations": annotations},
            "spec": {},
        }
        self.api.create(at, CONTROLLER, job, "argocd-controller")
        self.api.delete(at + seconds(1.5), CONTROLLER, job)

    def _apply(self, at: datetime, app: App, manifest: Body) -> None:
        sent = applied(app.name, manifest, app.name)
        if manifest["kind"] in _CLUSTER_SCOPED:
            sent["metadata"].pop("namespace", None)
        if not self.api.has(manifest):
            self.api.create(at, CONTROLLER, sent, "argocd-controller", stored=defaulted(sent))
        elif self._differs(manifest):
            request = self._difference(manifest, sent)
            self.api.patch(at, CONTROLLER, manifest, request, "strategic", "argocd-controller")

    def _differs(self, manifest: Body) -> bool:
        """Only the image and the release of the ConfigMap ever change in git."""
        live = self.api.get(manifest)
        if manifest["kind"] == "Deployment":
            return _image(live) != _image(manifest)
        return manifest["kind"] == "ConfigMap" and bool(live["data"] != manifest["data"])

    def _difference(self, manifest: Body, sent: Body) -> Body:
        key = "kubectl.kubernetes.io/last-applied-configuration"
        metadata = {"annotations": {key: sent["metadata"]["annotations"][key]}}
        if manifest["kind"] == "ConfigMap":
            return {"metadata": metadata, "data": manifest["data"]}
        pod = {
            "$setElementOrder/containers": [{"name": "app"}],
            "containers": [{"name": "app", "image": _image(manifest)}],
        }
        return {"metadata": metadata, "spec": {"template": {"spec": pod}}}

    def _operation(self, app: App, revision: str, by: str) -> Body:
        source = self.document(app)["spec"]["source"]
        sync = {"revision": revision, "source": source, "syncOptions": ["CreateNamespace=true"]}
        who: Body = {"username": by} if by else {"automated": True}
        return {"sync": sync if by else sync | {"prune": True}, "initiatedBy": who, "retry": {} if by else {"limit": 5}}

    def _end(self, at: datetime, app: App, revision: str, operation: Body, began: datetime) -> None:
        results = [_place(app, each) | {"status": "Synced", "syncPhase": "Sync"} for each in app.manifests()]
        source = self.document(app)["spec"]["source"]
        state = {
            "operation": operation,
            "phase": "Succeeded",
            "message": "successfully synced (all tasks run)",
            "startedAt": _time(began),
            "finishedAt": _time(at),
            "syncResult": {"revision": revision, "source": source, "resources": results},
        }
        status = self.document(app).get("status", {})
        history = [*status.get("history", [])][-9:]
        entry = {
            "id": history[-1]["id"] + 1 if history else 0,
            "revision": revision,
            "source": source,
            "deployStartedAt": _time(began),
            "deployedAt": _time(at),
            "initiatedBy": operation["initiatedBy"],
        }
        resources = [_place(app, each) | {"status": "Synced"} for each in app.manifests()]
        merged = {
            "status": {
                "operationState": state,
                "history": [*history, entry],
                "resources": resources,
                "reconciledAt": _time(at),
                "health": {"status": "Healthy"},
                "sync": {"status": "Synced", "revision": revision},
            },
            "operation": None,
        }
        self.api.patch(at, CONTROLLER, app.application(), merged)

    def _compared(self, at: datetime, app: App, revision: str, said: str) -> None:
        changed = ("Deployment", "ConfigMap") if said == "OutOfSync" else ()
        resources = [
            _place(app, each) | {"status": "OutOfSync" if each["kind"] in changed else "Synced"}
            for each in app.manifests()
        ]
        sync = {"status": said, "revision": revision}
        status = {"reconciledAt": _time(at), "resources": resources, "sync": sync}
        self.api.patch(at, CONTROLLER, app.application(), {"status": status})

    def _say(self, at: datetime, app: App, said: str, user: str, reason: str = "OperationStarted") -> None:
        log = self.server_log if user else self.controller_log
        if log is None:
            return
        who = f" user={user}" if user else ""
        place = f'dest-namespace={app.name} dest-server="https://kubernetes.default.svc"'
        line = f'time="{_time(at)}" level=info msg="{said}" application={app.name} {place}'
        log.write(f"{line} reason={reason} type=Normal{who}\n")


def _place(app: App, manifest: Body) -> dict[str, Any]:
    group, _, version = manifest["apiVersion"].rpartition("/")
    place = {"version": version, "kind": manifest["kind"], "name": manifest["metadata"]["name"]}
    if group:
        place["group"] = group
    if manifest["kind"] not in _CLUSTER_SCOPED:
        place["namespace"] = manifest["metadata"]["namespace"]
    return place


def _image(deployment: Body) -> str:
    image: str = deployment["spec"]["template"]["spec"]["containers"][0]["image"]
    return image


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
