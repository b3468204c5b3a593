"""A cluster for people, pipelines and controllers to act in: a real API server that writes an audit log."""

import base64
import json
import os
import shlex
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from tests.live.reconstruction_truth import World
from tests.live.servers import TOOLS, Api, api_server

RBAC = "/apis/rbac.authorization.k8s.io/v1"
PEOPLE_BY_CERTIFICATE = {"mara": ("mara@acme.example", "sre"), "admin": ("kubernetes-admin", "kubeadm:cluster-admins")}
PEOPLE_BY_TOKEN = {"jonas": ("jonas@acme.example", "sre"), "intern": ("intern@acme.example", "interns")}
ACCOUNTS = {
    "argocd": ("argocd", "argocd-application-controller"),
    "flux": ("flux-system", "kustomize-controller"),
    "hpa": ("kube-system", "horizontal-pod-autoscaler"),
    "deployments": ("kube-system", "deployment-controller"),
    "collector": ("kube-system", "generic-garbage-collector"),
    "ci": ("ci", "deployer"),
}
PROGRAMS = {"argocd": "argocd-application-controller", "flux": "kustomize-controller"}
"""The name under which a controller runs the apply of kubectl, as Argo CD does with kubectl's own library."""
ACTORS = {
    **{who: {"name": user, "kind": "person"} for who, (user, _) in (PEOPLE_BY_CERTIFICATE | PEOPLE_BY_TOKEN).items()},
    **{who: {"name": f"system:serviceaccount:{space}:{name}"} for who, (space, name) in ACCOUNTS.items()},
}
for _who, _kind in {
    "admin": "shared-credential",
    "argocd": "gitops",
    "flux": "gitops",
    "hpa": "autoscaler",
    "deployments": "control-plane",
    "collector": "control-plane",
    "ci": "ci",
}.items():
    ACTORS[_who] = ACTORS[_who] | {"kind": _kind}

_UNWATCHED = ("kube-system", "kube-public", "kube-node-lease", "default", "argocd", "flux-system", "ci")
_WATCHED = (
    "/api/v1/namespaces",
    "/api/v1/nodes",
    "/api/v1/persistentvolumes",
    "/api/v1/persistentvolumeclaims",
    "/api/v1/configmaps",
    "/api/v1/secrets",
    "/api/v1/services",
    "/api/v1/serviceaccounts",
    "/api/v1/pods",
    "/api/v1/resourcequotas",
    "/api/v1/limitranges",
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/statefulsets",
    "/apis/apps/v1/daemonsets",
    "/apis/apps/v1/replicasets",
    "/apis/batch/v1/jobs",
    "/apis/batch/v1/cronjobs",
    "/apis/networking.k8s.io/v1/ingresses",
    "/apis/networking.k8s.io/v1/networkpolicies",
    "/apis/autoscaling/v2/horizontalpodautoscalers",
    "/apis/policy/v1/poddisruptionbudgets",
    f"{RBAC}/roles",
    f"{RBAC}/rolebindings",
    f"{RBAC}/clusterroles",
    f"{RBAC}/clusterrolebindings",
    "/apis/storage.k8s.io/v1/storageclasses",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/acme.example/v1/widgets",
)
_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "users": ["tester"]},
        {
            "level": "RequestResponse",
            "users": ["system:apiserver"],
            "resources": [{"group": "apiextensions.k8s.io", "resources": ["customresourcedefinitions"]}],
            "verbs": ["create", "update", "patch", "delete"],
        },
        {"level": "None", "users": ["system:apiserver"]},
        {"level": "RequestResponse", "resources": [{"group": "", "resources": ["pods/exec"]}]},
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {"level": "RequestResponse"},
    ],
}
_MUTATING_POLICIES = (
    "--runtime-config=admissionregistration.k8s.io/v1beta1=true",
    "--feature-gates=MutatingAdmissionPolicy=true",
)


def kubectl_program() -> str | None:
    """A kubectl that is one program, not a wrapper that picks one by the server's version."""
    found = shutil.which("kubectl")
    if found is None:
        return None
    beside = sorted(Path(found).resolve().parent.glob("kubectl.1.3*"))
    return str(beside[-1]) if beside else found


@dataclass(slots=True)
class Place:
    """The running cluster."""

    api: Api
    folder: Path
    webhook: str
    """The address of the webhook, and its certificate in base64."""
    webhook_ca: str

    def run(self, who: str, command: str, stdin: str = "", editor: str = "") -> subprocess.CompletedProcess[str]:
        """A command of kubectl or helm, by one of the actors."""
        program, *arguments = shlex.split(command)
        found = self.folder / "bin" / PROGRAMS.get(who, program)
        environment = {
            "HOME": str(self.folder / "home"),
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(self.folder / f"{who}.kubeconfig"),
            "KUBE_EDITOR": editor or "false",
            "TZ": "UTC",
        }
        return subprocess.run(
            [str(found), *arguments],
            input=stdin,
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=15,
        )

    def client(self, who: str) -> Api:
        """A client that sends requests of its own, for those who have a token."""
        return Api(self.api.port, (self.folder / f"{who}.token").read_text())

    def world(self) -> World:
        """All objects that acts may touch."""
        found: World = {}
        for path in _WATCHED:
            body = self.api.send("GET", path).body
            for item in body.get("items") or ():
                metadata = item["metadata"]
                namespace = metadata.get("namespace", "")
                shipped = "kubernetes.io/bootstrapping" in metadata.get("labels", {})
                if shipped or namespace in _UNWATCHED or metadata["name"].startswith(("system:", "system-")):
                    continue
                kind = body["kind"].removesuffix("List")
                found[(kind, namespace, metadata["name"])] = {"kind": kind, **item}
        return {key: item for key, item in found.items() if not (key[0] == "Namespace" and key[2] in _UNWATCHED)}

    def audit_lines(self) -> list[str]:
        return (self.folder / "audit.log").read_text().splitlines()


