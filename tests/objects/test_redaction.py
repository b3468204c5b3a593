"""Twenty-five canaries in the places where secrets lie, and what must not be taken for one."""

import base64
import gzip
import json
import os
import stat
from pathlib import Path

import orjson
import pytest

from auditor.errors import StoreError
from auditor.objects.redaction import Redactor, redaction_key

REDACTOR = Redactor(b"0123456789abcdef0123456789abcdef")


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(**parts: object) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop"}, **parts}


def container(**parts: object) -> dict[str, object]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "web", **parts}]}}}}


def config_map(text: str, key: str = "app.conf") -> dict[str, object]:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "app"}, "data": {key: text}}


def application(**helm: object) -> dict[str, object]:
    return {"kind": "Application", "metadata": {"name": "shop"}, "spec": {"source": {"helm": helm}}}


HELM_RELEASE = b64(base64.b64encode(gzip.compress(b'{"config":{"password":"CANARY-07-release"}}', mtime=0)).decode())

BODIES = {
    "CANARY-01-data": secret(data={"password": b64("CANARY-01-data")}),
    "CANARY-02-string-data": secret(stringData={"password": "CANARY-02-string-data"}),
    "CANARY-03-last-applied": {
        "kind": "ConfigMap",
        "metadata": {
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": json.dumps(
                    secret(stringData={"a": "CANARY-03-last-applied"})
                )
            }
        },
    },
    "CANARY-04-env": container(env=[{"name": "DB_PASSWORD", "value": "CANARY-04-env"}]),
    "CANARY-05-last-applied-env": {
        "kind": "Deployment",
        "metadata": {
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": json.dumps(
                    container(env=[{"name": "API_TOKEN", "value": "CANARY-05-last-applied-env"}])
                )
            }
        },
    },
    "CANARY-06-url": container(env=[{"name": "DATABASE", "value": "postgres://app:CANARY-06-url@db:5432/shop"}]),
    HELM_RELEASE: secret(type="helm.sh/release.v1", data={"release": HELM_RELEASE}),
    "CANARY-08-token-request": {"kind": "TokenRequest", "status": {"token": "CANARY-08-token-request"}},
    "CANARY-09-parameter": application(parameters=[{"name": "auth.password", "value": "CANARY-09-parameter"}]),
    "CANARY-10-values-object": application(valuesObject={"redis": {"auth": {"password": "CANARY-10-values-object"}}}),
    "CANARY-11-values": application(values="redis:\n  auth:\n    password: CANARY-11-values # keep\n"),
    "CANARY-12-repository": secret(
        metadata={"labels": {"argocd.argoproj.io/secret-type": "repository"}},
        stringData={"url": "https://git.acme.example", "sshPrivateKey": "CANARY-12-repository"},
    ),
    "CANARY-13-properties": config_map("# db\ndb.user=app\ndb.password = CANARY-13-properties\n"),
    "CANARY-14-json-file": config_map('{\n  "client": {"clientSecret": "CANARY-14-json-file"}\n}\n', "app.json"),
    "CANARY-15-private-key": config_map(
        "-----BEGIN RSA PRIVATE KEY-----\nCANARY-15-private-key\n-----END RSA PRIVATE KEY-----\n", "id"
    ),
    "CANARY-16-argument": container(args=["--user", "app", "--db-password", "CANARY-16-argument"]),
    "CANARY-17-flag": container(command=["sh", "-c", "serve --token=CANARY-17-flag --port 80"]),
    "CANARY-18-operation": [{"op": "add", "path": "/data/password", "value": "CANARY-18-operation"}],
    "CANARY-19-env-operation": [
        {"op": "replace", "path": "/spec/template/spec/containers/0/env/3/value", "value": "CANARY-19-env-operation"}
    ],
    "CANARY-20-manifest": config_map(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  user: CANARY-20-manifest\n", "extra.yaml"
    ),
    "CANARY-21-block": config_map("password: |\n  CANARY-21-block\nport: 80\n"),
    "CANARY-22-yaml-env": config_map("env:\n- name: SMTP_PASSWORD\n  value: CANARY-22-yaml-env\n"),
    "CANARY-23-exec": {"kind": "PodExecOptions", "command": ["psql", "CANARY-23-exec"]},
}


@pytest.mark.parametrize("canary", BODIES, ids=lambda canary: canary[:24])
def test_no_canary_passes_in_a_body(canary: str) -> None:
    raw = json.dumps(BODIES[canary]).encode()
    assert canary.encode() in raw or b64(canary).encode() in raw or canary.encode() in raw.replace(b'\\"', b'"')
    redacted = REDACTOR.body(raw)
    assert canary.encode() not in redacted
    assert b64(canary).encode() not in redacted
    assert b"[redacted:" in redacted


