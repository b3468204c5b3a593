"""A real API server with Argo CD's kinds, read by a user who has the roles of docs/clusterrole.yaml and no others."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from auditor.collectors import Reading
from auditor.collectors.live import collect as live
from auditor.config import ArgoCDConfig, ClusterConfig, Config
from auditor.model.facts import ApplicationSnapshot, ArgoEvent, ArgoSettings, Batch, ObjectSnapshot, Skipped
from auditor.objects.redaction import Redactor
from auditor.progress import SILENT
from auditor.store import Store, open_store
from tests.collectors.configured import facts
from tests.conftest import ROOT
from tests.live.servers import READER, READER_TOKEN, Answer, Api, api_server, can_build

pytestmark = [pytest.mark.live, pytest.mark.skipif(not can_build(), reason="no Go to build an API server with")]

ROLES = list(yaml.safe_load_all((ROOT / "docs" / "clusterrole.yaml").read_text()))
ARGO = "/apis/argoproj.io/v1alpha1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
APPLICATIONS = 45
"""More than a page."""
LISTED = [
    {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
    {"group": "", "version": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "settings"},
    {"group": "", "version": "v1", "kind": "Secret", "namespace": "shop", "name": "db"},
    {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"},
    {"group": "", "version": "v1", "kind": "Service", "namespace": "shop", "name": "not-there"},
]
POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}


@dataclass(frozen=True, slots=True)
class Place:
    """A running server and the folder of its kubeconfig."""

    api: Api
    folder: Path

    @property
    def audit_log(self) -> list[dict[str, Any]]:
        """What auditor asked for, by the server's own record."""
        events = map(json.loads, (self.folder / "audit.log").read_text().splitlines())
        return [event for event in events if event.get("userAgent") == "auditor"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = Path(tmp_path_factory.mktemp("servers"))
    (folder / "policy.yaml").write_text(yaml.safe_dump(POLICY))
    flags = (f"--audit-policy-file={folder / 'policy.yaml'}", f"--audit-log-path={folder / 'audit.log'}")
    with api_server(folder, *flags) as api:
        _settle(api)
        for role in ROLES:
            done(api.send("POST", f"{RBAC}/clusterroles", role))
            bind(api, role["metadata"]["name"])
        kubeconfig(folder, api.port, READER_TOKEN)
        yield Place(api, folder)


def done(answer: Answer) -> Any:
    assert answer.code in (200, 201), answer.body
    return answer.body


def bind(api: Api, role: str) -> None:
    binding = {
        "metadata": {"name": role},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": READER}],
    }
    done(api.send("POST", f"{RBAC}/clusterrolebindings", binding))


def _settle(api: Api) -> None:
    """Argo CD's kinds, and what an Argo CD with one project and many applications leaves in a cluster."""
    for definition in yaml.safe_load_all((Path(__file__).parent / "argocd.yaml").read_text()):
        done(api.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition))
    for name in ("argocd", "shop"):
        done(api.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}}))
    for plural in ("applications", "applicationsets", "appprojects"):
        eventually(lambda plural=plural: api.send("GET", f"{ARGO}/namespaces/argocd/{plural}").code == 200)  # type: ignore[misc]
    created = [
        *(("argocd", f"{ARGO}/namespaces/argocd/applications", application(at)) for at in range(APPLICATIONS)),
        ("argocd", f"{ARGO}/namespaces/argocd/appprojects", custom("AppProject", "default", spec={})),
        ("argocd", f"{ARGO}/namespaces/argocd/applicationsets", custom("ApplicationSet", "shops", spec={})),
        ("argocd", "/api/v1/namespaces/argocd/configmaps", {"metadata": {"name": "argocd-cm"}, "data": {"a": "b"}}),
        ("argocd", "/api/v1/namespaces/argocd/events", EVENT),
        ("shop", "/api/v1/namespaces/shop/configmaps", {"metadata": {"name": "settings"}, "data": {"mode": "x"}}),
        ("shop", "/api/v1/namespaces/shop/secrets", {"metadata": {"name": "db"}, "stringData": {"password": "s3cr3t"}}),
        ("shop", "/apis/apps/v1/namespaces/shop/deployments", DEPLOYMENT),
    ]
    for _, path, body in created:
        done(api.send("POST", path, body))


