"""Audit logs of any size, the same bytes for the same seed, shaped like a kube-apiserver 1.34 writes them.

Reads are at level Metadata with the sizes that real ones have (median about 1 KB); writes carry a patch and the
whole Deployment with its managed fields back (about 6 KB) at RequestResponse, or nothing at Metadata.
"""

import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_START = datetime(2026, 11, 30, 5, 0, tzinfo=UTC)
_READERS = (
    ("system:apiserver", "kube-apiserver/v1.34.2 (linux/amd64) kubernetes/8cc511e", ["system:masters"]),
    ("system:node:worker-17.acme.example", "kubelet/v1.34.2 (linux/amd64) kubernetes/8cc511e", ["system:nodes"]),
    (
        "system:serviceaccount:argocd:argocd-application-controller",
        "argocd-application-controller/v3.6.0 (linux/amd64)",
        ["system:serviceaccounts", "system:serviceaccounts:argocd"],
    ),
    (
        "system:serviceaccount:monitoring:prometheus-k8s",
        "Prometheus/3.1.0",
        ["system:serviceaccounts", "system:serviceaccounts:monitoring"],
    ),
    ("alice@acme.example", "kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07", ["acme:sre"]),
)
_WRITERS = (
    (
        "system:serviceaccount:argocd:argocd-application-controller",
        "argocd-application-controller/v3.6.0 (linux/amd64)",
        "argocd-controller",
    ),
    (
        "system:serviceaccount:kube-system:deployment-controller",
        "kube-controller-manager/v1.34.2 (linux/amd64) kubernetes/8cc511e",
        "",
    ),
    ("dave@acme.example", "kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07", "kubectl-set"),
)
_RESOURCES = (("", "pods"), ("", "configmaps"), ("apps", "deployments"), ("apps", "replicasets"), ("", "services"))


@dataclass(frozen=True, slots=True)
class Shape:
    """What a generated file is like. `size` is in bytes of plain text, `writes` the share of events that are writes."""

    size: int
    writes: float
    level: str = "RequestResponse"
    seed: int = 20261130


@dataclass(slots=True)
class Split:
    """What came out: events and bytes, reads and writes."""

    reads: int = 0
    writes: int = 0
    read_bytes: int = 0
    write_bytes: int = 0

    def __str__(self) -> str:
        events, total = self.reads + self.writes, self.read_bytes + self.write_bytes
        return (
            f"{events:,} events, {self.writes:,} writes ({self.writes / events:.1%}); "
            f"{total:,} bytes, {self.write_bytes:,} of writes ({self.write_bytes / total:.1%})"
        )


def write_log(path: Path, shape: Shape, *, gke: bool = False) -> Split:
    """Write the log at `path`, gzip-compressed where its name says so, and say how its bytes are split."""
    split = Split()
    with gzip.open(path, "wb", compresslevel=6) if path.suffix == ".gz" else path.open("wb") as out:
        for is_write, event in _events(shape):
            line = json.dumps(log_entry(event) if gke else event, separators=(",", ":")).replace("&", "\\u0026")
            data = line.encode() + b"\n"
            out.write(data)
            if is_write:
                split.writes += 1
                split.write_bytes += len(data)
            else:
                split.reads += 1
                split.read_bytes += len(data)
    return split


