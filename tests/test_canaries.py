"""Planted secrets, in every place where records hold some: none is stored, cached, printed or reported.

The one exception is the mirror of a repository, which is git's own copy and lies in a folder of its owner alone.
"""

import base64
import json
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
import zstandard

from auditor.cli import app, run
from auditor.desired.pack import Pack
from tests.factories import minute, replace
from tests.scenario import ALICE, ARGOCD, Cluster, Repository, application, audit_line, config_map, deployment

PLACES = (
    *("secret-created", "secret-patched", "secret-json-patched", "secret-replaced", "last-applied", "secret-list"),
    *("env", "env-json-patched", "env-url", "arguments", "annotation", "token-answer", "exec", "query", "refusal"),
    *("properties", "config-json", "manifest-in-config", "registry", "private-key", "helm-release", "webhook-patch"),
    *("helm-parameter", "helm-values", "helm-values-object", "application-condition", "applied-application"),
    *("argocd-repository", "argocd-cluster", "argocd-settings", "application-set", "server-log", "controller-log"),
    *("argocd-event", "slack-token", "slack-password", "slack-url", "timeline", "live-secret", "live-env"),
    *("git-secret", "git-env", "git-literal", "git-subject", "git-url", "cut-record", "broken-export"),
    *("agent", "group", "extra", "reason", "path", "manager", "label", "git-author", "git-mail", "git-tag"),
)
CANARIES: Mapping[str, str] = {place: f"Cnry{number:02}x9KfQ7vZ2m" for number, place in enumerate(PLACES)}
"""By place, one value that nothing else holds."""

IMAGE_TOKEN = "xoxb-2222222222-"


def plain(place: str) -> str:
    return CANARIES[place]


def encoded(place: str) -> str:
    return base64.b64encode(CANARIES[place].encode()).decode()


def secret(name: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "shop-prod"},
        "type": "Opaque",
        "data": data,
    }


def env(name: str, value: str) -> dict[str, Any]:
    container = {"name": "app", "env": [{"name": name, "value": value}]}
    return {"spec": {"template": {"spec": {"containers": [container]}}}}


def acts() -> Cluster:
    """What people sent to the API server."""
    cluster = Cluster()
    cluster.create(ARGOCD, deployment(), field_manager="argocd-controller")
    cluster.create(ARGOCD, config_map(), field_manager="argocd-controller")
    _on_secrets(cluster)
    _on_workloads(cluster)
    _on_config_maps(cluster)
    _by_the_way(cluster)
    _as_names(cluster)
    return cluster


def _on_secrets(cluster: Cluster) -> None:
    cluster.create(ALICE, secret("db", password=encoded("secret-created")))
    cluster.patch(ALICE, secret("db"), {"stringData": {"other": plain("secret-patched")}}, "merge")
    add = [{"op": "add", "path": "/data/third", "value": encoded("secret-json-patched")}]
    cluster.patch(ALICE, secret("db"), add, "json-patch")
    applied = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(secret("db", x=encoded("last-applied")))}
    cluster.patch(ALICE, secret("db"), {"metadata": {"annotations": applied}}, "merge")
    cluster.update(ALICE, secret("db", password=encoded("secret-replaced")))
    release = secret("sh.helm.release.v1.web.v1", release=encoded("helm-release")) | {"type": "helm.sh/release.v1"}
    cluster.create(ALICE, release)
    listed = {"kind": "SecretList", "apiVersion": "v1", "items": [{"data": {"x": encoded("secret-list")}}]}
    cluster.delete(ALICE, secret("db"), verb="deletecollection", response=orjson.dumps(listed))


def _on_workloads(cluster: Cluster) -> None:
    cluster.patch(ALICE, deployment(), env("DB_PASSWORD", plain("env")), field_manager="kubectl-set")
    place = "/spec/template/spec/containers/0/env/0/value"
    cluster.patch(ALICE, deployment(), [{"op": "replace", "path": place, "value": plain("env-json-patched")}],
                  "json-patch")  # fmt: skip
    cluster.patch(ALICE, deployment(), env("DATABASE", f"postgres://shop:{plain('env-url')}@db.shop:5432/shop"))
    arguments = {"name": "app", "args": ["--listen=:80", "--api-key", plain("arguments")]}
    cluster.patch(ALICE, deployment(), {"spec": {"template": {"spec": {"containers": [arguments]}}}})
    cause = {"kubernetes.io/change-cause": f"kubectl set env deploy/web API_TOKEN={plain('annotation')}"}
    cluster.patch(ALICE, deployment(), {"metadata": {"annotations": cause}}, "merge")
    injected = [{"op": "add", "path": "/spec/template/spec/containers/0/env/-",
                 "value": {"name": "INJECTED_PASSWORD", "value": plain("webhook-patch")}}]  # fmt: skip
    said = {"patch.webhook.admission.k8s.io/round_0_index_0": json.dumps({"patch": injected, "patchType": "JSONPatch"})}
    cluster.patch(ALICE, deployment(), {"spec": {"replicas": 4}}, annotations=said)


