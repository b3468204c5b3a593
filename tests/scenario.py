"""Stories told as records: an API server that writes an audit log, Applications, and a repository with its own clock.

Each act moves the clock by a minute. What the API server answers is worked out as a real one would.
"""

import copy
import os
import subprocess
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson

from auditor.model.facts import AuditEvent, ObjectSnapshot
from auditor.objects import kinds, patch
from auditor.objects.leaves import differences
from tests.factories import KUBECTL, ORIGIN, audit_event, minute, replace

ALICE = "alice@acme.example"
BOB = "bob@acme.example"
ARGOCD = "system:serviceaccount:argocd:argocd-application-controller"
HPA = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
PIPELINE = "system:serviceaccount:ci:pipeline"
AGENTS = {
    ARGOCD: "argocd-application-controller/v0.0.0 (linux/amd64) kubernetes/$Format",
    HPA: "kube-controller-manager/v1.34.2 (linux/amd64) kubernetes/8cc511e/system:serviceaccount:kube-system:"
    "horizontal-pod-autoscaler",
}
REPOSITORY = "http://git.acme.example/deploy.git"

Body = dict[str, Any]


def deployment(name: str = "web", namespace: str = "shop-prod", **spec: Any) -> Body:
    """A Deployment of one container, `app`, as a manifest has it."""
    container = {"name": "app", "image": "registry.acme.example/app:1.0.0", "env": [{"name": "LEVEL", "value": "info"}]}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": name}}, "template": template} | spec,
    }


def config_map(name: str = "settings", namespace: str = "shop-prod", **data: str) -> Body:
    """A ConfigMap of these keys."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


class Cluster:
    """An API server. Every act is one more event in its audit log, at level RequestResponse."""

    def __init__(self, name: str = "prod") -> None:
        self.name = name
        self.events: list[AuditEvent] = []
        self.objects: dict[tuple[str, str, str], Body] = {}
        self.minutes = 0.0
        self.version = 100

    def create(self, user: str, body: Body, **event: Any) -> AuditEvent:
        """POST of a manifest."""
        group, kind = kinds.group_of(body["apiVersion"]), body["kind"]
        stored: Body = copy.deepcopy(patch.apply(None, body, "create", group, kind).document or {})
        stored["metadata"] |= {"uid": f"uid-{self.version}", "creationTimestamp": f"{self._now():%Y-%m-%dT%H:%M:%SZ}"}
        return self._store(user, body, stored, {"verb": "create", "code": 201} | event)

    def patch(
        self, user: str, of: Body, request: Any, type_: patch.PatchType = "strategic", **event: Any
    ) -> AuditEvent:
        """PATCH of the object that a manifest names; `stored` overrides what is stored, as a webhook would."""
        before = self.get(of)
        kind, group = before["kind"], kinds.group_of(before["apiVersion"])
        given = event.pop("stored", None)
        manager = event.get("field_manager", "")
        sub = event.get("subresource", "")
        stored: Body = given or patch.apply(before, request, type_, group, kind, sub, manager).document or {}
        return self._store(user, request, stored, {"verb": "patch"} | event)

    def update(self, user: str, body: Body, **event: Any) -> AuditEvent:
        """PUT of a whole object."""
        before = self.get(body)
        group, kind = kinds.group_of(before["apiVersion"]), before["kind"]
        stored: Body = copy.deepcopy(patch.apply(before, body, "put", group, kind).document or {})
        stored["metadata"] = before["metadata"] | stored["metadata"]
        version = body["metadata"].get("resourceVersion", before["metadata"]["resourceVersion"])
        return self._store(user, body, stored, {"verb": "update", "object_version": version} | event)

    def scale(self, user: str, of: Body, replicas: int, **event: Any) -> AuditEvent:
        """`kubectl scale`: a PATCH of the scale sub-resource, answered with a Scale."""
        made = self.patch(user, of, {"spec": {"replicas": replicas}}, "merge", subresource="scale", **event)
        stored = self.get(of)
        metadata = {key: stored["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
        return self._amend(
            made, {"kind": "Scale", "metadata": metadata, "spec": {"replicas": stored["spec"]["replicas"]}}
        )

    def delete(self, user: str, of: Body, **event: Any) -> AuditEvent:
        """DELETE, answered with a Status."""
        gone = self.objects.pop(_key(of))
        answer = {"kind": "Status", "apiVersion": "v1", "details": {"uid": gone["metadata"]["uid"]}}
        options = {"kind": "DeleteOptions", "propagationPolicy": "Background"}
        return self._record(user, gone, options, answer, {"verb": "delete"} | event)

    def get(self, of: Body) -> Body:
        """The object as it is stored."""
        return self.objects[_key(of)]

    def snapshot(self, of: Body, managed_fields: list[Body] | None = None) -> ObjectSnapshot:
        """`kubectl get -o yaml --show-managed-fields`."""
        body = copy.deepcopy(self.get(of))
        if managed_fields is not None:
            body["metadata"]["managedFields"] = managed_fields
        metadata, group = body["metadata"], kinds.group_of(body["apiVersion"])
        place = (body["kind"], metadata["namespace"], metadata["name"], metadata["uid"], metadata["resourceVersion"])
        return ObjectSnapshot(self.name, group, "v1", *place, self._now(), orjson.dumps(body), ORIGIN)

    def _now(self) -> datetime:
        return minute(self.minutes)

    def _store(self, user: str, request: Any, stored: Body, event: Body) -> AuditEvent:
        key = _key(stored)
        before = self.objects.get(key)
        moves = event.pop("moves", False)
        if moves or before is None or differences(before, stored, "", ""):
            self.version += 1
            stored["metadata"]["resourceVersion"] = str(self.version)
        if not event.get("dry_run") and event.get("code", 200) < 300:
            self.objects[key] = stored
        return self._record(user, stored, request, stored, event)

    def _record(self, user: str, of: Body, request: Any, response: Any, event: Body) -> AuditEvent:
        self.minutes += 1
        group, metadata = kinds.group_of(of["apiVersion"]), of["metadata"]
        made = {
            "id": f"event-{len(self.events):04}",
            "audit_id": f"audit-{len(self.events):04}",
            "cluster": self.name,
            "at": self._now(),
            "stage_at": self._now() + timedelta(milliseconds=5),
            "user": user,
            "user_agent": AGENTS.get(user, KUBECTL),
            "api_group": group,
            "resource": kinds.resource_of(group, of["kind"]) or of["kind"].lower() + "s",
            "namespace": metadata.get("namespace", ""),
            "name": metadata["name"],
            "request": None if request is None else orjson.dumps(request),
            "response": orjson.dumps(response),
        }
        self.events.append(audit_event(**(made | event)))
        return self.events[-1]

    def _amend(self, event: AuditEvent, response: Body) -> AuditEvent:
        self.events[-1] = replace(event, response=orjson.dumps(response))
        return self.events[-1]


def _key(body: Body) -> tuple[str, str, str]:
    return body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"]


class Repository:
    """A git repository whose commits have the time and author that a story gives them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._git("init", "-q", "-b", "main")

    def commit(
        self, at: datetime, files: Mapping[str, str | None], message: str, author: str = "Erin Holt <erin@acme.example>"
    ) -> str:
        """Commit these files (None removes one) on the current branch; the sha."""
        for path, text in files.items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink() if text is None else place.write_text(text, encoding="utf-8")
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", message, "--author", author, at=at)
        return self._git("rev-parse", "HEAD")

    def branch(self, name: str) -> None:
        """Switch to a branch, made here where it does not exist."""
        self._git("checkout", "-q", "-B" if name not in self._git("branch", "--list", name) else "", name)

    def _git(self, *arguments: str, at: datetime | None = None) -> str:
        moment = (at or minute(0)).isoformat()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_DATE": moment,
            "GIT_COMMITTER_NAME": "Erin Holt",
            "GIT_COMMITTER_EMAIL": "erin@acme.example",
            "GIT_AUTHOR_NAME": "Erin Holt",
            "GIT_AUTHOR_EMAIL": "erin@acme.example",
        }
        command = ["git", "-C", str(self.folder), *filter(None, arguments)]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def application(name: str, path: str, **spec: Any) -> Body:
    """An Application of Argo CD that deploys a path of the repository to the namespace of its own name."""
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd"},
        "spec": {
            "project": "default",
            "source": {"repoURL": REPOSITORY, "path": path, "targetRevision": "main"},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": name},
        }
        | spec,
    }