def _events(shape: Shape) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Events until `shape.size` bytes are reached (compared at the plain encoding)."""
    rng = random.Random(shape.seed)
    at, written, number = _START, 0, 0
    while written < shape.size:
        number += 1
        at += timedelta(microseconds=rng.randrange(20, 4000))
        is_write = rng.random() < shape.writes
        event = _write(rng, at, number, shape.level) if is_write else _read(rng, at)
        written += len(json.dumps(event, separators=(",", ":"))) + 1
        yield is_write, event


def _read(rng: random.Random, at: datetime) -> dict[str, Any]:
    user, agent, groups = rng.choice(_READERS)
    group, resource = rng.choice(_RESOURCES)
    verb = rng.choices(("get", "list", "watch"), (6, 2, 2))[0]
    namespace, name = f"team-{rng.randrange(40)}", f"{resource}-{rng.randrange(4000)}"
    root = f"/apis/{group}/v1" if group else "/api/v1"
    uri = (
        f"{root}/namespaces/{namespace}/{resource}/{name}"
        if verb == "get"
        else (
            f"{root}/{resource}?allowWatchBookmarks=true&fieldSelector=metadata.name%3D{name}&resourceVersion="
            f"{rng.randrange(10**7)}&timeout=8m{rng.randrange(60)}s&timeoutSeconds=521&watch=true"
        )
    )
    return _event(rng, at, "Metadata", verb, uri, user, agent, groups, group, resource, namespace, name)


def _write(rng: random.Random, at: datetime, number: int, level: str) -> dict[str, Any]:
    user, agent, manager = rng.choice(_WRITERS)
    namespace, name = f"team-{rng.randrange(40)}", f"api-{rng.randrange(400)}"
    uri = f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}" + (f"?fieldManager={manager}" if manager else "")
    groups = ["system:serviceaccounts"] if user.startswith("system:") else ["acme:sre"]
    event = _event(rng, at, level, "patch", uri, user, agent, groups, "apps", "deployments", namespace, name)
    if level != "RequestResponse":
        return event
    pool = str(rng.randrange(10, 90))
    env = [{"name": "LOG_LEVEL", "value": "debug"}, {"name": "DB_POOL", "value": pool}]
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "api", "env": env}]}}}}
    tail = {key: event.pop(key) for key in ("requestReceivedTimestamp", "stageTimestamp", "annotations")}
    return event | {"requestObject": patch, "responseObject": _deployment(namespace, name, number, pool, at)} | tail


def _event(
    rng: random.Random,
    at: datetime,
    level: str,
    verb: str,
    uri: str,
    user: str,
    agent: str,
    groups: list[str],
    group: str,
    resource: str,
    namespace: str,
    name: str,
) -> dict[str, Any]:
    reference = {"resource": resource, "namespace": namespace, "name": name}
    reference |= {"apiGroup": group, "apiVersion": "v1"} if group else {"apiVersion": "v1"}
    reason = f'RBAC: allowed by ClusterRoleBinding "{user}" of ClusterRole "{user}" to Group "{groups[0]}"'
    credential = f"JTI={rng.getrandbits(128):032x}"
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": level,
        "auditID": _uuid(rng),
        "stage": "ResponseComplete",
        "requestURI": uri,
        "verb": verb,
        "user": {
            "username": user,
            "uid": _uuid(rng),
            "groups": [*groups, "system:authenticated"],
            "extra": {
                "authentication.kubernetes.io/credential-id": [credential],
                "authentication.kubernetes.io/node-name": [f"worker-{rng.randrange(90)}.acme.example"],
            },
        },
        "sourceIPs": [f"10.0.{rng.randrange(255)}.{rng.randrange(255)}"],
        "userAgent": agent,
        "objectRef": reference,
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": _time(at),
        "stageTimestamp": _time(at + timedelta(microseconds=rng.randrange(500, 9000))),
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": reason},
    }


def _deployment(namespace: str, name: str, number: int, pool: str, at: datetime) -> dict[str, Any]:
    """A Deployment as the API server answers it: applied once, then edited, with the managed fields of both."""
    labels = {"app": name, "team": namespace}
    env = [
        {"name": "LOG_LEVEL", "value": "debug"},
        {"name": "DB_HOST", "value": "db.shop"},
        {"name": "DB_POOL", "value": pool},
    ]
    container = {
        "name": "api",
        "image": f"registry.acme.example/{namespace}/{name}:2.1.0",
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "env": env,
        "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10},
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }
    pod = {
        "containers": [container],
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
    }
    spec = {
        "replicas": 3,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    names = (
        "name",
        "image",
        "ports",
        "env",
        "resources",
        "readinessProbe",
        "imagePullPolicy",
        "terminationMessagePath",
    )
    owned = {'k:{"name":"api"}': {f"f:{key}": {".": {}, "f:value": {}, "f:name": {}} for key in names}}
    fields = {"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": owned}}}}
    managers = [
        {
            "manager": manager,
            "operation": "Update",
            "apiVersion": "apps/v1",
            "time": _time(at)[:19] + "Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        }
        for manager in ("argocd-controller", "kube-controller-manager", "kubectl-set")
    ]
    applied = json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}, separators=(",", ":"))
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": f"ba1cb0c6-eb64-42c3-b5a1-{number:012d}",
        "resourceVersion": str(10**6 + number),
        "generation": number,
        "creationTimestamp": "2026-11-01T06:58:06Z",
        "annotations": {
            "argocd.argoproj.io/tracking-id": f"{name}:apps/Deployment:{namespace}/{name}",
            "kubectl.kubernetes.io/last-applied-configuration": applied,
        },
        "managedFields": managers,
    }
    conditions = [
        {
            "type": kind,
            "status": "True",
            "lastUpdateTime": "2026-11-30T06:58:07Z",
            "reason": "NewReplicaSetAvailable",
            "message": f'ReplicaSet "{name}-7f595bfc77" has successfully progressed.',
        }
        for kind in ("Available", "Progressing")
    ]
    status = {"observedGeneration": number, "replicas": 3, "readyReplicas": 3, "conditions": conditions}
    return {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": metadata, "spec": spec, "status": status}


def log_entry(event: dict[str, Any]) -> dict[str, Any]:
    """The same event as Google Cloud Logging exports it."""
    reference = event["objectRef"]
    group = reference.get("apiGroup") or "core"
    place = f"{group}/v1/namespaces/{reference['namespace']}/{reference['resource']}/{reference['name']}"
    method = f"io.k8s.{group.split('.')[0]}.v1.{reference['resource']}.{event['verb']}"
    payload: dict[str, Any] = {
        "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
        "authenticationInfo": {"principalEmail": event["user"]["username"]},
        "authorizationInfo": [{"granted": True, "permission": method, "resource": place}],
        "methodName": method,
        "requestMetadata": {"callerIp": event["sourceIPs"][0], "callerSuppliedUserAgent": event["userAgent"]},
        "resourceName": place,
        "serviceName": "k8s.io",
        "status": {"code": 0},
    }
    for ours, theirs in (("requestObject", "request"), ("responseObject", "response")):
        if ours in event:
            payload[theirs] = {"@type": f"{group}.k8s.io/v1.Deployment"} | event[ours]
    return {
        "insertId": event["auditID"],
        "labels": event["annotations"],
        "logName": "projects/acme/logs/cloudaudit.googleapis.com%2Factivity",
        "operation": {"first": True, "id": event["auditID"], "last": True, "producer": "k8s.io"},
        "protoPayload": payload,
        "receiveTimestamp": event["stageTimestamp"],
        "resource": {
            "labels": {"cluster_name": "prod", "location": "europe-west1", "project_id": "acme"},
            "type": "k8s_cluster",
        },
        "timestamp": event["requestReceivedTimestamp"],
    }


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _uuid(rng: random.Random) -> str:
    text = f"{rng.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