@pytest.mark.parametrize("canary", BODIES, ids=lambda canary: canary[:24])
def test_no_canary_passes_in_a_document_and_the_document_stays_as_it_was(canary: str) -> None:
    document = {"items": BODIES[canary]}
    before = json.dumps(document)
    assert canary not in json.dumps(REDACTOR.document(document))
    assert json.dumps(document) == before


@pytest.mark.parametrize("canary", BODIES, ids=lambda canary: canary[:24])
def test_escapes_and_indentation_hide_no_canary(canary: str) -> None:
    escaped = "".join(
        f"\\u{ord(letter):04x}" if letter.isalpha() and letter in "aeiotsk" else letter
        for letter in json.dumps(BODIES[canary])
        if letter != "\n"
    )
    for raw in (json.dumps(BODIES[canary], indent=2), escaped):
        try:
            orjson.loads(raw)
        except ValueError:
            continue
        assert canary.encode() not in REDACTOR.body(raw.encode())


def test_the_arguments_of_exec_leave_a_uri() -> None:
    uri = "/api/v1/namespaces/shop/pods/web/exec?command=mysql&command=-pCANARY-24-exec&command=shop&container=web"
    redacted = REDACTOR.uri(uri)
    assert "CANARY-24-exec" not in redacted
    assert redacted.startswith("/api/v1/namespaces/shop/pods/web/exec?command=mysql&command=[redacted:")
    assert redacted.endswith("&container=web")


@pytest.mark.parametrize(
    "text",
    [
        "use ghp_CANARY25CANARY25CANARY25CANARY25 for now",
        "pw: CANARY25 thanks",
        "the password is CANARY25, please rotate",
        "xoxb-123456789012-CANARY25",
        "curl -H 'Authorization: Bearer CANARY25x' https://api",
        "curl -u admin:CANARY25 https://api",
        "fatal: Authentication failed for 'https://bot:CANARY25@git.acme.example/deploy.git/'",
        "https://hooks.slack.com/services/T000/B000/CANARY25",
        "eyJhbGciOiJSUzI1NiJ9.eyJDQU5BUlkyNSI6MX0.CANARY25",
        "export AWS_SECRET_ACCESS_KEY=CANARY25/abc+def",
        "<password>CANARY25</password>",
        'set {"token": "CANARY25"} there',
        "--client-secret CANARY25",
        "GITLAB_TOKEN='CANARY25'",
        "Server=db;User=sa;Password=CANARY25;",
    ],
)
def test_tokens_in_messages_are_replaced(text: str) -> None:
    redacted = REDACTOR.text(text)
    assert "CANARY25" not in redacted
    assert "[redacted:" in redacted


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "Secret", "metadata": {"name": "db-credentials"}, "type": "Opaque"},
        {"env": [{"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db-creds", "key": "password"}}}]},
        {"data": {"TIMEOUT_SECONDS": "30", "TOKEN_TTL": "15m", "PASSWORD_FILE": "/run/secrets/db"}},
        {"spec": {"tokenExpirationSeconds": 3600, "automountServiceAccountToken": False}},
        {"imagePullSecrets": [{"name": "registry-token"}]},
        {"metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"}}},
        {"metadata": {"annotations": {"nginx.ingress.kubernetes.io/auth-secret": "basic-auth"}}},
        {"volumes": [{"name": "v", "secret": {"secretName": "db-credentials", "optional": True}}]},
        {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]},
        {"env": [{"name": "DB_PASSWORD", "value": "$(POD_PASSWORD)"}]},
        {"rules": [{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["db-password"], "verbs": ["get"]}]},
        {"spec": {"existingSecret": "db-credentials", "passwordKey": "db-password"}},
        {"matchLabels": {"token": "true"}, "labels": {"secret": "yes"}},
        {"data": [{"secretKey": "password", "remoteRef": {"key": "prod/db", "property": "password"}}]},
        {"env": [{"name": "LOG_LEVEL", "value": "debug"}, {"name": "DB_POOL", "value": "50"}]},
        {"image": "registry.acme.example:5000/app@sha256:0123456789abcdef"},
        {"topologyKey": "kubernetes.io/hostname", "key": "node-role.kubernetes.io/control-plane"},
        {"data": {"config.yaml": "server:\n  port: 8080\n  tokenUrl: https://sso.acme.example/token\n"}},
        [{"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "debug"}],
    ],
    ids=lambda document: json.dumps(document)[:48],
)
def test_what_only_sounds_like_a_secret_stays(document: object) -> None:
    raw = json.dumps(document).encode()
    assert REDACTOR.body(raw) == raw


