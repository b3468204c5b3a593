"""An API server for long stories: it keeps objects, and writes one line of audit log for each request."""

import copy
import random
from datetime import datetime
from typing import Any, TextIO
from urllib.parse import quote

import orjson

from auditor.objects import kinds, patch

Body = dict[str, Any]
_ARGO = "argocd-application-controller/v0.0.0 (linux/amd64) kubernetes/$Format"
_KUBE = "kube-controller-manager/v1.34.2 (linux/amd64) kubernetes/8cc511e/system:serviceaccount:kube-system:"

CONTROLLER = "system:serviceaccount:argocd:argocd-application-controller"
SERVER = "system:serviceaccount:argocd:argocd-server"
APPLICATION_SETS = "system:serviceaccount:argocd:argocd-applicationset-controller"
NOTIFICATIONS = "system:serviceaccount:argocd:argocd-notifications-controller"
IMAGE_UPDATER = "system:serviceaccount:argocd:argocd-image-updater"
HPA = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
KEDA = "system:serviceaccount:keda:keda-operator"
VPA_UPDATER = "system:serviceaccount:kube-system:vpa-updater"
VPA_RECOMMENDER = "system:serviceaccount:kube-system:vpa-recommender"
EXTERNAL_SECRETS = "system:serviceaccount:external-secrets:external-secrets"
SEALED_SECRETS = "system:serviceaccount:kube-system:sealed-secrets-controller"
CERT_MANAGER = "system:serviceaccount:cert-manager:cert-manager"
CA_INJECTOR = "system:serviceaccount:cert-manager:cert-manager-cainjector"
NODE_MANAGER = "eks:node-manager"
GARBAGE = "system:serviceaccount:kube-system:generic-garbage-collector"


def kube(name: str) -> str:
    """A controller of kube-controller-manager."""
    return f"system:serviceaccount:kube-system:{name}"


def _agent(user: str) -> str:
    if user == CONTROLLER:
        return _ARGO
    if user in (HPA, GARBAGE) or (
        user.endswith("-controller") and user.startswith("system:serviceaccount:kube-system:")
    ):
        return _KUBE + user.rpartition(":")[2]
    if user.startswith("system:node:"):
        return "kubelet/v1.34.2 (linux/amd64) kubernetes/8cc511e"
    if user.startswith("system:serviceaccount:"):
        return f"{user.rpartition(':')[2]}/v0.0.0 (linux/amd64) kubernetes/$Format"
    return f"{user}/v1.34.2 (linux/amd64) kubernetes/8cc511e"