def _on_config_maps(cluster: Cluster) -> None:
    held = {
        "application.properties": f"db.host=db\ndb.password={plain('properties')}\n",
        "config.json": json.dumps({"auth": {"clientSecret": plain("config-json")}}),
        "secret.yaml": yaml.safe_dump({"kind": "Secret", "stringData": {"x": plain("manifest-in-config")}}),
        ".dockerconfigjson": json.dumps({"auths": {"registry.acme.example": {"auth": plain("registry")}}}),
        "tls.pem": f"-----BEGIN RSA PRIVATE KEY-----\n{plain('private-key')}\n-----END RSA PRIVATE KEY-----\n",
    }
    cluster.patch(ALICE, config_map(), {"data": held}, "merge", field_manager="kubectl-edit")


def _by_the_way(cluster: Cluster) -> None:
    base = "/api/v1/namespaces/shop-prod"
    command = f"{base}/pods/web-1/exec?command=psql&command=--password={plain('exec')}&container=app"
    cluster.patch(ALICE, deployment(), {}, verb="create", subresource="exec", resource="pods", request_uri=command)
    cluster.patch(ALICE, deployment(), {}, request_uri=f"{base}/x?access_token={plain('query')}")
    token = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "status": {"token": plain("token-answer")},
    }
    asked = cluster.patch(ALICE, deployment(), {}, verb="create", subresource="token", resource="serviceaccounts")
    cluster.events[-1] = replace(asked, request=b'{"kind":"TokenRequest"}', response=orjson.dumps(token))


def _as_names(cluster: Cluster) -> None:
    """Secrets where names stand: of clients, groups, managers and labels."""
    label = {"metadata": {"labels": {"token": f"ghp_{plain('label')}"}}}
    sent = cluster.patch(ALICE, deployment(), label, "merge")
    cluster.events[-1] = replace(
        sent,
        user_agent=f"curl/8 password={plain('agent')}",
        groups=(f"ghp_{plain('group')}",),
        extra={"authentication.kubernetes.io/token": (plain("extra"),)},
        annotations={"authorization.k8s.io/reason": f"token={plain('reason')}"},
    )
    cluster.patch(ALICE, deployment(), {}, request_uri=f"/api/v1/namespaces/x/services/x/proxy/ghp_{plain('path')}")
    uri = f"/apis/apps/v1/namespaces/shop-prod/deployments/web?fieldManager=ghp_{plain('manager')}"
    cluster.patch(ALICE, deployment(), {}, request_uri=uri)


def lines(cluster: Cluster) -> bytes:
    """The audit log, with what `audit_line` has no place for, and a record that was cut."""
    made = []
    for event in cluster.events:
        line: dict[str, Any] = orjson.loads(audit_line(event))
        line["annotations"] = dict(event.annotations)
        line["user"]["extra"] = dict(event.extra)
        made.append(line)
    refused = f'admission webhook denied the request: env "DB_PASSWORD={plain("refusal")}" is not allowed'
    made[-1]["responseStatus"] = {"code": 403, "reason": "Forbidden", "message": refused}
    cut = orjson.dumps(made[4] | {"requestObject": {"data": {"password": plain("cut-record")}}})[:-40]
    return b"\n".join([*map(orjson.dumps, made), cut])