def custom(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": kind, "metadata": {"name": name}, **more}


def application(number: int) -> dict[str, Any]:
    destination = {"server": "https://kubernetes.default.svc", "namespace": "shop"}
    resources = LISTED if number == 0 else []
    return custom(
        "Application",
        f"app-{number:02}",
        spec={"destination": destination, "source": {"repoURL": "https://git.acme.example/r.git", "path": "."}},
        status={"reconciledAt": "2026-11-30T06:00:00Z", "resources": resources},
    )


EVENT = {
    "metadata": {"name": "app-00.18ecc0bda0996bf5", "namespace": "argocd"},
    "involvedObject": {"kind": "Application", "apiVersion": "v1alpha1", "name": "app-00", "namespace": "argocd"},
    "reason": "OperationStarted",
    "message": "carol initiated sync to main (0123456789abcdef)",
    "source": {"component": "argocd-server"},
    "firstTimestamp": "2026-11-30T07:04:32Z",
    "lastTimestamp": "2026-11-30T07:04:32Z",
    "count": 1,
    "type": "Normal",
}
_LABELS = {"app": "web"}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "selector": {"matchLabels": _LABELS},
        "template": {
            "metadata": {"labels": _LABELS},
            "spec": {
                "containers": [{"name": "app", "image": "app:1", "env": [{"name": "API_TOKEN", "value": "t0psecret"}]}]
            },
        },
    },
}


def eventually(holds: Any) -> None:
    """Roles and definitions are in force some moments after they were written."""
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def kubeconfig(folder: Path, port: int, token: str, **trust: Any) -> None:
    trust = trust or {"certificate-authority": "certificates/apiserver.crt"}
    cluster = {"server": f"https://127.0.0.1:{port}", **trust}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": token}}],
    }
    (folder / "kubeconfig").write_text(yaml.safe_dump(document))


def collect(folder: Path, store: Store | None = None) -> list[Batch]:
    argocd = ArgoCDConfig("main", "prod", context="prod", kubeconfig="kubeconfig")
    config = Config(folder, clusters=(ClusterConfig("prod"),), argocds=(argocd,))
    reading = Reading(config, Redactor(b"k" * 32), lambda *_: (), folder, SILENT)
    if store is None:
        return list(live.collect(reading))
    batches = []
    for batch in live.collect(replace(reading, known=store.marks)):
        batches.append(batch)
        store.write(batch)
    return batches


def problems(batches: list[Batch]) -> dict[str, str]:
    return {batch.mark.source: batch.mark.problem for batch in batches if batch.mark.problem}


def unreachable(batches: list[Batch]) -> str:
    """What is said of an API server that nothing can be asked of."""
    first = batches[0].mark
    assert (first.kind, first.source, first.events) == ("argocd", "live:prod", 0)
    return first.problem


def permitted(place: Place, path: str) -> bool:
    return Api(place.api.port, READER_TOKEN).send("GET", path).code == 200


@contextmanager
def without_rule(place: Place, role: str, resource: str) -> Iterator[None]:
    """The role without the rule for a resource, until the end of the block."""
    path = f"{RBAC}/clusterroles/{role}"
    whole = next(each for each in ROLES if each["metadata"]["name"] == role)
    rules = [
        rule | {"resources": [name for name in rule["resources"] if name != resource] or ["nothing"]}
        for rule in whole["rules"]
    ]
    done(place.api.send("PUT", path, whole | {"rules": rules}))
    try:
        yield
    finally:
        done(place.api.send("PUT", path, whole))


def test_the_shipped_roles_are_enough(place: Place) -> None:
    eventually(lambda: permitted(place, "/apis/apps/v1/namespaces/shop/deployments"))
    before = datetime.now(UTC).replace(microsecond=0)
    batches = collect(place.folder)
    after = datetime.now(UTC)
    assert problems(batches) == {}
    assert facts(batches, Skipped) == []
    applications = facts(batches, ApplicationSnapshot)
    assert [each.name for each in applications] == [f"app-{number:02}" for number in range(APPLICATIONS)]
    assert all(each.at and before <= each.at <= after for each in applications)
    assert [(each.kind, each.name) for each in facts(batches, ArgoSettings)] == [
        ("AppProject", "default"),
        ("ApplicationSet", "shops"),
        ("ConfigMap", "argocd-cm"),
    ]
    assert [(each.user, each.application) for each in facts(batches, ArgoEvent)] == [("carol", "argocd/app-00")]
    objects = facts(batches, ObjectSnapshot)
    assert [(each.kind, each.namespace, each.name) for each in objects] == [
        ("ConfigMap", "shop", "settings"),
        ("Namespace", "", "shop"),
        ("Deployment", "shop", "web"),
    ]
    assert all(b"managedFields" in each.body and each.uid and each.resource_version for each in objects)
    assert b"t0psecret" not in objects[2].body


def test_secrets_are_refused_to_the_roles_and_never_asked_for(place: Place) -> None:
    reader = Api(place.api.port, READER_TOKEN)
    for path in ("/api/v1/secrets", "/api/v1/namespaces/shop/secrets", "/api/v1/namespaces/shop/secrets/db"):
        assert reader.send("GET", path).code == 403
    collect(place.folder)
    asked = place.audit_log
    assert asked
    assert not [event for event in asked if (event.get("objectRef") or {}).get("resource") == "secrets"]