class ApiServer:
    """The objects of one cluster, and the log that its requests go to."""

    def __init__(self, rng: random.Random) -> None:
        self.objects: dict[tuple[str, str, str], Body] = {}
        self.log: TextIO | None = None
        """None while the state before the records is set up."""
        self.lines = 0
        self._rng = rng
        self._version = 1_000

    def get(self, of: Body) -> Body:
        """The object as it is stored."""
        return self.objects[_key(of)]

    def has(self, of: Body) -> bool:
        """Whether it is there."""
        return _key(of) in self.objects

    def create(self, at: datetime, user: str, body: Body, manager: str = "", **event: Any) -> Body:
        """POST. `stored` is what the server keeps, where that is not the body itself."""
        stored = copy.deepcopy(event.pop("stored", body))
        stored["metadata"] |= {"uid": self._uuid(), "creationTimestamp": f"{at:%Y-%m-%dT%H:%M:%SZ}"}
        self._keep(stored)
        self._write(at, user, "create", stored, body, stored, manager, event | {"code": 201})
        return stored

    def patch(
        self, at: datetime, user: str, of: Body, request: Any, type_: str = "merge", manager: str = "", **event: Any
    ) -> Body:
        """PATCH of an object that is there."""
        before = self.get(of)
        group, kind = kinds.group_of(before["apiVersion"]), before["kind"]
        applied = patch.apply(before, request, type_, group, kind, "", manager)  # type: ignore[arg-type]
        assert applied.document is not None, (kind, request)
        stored: Body = copy.deepcopy(applied.document)
        self._keep(stored)
        self._write(at, user, "patch", stored, request, stored, manager, event)
        return stored

    def update(
        self, at: datetime, user: str, body: Body, subresource: str = "", level: str = "RequestResponse"
    ) -> Body:
        """PUT of a whole object, or of its status."""
        sent = copy.deepcopy(body)
        stored = copy.deepcopy(body)
        self._keep(stored)
        event = {"subresource": subresource, "object_version": sent["metadata"].get("resourceVersion")}
        self._write(at, user, "update", stored, sent, stored, "", event)
        return stored

    def scale(self, at: datetime, user: str, of: Body, replicas: int) -> None:
        """PUT of the scale sub-resource, as autoscalers do it."""
        before = self.get(of)
        metadata = {key: before["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
        request = {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": metadata,
            "spec": {"replicas": replicas},
        }
        stored = copy.deepcopy(before)
        stored["spec"]["replicas"] = replicas
        self._keep(stored)
        response = request | {"metadata": metadata | {"resourceVersion": stored["metadata"]["resourceVersion"]}}
        self._write(at, user, "update", stored, request, response, "", {"subresource": "scale"})

    def delete(self, at: datetime, user: str, of: Body) -> None:
        """DELETE, answered with a Status."""
        gone = self.objects.pop(_key(of))
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        answer = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Success",
            "details": {"uid": gone["metadata"]["uid"]},
        }
        self._write(at, user, "delete", gone, options, answer, "", {})

    def request(self, at: datetime, user: str, of: Body, verb: str, **event: Any) -> None:
        """A request that leaves no object here: a sub-resource, a record at level Metadata, a read."""
        self._write(at, user, verb, of, event.pop("sent", None), event.pop("answer", None), "", event)

    def delete_all(self, at: datetime, user: str, of: Body, gone: list[Body]) -> None:
        """DELETE of a collection, answered with the list of what it deleted."""
        for each in gone:
            self.objects.pop(_key(each), None)
        answer = {"kind": f"{of['kind']}List", "apiVersion": of["apiVersion"], "items": gone}
        nameless = of | {"metadata": {"namespace": of["metadata"]["namespace"], "name": ""}}
        options = {"kind": "DeleteOptions", "apiVersion": "v1"}
        self._write(at, user, "deletecollection", nameless, options, answer, "", {})

    def _keep(self, stored: Body) -> None:
        self._version += 1
        stored["metadata"]["resourceVersion"] = str(self._version)
        self.objects[_key(stored)] = stored

    def _write(
        self, at: datetime, user: str, verb: str, of: Body, request: Any, response: Any, manager: str, event: Body
    ) -> None:
        if self.log is None:
            return
        line = self._event(at, user, verb, of, manager, event)
        if line["level"] == "RequestResponse":
            line |= {key: body for key, body in (("requestObject", request), ("responseObject", response)) if body}
        self.log.write(orjson.dumps(line).decode() + "\n")
        self.lines += 1

    def _event(self, at: datetime, user: str, verb: str, of: Body, manager: str, event: Body) -> Body:
        group, metadata = kinds.group_of(of["apiVersion"]), of["metadata"]
        version = of["apiVersion"].rpartition("/")[2]
        resource = kinds.resource_of(group, of["kind"]) or of["kind"].lower() + "s"
        place = f"/namespaces/{metadata['namespace']}" if metadata.get("namespace") else ""
        name = f"/{metadata['name']}" if metadata["name"] and verb != "create" else ""
        sub = event.get("subresource", "")
        root = f"/apis/{group}" if group else "/api"
        query = f"?fieldManager={quote(manager)}" if manager else ""
        reference = {
            "resource": resource,
            "namespace": metadata.get("namespace", ""),
            "name": metadata["name"],
            "apiGroup": group,
            "apiVersion": version,
            "subresource": sub,
            "resourceVersion": event.get("object_version") or "",
        }
        moment = f"{at:%Y-%m-%dT%H:%M:%S.%fZ}"
        accounts = [f"system:serviceaccounts:{user.split(':')[2]}"] if user.startswith("system:serviceaccount:") else []
        secret = of["kind"] == "Secret"
        return {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata" if secret else event.get("level", "RequestResponse"),
            "auditID": self._uuid(),
            "stage": "ResponseComplete",
            "requestURI": f"{root}/{version}{place}/{resource}{name}{f'/{sub}' if sub else ''}{query}",
            "verb": verb,
            "user": {"username": user, "groups": [*accounts, "system:authenticated"]},
            "sourceIPs": ["10.0.0.7"],
            "userAgent": event.get("agent") or _agent(user),
            "objectRef": {key: value for key, value in reference.items() if value},
            "responseStatus": {"metadata": {}, "code": event.get("code", 200)},
            "requestReceivedTimestamp": moment,
            "stageTimestamp": moment,
            "annotations": {"authorization.k8s.io/decision": "allow"} | event.get("annotations", {}),
        }

    def _uuid(self) -> str:
        text = f"{self._rng.getrandbits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _key(body: Body) -> tuple[str, str, str]:
    return body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"]