def audit_line(event: AuditEvent) -> bytes:
    """The event as a line of a kube-apiserver's audit log."""
    reference = {
        "resource": event.resource,
        "namespace": event.namespace,
        "name": event.name,
        "apiGroup": event.api_group,
        "apiVersion": event.api_version,
        "subresource": event.subresource,
        "resourceVersion": event.object_version,
    }
    given_in_uri = {"fieldManager": event.field_manager, "force": "true" if event.force else ""}
    given_in_uri["dryRun"] = "All" if event.dry_run else ""
    query = urlencode({key: value for key, value in given_in_uri.items() if value})
    line = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": event.level,
        "auditID": event.audit_id,
        "stage": event.stage,
        "requestURI": event.request_uri + (f"?{query}" if query else ""),
        "verb": event.verb,
        "user": {"username": event.user, "groups": list(event.groups)},
        "sourceIPs": list(event.source_ips),
        "userAgent": event.user_agent,
        "objectRef": {key: value for key, value in reference.items() if value},
        "responseStatus": {"code": event.code},
        "requestReceivedTimestamp": f"{event.at:%Y-%m-%dT%H:%M:%S.%fZ}",
        "stageTimestamp": f"{event.stage_at or event.at:%Y-%m-%dT%H:%M:%S.%fZ}",
    }
    bodies = {"requestObject": event.request, "responseObject": event.response}
    given = {key: orjson.loads(body) for key, body in bodies.items() if body is not None}
    return orjson.dumps(line | given) + b"\n"


def save(folder: Path, clusters: list[Cluster], applications: list[Body], repository: Repository | None = None) -> Path:
    """A folder with these records and the configuration for them; Argo CD runs in the first cluster."""
    lines = []
    for cluster in clusters:
        place = folder / "audit" / cluster.name
        place.mkdir(parents=True)
        (place / "audit.log").write_bytes(b"".join(map(audit_line, cluster.events)))
        lines.append(f'[[cluster]]\nname = "{cluster.name}"\naudit = ["audit/{cluster.name}/"]')
    lines[0] += '\nserver = ["https://kubernetes.default.svc"]'
    (folder / "argocd").mkdir()
    (folder / "argocd" / "applications.json").write_bytes(orjson.dumps({"kind": "List", "items": applications}))
    lines.append(f'[[argocd]]\nname = "argocd"\ncluster = "{clusters[0].name}"\nexports = ["argocd/"]')
    if repository is not None:
        lines.append(f'[[repository]]\nurl = "{REPOSITORY}"\npath = "{repository.folder}"')
    (folder / "auditor.toml").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return folder