@contextmanager
def place(folder: Path) -> Iterator[Place]:
    """A cluster with its people, for the length of the block."""
    (folder / "policy.yaml").write_text(yaml.safe_dump(_POLICY))
    _sign(folder, "ca", "/CN=ca")
    people = [f"token-{who},{user},{user},{group}" for who, (user, group) in PEOPLE_BY_TOKEN.items()]
    (folder / "people.csv").write_text("\n".join([f"{Api(0).token},tester,tester,system:masters", *people]) + "\n")
    flags = (
        f"--token-auth-file={folder / 'people.csv'}",
        f"--audit-policy-file={folder / 'policy.yaml'}",
        f"--audit-log-path={folder / 'audit.log'}",
        f"--client-ca-file={folder / 'ca.crt'}",
        *_MUTATING_POLICIES,
    )
    with _webhook(folder) as address, api_server(folder, *flags) as api:
        authority = base64.b64encode((folder / "ca.crt").read_bytes()).decode()
        here = Place(api, folder, address, authority)
        _settle(here)
        yield here


def _settle(here: Place) -> None:
    (here.folder / "bin").mkdir()
    (here.folder / "home").mkdir()
    kubectl = kubectl_program()
    assert kubectl
    for name in ("kubectl", *PROGRAMS.values()):
        (here.folder / "bin" / name).symlink_to(kubectl)
    helm = shutil.which("helm") or str(TOOLS / "bin" / "helm")
    (here.folder / "bin" / "helm").symlink_to(helm)
    for who, (user, group) in PEOPLE_BY_CERTIFICATE.items():
        _sign(here.folder, who, f"/O={group}/CN={user}", by="ca")
        files = {"client-certificate": f"{here.folder / who}.crt", "client-key": f"{here.folder / who}.key"}
        _kubeconfig(here, who, files)
    for who in (*PEOPLE_BY_TOKEN, *ACCOUNTS):
        token = f"token-{who}" if who in PEOPLE_BY_TOKEN else _account(here.api, *ACCOUNTS[who])
        (here.folder / f"{who}.token").write_text(token)
        _kubeconfig(here, who, {"token": token})
    groups = ("sre", "kubeadm:cluster-admins", "system:serviceaccounts")
    _bind(here.api, "everything", "cluster-admin", *groups)
    _bind(here.api, "reading", "view", "interns")


def _bind(api: Api, name: str, role: str, *groups: str) -> None:
    binding = {
        "metadata": {"name": f"system:{name}"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group} for group in groups],
    }
    assert api.send("POST", f"{RBAC}/clusterrolebindings", binding).code == 201


def _account(api: Api, namespace: str, name: str) -> str:
    """A service account and a token of it."""
    api.send("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    deadline = time.monotonic() + 20
    while api.send("POST", path, {"metadata": {"name": name}}).code not in (201, 409):
        assert time.monotonic() < deadline, name
        time.sleep(0.2)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    token: str = api.send("POST", f"{path}/{name}/token", request).body["status"]["token"]
    return token


def _kubeconfig(here: Place, who: str, user: dict[str, str]) -> None:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": who,
        "contexts": [{"name": who, "context": {"cluster": "here", "user": who, "namespace": "shop"}}],
        "clusters": [
            {
                "name": "here",
                "cluster": {"server": f"https://127.0.0.1:{here.api.port}", "insecure-skip-tls-verify": True},
            }
        ],
        "users": [{"name": who, "user": user}],
    }
    (here.folder / f"{who}.kubeconfig").write_text(yaml.safe_dump(config))
    (here.folder / f"{who}.kubeconfig").chmod(0o600)


def _sign(folder: Path, name: str, subject: str, by: str = "") -> None:
    """A key and a certificate, of this authority or of itself; for the loopback address too."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", subject]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"] if name == "webhook" else []
    command += ["-CA", str(folder / f"{by}.crt"), "-CAkey", str(folder / f"{by}.key")] if by else []
    command += ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.crt")]
    subprocess.run(command, check=True, capture_output=True)


_PATCHES = {
    "Deployment": [
        {"op": "add", "path": "/spec/template/spec/imagePullSecrets", "value": [{"name": "mirror"}]},
        {"op": "replace", "path": "/spec/template/spec/containers/0/imagePullPolicy", "value": "Always"},
    ],
    "ConfigMap": [{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}],
}
"""What the webhook does, whatever was sent."""


class _Webhook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = review["request"]
        patch = base64.b64encode(json.dumps(_PATCHES[asked["kind"]["kind"]]).encode()).decode()
        answer = {"uid": asked["uid"], "allowed": True, "patchType": "JSONPatch", "patch": patch}
        body = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": answer}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def _webhook(folder: Path) -> Iterator[str]:
    _sign(folder, "webhook", "/CN=webhook", by="ca")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Webhook)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "webhook.crt", folder / "webhook.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def now() -> str:
    """Now, as the records write it."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