@pytest.mark.parametrize(
    "text",
    [
        "GHCR webhook secret is not configured; incoming webhook events will not be validated",
        "server.secretkey is missing",
        "secret/db-credentials patched",
        "io.k8s.rbac.v1.roles.patch rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/system:controller",
        "rolled back web to registry.acme.example:5000/web@sha256:0123456789abcdef",
        "see https://wiki.acme.example/tokens?page=2",
        "we rotate the token every day",
        "Authenticator basic settings are fine",
    ],
)
def test_talk_about_secrets_stays(text: str) -> None:
    assert REDACTOR.text(text) == text


def test_a_uri_without_secrets_stays_byte_for_byte() -> None:
    uri = "/api/v1/namespaces/shop/secrets/db-credentials?fieldManager=kubectl-edit&labelSelector=a%3Db"
    assert REDACTOR.uri(uri) == uri
    assert "CANARY" not in REDACTOR.uri("/api/v1/x?access_token=CANARY&watch=true")


def test_equal_secrets_have_equal_texts_however_they_are_written() -> None:
    coded = REDACTOR.document(secret(data={"password": b64("hunter2!")}))
    plain = REDACTOR.document(secret(stringData={"password": "hunter2!"}))
    variable = REDACTOR.document(container(env=[{"name": "PASSWORD", "value": "hunter2!"}]))
    value = coded["data"]["password"]
    assert value == plain["stringData"]["password"]
    assert f'"{value}"' in json.dumps(variable)
    assert REDACTOR.document(secret(stringData={"password": "other"}))["stringData"]["password"] != value


def test_redacting_twice_changes_nothing() -> None:
    for body in BODIES.values():
        once = REDACTOR.body(json.dumps(body).encode())
        assert REDACTOR.body(once) == once


def test_another_key_gives_other_texts() -> None:
    raw = json.dumps(secret(stringData={"password": "hunter2!"})).encode()
    assert REDACTOR.body(raw) != Redactor(b"f" * 32).body(raw)


def test_a_patch_of_a_secret_is_known_by_its_resource() -> None:
    raw = b'{"data":{"user":"Q0FOQVJZ"}}'
    assert REDACTOR.body(raw) == raw
    assert b"Q0FOQVJZ" not in REDACTOR.body(raw, "secrets")
    operations = b'[{"op":"replace","path":"/data/user","value":"Q0FOQVJZ"}]'
    assert b"Q0FOQVJZ" not in REDACTOR.body(operations, "secrets")
    whole = b'[{"op":"add","path":"/data","value":{"user":"Q0FOQVJZ"}}]'
    assert b"Q0FOQVJZ" not in REDACTOR.body(whole, "secrets")


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "SecretList", "items": [{"metadata": {"name": "a"}, "data": {"user": "Q0FOQVJZ"}}]},
        {"kind": "List", "items": [{"kind": "Secret", "data": {"user": "Q0FOQVJZ"}}]},
        {"kind": "Secret", "data": "Q0FOQVJZ"},
        {"kind": "Secret", "data": {"user": ["Q0FOQVJZ"]}},
    ],
    ids=json.dumps,
)
def test_secrets_in_lists_and_odd_shapes_are_hidden_too(document: object) -> None:
    assert b"Q0FOQVJZ" not in REDACTOR.body(json.dumps(document).encode())


def test_a_table_of_secrets_is_hidden_by_its_resource() -> None:
    table = {"kind": "Table", "rows": [{"cells": ["db"], "object": {"data": {"user": "Q0FOQVJZ"}}}]}
    assert b"Q0FOQVJZ" not in REDACTOR.body(json.dumps(table).encode(), "secrets")


def test_a_removed_key_of_a_secret_stays_a_removal() -> None:
    assert json.loads(REDACTOR.body(b'{"data":{"user":null}}', "secrets")) == {"data": {"user": None}}


def test_fields_of_the_user_are_hidden_too() -> None:
    redactor = Redactor(b"k" * 32, ("*licence*",))
    assert b"ABC" not in redactor.body(b'{"spec":{"appLicence":"ABC-123"}}')
    assert "ABC" not in redactor.text("licence=ABC-123")


def test_deep_nesting_is_cut() -> None:
    raw = b'{"a":' * 600 + b"1" + b"}" * 600
    assert b"[redacted: too deep]" in REDACTOR.body(raw)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError):
        REDACTOR.body(b'{"password": "CANARY')


def test_a_hostile_text_takes_linear_time() -> None:
    begin = "-----BEGIN PRIVATE KEY-----"
    for piece in ("password", "eyJ-", 'a="', "token ", "://", "-u ", "x.", "name: key", "\n ", begin, "password:\\"):
        REDACTOR.text(piece * (400_000 // len(piece)))


def test_the_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "redaction.key"
    key = redaction_key(path)
    assert len(key) == 32
    assert redaction_key(path) == key
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_damaged_key_says_so(tmp_path: Path) -> None:
    path = tmp_path / "redaction.key"
    path.write_text("zz")
    with pytest.raises(StoreError, match="damaged"):
        redaction_key(path)