def argocd(folder: Path, revision: str) -> None:
    """Exports, settings, Events and logs of Argo CD."""
    folder.mkdir()
    synced = {"sync": {"status": "Synced", "revision": revision}, "reconciledAt": "2026-11-30T08:30:00Z"}
    helm = {
        "parameters": [{"name": "db.password", "value": plain("helm-parameter")}],
        "values": f"db:\n  password: {plain('helm-values')}\n",
        "valuesObject": {"db": {"password": plain("helm-values-object")}},
    }
    plain_one, chart = application("shop-prod", "apps/shop"), application("shop-chart", "charts/shop")
    chart["spec"]["source"]["helm"] = helm
    failed = f"failed to fetch https://bot:{plain('application-condition')}@git.acme.example/deploy.git: exit 128"
    plain_one["status"] = synced
    chart["status"] = synced | {"conditions": [{"type": "ComparisonError", "message": failed}]}
    applied = chart | {"spec": {"source": {"helm": {"parameters": [
        {"name": "token", "value": plain("applied-application")}]}}}}  # fmt: skip
    chart["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(applied)}
    generator = {"list": {"elements": [{"cluster": "prod", "adminPassword": plain("application-set")}]}}
    application_set = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": "shops", "namespace": "argocd"},
        "spec": {"generators": [generator]},
    }
    settings = config_map(
        "argocd-cm", "argocd", **{"dex.config": f"config:\n  clientSecret: {plain('argocd-settings')}"}
    )
    repository = secret("repo-1", password=encoded("argocd-repository"))
    repository["metadata"] |= {"namespace": "argocd", "labels": {"argocd.argoproj.io/secret-type": "repository"}}
    config = base64.b64encode(json.dumps({"bearerToken": plain("argocd-cluster")}).encode()).decode()
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "shop-prod.1", "namespace": "argocd"},
        "involvedObject": {"kind": "Application", "name": "shop-prod", "namespace": "argocd"},
        "lastTimestamp": "2026-11-30T09:05:00Z",
        "reason": "OperationCompleted",
        "source": {"component": "argocd-application-controller"},
        "message": f"Sync operation to abc failed: token={plain('argocd-event')} is not valid",
    }
    items = [plain_one, chart, application_set, settings, repository, secret("cluster-1", config=config), event]
    (folder / "all.json").write_bytes(orjson.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    (folder / "broken.yaml").write_text(
        f"apiVersion: v1\nkind: Secret\nstringData:\n  a: [{plain('broken-export')}\n b"
    )
    stamp = 'time="2026-11-30T09:04:00Z" level=error'
    url = f"https://x:{plain('controller-log')}@git.acme.example/deploy.git"
    (folder / "argocd-server.log").write_text(
        f'{stamp} msg="alice initiated sync to main" application=shop-prod user=alice dest="{url}"\n'
        f'{stamp} msg="login failed: password={plain("server-log")}" application=shop-prod reason=OperationStarted\n'
    )
    (folder / "argocd-application-controller.log").write_text(
        f'{stamp} msg="ComparisonError: Failed to load {url}" application=argocd/shop-prod\n'
    )


def slack(folder: Path) -> None:
    (folder / "inc-1").mkdir(parents=True)
    texts = (
        f"use {IMAGE_TOKEN}{plain('slack-token')} for the bot",
        f"shop-prod is frozen, the password is {plain('slack-password')}",
        f"clone <https://bot:{plain('slack-url')}@git.acme.example/deploy.git>",
    )
    messages = [
        {"type": "message", "user": "U1", "text": text, "ts": f"{1796029500 + number}.1"}
        for number, text in enumerate(texts)
    ]
    (folder / "inc-1" / "2026-11-30.json").write_text(json.dumps(messages))
    (folder / "channels.json").write_text(json.dumps([{"id": "C1", "name": "inc-1"}]))


def repository(folder: Path) -> str:
    """A repository with secrets in plain sight; the commit."""
    made = Repository(folder)
    with_password = deployment()
    with_password["spec"]["template"]["spec"]["containers"][0]["env"].append(
        {"name": "SMTP_PASSWORD", "value": plain("git-env")}
    )
    manifest = secret("db")
    manifest["stringData"] = {"x": plain("git-secret")}
    literal = f"secretGenerator:\n- name: gen\n  literals:\n  - password={plain('git-literal')}\n"
    files = {
        "apps/shop/web.yaml": yaml.safe_dump(with_password),
        "apps/shop/secret.yaml": yaml.safe_dump(manifest),
        "apps/shop/settings.yaml": yaml.safe_dump(config_map()),
        "charts/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
        "charts/shop/values.yaml": f"db:\n  password: {plain('git-literal')}\n",
        "charts/shop/templates/web.yaml": yaml.safe_dump(with_password | {"metadata": {"name": "chart"}}),
        "overlays/shop/kustomization.yaml": literal,
    }
    author = f"ghp_{plain('git-author')} <password={plain('git-mail')}@acme.example>"
    sha = made.commit(minute(-60), files, f"Rotate\n\nSMTP_PASSWORD={plain('git-subject')}", author)
    made._git("tag", f"token={plain('git-tag')}")
    return sha


CONFIG = """
[store]
url = "sqlite:///auditor.db"
cache = "cache"
[redaction]
key_file = "redaction.key"
[[cluster]]
name = "prod"
server = ["https://kubernetes.default.svc"]
audit = ["records/audit.log"]
objects = ["records/live/"]
[[argocd]]
name = "argocd"
cluster = "prod"
exports = ["records/argocd/"]
[[repository]]
url = "http://git.acme.example/deploy.git"
path = "records/repository"
[[repository]]
url = "http://bot:{password}@localhost:9/none.git"
[[announcements]]
path = "records/slack/"
[[announcements]]
path = "records/timeline.csv"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All records, and the configuration for them."""
    records = tmp_path / "records"
    records.mkdir()
    (records / "audit.log").write_bytes(lines(acts()))
    slack(records / "slack")
    timeline = f"time,text\n2026-11-30T09:20:00Z,web rolled out with api_key={plain('timeline')}\n"
    (records / "timeline.csv").write_text(timeline)
    argocd(records / "argocd", repository(records / "repository"))
    (records / "live").mkdir()
    live = deployment()
    live["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "SMTP_PASSWORD", "value": plain("live-env")}]
    items = {"apiVersion": "v1", "kind": "List", "items": [secret("live", x=encoded("live-secret")), live]}
    (records / "live" / "all.yaml").write_text(yaml.safe_dump(items))
    (tmp_path / "auditor.toml").write_text(CONFIG.format(password=plain("git-url")))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command writes, to whom ever."""
    run(partial(app(), list(arguments)))
    told = capfd.readouterr()
    return told.out + told.err


def stored(folder: Path) -> Iterator[tuple[str, bytes]]:
    """All that was written to disk, with what is compressed in it opened."""
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        if not {"records", "git"}.intersection(file.relative_to(folder).parts) and file.name != "auditor.toml":
            yield str(file), _opened(file.read_bytes())
    with sqlite3.connect(folder / "auditor.db") as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in database.execute(f'SELECT * FROM "{table}"'):
                yield table, b"\0".join(_opened(cell) for cell in row)
    database.close()
    pack = Pack(folder / "cache")
    for key in pack._places:
        yield "rendered.pack", orjson.dumps(pack.get(key))
    pack.close()


def _opened(cell: Any) -> bytes:
    if not isinstance(cell, bytes):
        return str(cell).encode()
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(cell)
    except zstandard.ZstdError:
        return cell


def found_in(data: bytes) -> set[str]:
    """The places whose canary is in it, plain or in base64 wherever it begins."""
    found = set()
    for place, canary in CANARIES.items():
        forms = {canary.encode()} | {base64.b64encode(b"x" * pad + canary.encode())[4:-4] for pad in range(3)}
        if any(form in data for form in forms):
            found.add(place)
    return found


def test_no_planted_secret_is_stored_printed_or_reported(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    leaks = {("collect", place) for place in found_in(said(capfd, "collect").encode())}
    questions = ["changes", "findings", "episodes", "drift", "staging", "sources", "verify"]
    commands = [[question] for question in questions] + [[each, "--format", "json"] for each in questions[:2]]
    commands += [
        ["changes", "--cause", "all"],
        ["changes", "--attempts", "--format", "csv"],
        ["run", "--output", "out"],
    ]
    commands += [["who", "shop-prod/deployment/web", "--explain"], ["sql", "select * from audit_event"]]
    commands += [
        ["report", name, "--format", form, "--output", f"{name}.{form}"]
        for name, forms in (("postmortem", ("html", "markdown", "json")), ("register", ("csv",)))
        for form in forms
    ]
    answers = {" ".join(command): said(capfd, *command) for command in commands}
    changes = json.loads(answers["changes --format json"])["changes"]
    answers |= {f"show {each['id']}": said(capfd, "show", each["id"]) for each in changes}
    assert len(changes) > 10
    assert "[redacted:" in answers["changes --format json"]
    leaks |= {(command, place) for command, text in answers.items() for place in found_in(text.encode())}
    leaks |= {(where, place) for where, data in stored(folder) for place in found_in(data)}
    assert sorted(leaks) == []


def test_only_its_owner_reads_what_was_stored(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said(capfd, "collect")
    said(capfd, "report", "postmortem", "--format", "html", "--output", "postmortem.html")
    files = [folder / name for name in ("auditor.db", "redaction.key", "postmortem.html", "cache/rendered.pack")]
    assert {file.name: file.stat().st_mode & 0o777 for file in files} == dict.fromkeys(
        (file.name for file in files), 0o600
    )
    assert (folder / "cache").stat().st_mode & 0o077 == 0