def test_the_server_saw_only_reads_and_refused_none_of_them(place: Place) -> None:
    earlier = len(place.audit_log)
    collect(place.folder)
    final = [event for event in place.audit_log[earlier:] if event["stage"] == "ResponseComplete"]
    assert {event["verb"] for event in final} == {"get", "list"}
    assert {event["responseStatus"]["code"] for event in final} == {200, 404}  # one of the objects is not there
    assert {event["user"]["username"] for event in final} == {READER}


def test_a_second_run_adds_only_what_changed(place: Place, tmp_path: Path) -> None:
    with open_store("sqlite:///live.db", folder=tmp_path) as store:
        first = collect(place.folder, store)
        assert facts(collect(place.folder, store), ObjectSnapshot) == []
        path = "/apis/apps/v1/namespaces/shop/deployments/web"
        patch = {"spec": {"replicas": 3}}
        done(place.api.send("PATCH", path, patch, "application/merge-patch+json"))
        third = collect(place.folder, store)
        assert [each.name for each in facts(third, ObjectSnapshot)] == ["web"]
        assert facts(third, ApplicationSnapshot) == []
        assert len(list(store.object_snapshots())) == len(facts(first, ObjectSnapshot)) + 1
        assert len(list(store.argo_events())) == 1


@pytest.mark.parametrize(
    ("role", "resource", "path", "source", "unknown"),
    [
        ("auditor-argocd", "events", "/api/v1/namespaces/argocd/events", "events", "who used Argo CD's UI"),
        (
            "auditor-argocd",
            "appprojects",
            f"{ARGO}/namespaces/argocd/appprojects",
            "appprojects.argoproj.io",
            "whether a sync window froze an application",
        ),
        (
            "auditor-objects",
            "deployments",
            "/apis/apps/v1/namespaces/shop/deployments",
            "deployments.apps",
            "the live state of 1 deployments.apps in shop",
        ),
    ],
)
def test_a_permission_that_is_taken_away_is_told_and_all_else_is_read(
    place: Place, role: str, resource: str, path: str, source: str, unknown: str
) -> None:
    eventually(lambda: permitted(place, path))
    with without_rule(place, role, resource), without_rule(place, "auditor-objects", resource):
        eventually(lambda: not permitted(place, path))
        batches = collect(place.folder)
    eventually(lambda: permitted(place, path))
    told = problems(batches)
    assert list(told) == [f"live:prod/{source}"]
    (sentence,) = told.values()
    assert sentence.startswith("Permission is missing: ")
    assert f'User "{READER}" cannot' in sentence
    assert unknown in sentence
    assert len(facts(batches, ApplicationSnapshot)) == APPLICATIONS
    assert len(facts(batches, ObjectSnapshot)) >= 2


def test_a_token_that_is_not_valid_is_told(place: Place, tmp_path: Path) -> None:
    kubeconfig(tmp_path, place.api.port, "expired", **{"insecure-skip-tls-verify": True})
    assert unreachable(collect(tmp_path)).startswith(
        "The API server does not accept the credentials (401 Unauthorized)"
    )


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(place: Place, tmp_path: Path) -> None:
    kubeconfig(tmp_path, place.api.port, READER_TOKEN, **{"insecure-skip-tls-verify": False})
    assert unreachable(collect(tmp_path)).startswith("No trusted connection to https://127.0.0.1:")


def test_a_kubeconfig_may_leave_the_certificate_unchecked(place: Place, tmp_path: Path) -> None:
    kubeconfig(tmp_path, place.api.port, READER_TOKEN, **{"insecure-skip-tls-verify": True})
    assert problems(collect(tmp_path)) == {}


CONFIGURATION = """
[store]
url = "sqlite:///by-command.db"
cache = "cache"

[redaction]
key_file = "redaction.key"

[[cluster]]
name = "prod"
server = ["https://kubernetes.default.svc"]

[[argocd]]
name = "main"
cluster = "prod"
context = "prod"
kubeconfig = "kubeconfig"
"""


def test_the_command_line_needs_nothing_but_a_context(place: Place) -> None:
    (place.folder / "auditor.toml").write_text(CONFIGURATION)

    def auditor(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "auditor", *arguments]
        return subprocess.run(command, cwd=place.folder, capture_output=True, text=True, check=True)

    records = APPLICATIONS + len(("project", "set", "settings")) + len(("Event",)) + len(("map", "namespace", "web"))
    assert auditor("collect").stderr == f"{records} new records.\n"
    assert auditor("collect").stderr == "Nothing new.\n"
    sources = json.loads(auditor("sources", "--format", "json").stdout)["sources"]
    assert {each["source"]: each["events"] for each in sources if each["kind"] == "objects"} == {
        "live:prod/configmaps": 1,
        "live:prod/deployments.apps": 1,
        "live:prod/namespaces": 1,
        "live:prod/secrets": 0,
        "live:prod/services": 0,
    }
    assert b"s3cr3t" not in (place.folder / "by-command.db").read_bytes()
